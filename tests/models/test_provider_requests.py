"""What each provider of the table is really sent, over HTTP, and what is made of its answers."""

import json
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from scripted_server import ScriptedServer, call, completion, message, stream

from agent.models.client import ask_function, ask_text, ask_turn, build_model
from agent.models.providers import PROVIDERS, Provider, StructuredOutput
from agent.planning.prompts import JUDGE_STEP
from agent.settings import Settings

NAMES = [name for name in PROVIDERS if name != "offline"]
PATHS = {"zhipu": "/api/paas/v4", "qwen": "/compatible-mode/v1", "openrouter": "/api/v1", "azure": ""}
TOLD_IN_WORDS = ["zhipu", "minimax", "deepseek", "qwen", "moonshot"]
MESSAGES = [SystemMessage("Judge."), HumanMessage("Is it so?")]
JUDGED = {"criterion_met": True, "reason": "it is so", "key_result": "7"}
LOOKUP = {"name": "lookup", "description": "Looks up.", "parameters": {"type": "object", "properties": {}}}


@pytest.fixture(params=NAMES)
def provider(request: pytest.FixtureRequest, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Provider:
    """The entry as it is, with its own variables pointing at the loopback server."""
    entry = PROVIDERS[request.param]
    monkeypatch.setenv(entry.base_url_variable, server.url + PATHS.get(entry.name, "/v1"))
    monkeypatch.setenv(str(entry.key_variable), f"key-of-{entry.name}")
    return entry


@pytest.fixture
def model(provider: Provider) -> ChatOpenAI:
    return build_model(Settings(provider=provider.name))


def answered(provider: Provider, arguments: dict[str, Any]) -> Any:
    """A structured answer in the form in which this provider gives it."""
    if provider.method is StructuredOutput.FUNCTION_CALLING:
        return completion(message(None, [call("judge_step", json.dumps(arguments))]), "tool_calls")
    return completion(message(json.dumps(arguments)))


def test_path_key_and_model_are_those_of_the_entry(
    provider: Provider, model: ChatOpenAI, server: ScriptedServer
) -> None:
    server.will(completion(message("So it is.")))
    answer = ask_turn(model, provider, MESSAGES)
    (sent,) = server.received
    expected = "/openai/v1" if provider.name == "azure" else PATHS.get(provider.name, "/v1")
    assert sent.path == expected + "/chat/completions"
    assert sent.headers["authorization"] == f"Bearer key-of-{provider.name}"
    assert sent.body["model"] == provider.model
    assert [item["role"] for item in sent.body["messages"]] == ["system", "user"]
    assert not {"stream", "stream_options", "tools", "response_format"} & {
        name for name, value in sent.body.items() if value
    }
    assert answer.content == "So it is."
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["input_tokens"] == 100
    assert answer.usage_metadata["input_token_details"]["cache_read"] == 40


def test_a_structured_answer_is_asked_for_and_read_by_the_entrys_method(
    provider: Provider, model: ChatOpenAI, server: ScriptedServer
) -> None:
    server.will(answered(provider, JUDGED))
    assert ask_function(model, provider, MESSAGES, JUDGE_STEP) == JUDGED
    body = server.received[0].body
    if provider.method is StructuredOutput.JSON_SCHEMA:
        told = body["response_format"]["json_schema"]
        assert (body["response_format"]["type"], told["name"], told["strict"]) == ("json_schema", "judge_step", True)
        assert "tools" not in body
        return
    assert [tool["function"]["name"] for tool in body["tools"]] == ["judge_step"]
    if provider.name in TOLD_IN_WORDS:
        assert "tool_choice" not in body
        assert body["messages"][-1]["content"].endswith("Answer by calling the function judge_step.")
    else:
        assert body["tool_choice"] == {"type": "function", "function": {"name": "judge_step"}}
        assert body["messages"][-1]["content"] == "Is it so?"


def test_a_tool_is_offered_and_its_call_comes_back(
    provider: Provider, model: ChatOpenAI, server: ScriptedServer
) -> None:
    by_function = provider.method is StructuredOutput.FUNCTION_CALLING
    arguments = '{"sku": "B-7"}'
    server.will(completion(message(None, [call("lookup", arguments)]) if by_function else message(arguments)))
    answer = ask_turn(model, provider, MESSAGES, [LOOKUP])
    assert [(item["name"], item["args"]) for item in answer.tool_calls] == [("lookup", {"sku": "B-7"})]
    assert answer.text == ""
    assert answer.usage_metadata is not None
    body = server.received[0].body
    if not by_function:
        assert body["response_format"]["json_schema"]["schema"] == LOOKUP["parameters"]
        assert "lookup" in body["messages"][-1]["content"]
        return
    assert body["tools"] == [{"type": "function", "function": LOOKUP}]
    assert "tool_choice" not in body


def test_a_stream_asks_for_usage_as_the_entry_says_and_gets_it(
    provider: Provider, model: ChatOpenAI, server: ScriptedServer
) -> None:
    server.will(
        stream({"content": "So "}, {"content": "it is."}, usage="last" if provider.stream_options else "within")
    )
    pieces: list[str] = []
    answer = ask_text(model, provider, MESSAGES, pieces.append)
    body = server.received[0].body
    assert body["stream"] is True
    assert body.get("stream_options") == ({"include_usage": True} if provider.stream_options else None)
    assert pieces == ["So ", "it is."]
    assert answer.content == "So it is."
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["total_tokens"] == 110
    assert answer.usage_metadata["input_token_details"]["cache_read"] == 40
