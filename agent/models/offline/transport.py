"""OpenAI's chat completions over an in-process transport."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from typing import Any

import httpx

from agent.models.offline.answering import Answer, Call, answer
from agent.models.offline.request import ChatRequest

CHARACTERS_A_TOKEN = 4
CHUNK_CHARACTERS = 24


class OfflineTransport(httpx.BaseTransport):
    """Answers `POST …/chat/completions`, plain or streamed; each answer takes `delay_seconds`."""

    def __init__(self, delay_seconds: float = 0.0) -> None:
        self._delay_seconds = delay_seconds

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request in OpenAI's format, errors included."""
        if request.method != "POST" or not request.url.path.endswith("/chat/completions"):
            return _error(404, f"There is no {request.method} {request.url.path} here.")
        try:
            body = json.loads(request.read())
            asked = ChatRequest.from_body(body)
        except (ValueError, KeyError, TypeError) as error:
            return _error(400, f"The request cannot be read: {error}.")
        completion = _completion(body, answer(asked))
        if body.get("stream"):
            paced = _Paced(list(_events(body, completion)), self._delay_seconds)
            return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=paced)
        time.sleep(self._delay_seconds)
        return httpx.Response(200, json=completion)


class _Paced(httpx.SyncByteStream):
    """Events one by one, spread over the time that the whole answer takes."""

    def __init__(self, events: list[bytes], seconds: float) -> None:
        self._events = events
        self._pause_seconds = seconds / len(events)

    def __iter__(self) -> Iterator[bytes]:
        for event in self._events:
            time.sleep(self._pause_seconds)
            yield event


def _error(status: int, message: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"message": message, "type": "invalid_request_error", "code": None}})


def tokens(text: str) -> int:
    """The count that is billed: one token for each four characters begun."""
    return -(-len(text) // CHARACTERS_A_TOKEN)


def _completion(body: dict[str, Any], given: Answer) -> dict[str, Any]:
    prompt = json.dumps([body["messages"], body.get("tools", [])], ensure_ascii=False, sort_keys=True)
    identity = hashlib.sha256(prompt.encode("utf-8", errors="replace")).hexdigest()
    message: dict[str, Any] = {"role": "assistant", "content": given if isinstance(given, str) else None}
    if isinstance(given, Call):
        arguments = json.dumps(given.arguments, ensure_ascii=False)
        function = {"name": given.name, "arguments": arguments}
        message["tool_calls"] = [{"id": f"call_{identity[:20]}", "type": "function", "function": function}]
    said = given if isinstance(given, str) else json.dumps(message["tool_calls"], ensure_ascii=False)
    used = {"prompt_tokens": tokens(prompt), "completion_tokens": tokens(said)}
    return {
        "id": f"chatcmpl-{identity[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", "offline"),
        "choices": [
            {"index": 0, "message": message, "finish_reason": "stop" if isinstance(given, str) else "tool_calls"}
        ],
        "usage": {**used, "total_tokens": sum(used.values()), "prompt_tokens_details": {"cached_tokens": 0}},
    }


def _events(body: dict[str, Any], completion: dict[str, Any]) -> Iterator[bytes]:
    """The same completion as server-sent events; usage, if asked for, in a last chunk without a choice."""
    choice = completion["choices"][0]
    with_usage = bool((body.get("stream_options") or {}).get("include_usage"))
    head = {key: completion[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    if with_usage:
        head["usage"] = None
    for delta in _deltas(choice["message"]):
        yield _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    if with_usage:
        yield _event({**head, "choices": [], "usage": completion["usage"]})
    yield b"data: [DONE]\n\n"


def _deltas(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A message in pieces: its words, then each call by its name and the pieces of its arguments."""
    yield {"role": "assistant", "content": "" if message["content"] is not None else None}
    for piece in _pieces(message["content"] or ""):
        yield {"content": piece}
    for index, call in enumerate(message.get("tool_calls", [])):
        named = {**call, "function": {"name": call["function"]["name"], "arguments": ""}}
        yield {"tool_calls": [{"index": index, **named}]}
        for piece in _pieces(call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), CHUNK_CHARACTERS):
        yield text[start : start + CHUNK_CHARACTERS]


def _event(chunk: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(chunk)}\n\n".encode()
