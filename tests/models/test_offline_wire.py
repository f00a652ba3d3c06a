import json
from dataclasses import replace
from typing import Any

import httpx
import openai
import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage
from langchain_openai import ChatOpenAI

from agent.models.client import ask_function, ask_text, build_model
from agent.models.offline.transport import OfflineTransport, tokens
from agent.models.providers import PROVIDERS, StructuredOutput
from agent.planning.prompts import JUDGE_STEP, PROPOSE_PLAN, judge_messages, plan_messages
from agent.settings import Settings

STEP = {"id": "s1", "tool": "sql_query", "acceptance_criteria": "One row with a figure"}
SEEN = {"text": "1 row:\nunits\n7", "data": {"columns": ["units"], "rows": [[7]], "row_count": 1}, "empty": False}


@pytest.fixture
def model() -> ChatOpenAI:
    return build_model(Settings(provider="offline"))


@pytest.fixture
def wire() -> httpx.Client:
    return httpx.Client(transport=OfflineTransport(), base_url="http://offline.invalid/v1")


def body(**others: Any) -> dict[str, Any]:
    return {"model": "offline", "messages": [{"role": "user", "content": "Hello"}], **others}


def test_a_plain_answer_carries_its_usage(model: ChatOpenAI) -> None:
    answer = model.invoke([HumanMessage("Hello")])
    assert "offline model" in answer.text
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["output_tokens"] == tokens(str(answer.text))
    assert answer.usage_metadata["input_tokens"] > 0
    assert answer.response_metadata["finish_reason"] == "stop"


def test_a_streamed_answer_is_the_plain_one_in_pieces_with_the_same_usage(model: ChatOpenAI) -> None:
    plain = model.invoke([HumanMessage("Hello")])
    pieces = list(model.stream([HumanMessage("Hello")]))
    whole = pieces[0]
    for piece in pieces[1:]:
        whole = whole + piece
    assert sum(1 for piece in pieces if piece.text) > 1
    assert whole.text == plain.text
    assert isinstance(whole, AIMessageChunk)
    assert whole.usage_metadata == plain.usage_metadata


def test_a_streamed_call_is_the_plain_one(model: ChatOpenAI) -> None:
    bound = model.bind_tools([{"type": "function", "function": JUDGE_STEP}], tool_choice="judge_step")
    messages = judge_messages(STEP, SEEN)
    plain = bound.invoke(messages)
    pieces = list(bound.stream(messages))
    whole = pieces[0]
    for piece in pieces[1:]:
        whole = whole + piece
    assert whole.tool_calls == plain.tool_calls
    assert plain.tool_calls[0]["args"]["criterion_met"] is True


def test_a_streamed_call_is_named_first_and_its_arguments_follow_in_pieces(wire: httpx.Client) -> None:
    tool = {"type": "function", "function": JUDGE_STEP}
    messages = [
        {"role": {"system": "system", "human": "user"}[item.type], "content": item.text}
        for item in judge_messages(STEP, SEEN)
    ]
    told = wire.post("chat/completions", json={"messages": messages, "tools": [tool], "stream": True}).text
    deltas = [json.loads(line.removeprefix("data: "))["choices"][0]["delta"] for line in told.split("\n\n")[:-2]]
    calls = [delta["tool_calls"][0] for delta in deltas if delta.get("tool_calls")]
    assert (calls[0]["function"], calls[0]["type"]) == ({"name": "judge_step", "arguments": ""}, "function")
    assert all(set(call) == {"index", "function"} for call in calls[1:])
    assert len(calls) > 2
    assert json.loads("".join(call["function"]["arguments"] for call in calls))["criterion_met"] is True


def test_an_answer_is_heard_while_it_is_written(model: ChatOpenAI) -> None:
    pieces: list[str] = []
    answer = ask_text(model, PROVIDERS["offline"], [HumanMessage("Hello")], pieces.append)
    assert len(pieces) > 1
    assert "".join(pieces) == answer.content == model.invoke([HumanMessage("Hello")]).text
    assert answer.usage_metadata == model.invoke([HumanMessage("Hello")]).usage_metadata


def test_a_stream_is_sent_as_it_comes_and_takes_the_time_that_a_whole_answer_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept: list[float] = []
    monkeypatch.setattr("agent.models.offline.transport.time.sleep", slept.append)
    transport = OfflineTransport(delay_seconds=3)
    with httpx.Client(transport=transport, base_url="http://offline.invalid/v1") as wire:
        with wire.stream("POST", "chat/completions", json=body(stream=True)) as answer:
            chunks = answer.iter_raw()
            assert next(chunks).startswith(b"data: ")
            assert len(slept) == 1
            assert len(list(chunks)) > 3
        assert sum(slept) == pytest.approx(3)
        wire.post("chat/completions", json=body())
        assert slept[-1] == 3


def test_the_same_request_gets_the_same_answer_to_the_byte(wire: httpx.Client) -> None:
    first, again = (wire.post("chat/completions", json=body()) for _ in range(2))
    assert first.content == again.content
    other = wire.post("chat/completions", json=body(messages=[{"role": "user", "content": "Else"}]))
    assert other.json()["id"] != first.json()["id"]


def test_usage_adds_up_and_is_streamed_only_when_asked_for(wire: httpx.Client) -> None:
    usage = wire.post("chat/completions", json=body()).json()["usage"]
    assert usage["prompt_tokens"] + usage["completion_tokens"] == usage["total_tokens"]
    plain = wire.post("chat/completions", json=body(stream=True)).text
    asked = wire.post("chat/completions", json=body(stream=True, stream_options={"include_usage": True})).text
    assert '"usage"' not in plain
    chunks = [json.loads(line.removeprefix("data: ")) for line in asked.split("\n\n")[:-2]]
    assert [chunk["usage"] for chunk in chunks] == [None] * (len(chunks) - 1) + [usage]
    assert [len(chunk["choices"]) for chunk in chunks] == [1] * (len(chunks) - 1) + [0]
    assert plain.endswith("data: [DONE]\n\n")


@pytest.mark.parametrize(("method", "path"), [("POST", "embeddings"), ("GET", "chat/completions"), ("GET", "models")])
def test_what_is_not_there_is_404_in_the_providers_own_form(wire: httpx.Client, method: str, path: str) -> None:
    answer = wire.request(method, path)
    assert answer.status_code == 404
    assert path in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"7", b"{}", b'{"messages": []}', b'{"messages": 3}', b'{"messages": [null]}',
     b'{"messages": [{"role": "user"}]}', b'{"messages": [{"content": "x"}]}', b"\xff\xfe",
     b'{"messages": [{"role": "user", "content": 3}]}', b'{"messages": [{"role": "user", "content": "x"}], "tools": 3}',
     b'{"messages": [{"role": "user", "content": "x"}], "tools": [{}]}'],
)  # fmt: skip
def test_a_broken_body_is_400(wire: httpx.Client, content: bytes) -> None:
    answer = wire.post("chat/completions", content=content)
    assert answer.status_code == 400
    assert "cannot be read" in answer.json()["error"]["message"]


def test_the_client_raises_the_errors_of_the_provider() -> None:
    client = openai.OpenAI(
        api_key="x",
        base_url="http://offline.invalid/v1",
        http_client=httpx.Client(transport=OfflineTransport()),
        max_retries=0,
    )
    with pytest.raises(openai.NotFoundError, match="embeddings"):
        client.embeddings.create(model="offline", input="x")
    with pytest.raises(openai.BadRequestError, match="cannot be read"):
        client.chat.completions.create(model="offline", messages=[])


def test_a_function_is_asked_for_by_calling_it(model: ChatOpenAI) -> None:
    answer = ask_function(model, PROVIDERS["offline"], judge_messages(STEP, SEEN), JUDGE_STEP)
    assert answer == {
        "criterion_met": True,
        "reason": "There is 1 row, as the criterion asks for.",
        "key_result": "units: 7",
    }


@pytest.mark.parametrize("method", [StructuredOutput.JSON_SCHEMA, StructuredOutput.JSON])
def test_a_function_is_asked_for_as_json(model: ChatOpenAI, method: StructuredOutput) -> None:
    other = replace(PROVIDERS["offline"], method=method)
    answer = ask_function(model, other, judge_messages(STEP, SEEN), JUDGE_STEP)
    assert isinstance(answer, dict)
    assert answer["criterion_met"] is True


@pytest.mark.parametrize("method", [StructuredOutput.JSON_SCHEMA, StructuredOutput.JSON])
def test_a_plan_is_asked_for_as_json(model: ChatOpenAI, method: StructuredOutput) -> None:
    other = replace(PROVIDERS["offline"], method=method)
    answer = ask_function(model, other, plan_messages("Write a poem", "", 8), PROPOSE_PLAN)
    assert isinstance(answer, dict)
    assert answer["kind"] == "cannot"


def test_other_answers_are_given_in_words_of_the_kind_asked_for(wire: httpx.Client) -> None:
    answer = wire.post("chat/completions", json=body(tools=[{"type": "function", "function": {"name": "other"}}]))
    assert answer.status_code == 200
    assert "cannot" in answer.json()["choices"][0]["message"]["content"]
