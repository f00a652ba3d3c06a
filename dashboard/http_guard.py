"""Who may talk to the server at all: requests that a foreign page sends are refused before anything reads them."""

from __future__ import annotations

import ipaddress
import json
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send


def is_loopback(host: str) -> bool:
    """Whether a name or address can only be reached from this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_allowed(header: str | None) -> bool:
    """Whether a Host header names this server, which listens on loopback only.

    Other names are refused: they are how a stranger's page reaches a server that only this machine can see (DNS
    rebinding).
    """
    name = _name(header)
    return name is not None and is_loopback(name)


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


class HostGuard:
    """ASGI middleware for HTTP and WebSocket: 403 for a foreign Host or Origin. `address` is told as the remedy."""

    def __init__(self, app: ASGIApp, *, address: str) -> None:
        self._app = app
        self._remedy = f"Open {address}; a proxy in front has to send that as the Host and Origin headers."

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] in ("http", "websocket"):
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
            host = headers.get("host")
            origin = headers.get("origin")
            if not host_allowed(host):
                return await _refuse(scope, send, f"The Host header {host!r} is not this server's. {self._remedy}")
            if not origin_allowed(origin, host):
                told = f"The Origin header {origin!r} is not this server's, {host!r}. {self._remedy}"
                return await _refuse(scope, send, told)
        return await self._app(scope, receive, send)


async def _refuse(scope: Scope, send: Send, message: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": message[:120]})
        return
    body = json.dumps({"error": {"code": "forbidden", "message": message}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})
