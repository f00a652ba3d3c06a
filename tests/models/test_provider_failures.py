import logging
import traceback
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from scripted_server import Reply, ScriptedServer, call, completion, error, events, message, stream

from agent.models.client import ask_function, ask_text, ask_turn, build_model
from agent.models.failures import SENTENCES, Asked, FailureKind, ModelError, is_refusal, is_transient, retry_after_of
from agent.models.providers import PROVIDERS, StructuredOutput
from agent.planning.prompts import JUDGE_STEP
from agent.settings import Settings

K = FailureKind
OPENAI = PROVIDERS["openai"]
MESSAGES = [HumanMessage("Is it so?")]
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

Ask = Callable[[ChatOpenAI], Any]
ASKS: dict[str, Ask] = {
    "turn": lambda model: ask_turn(model, OPENAI, MESSAGES),
    "tool": lambda model: ask_turn(model, OPENAI, MESSAGES, [{"name": "t", "parameters": {"type": "object"}}]),
    "function": lambda model: ask_function(model, OPENAI, MESSAGES, JUDGE_STEP),
    "schema": lambda model: ask_function(
        model, replace(OPENAI, method=StructuredOutput.JSON_SCHEMA), MESSAGES, JUDGE_STEP
    ),
    "stream": lambda model: ask_text(model, OPENAI, MESSAGES, lambda piece: None),
}


@pytest.fixture(params=list(ASKS))
def ask(request: pytest.FixtureRequest) -> Ask:
    return ASKS[request.param]


def fails(ask: Ask, model: ChatOpenAI) -> ModelError:
    with pytest.raises(ModelError) as failed:
        ask(model)
    assert failed.value.code == f"model_{failed.value.kind}"
    assert failed.value.message.count(". ") == 0
    assert "OpenAI" in failed.value.message
    return failed.value


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (error(401), K.AUTH, "put a valid one into OPENAI_API_KEY"),
        (error(403), K.FORBIDDEN, "OPENAI_API_KEY"),
        (error(404, "no such model", "model_not_found"), K.NOT_FOUND, "no model 'gpt-5-mini'"),
        (error(402), K.OUT_OF_CREDIT, "top it up"),
        (error(429, "used up", "insufficient_quota"), K.OUT_OF_CREDIT, "OPENAI_API_KEY"),
        (error(400, "messages[1] is odd"), K.BAD_REQUEST, "messages[1] is odd"),
        pytest.param(
            error(400, "Invalid schema for response_format"),
            K.BAD_REQUEST,
            "Invalid schema",
            # The client's own advice, which is about another way to ask.
            marks=pytest.mark.filterwarnings("ignore:Invalid schema"),
        ),
        (error(400, "too much", "context_length_exceeded"), K.BAD_REQUEST, "too much"),
        (error(422), K.BAD_REQUEST, "PLANDECK_MODEL"),
        (error(400, "not nice", "content_filter"), K.FILTERED, "word the task differently"),
        (error(429), K.RATE_LIMITED, "wait a while"),
        (error(408), K.TIMEOUT, "try again"),
        (error(500), K.UNAVAILABLE, "try again later"),
        (error(503, "warming up"), K.UNAVAILABLE, "warming up"),
        (error(529), K.UNAVAILABLE, "OPENAI_BASE_URL"),
    ],
)
def test_a_refusal_of_the_provider_is_told_by_its_kind(
    ask: Ask, model: ChatOpenAI, server: ScriptedServer, *, reply: Reply, kind: FailureKind, words: str
) -> None:
    server.will(reply)
    failed = fails(ask, model)
    retryable = kind in (K.RATE_LIMITED, K.UNAVAILABLE, K.TIMEOUT)
    assert (failed.kind, failed.status, failed.retryable) == (kind, reply.status, retryable)
    assert words in failed.message
    assert f"HTTP {reply.status}" in failed.message or kind is K.TIMEOUT
    assert len(server.received) == 1, "the client must not try again by itself"
    assert is_transient(failed) is retryable
    assert is_refusal(failed) is (not retryable and kind is not K.FILTERED)


def test_an_error_page_of_a_proxy_is_no_words_of_the_provider(
    ask: Ask, model: ChatOpenAI, server: ScriptedServer
) -> None:
    server.will(Reply(b"<html><h1>Not here</h1>", 404, (("content-type", "text/html"),)))
    failed = fails(ask, model)
    assert failed.kind is K.NOT_FOUND
    assert "correct OPENAI_BASE_URL or PLANDECK_BASE_URL" in failed.message
    assert "<" not in failed.message


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after_ms": "1500", "retry_after": "2"}, 1.5),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "-3"}, None),
        ({"retry_after": "nan"}, None),
        ({}, None),
    ],
)
def test_the_wait_that_a_provider_asks_for_is_kept(
    model: ChatOpenAI, server: ScriptedServer, headers: dict[str, str], seconds: float | None
) -> None:
    server.will(error(429, **headers))
    assert fails(ASKS["turn"], model).retry_after == seconds
    server.will(error(503, **headers))
    assert fails(ASKS["stream"], model).retry_after == seconds


def test_the_wait_may_be_told_as_a_date(model: ChatOpenAI, server: ScriptedServer) -> None:
    server.will(error(429, retry_after=format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)))
    wait = fails(ASKS["turn"], model).retry_after
    assert wait is not None
    assert 3_500 < wait <= 3_600


@pytest.mark.parametrize(
    ("date", "seconds"),
    [
        ("Sun, 01 Mar 2026 12:01:30 GMT", 90),
        ("Sun, 01 Mar 2026 13:00:30 +0100", 30),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
    ],
)
def test_a_date_is_counted_from_now_and_one_that_is_past_is_no_wait(date: str, seconds: float) -> None:
    assert retry_after_of(httpx.Headers({"Retry-After": date}), NOW) == seconds


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (completion(None), K.EMPTY_ANSWER),
        (completion(message(None)), K.EMPTY_ANSWER),
        (completion(message("  \n")), K.EMPTY_ANSWER),
        (completion(message("<think>Well…</think>\n")), K.EMPTY_ANSWER),
        (completion(message("<think>Well… and no end")), K.EMPTY_ANSWER),
        (completion(message("It is", ), "length"), K.TOO_LONG),
        (completion(message(None, [call("judge_step", '{"criterion_met": true}')]), "length"), K.TOO_LONG),
        (completion(message("It"), "content_filter"), K.FILTERED),
        (completion(message("It"), "sensitive"), K.FILTERED),
        (completion(message(None, refusal="I would rather not")), K.FILTERED),
        (completion({"role": "critic", "content": "no"}), K.UNREADABLE),
        (Reply(b""), K.UNREADABLE),
        (Reply(b"<html>Welcome"), K.UNREADABLE),
        (Reply(b"<html>Welcome", headers=(("content-type", "text/html"),)), K.UNREADABLE),
        (Reply(b"null"), K.UNREADABLE),
        (Reply(b"[1]"), K.UNREADABLE),
        (Reply(b'{"id": "x"}'), K.UNREADABLE),
        (Reply(b'{"id": "x", "choices": null}'), K.UNREADABLE),
        (Reply(b'{"id": "x", "choices": ["a"]}'), K.UNREADABLE),
        (Reply(b'{"id": "x", "choices": [{"message": null}]}'), K.UNREADABLE),
        (Reply(b'{"error": {"message": "busy", "code": 503}}'), K.UNAVAILABLE),
        (Reply(b'{"error": {"message": "slow down", "code": 429}}'), K.RATE_LIMITED),
        (Reply(b'{"id": "x", "choices": [', promised=200), K.CUT),
    ],
)  # fmt: skip
@pytest.mark.parametrize("way", ["turn", "tool", "function", "schema"])
def test_an_answer_that_is_none_is_told_by_its_kind(
    model: ChatOpenAI, server: ScriptedServer, way: str, reply: Reply, kind: FailureKind
) -> None:
    server.will(reply)
    assert fails(ASKS[way], model).kind is kind
    assert len(server.received) == 1


FIRST = 'data: {"id": "x", "choices": [{"index": 0, "delta": {"content": "It is"}}]}\n\n'


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (stream({"content": "It is"}, finish=None, done=False, usage="no"), K.CUT, "nothing of it counts"),
        (stream({"content": "It is"}, finish=None), K.CUT, "nothing of it counts"),
        (events(FIRST, promised=200), K.CUT, "nothing of it counts"),
        (events(FIRST, 'data: {"id": "x", "cho\n\n'), K.CUT, "nothing of it counts"),
        (events(FIRST, 'data: {"error": {"message": "full", "code": "server_error"}}\n\n'), K.UNAVAILABLE, "full"),
        (events(FIRST, 'data: {"error": {"message": "slow down", "code": 429}}\n\n'), K.RATE_LIMITED, "slow down"),
        (stream({"content": "It is"}, finish="length"), K.TOO_LONG, "length limit"),
        (stream({"content": "It is"}, finish="content_filter"), K.FILTERED, "withheld"),
        (stream({"content": "<think>It is"}), K.EMPTY_ANSWER, "nothing"),
        (stream({"reasoning_content": "It is"}), K.EMPTY_ANSWER, "nothing"),
        (events(), K.UNREADABLE, "no chat completion"),
        (events("data: [DONE]\n\n"), K.UNREADABLE, "no chat completion"),
        (completion(message("It is")), K.UNREADABLE, "no chat completion"),
    ],
)  # fmt: skip
def test_a_stream_that_does_not_come_to_a_good_end_is_no_answer(
    model: ChatOpenAI, server: ScriptedServer, reply: Reply, kind: FailureKind, words: str
) -> None:
    server.will(reply)
    failed = fails(ASKS["stream"], model)
    assert failed.kind is kind
    assert words in failed.message


def test_a_server_that_says_nothing_is_a_timeout(
    ask: Ask, server: ScriptedServer, openai_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROVIDERS, "openai", replace(OPENAI, timeout_seconds=1))
    server.will(Reply(b"", silent=True))
    failed = fails(ask, build_model(Settings(provider="openai", base_url=f"{server.url}/v1")))
    assert (failed.kind, failed.retryable) == (K.TIMEOUT, True)
    assert len(server.received) == 1


@pytest.mark.parametrize("begin", [b'{"id": "x", ', FIRST.encode()])
def test_a_server_that_falls_silent_in_its_answer_is_a_timeout(
    server: ScriptedServer, openai_key: str, monkeypatch: pytest.MonkeyPatch, begin: bytes
) -> None:
    monkeypatch.setitem(PROVIDERS, "openai", replace(OPENAI, timeout_seconds=1))
    streams = begin == FIRST.encode()
    kind = "text/event-stream" if streams else "application/json"
    server.will(Reply(begin, headers=(("content-type", kind),), promised=200, silent=True))
    model = build_model(Settings(provider="openai", base_url=f"{server.url}/v1"))
    assert fails(ASKS["stream" if streams else "turn"], model).kind is K.TIMEOUT


def test_a_server_that_is_not_there_is_unavailable_and_its_address_is_asked_about(ask: Ask, openai_key: str) -> None:
    failed = fails(ask, build_model(Settings(provider="openai", base_url="http://127.0.0.1:9/v1")))
    assert (failed.kind, failed.status, failed.retryable) == (K.UNAVAILABLE, None, True)
    assert "refused" in failed.message
    assert "OPENAI_BASE_URL or PLANDECK_BASE_URL" in failed.message


@pytest.mark.parametrize(
    "said",
    [
        "Incorrect API key provided: sk-top-secret-1.",
        "got Authorization: Bearer abcdef.ghi",
        "unknown key sk-proj-99887766aa",
        "sk-top-secret-1" * 20,
    ],
)
def test_no_key_is_told_whatever_the_provider_says(
    ask: Ask, model: ChatOpenAI, server: ScriptedServer, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    for status in (401, 500):
        server.will(error(status, said))
        failed = fails(ask, model)
        with caplog.at_level(logging.INFO):
            logging.getLogger("test").info("failed", exc_info=failed)
        told = failed.message + caplog.text + "".join(traceback.format_exception(failed))
        assert not any(secret in told for secret in ("top-secret", "abcdef.ghi", "99887766aa"))


def test_a_long_story_of_the_provider_is_cut(model: ChatOpenAI, server: ScriptedServer) -> None:
    server.will(error(500, "word\n" * 1_000))
    assert len(fails(ASKS["turn"], model).message) < 400


def test_what_the_listener_raises_is_no_failure_of_the_model(model: ChatOpenAI, server: ScriptedServer) -> None:
    server.will(stream({"content": "It is"}, {"content": " so."}))

    def broken(piece: str) -> None:
        raise ValueError("my own fault")

    with pytest.raises(ValueError, match="my own fault"):
        ask_text(model, OPENAI, MESSAGES, broken)


@pytest.mark.parametrize("kind", list(FailureKind))
@pytest.mark.parametrize("name", list(PROVIDERS))
def test_every_kind_has_a_sentence_for_every_provider(
    name: str, kind: FailureKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = PROVIDERS[name]
    if provider.key_variable:
        monkeypatch.setenv(provider.key_variable, "key-of-mine")
    failed = Asked(provider, "m-1").failed(kind, said="{oops} 100%")
    assert provider.title in failed.message
    assert failed.message.endswith(".")
    assert ("{oops}" in failed.message) is ("{said}" in SENTENCES[kind])
