"""The chat client for every provider, and how a model is asked for a structured answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import httpx
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from agent.models.offline.transport import OfflineTransport
from agent.models.providers import Provider, StructuredOutput, provider_of
from agent.records import JsonObject
from agent.settings import Settings

TIMEOUT_SECONDS = 120.0


def build_model(settings: Settings) -> ChatOpenAI:
    """The client of the configured provider; ConfigurationError naming the variable if that is wrong."""
    provider = provider_of(settings)
    return ChatOpenAI(
        model=settings.model or provider.model,
        api_key=SecretStr(provider.key()),
        base_url=settings.base_url or provider.url(),
        http_client=_http_client(provider, settings),
        timeout=TIMEOUT_SECONDS,
        max_retries=0,  # a failed call ends the try, and the run's own policy decides on another
        stream_usage=True,
    )


def _http_client(provider: Provider, settings: Settings) -> httpx.Client | None:
    """The offline model is a transport and nothing else; every other provider is reached over the network."""
    if provider.name != "offline":
        return None
    return httpx.Client(transport=OfflineTransport(settings.offline_delay_ms / 1000))


def ask_function(
    model: BaseChatModel, provider: Provider, messages: Sequence[BaseMessage], function: JsonObject
) -> str | JsonObject:
    """Ask for a call of `function` by the provider's method; the raw answer, for tolerant reading.

    A dict: the arguments as parsed by the client. A str: what the client could not parse, JSON text, or prose.
    """
    if provider.method is StructuredOutput.FUNCTION_CALLING:
        tool = {"type": "function", "function": function}
        asked: Any = model.bind_tools([tool], tool_choice=function["name"])
    elif provider.method is StructuredOutput.JSON_SCHEMA:
        schema = {"name": function["name"], "schema": function["parameters"]}
        asked = model.bind(response_format={"type": "json_schema", "json_schema": schema})
    else:
        asked = model.bind(response_format={"type": "json_object"})
        messages = [*messages[:-1], _with_schema(messages[-1], function)]
    return _raw(asked.invoke(list(messages)))


def _with_schema(message: BaseMessage, function: JsonObject) -> BaseMessage:
    """JSON mode knows no schema, so the message has to say it."""
    wanted = json.dumps(function["parameters"], ensure_ascii=False)
    return message.model_copy(
        update={"content": f"{message.content}\n\n## Answer\nOne JSON object like this: {wanted}"}
    )


def _raw(answer: AIMessage) -> str | JsonObject:
    if answer.tool_calls:
        return dict(answer.tool_calls[0]["args"])
    if answer.invalid_tool_calls:
        return answer.invalid_tool_calls[0]["args"] or ""
    return str(answer.text)
