"""A real HTTP server on loopback that answers as a test says, and remembers what it was asked."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What the server answers at a path."""

    body: bytes | str = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/plain"})


Answer = Reply | Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Loopback:
    """The server while it runs."""

    port: int
    asked: list[Asked]
    stopping: threading.Event
    """Set at the end, for answers that wait."""
    scheme: str = "http"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}"


def cut_off(handler: BaseHTTPRequestHandler) -> None:
    """An answer that never comes: the connection ends."""
    handler.close_connection = True


@contextmanager
def http_server(answers: dict[str, Answer], tls: ssl.SSLContext | None = None) -> Iterator[Loopback]:
    """Serve `answers` by path, whatever the method; 404 elsewhere."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked.append(Asked(self.command, self.path, headers, body))
            answer = answers.get(self.path, Reply("nothing here", 404))
            if not isinstance(answer, Reply):
                answer(self)
                return
            content = answer.body.encode() if isinstance(answer.body, str) else answer.body
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(len(content)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that goes away is what several tests are about."""

    server = Server(("127.0.0.1", 0), Handler)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    running = Loopback(server.server_port, asked, threading.Event(), "https" if tls else "http")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield running
    finally:
        running.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


def unused_port() -> int:
    """A port on which nothing listens."""
    with http_server({}) as gone:
        return gone.port
