"""The chat client for every provider, and the three ways in which a model is asked.

Every call here either gives a usable answer or raises a ModelError.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import httpx
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from agent.models.failures import FINISHES, Asked, FailureKind
from agent.models.offline.transport import OfflineTransport
from agent.models.providers import Provider, StructuredOutput, address_of, provider_of
from agent.models.schemas import check_flat, strict_schema
from agent.models.thinking import AnswerText, answer_text
from agent.records import JsonObject
from agent.settings import Settings


def build_model(settings: Settings) -> ChatOpenAI:
    """The client of the configured provider; ConfigurationError naming the variable if that is wrong."""
    provider = provider_of(settings)
    return ChatOpenAI(
        model=settings.model or provider.model,
        api_key=SecretStr(provider.key()),
        base_url=address_of(settings, provider),
        http_client=_http_client(provider, settings),
        timeout=provider.timeout_seconds,
        max_retries=0,  # a failed call ends the try, and the run's own policy decides on another
        stream_usage=provider.stream_options,
        use_responses_api=False,  # what all of them speak is chat completions
    )


def _http_client(provider: Provider, settings: Settings) -> httpx.Client | None:
    """The offline model is a transport and nothing else; every other provider is reached over the network."""
    if provider.name != "offline":
        return None
    return httpx.Client(transport=OfflineTransport(settings.offline_delay_ms / 1000))


def ask_function(
    model: BaseChatModel, provider: Provider, messages: Sequence[BaseMessage], function: JsonObject
) -> str | JsonObject:
    """Ask for a call of `function`, whose schema is flat, by the provider's method; the raw answer.

    A dict: the arguments. A str, for tolerant reading: what is no JSON object by itself, or prose. ModelError if there
    is no answer.
    """
    check_flat(function)
    if provider.method is StructuredOutput.FUNCTION_CALLING:
        tool = {"type": "function", "function": function}
        forced = {"tool_choice": function["name"]} if provider.forces_function else {}
        asked: Any = model.bind_tools([tool], **forced)
        wish = "" if provider.forces_function else f"Answer by calling the function {function['name']}."
    else:
        # In the body itself: the client would raise for an answer that was cut, and lose what it cost.
        asked = model.bind(extra_body={"response_format": _response_format(provider, function)})
        wish = "" if provider.method is StructuredOutput.JSON_SCHEMA else _json_wish(function)
    return _raw(_invoke(asked, _asked(model, provider), _with_wish(messages, wish)), function)


def ask_turn(
    model: BaseChatModel, provider: Provider, messages: Sequence[BaseMessage], tools: Sequence[JsonObject] = ()
) -> AIMessage:
    """One turn of the model, with tools (name, description, parameters) on offer.

    A provider that is asked by JSON is asked for a call as JSON, which comes back as a call all the same. Without a
    tool the content is the answer's text alone, without thoughts. ModelError if there is no answer.
    """
    if not tools:
        answer = _invoke(model, _asked(model, provider), messages)
        return answer.model_copy(update={"content": answer_text(str(answer.text))})
    if provider.method is StructuredOutput.FUNCTION_CALLING:
        offered = [{"type": "function", "function": tool} for tool in tools]
        return _invoke(model.bind_tools(offered), _asked(model, provider), messages)
    if len(tools) == 1:
        return _call_by_json(model, provider, messages, tools[0])
    return _choice_by_json(model, provider, messages, tools)


def _choice_by_json(
    model: BaseChatModel, provider: Provider, messages: Sequence[BaseMessage], tools: Sequence[JsonObject]
) -> AIMessage:
    """A call of one of several tools, or the answer, as one flat object."""
    listed = "\n".join(f"- {tool['name']}: {tool['description']} {json.dumps(tool['parameters'])}" for tool in tools)
    choice: JsonObject = {
        "name": "next_move",
        "description": "Call one tool with its arguments, or give the answer.",
        "parameters": {
            "type": "object",
            "required": ["tool"],
            "properties": {
                "tool": {"type": "string", "enum": [*(tool["name"] for tool in tools), "none"]},
                "arguments": {"type": "object"},
                "answer": {"type": "string", "description": "Only without a tool: the whole answer."},
            },
        },
    }
    message = _call_by_json(model, provider, [*messages, HumanMessage(f"The tools are:\n{listed}")], choice)
    if not message.tool_calls:
        return message
    chosen = message.tool_calls[0]["args"]
    if chosen.get("tool") in (None, "none"):
        return message.model_copy(update={"content": str(chosen.get("answer") or ""), "tool_calls": []})
    call = {**message.tool_calls[0], "name": str(chosen["tool"]), "args": dict(chosen.get("arguments") or {})}
    return message.model_copy(update={"tool_calls": [call]})


def _call_by_json(
    model: BaseChatModel, provider: Provider, messages: Sequence[BaseMessage], tool: JsonObject
) -> AIMessage:
    asked = model.bind(extra_body={"response_format": _response_format(provider, tool)})
    wish = f"The arguments of a call of {tool['name']}, as JSON."
    if provider.method is StructuredOutput.JSON:
        wish = f"{wish} {_json_wish(tool)}"
    answer = _invoke(asked, _asked(model, provider), _with_wish([_in_words(item) for item in messages], wish))
    arguments = _raw(answer, tool)
    if isinstance(arguments, str):
        return answer
    call = {"name": tool["name"], "args": arguments, "id": answer.id or "call", "type": "tool_call"}
    return answer.model_copy(update={"content": "", "tool_calls": [call]})


def _in_words(message: BaseMessage) -> BaseMessage:
    """A message for a model that knows no calls: those that were made, and what came of them, as text."""
    if isinstance(message, AIMessage) and message.tool_calls:
        return AIMessage(json.dumps(message.tool_calls[0]["args"], ensure_ascii=False))
    return HumanMessage(message.content) if isinstance(message, ToolMessage) else message


def ask_text(
    model: BaseChatModel,
    provider: Provider,
    messages: Sequence[BaseMessage],
    on_text: Callable[[str], None] | None = None,
) -> AIMessage:
    """Ask for prose. `on_text` gets its pieces as they arrive, thoughts and tool calls left out.

    The message has the whole text and the usage. ModelError if the answer breaks off: then what `on_text` got is no
    answer. What `on_text` raises ends the call.
    """
    if on_text is None:
        return ask_turn(model, provider, messages)
    asked, reading = _asked(model, provider), AnswerText()
    whole: AIMessageChunk | None = None
    said = ""
    for chunk in _chunks(model, asked, messages):
        whole = chunk if whole is None else whole + chunk
        piece = reading.feed(str(chunk.text))
        if piece:
            said += piece
            on_text(piece)
    if whole is None or not whole.response_metadata.get("finish_reason"):
        raise asked.failed(FailureKind.CUT)
    rest = reading.end()
    if rest:
        on_text(rest)
    answer = AIMessage(
        content=said + rest,
        id=whole.id,
        additional_kwargs=whole.additional_kwargs,
        usage_metadata=whole.usage_metadata,
        response_metadata=whole.response_metadata,
    )
    return _usable(answer, asked)


def _chunks(model: BaseChatModel, asked: Asked, messages: Sequence[BaseMessage]) -> Iterator[AIMessageChunk]:
    with asked.translating():
        stream = model.stream(list(messages))
        chunk = next(stream, None)
    while chunk is not None:
        yield chunk
        with asked.translating(begun=True):
            chunk = next(stream, None)


def _asked(model: BaseChatModel, provider: Provider) -> Asked:
    return Asked(provider, str(getattr(model, "model_name", provider.model)))


def _invoke(runnable: Any, asked: Asked, messages: Sequence[BaseMessage]) -> AIMessage:
    with asked.translating():
        answer = runnable.invoke(list(messages))
    return _usable(answer, asked)


def _usable(answer: BaseMessage, asked: Asked) -> AIMessage:
    """The answer, if it is one, came to a good end and says something."""
    if not isinstance(answer, AIMessage):
        raise asked.failed(FailureKind.UNREADABLE)
    bad = FINISHES.get(str(answer.response_metadata.get("finish_reason")))
    if bad:
        raise asked.failed(bad)
    refusal = answer.additional_kwargs.get("refusal")
    if refusal:
        raise asked.failed(FailureKind.FILTERED, said=str(refusal))
    called = answer.tool_calls or answer.invalid_tool_calls
    if not called and not answer_text(str(answer.text)).strip():
        raise asked.failed(FailureKind.EMPTY_ANSWER)
    return answer


def _response_format(provider: Provider, function: JsonObject) -> JsonObject:
    if provider.method is StructuredOutput.JSON:
        return {"type": "json_object"}
    strict = strict_schema(function["parameters"])
    schema = {"name": function["name"], "schema": strict or function["parameters"], "strict": strict is not None}
    return {"type": "json_schema", "json_schema": schema}


def _json_wish(function: JsonObject) -> str:
    """JSON mode knows no schema, so the message has to say it."""
    return f"One JSON object like this: {json.dumps(function['parameters'], ensure_ascii=False)}"


def _with_wish(messages: Sequence[BaseMessage], wish: str) -> list[BaseMessage]:
    """The messages, the last of which says how to answer."""
    if not wish:
        return list(messages)
    last = messages[-1]
    return [*messages[:-1], last.model_copy(update={"content": f"{last.content}\n\n## Answer\n{wish}"})]


def _raw(answer: AIMessage, function: JsonObject) -> str | JsonObject:
    calls = answer.tool_calls
    if calls:
        wanted = [call for call in calls if call["name"] == function["name"]]
        return dict((wanted or calls)[0]["args"])
    if answer.invalid_tool_calls:
        return answer.invalid_tool_calls[0]["args"] or ""
    text = str(answer.text)
    try:
        value = json.loads(answer_text(text))
    except ValueError:
        return text
    return value if isinstance(value, dict) else text
