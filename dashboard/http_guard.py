"""Who may talk to the server at all: requests that a foreign page sends are refused before anything reads them."""

from __future__ import annotations

import ipaddress
import json
import socket
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

WILDCARDS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, never bound here
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Whether a name or address can only be reached from this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_allowed(header: str | None, served_as: str) -> bool:
    """Whether a Host header names this server: a loopback name, or the host that it listens on.

    A server on every interface answers to any address and to the machine's own name. Other names are refused: they
    are how a stranger's page reaches a server that only this network can see (DNS rebinding); addresses cannot be.
    """
    name = _name(header)
    if name is None:
        return False
    if is_loopback(name) or name == served_as.lower():
        return True
    return served_as in WILDCARDS and (_is_address(name) or name == socket.gethostname().lower())


def origin_allowed(origin: str | None, host: str | None) -> bool:
    """Whether a request comes from this server's own pages, or from a program (which sends no Origin)."""
    if origin is None:
        return True
    try:
        parts = urlsplit(origin)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
        own = urlsplit(f"{parts.scheme}://{host}")
        own_port = own.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return False
    return bool(parts.hostname) and (parts.hostname, port) == (own.hostname, own_port)


def _name(header: str | None) -> str | None:
    try:
        return urlsplit(f"//{header}").hostname if header else None
    except ValueError:
        return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class HostGuard:
    """ASGI middleware for HTTP and WebSocket: 403 for a foreign Host or Origin."""

    def __init__(self, app: ASGIApp, *, served_as: str) -> None:
        self._app = app
        self._served_as = served_as

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] in ("http", "websocket"):
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
            host = headers.get("host")
            if not host_allowed(host, self._served_as):
                return await _refuse(scope, send, f"The host {host!r} is not served here; use localhost.")
            if not origin_allowed(headers.get("origin"), host):
                return await _refuse(scope, send, "Requests from other origins are refused.")
        return await self._app(scope, receive, send)


async def _refuse(scope: Scope, send: Send, message: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": message[:120]})
        return
    body = json.dumps({"error": {"code": "forbidden", "message": message}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})
