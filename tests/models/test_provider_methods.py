import json
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from scripted_server import ScriptedServer, call, completion, message

from agent.models.client import ask_function, ask_turn
from agent.models.providers import PROVIDERS, Provider, StructuredOutput
from agent.models.schemas import strict_schema
from agent.planning.prompts import JUDGE_STEP, PROPOSE_PLAN

JUDGED = {"criterion_met": True, "reason": "it is so", "key_result": "7"}
MESSAGES = [HumanMessage("Is it so?")]


def by(method: StructuredOutput, **more: Any) -> Provider:
    return replace(PROVIDERS["openai"], method=method, **more)


def test_json_mode_tells_the_schema_in_words(model: ChatOpenAI, server: ScriptedServer) -> None:
    server.will(completion(message(json.dumps(JUDGED))))
    assert ask_function(model, by(StructuredOutput.JSON), MESSAGES, JUDGE_STEP) == JUDGED
    body = server.received[0].body
    assert body["response_format"] == {"type": "json_object"}
    assert json.dumps(JUDGE_STEP["parameters"]) in body["messages"][-1]["content"]


def test_a_schema_is_strict_where_nothing_in_it_is_open(model: ChatOpenAI, server: ScriptedServer) -> None:
    server.will(completion(message("{}")))
    for function in (JUDGE_STEP, PROPOSE_PLAN):
        ask_function(model, by(StructuredOutput.JSON_SCHEMA), MESSAGES, function)
    judge, plan = (sent.body["response_format"]["json_schema"] for sent in server.received)
    assert judge["strict"] is True
    assert judge["schema"]["additionalProperties"] is False
    assert plan == {"name": "propose_plan", "schema": PROPOSE_PLAN["parameters"], "strict": False}


def test_a_strict_schema_is_closed_at_every_depth() -> None:
    inner = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}
    outer = {"type": "object", "required": ["list"], "properties": {"list": {"type": "array", "items": inner}}}
    strict = strict_schema(outer)
    assert strict is not None
    assert strict["additionalProperties"] is False
    assert strict["properties"]["list"]["items"] == {**inner, "additionalProperties": False}
    assert "additionalProperties" not in outer
    assert strict_schema({**outer, "required": []}) is None
    assert strict_schema({"type": "object", "required": ["x"], "properties": {"x": {"type": "object"}}}) is None


@pytest.mark.parametrize("method", list(StructuredOutput))
@pytest.mark.parametrize("word", ["anyOf", "$ref"])
def test_a_union_is_refused_before_anything_is_sent(
    model: ChatOpenAI, server: ScriptedServer, method: StructuredOutput, word: str
) -> None:
    item = {"type": "array", "items": {word: []}}
    function = {"name": "replan", "parameters": {"type": "object", "properties": {"steps": item}}}
    with pytest.raises(ValueError, match="must be flat"):
        ask_function(model, by(method), MESSAGES, function)
    assert server.received == []


@pytest.mark.parametrize("method", list(StructuredOutput))
@pytest.mark.parametrize(
    "text",
    ["It is so, I think.", "```json\n{}\n```", '{"criterion_met": true', "[1]", "<think>{}</think> no"],
)
def test_what_is_no_object_by_itself_is_left_to_tolerant_reading_word_for_word(
    model: ChatOpenAI, server: ScriptedServer, method: StructuredOutput, text: str
) -> None:
    server.will(completion(message(text)))
    assert ask_function(model, by(method), MESSAGES, JUDGE_STEP) == text


@pytest.mark.parametrize("method", list(StructuredOutput))
def test_thoughts_before_an_object_do_not_hide_it(
    model: ChatOpenAI, server: ScriptedServer, method: StructuredOutput
) -> None:
    server.will(completion(message(f"<think>{{}} or not?</think>\n{json.dumps(JUDGED)}")))
    assert ask_function(model, by(method), MESSAGES, JUDGE_STEP) == JUDGED


def test_arguments_that_are_no_json_come_as_they_are(model: ChatOpenAI, server: ScriptedServer) -> None:
    server.will(completion(message(None, [call("judge_step", '{"criterion_met": tru')]), "tool_calls"))
    answer = ask_function(model, by(StructuredOutput.FUNCTION_CALLING), MESSAGES, JUDGE_STEP)
    assert answer == '{"criterion_met": tru'


def test_of_several_calls_the_one_that_was_asked_for_counts(model: ChatOpenAI, server: ScriptedServer) -> None:
    calls = [call("other", '{"a": 1}'), call("judge_step", json.dumps(JUDGED), 2)]
    server.will(completion(message(None, calls), "tool_calls"))
    assert ask_function(model, by(StructuredOutput.FUNCTION_CALLING), MESSAGES, JUDGE_STEP) == JUDGED


@pytest.mark.parametrize("method", [StructuredOutput.JSON_SCHEMA, StructuredOutput.JSON])
def test_a_refused_call_is_told_in_words_to_a_model_that_is_asked_by_json(
    model: ChatOpenAI, server: ScriptedServer, method: StructuredOutput
) -> None:
    tool = {"name": "lookup", "parameters": {"type": "object", "properties": {"sku": {"type": "string"}}}}
    server.will(completion(message('{"sku": "B 7"}')), completion(message('{"sku": "B-7"}')))
    first = ask_turn(model, by(method), MESSAGES, [tool])
    refused = ToolMessage("There is no B 7.", tool_call_id=str(first.tool_calls[0]["id"]))
    second = ask_turn(model, by(method), [*MESSAGES, first, refused], [tool])
    assert second.tool_calls[0]["args"] == {"sku": "B-7"}
    told = server.received[1].body["messages"]
    assert [item["role"] for item in told] == ["user", "assistant", "user"]
    assert told[1]["content"] == '{"sku": "B 7"}'
    assert told[2]["content"].startswith("There is no B 7.")
    assert "The arguments of a call of lookup" in told[2]["content"]
    assert not any("tool_calls" in item for item in told)


def test_words_instead_of_arguments_are_no_call(model: ChatOpenAI, server: ScriptedServer) -> None:
    server.will(completion(message("I cannot.")))
    answer = ask_turn(
        model, by(StructuredOutput.JSON), MESSAGES, [{"name": "lookup", "parameters": {"type": "object"}}]
    )
    assert (answer.text, answer.tool_calls) == ("I cannot.", [])
