import asyncio
import json

import pytest

from dashboard.http_guard import HostGuard, host_allowed, is_loopback, origin_allowed


@pytest.mark.parametrize(
    "header",
    ["localhost", "localhost:8501", "LOCALHOST:8501", "127.0.0.1:8501", "127.0.0.9", "[::1]:8501", "[::1]"],
)
def test_loopback_names_are_served(header: str) -> None:
    assert host_allowed(header)


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "evil.example:8501",
        "[::1",
        "10.0.0.4:8501",
        "[fd00::4]:8501",
        "0.0.0.0:8501",
    ],
)
def test_other_hosts_are_foreign_to_a_loopback_server(header: str | None) -> None:
    assert not host_allowed(header)


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [
        (None, "localhost:8501", True),
        ("http://localhost:8501", "localhost:8501", True),
        ("http://[::1]:8501", "[::1]:8501", True),
        ("https://plandeck.internal", "plandeck.internal", True),
        ("http://localhost:3000", "localhost:8501", False),
        ("http://evil.example", "localhost:8501", False),
        ("null", "localhost:8501", False),
        ("", "localhost:8501", False),
        ("http://localhost:notaport", "localhost:8501", False),
        ("file://", "localhost:8501", False),
    ],
)
def test_an_origin_is_allowed_only_if_it_is_the_server_itself(origin: str | None, host: str, allowed: bool) -> None:
    assert origin_allowed(origin, host) is allowed


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("10.1.2.3", False), ("x.y", False)],
)
def test_what_counts_as_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    ("kind", "answer"), [("http", "http.response.start"), ("websocket", "websocket.close")], ids=["http", "websocket"]
)
def test_the_guard_refuses_before_the_application_sees_the_request(kind: str, answer: str) -> None:
    seen: list[str] = []
    sent: list[dict[str, object]] = []

    async def application(scope, receive, send) -> None:
        seen.append(scope["type"])

    async def send(message) -> None:
        sent.append(message)

    guard = HostGuard(application, address="http://127.0.0.1:8501")
    foreign = {"type": kind, "headers": [(b"host", b"evil.example")]}
    asyncio.run(guard(foreign, None, send))
    assert seen == []
    assert sent[0]["type"] == answer
    assert sent[0].get("status", 1008) in (403, 1008)
    own = {"type": kind, "headers": [(b"Host", b"localhost:8501"), (b"Origin", b"http://localhost:8501")]}
    asyncio.run(guard(own, None, send))
    assert seen == [kind]


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ([(b"host", b"plandeck.internal")], "Host header 'plandeck.internal'"),
        ([(b"host", b"127.0.0.1:8501"), (b"origin", b"https://plandeck.internal")], "Origin header 'https://plandeck"),
    ],
    ids=["host", "origin"],
)
def test_a_refused_proxy_is_told_which_headers_to_send(headers: list[tuple[bytes, bytes]], told: str) -> None:
    sent: list[dict] = []

    async def send(message: dict) -> None:
        sent.append(message)

    guard = HostGuard(None, address="http://127.0.0.1:8501")  # type: ignore[arg-type]  # never reached
    asyncio.run(guard({"type": "http", "headers": headers}, None, send))  # type: ignore[arg-type]  # nothing is read
    message = json.loads(sent[1]["body"])["error"]["message"]
    assert told in message
    assert "http://127.0.0.1:8501; a proxy in front has to send that as the Host and Origin headers" in message
