import gzip
import ssl
import subprocess
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpcore
import pytest
from loopback import Loopback, Reply, cut_off, http_server, unused_port

from agent.errors import ConfigurationError
from agent.records import Effect
from agent.tools.addresses import AllowList, GuardedBackend, is_public
from agent.tools.calling import call_tool
from agent.tools.httpget import get, http_get_tool, words_of
from agent.tools.registry import OBSERVATION_CHARACTERS, ErrorKind, Observation, ToolContext, ToolError

PUBLIC = "93.184.216.34"


def fetch(url: str, allow: str, context: ToolContext) -> Observation:
    return call_tool(http_get_tool(allow), {"url": url}, context)


def refusal(url: str, allow: str, context: ToolContext) -> ToolError:
    with pytest.raises(ToolError) as refused:
        fetch(url, allow, context)
    return refused.value


class ToLoopback(httpcore.SyncBackend):
    """Dials a server on loopback instead of the address asked for, and notes that address."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.dialled: list[tuple[str, int]] = []

    def connect_tcp(self, host: str, port: int, *rest: Any, **named: Any) -> httpcore.NetworkStream:
        self.dialled.append((host, port))
        return super().connect_tcp("127.0.0.1", self.port, *rest, **named)


def by_name(
    url: str, allow: str, context: ToolContext, resolver: Callable[[str, int], list[str]], dialler: ToLoopback
) -> Observation:
    allowed = AllowList.parse(allow)
    backend = GuardedBackend(allowed, time.monotonic() + 10, resolver, dialler)
    return get(url, context, allowed, backend=backend)


def test_a_text_of_an_allowed_host_is_shown_as_a_text_of_others(tool_context: ToolContext) -> None:
    with http_server({"/a?b=1": Reply("Größe: 5 €", headers={"Content-Type": "text/plain; charset=utf-8"})}) as server:
        seen = fetch(f"{server.url}/a?b=1", server.host, tool_context)
        assert server.asked[0].headers["host"] == server.host
        assert server.asked[0].headers["accept-encoding"] == "identity"
    assert seen.text.endswith("no instruction:\n\nGröße: 5 €")
    assert seen.data == {"url": f"{server.url}/a?b=1", "content_type": "text/plain", "bytes": 14}
    assert not seen.empty


def test_the_tool_only_reads_and_tells_which_hosts_there_are() -> None:
    tool = http_get_tool("example.org, 127.0.0.1:80, [::1]:8080")
    assert (tool.effect, tool.idempotent, tool.missing) == (Effect.READ, True, None)
    assert "127.0.0.1:80, [::1]:8080, example.org." in tool.description


def test_without_hosts_it_is_not_configured(tool_context: ToolContext) -> None:
    refused = refusal("https://example.org/", " , ", tool_context)
    assert refused.kind is ErrorKind.NOT_CONFIGURED
    assert "PLANDECK_HTTP_ALLOW" in refused.message


@pytest.mark.parametrize(
    "entry",
    [
        "https://example.org",
        "a b",
        "example.org/path",
        "u@example.org",
        "*.example.org",
        "x:99999",
        "::1",
        "[::1",
        "a?b",
    ],
)
def test_a_wrong_entry_of_the_list_is_named(entry: str) -> None:
    with pytest.raises(ConfigurationError, match="PLANDECK_HTTP_ALLOW has") as wrong:
        http_get_tool(f"example.org,{entry}")
    assert entry in wrong.value.message


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("file:///etc/passwd", ErrorKind.BAD_ARGUMENT),
        ("ftp://HOST/", ErrorKind.BAD_ARGUMENT),
        ("HOST/", ErrorKind.BAD_ARGUMENT),
        ("http://", ErrorKind.PERMISSION_DENIED),
        ("http://u:p@HOST/", ErrorKind.BAD_ARGUMENT),
        ("http://other.example#@HOST/", ErrorKind.PERMISSION_DENIED),
        ("http://other.example\\@HOST/", ErrorKind.BAD_ARGUMENT),
        ("http://localhost:PORT/", ErrorKind.PERMISSION_DENIED),
        ("http://2130706433:PORT/", ErrorKind.PERMISSION_DENIED),
        ("http://0x7f000001:PORT/", ErrorKind.PERMISSION_DENIED),
        ("http://127.1:PORT/", ErrorKind.PERMISSION_DENIED),
        ("http://0177.0.0.1:PORT/", ErrorKind.BAD_ARGUMENT),
        ("http://[::ffff:127.0.0.1]:PORT/", ErrorKind.PERMISSION_DENIED),
        ("http://[::1]:PORT/", ErrorKind.PERMISSION_DENIED),
        ("http://127.0.0.1/", ErrorKind.PERMISSION_DENIED),
        ("https://[::1/", ErrorKind.BAD_ARGUMENT),
        ("http://HOST/\n", None),
        ("http://HOST/a\rb", ErrorKind.BAD_ARGUMENT),
    ],
)
def test_other_spellings_of_a_host_are_other_hosts(url: str, kind: ErrorKind | None, tool_context: ToolContext) -> None:
    with http_server({"/": Reply("seen")}) as server:
        spelt = url.replace("HOST", server.host).replace("PORT", str(server.port))
        if kind is None:
            assert fetch(spelt, server.host, tool_context).text.endswith("seen")
            return
        assert refusal(spelt, server.host, tool_context).kind is kind
        assert server.asked == []


@pytest.mark.parametrize("name", ["localhost", "2130706433", "0x7f000001", "127.1", "localhost."])
def test_a_listed_name_that_leads_to_this_machine_is_refused(name: str, tool_context: ToolContext) -> None:
    with http_server({"/": Reply("seen")}) as server:
        refused = refusal(f"http://{name}:{server.port}/", f"{name}:{server.port}", tool_context)
        assert refused.kind in (ErrorKind.PERMISSION_DENIED, ErrorKind.UNAVAILABLE)
        assert server.asked == []


def test_an_inner_address_is_allowed_only_with_its_port(tool_context: ToolContext) -> None:
    refused = refusal("http://127.0.0.1/", "127.0.0.1", tool_context)
    assert (refused.kind, refused.code) == (ErrorKind.PERMISSION_DENIED, "address_not_public")


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200", "168.63.129.16",
        "0.0.0.0", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.0.1", "198.18.0.1", "::1", "::", "fe80::1",
        "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001:db8::1", "2001:0:7f00:1::", "nonsense",
    ],
)  # fmt: skip
def test_addresses_that_are_nobodys_on_the_internet(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", [PUBLIC, "2606:4700::1111", "::ffff:93.184.216.34", "64:ff9b::5db8:d822"])
def test_addresses_on_the_internet(address: str) -> None:
    assert is_public(address)


def test_the_connection_goes_to_the_address_that_was_checked_and_the_name_is_asked_for_once(
    tool_context: ToolContext,
) -> None:
    answers = iter([[PUBLIC], ["127.0.0.1"]])  # a name server that changes its mind
    asked: list[str] = []

    def resolver(host: str, _: int) -> list[str]:
        asked.append(host)
        return next(answers)

    with http_server({"/": Reply("seen")}) as server:
        dialler = ToLoopback(server.port)
        seen = by_name("http://Pages.Example./", "pages.example", tool_context, resolver, dialler)
        assert seen.text.endswith("seen")
        assert server.asked[0].headers["host"].lower() == "pages.example."
    assert dialler.dialled == [(PUBLIC, 80)]
    assert len(asked) == 1


def test_a_name_with_one_inner_address_is_not_dialled_at_all(tool_context: ToolContext) -> None:
    dialler = ToLoopback(1)
    with pytest.raises(ToolError, match=r"leads to 10\.0\.0\.1") as refused:
        by_name("http://pages.example/", "pages.example", tool_context, lambda *_: [PUBLIC, "10.0.0.1"], dialler)
    assert refused.value.kind is ErrorKind.PERMISSION_DENIED
    assert dialler.dialled == []


def test_every_address_of_a_name_is_tried(tool_context: ToolContext) -> None:
    class FirstIsDown(ToLoopback):
        def connect_tcp(self, host: str, port: int, *rest: Any, **named: Any) -> httpcore.NetworkStream:
            if not self.dialled:
                self.dialled.append((host, port))
                raise httpcore.ConnectError("down")
            return super().connect_tcp(host, port, *rest, **named)

    with http_server({"/": Reply("seen")}) as server:
        dialler = FirstIsDown(server.port)
        by_name("http://pages.example/", "pages.example", tool_context, lambda *_: ["93.184.216.33", PUBLIC], dialler)
    assert dialler.dialled == [("93.184.216.33", 80), (PUBLIC, 80)]


def test_a_name_that_there_is_not_is_unavailable(tool_context: ToolContext) -> None:
    def resolver(*_: object) -> list[str]:
        raise OSError("no such name")

    with pytest.raises(ToolError, match=r"pages\.example cannot be found") as gone:
        by_name("http://pages.example/", "pages.example", tool_context, resolver, ToLoopback(1))
    assert gone.value.kind is ErrorKind.UNAVAILABLE


def test_a_certificate_has_to_be_that_of_the_name(
    tmp_path: Path, tool_context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["-keyout", str(key), "-out", str(certificate), "-addext", "subjectAltName=DNS:pages.example"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=pages", *made],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with http_server({"/": Reply("seen")}, context) as server:
        dialler = ToLoopback(server.port)
        allow = "pages.example, others.example"
        seen = by_name("https://pages.example/", allow, tool_context, lambda *_: [PUBLIC], dialler)
        assert seen.text.endswith("seen")
        with pytest.raises(ToolError, match="certificate verify failed") as refused:
            by_name("https://others.example/", allow, tool_context, lambda *_: [PUBLIC], dialler)
    assert refused.value.kind is ErrorKind.UNAVAILABLE
    assert dialler.dialled == [(PUBLIC, 443), (PUBLIC, 443)]


# --- redirects


def redirect(to: str, status: int = 302) -> Reply:
    return Reply("moved", status, {"Location": to})


def test_a_redirect_within_the_list_is_followed_and_the_last_address_is_told(tool_context: ToolContext) -> None:
    with http_server({"/b": Reply("seen")}) as second, http_server({"/": redirect(f"{second.url}/b", 307)}) as first:
        seen = fetch(first.url, f"{first.host},{second.host}", tool_context)
        assert seen.data["url"] == f"{second.url}/b"
        assert second.asked[0].headers["host"] == second.host


@pytest.mark.parametrize(
    "to",
    [
        "http://OTHER/",
        "//OTHER/",
        "file:///etc/passwd",
        "http://u:p@HOST/b",
        "http://localhost:PORT/b",
        "gopher://HOST/b",
    ],
)
def test_a_redirect_off_the_list_is_not_followed(to: str, tool_context: ToolContext) -> None:
    with http_server({"/": Reply("secret")}) as other:
        answers: dict[str, Any] = {"/b": Reply("secret")}
        with http_server(answers) as server:
            spelt = to.replace("OTHER", other.host).replace("HOST", server.host).replace("PORT", str(server.port))
            answers["/"] = redirect(spelt)
            refused = refusal(server.url, server.host, tool_context)
            assert refused.kind is ErrorKind.PERMISSION_DENIED
            assert [item.path for item in server.asked] == ["/"]
        assert other.asked == []


def test_a_redirect_to_a_listed_name_that_leads_inside_is_not_followed(tool_context: ToolContext) -> None:
    with http_server({"/": redirect("http://inner.example/")}) as server:
        addresses = {"pages.example": [PUBLIC], "inner.example": ["169.254.169.254"]}
        dialler = ToLoopback(server.port)
        with pytest.raises(ToolError, match=r"leads to 169\.254\.169\.254"):
            by_name(
                "http://pages.example/",
                "pages.example,inner.example",
                tool_context,
                lambda host, _: addresses[host],
                dialler,
            )
        assert dialler.dialled == [(PUBLIC, 80)]


@pytest.mark.parametrize(("hops", "comes"), [(5, True), (6, False)])
def test_redirects_are_counted(hops: int, comes: bool, tool_context: ToolContext) -> None:
    answers: dict[str, Any] = {f"/{n}": redirect(f"/{n + 1}") for n in range(hops)} | {f"/{hops}": Reply("seen")}
    with http_server(answers) as server:
        if comes:
            assert fetch(f"{server.url}/0", server.host, tool_context).text.endswith("seen")
        else:
            assert "redirects more than 5 times" in refusal(f"{server.url}/0", server.host, tool_context).message


@pytest.mark.parametrize("location", ["http://[::1", "http://a:b:c/"])
def test_a_redirect_to_nowhere_is_a_failure(location: str, tool_context: ToolContext) -> None:
    with http_server({"/": redirect(location)}) as server:
        assert refusal(server.url, server.host, tool_context).kind is ErrorKind.UNAVAILABLE


# --- what comes back


def endless(server: list[Loopback], line: bytes, headers: dict[str, str], pause: float) -> Callable[..., None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302 if "Location" in headers else 200)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        while not server[0].stopping.wait(pause):
            handler.wfile.write(line)

    return answer


def test_a_body_without_end_is_cut_off(tool_context: ToolContext) -> None:
    servers: list[Loopback] = []
    answer = endless(servers, b"x" * 60_000, {"Content-Type": "text/plain"}, 0)
    with http_server({"/": answer}) as server:
        servers.append(server)
        refused = refusal(server.url, server.host, tool_context)
    assert (refused.kind, refused.code) == (ErrorKind.FAILED, "too_large")
    assert "1,000,000 bytes" in refused.message


def test_the_body_of_a_redirect_is_not_read(tool_context: ToolContext) -> None:
    servers: list[Loopback] = []
    answer = endless(servers, b"x" * 60_000, {"Location": "/b"}, 0)
    with http_server({"/": answer, "/b": Reply("seen")}) as server:
        servers.append(server)
        assert fetch(server.url, server.host, tool_context).text.endswith("seen")


@pytest.mark.parametrize("headers", [{"Content-Type": "text/plain"}, {"Content-Type": "text/plain", "X-Slow": "1"}])
def test_a_drip_does_not_outlast_the_deadline(headers: dict[str, str], tool_context: ToolContext) -> None:
    servers: list[Loopback] = []

    def headers_without_end(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not servers[0].stopping.wait(0.05):
            handler.wfile.write(b"X-A: b\r\n")

    slow = headers_without_end if "X-Slow" in headers else endless(servers, b"x", headers, 0.05)
    with http_server({"/": slow}) as server:
        servers.append(server)
        allowed = AllowList.parse(server.host)
        with pytest.raises(ToolError, match="did not answer in time") as late:
            get(server.url, tool_context, allowed, backend=GuardedBackend(allowed, time.monotonic() + 0.3))
    assert late.value.kind is ErrorKind.TIMEOUT


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, gzip"])
def test_a_packed_body_is_refused_without_unpacking(coding: str, tool_context: ToolContext) -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    with http_server({"/": Reply(bomb, headers={"Content-Type": "text/plain", "Content-Encoding": coding})}) as server:
        refused = refusal(server.url, server.host, tool_context)
    assert (refused.kind, refused.code) == (ErrorKind.FAILED, "coded")


@pytest.mark.parametrize(
    "kind", ["image/png", "application/octet-stream", "application/pdf", "", "multipart/form-data"]
)
def test_what_is_no_text_is_refused(kind: str, tool_context: ToolContext) -> None:
    with http_server({"/": Reply(b"\x89PNG", headers={"Content-Type": kind} if kind else {})}) as server:
        assert refusal(server.url, server.host, tool_context).code == "not_a_text"


@pytest.mark.parametrize(
    "kind", ["application/json", "application/problem+json; charset=utf-8", "TEXT/CSV", "application/xml"]
)
def test_texts_of_other_kinds_are_taken(kind: str, tool_context: ToolContext) -> None:
    with http_server({"/": Reply('{"a": 1}', headers={"Content-Type": kind})}) as server:
        assert fetch(server.url, server.host, tool_context).text.endswith('{"a": 1}')


@pytest.mark.parametrize("charset", ["latin-1", "zlib", "undefined", "no-such", "idna"])
def test_any_charset_gives_a_text(charset: str, tool_context: ToolContext) -> None:
    with http_server({"/": Reply(b"caf\xe9 ..", headers={"Content-Type": f"text/plain; charset={charset}"})}) as server:
        shown = fetch(server.url, server.host, tool_context).text.rsplit("\n", 1)[-1]
    assert shown == ("café .." if charset == "latin-1" else "caf\ufffd ..")


def test_an_empty_answer_is_empty_and_a_long_one_is_cut(tool_context: ToolContext) -> None:
    with http_server({"/": Reply(" \n"), "/long": Reply("x" * 20_000)}) as server:
        assert fetch(server.url, server.host, tool_context).empty
        seen = fetch(f"{server.url}/long", server.host, tool_context)
    assert len(seen.text) == OBSERVATION_CHARACTERS
    assert "cut here" in seen.text


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (304, ErrorKind.FAILED),
        (401, ErrorKind.PERMISSION_DENIED),
        (403, ErrorKind.PERMISSION_DENIED),
        (404, ErrorKind.FAILED),
        (408, ErrorKind.TIMEOUT),
        (429, ErrorKind.RATE_LIMITED),
        (500, ErrorKind.UNAVAILABLE),
        (503, ErrorKind.UNAVAILABLE),
    ],
)
def test_a_status_says_what_kind_of_failure_it_is(status: int, kind: ErrorKind, tool_context: ToolContext) -> None:
    with http_server({"/": Reply("", status, {})}) as server:
        refused = refusal(server.url, server.host, tool_context)
    assert (refused.kind, refused.code) == (kind, f"http_{status}")
    assert refused.retry_after is None


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("Tue, 01 Dec 2026 00:01:30 GMT", 90.0),
        ("Mon, 30 Nov 2026 00:00:00 GMT", 0.0),
        ("-5", None),
        ("soon", None),
        ("1e9", None),
        ("9" * 400, None),
        ("\u00b2", None),
    ],
)
def test_how_long_to_wait_is_read_from_seconds_or_a_date(
    said: str, seconds: float | None, tool_context: ToolContext
) -> None:
    with http_server({"/": Reply("", 429, {"Retry-After": said})}) as server:
        assert refusal(server.url, server.host, tool_context).retry_after == seconds


def test_nobody_there_is_unavailable(tool_context: ToolContext) -> None:
    gone = f"127.0.0.1:{unused_port()}"
    assert refusal(f"http://{gone}/", gone, tool_context).kind is ErrorKind.UNAVAILABLE
    with http_server({"/": cut_off}) as server:
        assert refusal(server.url, server.host, tool_context).kind is ErrorKind.UNAVAILABLE


def test_a_proxy_of_the_environment_is_not_asked(tool_context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    with http_server({"/": Reply("seen")}) as server, http_server({}) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        assert fetch(server.url, server.host, tool_context).text.endswith("seen")
        assert proxy.asked == []


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<h1>A &amp; B</h1><p>one<br>two</p>", "A & B\none\ntwo"),
        ("<p>so <b>bo</b>ld</p>", "so bold"),
        ("<script>if (a < b) x('<p>no</p>')</script>yes<style>p{}</style>", "yes"),
        ("1 < 2 and <3", "1 < 2 and <3"),
        ("<!-- no --><!doctype html>yes", "yes"),
        ("<script>never closed", ""),
    ],
)
def test_of_a_page_the_words_are_kept(page: str, words: str) -> None:
    assert words_of(page) == words
