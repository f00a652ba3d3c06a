"""A real HTTP server on loopback that answers as an OpenAI-compatible provider would: by a script, in order."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 10,
    "total_tokens": 110,
    "prompt_tokens_details": {"cached_tokens": 40},
}


@dataclass(frozen=True)
class Reply:
    """What the server sends. `promised` more bytes are announced; `silent` then says nothing until the end."""

    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("content-type", "application/json"),)
    promised: int = 0
    silent: bool = False


@dataclass(frozen=True)
class Received:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class ScriptedServer:
    """The server: its address, what it received, and what it sends next (the last reply again and again)."""

    port: int = 0
    replies: list[Reply] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def will(self, *replies: Reply) -> None:
        self.replies[:] = replies

    def forget(self) -> None:
        """End what still waits, and begin anew."""
        self.over.set()
        self.over = threading.Event()
        self.replies.clear()
        self.received.clear()

    def next(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


def message(content: str | None = None, calls: Sequence[dict[str, Any]] = (), **more: Any) -> dict[str, Any]:
    told: dict[str, Any] = {"role": "assistant", "content": content, **more}
    if calls:
        told["tool_calls"] = list(calls)
    return told


def call(name: str, arguments: str, number: int = 1) -> dict[str, Any]:
    return {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def completion(told: dict[str, Any] | None, finish: str = "stop") -> Reply:
    """A whole answer; None has no choice at all."""
    choices = [] if told is None else [{"index": 0, "message": told, "finish_reason": finish}]
    return Reply(json.dumps({**_head("chat.completion"), "choices": choices, "usage": USAGE}).encode())


def error(status: int, words: str = "no", code: str | None = None, **headers: str) -> Reply:
    body = json.dumps({"error": {"message": words, "type": "some_error", "code": code}}).encode()
    sent = [("content-type", "application/json"), *((name.replace("_", "-"), value) for name, value in headers.items())]
    return Reply(body, status, tuple(sent))


def stream(*deltas: dict[str, Any], finish: str | None = "stop", usage: str = "last", done: bool = True) -> Reply:
    """Server-sent events. `usage` comes in a `last` chunk of its own, `within` the last choice's, or `no`."""
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    if finish:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    if usage == "within":
        chunks[-1]["usage"] = USAGE  # type: ignore[assignment]  # a chunk is any JSON
    if usage == "last":
        chunks.append({"choices": [], "usage": USAGE})  # type: ignore[dict-item]  # a chunk is any JSON
    lines = [f"data: {json.dumps({**_head('chat.completion.chunk'), **chunk})}\n\n" for chunk in chunks]
    return events(*lines, *(["data: [DONE]\n\n"] if done else []))


def events(*lines: str, promised: int = 0) -> Reply:
    return Reply("".join(lines).encode(), headers=(("content-type", "text/event-stream"),), promised=promised)


def _head(kind: str) -> dict[str, Any]:
    return {"id": "scripted-1", "object": kind, "created": 1, "model": "answered-by"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: ScriptedServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.script.received.append(Received(self.path, headers, body))
        reply = self.script.next()
        if reply.body or not reply.silent:
            self._send(reply)
        if reply.silent:
            self.script.over.wait(30)
        self.close_connection = self.close_connection or reply.silent or reply.promised > 0

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(reply.body) + reply.promised))
        self.end_headers()
        self.wfile.write(reply.body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def scripted_server() -> Iterator[ScriptedServer]:
    """Serve until the end of the test."""
    script = ScriptedServer()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"script": script}))
    script.port = server.server_port
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield script
    finally:
        script.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
