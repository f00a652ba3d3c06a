from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from scripted_server import ScriptedServer, call, completion, message, stream

from agent.models.client import ask_text, ask_turn
from agent.models.providers import PROVIDERS
from agent.models.thinking import AnswerText, answer_text
from agent.run.tracing import RunTracing
from agent.run.usecases import open_plandeck, start_run
from agent.settings import load_settings

OPENAI = PROVIDERS["openai"]
MESSAGES = [HumanMessage("Is it so?")]


def heard(model: ChatOpenAI) -> tuple[list[str], str]:
    pieces: list[str] = []
    answer = ask_text(model, OPENAI, MESSAGES, pieces.append)
    assert "".join(pieces) == answer.content
    return pieces, str(answer.content)


def test_thoughts_are_no_text_of_the_answer(model: ChatOpenAI, server: ScriptedServer) -> None:
    server.will(
        stream(
            {"role": "assistant", "content": "", "reasoning_content": "Hm."},
            {"content": "<thi"},
            {"content": "nk>Is it? <b>No</b>"},
            {"content": ". Yes.</thi"},
            {"content": "nk>\n\nIt is"},
            {"content": " so <think>, really</think>."},
        )
    )
    assert heard(model) == (["It is", " so <think>, really</think>."], "It is so <think>, really</think>.")


def test_a_call_in_a_stream_is_no_text_of_the_answer(model: ChatOpenAI, server: ScriptedServer) -> None:
    called = {"index": 0, **call("search", '{"words": "x"}')}
    server.will(stream({"content": "It is"}, {"tool_calls": [called]}, {"content": " so."}))
    assert heard(model) == (["It is", " so."], "It is so.")


def test_text_that_only_begins_like_a_thought_is_told_at_the_end(model: ChatOpenAI, server: ScriptedServer) -> None:
    server.will(stream({"content": "<thin"}))
    assert heard(model) == (["<thin"], "<thin")


def test_without_a_listener_nothing_is_streamed_and_the_answer_is_the_same(
    model: ChatOpenAI, server: ScriptedServer
) -> None:
    server.will(completion(message("<think>Hm.</think>\nIt is so.")))
    plain = ask_text(model, OPENAI, MESSAGES)
    assert not server.received[0].body.get("stream")
    assert plain.content == ask_turn(model, OPENAI, MESSAGES).content == "It is so."
    assert plain.usage_metadata is not None


@given(st.lists(st.sampled_from(["<think>", "</think>", "<thinking>", "</thinking>", "<th", "ink>", "a", " ", "\n"])))
def test_how_a_text_is_cut_into_pieces_changes_nothing(pieces: list[str]) -> None:
    text = "".join(pieces)
    by_piece, by_sign = AnswerText(), AnswerText()
    whole = "".join(map(by_piece.feed, pieces)) + by_piece.end()
    assert whole == "".join(map(by_sign.feed, text)) + by_sign.end() == answer_text(text)
    assert text.endswith(whole)


def test_a_streamed_answer_is_on_its_span_with_the_tokens_of_a_whole_one(tmp_path: Path) -> None:
    used = []
    with open_plandeck(load_settings(home=tmp_path)) as app:
        for listener in (None, [].append):
            run = start_run(app, "Say hello.", by="ana")
            tracing = RunTracing(run, app.exporter)
            with tracing.segment(), tracing.part("answer", kind="answer"), tracing.role("synthesis", "offline"):
                ask_text(app.model, app.provider, [HumanMessage("Hello")], listener)
            used.append(app.spans.run_usage(app.project, run.run_id))
    plain, streamed = used
    assert (streamed.calls, streamed.calls_without_usage) == (1, 0)
    assert streamed.input_tokens == plain.input_tokens
    assert streamed.output_tokens == plain.output_tokens
