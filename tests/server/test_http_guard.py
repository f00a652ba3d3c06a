import asyncio

import pytest

from dashboard.http_guard import HostGuard, host_allowed, is_loopback, origin_allowed


@pytest.mark.parametrize(
    "header",
    ["localhost", "localhost:8501", "LOCALHOST:8501", "127.0.0.1:8501", "127.0.0.9", "[::1]:8501", "[::1]"],
)
def test_loopback_names_are_served_whatever_the_server_is_called(header: str) -> None:
    assert host_allowed(header, "127.0.0.1")
    assert host_allowed(header, "plandeck.internal")


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
    ],
)
def test_other_hosts_are_foreign_to_a_loopback_server(header: str | None) -> None:
    assert not host_allowed(header, "127.0.0.1")


def test_the_configured_host_is_served_and_its_neighbours_are_not() -> None:
    assert host_allowed("plandeck.internal:8501", "plandeck.internal")
    assert host_allowed("Plandeck.Internal", "plandeck.internal")
    assert not host_allowed("other.internal", "plandeck.internal")


def test_a_server_on_every_interface_answers_to_addresses_but_not_to_strange_names() -> None:
    assert host_allowed("10.0.0.4:8501", "0.0.0.0")
    assert host_allowed("[fd00::4]:8501", "::")
    assert not host_allowed("evil.example", "0.0.0.0")


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

    guard = HostGuard(application, served_as="127.0.0.1")
    foreign = {"type": kind, "headers": [(b"host", b"evil.example")]}
    asyncio.run(guard(foreign, None, send))
    assert seen == []
    assert sent[0]["type"] == answer
    assert sent[0].get("status", 1008) in (403, 1008)
    own = {"type": kind, "headers": [(b"Host", b"localhost:8501"), (b"Origin", b"http://localhost:8501")]}
    asyncio.run(guard(own, None, send))
    assert seen == [kind]
