import gzip
import json
import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from command_line import CommandLine
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from served import Served, environment, free_port, served
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from traces.store import UsageQuery, open_span_store

TOKEN = "a-token-of-the-test"
LIMIT = 200_000
PROTOBUF = "application/x-protobuf"
AUTHORIZATION = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a token, started from an empty folder."""
    folder = tmp_path_factory.mktemp("served")
    (folder / "empty").mkdir()
    settings = {"PLANDECK_OTLP_TOKEN": TOKEN, "PLANDECK_OTLP_MAX_BYTES": str(LIMIT)}
    with served(folder / "home", folder=folder / "empty", **settings) as running:
        yield running


@pytest.fixture
def client(server: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=60, headers=AUTHORIZATION) as opened:
        yield opened


def span(**changes: object) -> dict:
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o"}
    return {
        "traceId": secrets.token_hex(16),
        "spanId": secrets.token_hex(8),
        "name": "chat gpt-4o",
        "startTimeUnixNano": "1796118120000000000",
        "endTimeUnixNano": "1796118121000000000",
        "attributes": [
            *({"key": key, "value": {"stringValue": value}} for key, value in attributes.items()),
            {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "100"}},
            {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "10"}},
        ],
        **changes,
    }


def request(*spans: dict) -> dict:
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "test"}, "spans": list(spans)}]}]}


def as_protobuf(*spans: dict) -> bytes:
    inside = []
    for item in spans:
        # In protobuf's own JSON, bytes are base64 and not hex.
        message = {key: value for key, value in item.items() if key not in ("traceId", "spanId")}
        inside.append(message)
    made = ParseDict(request(*inside), ExportTraceServiceRequest())
    for message, item in zip(made.resource_spans[0].scope_spans[0].spans, spans, strict=True):
        message.trace_id, message.span_id = bytes.fromhex(item["traceId"]), bytes.fromhex(item["spanId"])
    return made.SerializeToString()


def stored(server: Served, trace_id: str) -> int:
    with open_span_store(f"sqlite:///{server.home / 'spans.db'}") as store:
        return len(store.spans("default", trace_id))


def test_health_and_readiness_answer(client: httpx.Client) -> None:
    assert client.get("/healthz").json()["status"] == "ok"
    ready = client.get("/readyz")
    assert (ready.status_code, ready.json()) == (200, {"ready": True, "failing": []})


def test_metrics_are_prometheus_text(client: httpx.Client) -> None:
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r'plandeck_\w+(\{status="\w+"\})? [\d.e+-]+', line) for line in lines), lines
    assert "plandeck_up 1" in lines
    assert 'plandeck_runs{status="queued"} 0' in lines
    assert "plandeck_workers 1" in lines


def test_pages_have_their_look_although_the_server_was_started_elsewhere(client: httpx.Client) -> None:
    assert "<title>" in client.get("/").text
    fonts = Path(__file__).parents[2] / "dashboard" / "static" / "fonts"
    font = next(fonts.glob("*.woff2"))
    answer = client.get(f"/app/static/fonts/{font.name}")
    assert (answer.status_code, answer.content) == (200, font.read_bytes())


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("encoding", ["json", "protobuf"])
def test_spans_are_durable_when_they_are_acknowledged(
    server: Served, client: httpx.Client, encoding: str, packed: bool
) -> None:
    sent = span()
    body, kind = (
        (json.dumps(request(sent)).encode(), "application/json")
        if encoding == "json"
        else (
            as_protobuf(sent),
            PROTOBUF,
        )
    )
    headers = {"Content-Type": f"{kind}; charset=utf-8", **({"Content-Encoding": "gzip"} if packed else {})}
    answer = client.post("/v1/traces", content=gzip.compress(body) if packed else body, headers=headers)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith(kind)
    assert answer.content == (b"{}" if encoding == "json" else b"")
    assert stored(server, sent["traceId"]) == 1


def test_refused_spans_are_a_partial_success_and_the_others_are_taken(server: Served, client: httpx.Client) -> None:
    good, bad = span(), span(spanId="00")
    told = client.post("/v1/traces", json=request(good, bad)).json()["partialSuccess"]
    assert told["rejectedSpans"] == "1"
    assert "span id" in told["errorMessage"]
    body = as_protobuf(good, {**bad, "spanId": "0" * 16})
    answer = client.post("/v1/traces", content=body, headers={"Content-Type": PROTOBUF})
    assert ExportTraceServiceResponse.FromString(answer.content).partial_success.rejected_spans == 1
    assert stored(server, good["traceId"]) == 1


def test_the_same_spans_again_change_nothing(server: Served, client: httpx.Client) -> None:
    sent = span()
    for _ in range(3):
        assert client.post("/v1/traces", json=request(sent)).status_code == 200
    with open_span_store(f"sqlite:///{server.home / 'spans.db'}") as store:
        total = store.usage_total(UsageQuery("default", filters={"trace": [sent["traceId"]]}))
    assert (total.calls, total.input_tokens) == (1, 100)


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        (b"{", {"Content-Type": "application/json"}, 400, 3),
        (b"[]", {"Content-Type": "application/json"}, 400, 3),
        (b"{}", {"Content-Type": "application/json", "Content-Encoding": "gzip"}, 400, 3),
        (gzip.compress(b"{}", mtime=0)[:-9], {"Content-Type": "application/json", "Content-Encoding": "gzip"}, 400, 3),
        (b"{}", {"Content-Type": "application/json", "Content-Encoding": "br"}, 415, 3),
        (b"{}", {"Content-Type": "text/plain"}, 415, 3),
        (b"{}", {"Content-Type": ""}, 415, 3),
        (b" " * (LIMIT + 1), {"Content-Type": "application/json"}, 413, 8),
        (
            gzip.compress(b" " * (LIMIT + 1), mtime=0),
            {"Content-Type": "application/json", "Content-Encoding": "gzip"},
            413,
            8,
        ),
        (b"{}", {"Content-Type": "application/json", "Authorization": "Bearer wrong"}, 401, 16),
        (b"{}", {"Content-Type": "application/json", "Authorization": ""}, 401, 16),
    ],
    ids=[
        "broken-json",
        "array",
        "not-gzip",
        "cut-gzip",
        "unknown-encoding",
        "text",
        "no-type",
        "too-large",
        "too-large-unpacked",
        "wrong-token",
        "no-token",
    ],
)
def test_a_wrong_request_is_refused_with_a_status_that_names_the_reason(
    client: httpx.Client, body: bytes, headers: dict[str, str], status: int, code: int
) -> None:
    answer = client.post("/v1/traces", content=body, headers=headers)
    assert answer.status_code == status
    assert answer.json()["code"] == code
    assert answer.json()["message"].endswith(".")


def test_a_protobuf_request_is_refused_in_protobuf(client: httpx.Client) -> None:
    answer = client.post("/v1/traces", content=b"\xff" * 40, headers={"Content-Type": PROTOBUF})
    assert (answer.status_code, answer.headers["content-type"]) == (400, PROTOBUF)
    assert answer.content[:3] == bytes([0x08, 3, 0x12])
    assert b"not an OTLP protobuf request" in answer.content


def test_an_empty_request_is_a_success(client: httpx.Client) -> None:
    assert client.post("/v1/traces", content=b"", headers={"Content-Type": PROTOBUF}).status_code == 200
    assert client.post("/v1/traces", json={}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/healthz", "/v1/traces", "/_stcore/host-config", "/app/static/x"])
@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}])
def test_a_foreign_host_or_origin_is_refused_everywhere(
    client: httpx.Client, path: str, headers: dict[str, str]
) -> None:
    for method in ("GET", "POST", "OPTIONS"):
        assert client.request(method, path, headers=headers).status_code == 403


@pytest.mark.parametrize(
    ("origin", "allowed"), [("http://evil.example", False), (None, True), ("OWN", True)], ids=["foreign", "none", "own"]
)
def test_the_socket_of_the_pages_is_guarded_too(server: Served, origin: str | None, allowed: bool) -> None:
    address = server.url.replace("http", "ws") + "/_stcore/stream"
    own = server.url if origin == "OWN" else origin
    if allowed:
        with connect(address, origin=own, subprotocols=["streamlit"]):
            return
    with pytest.raises(InvalidStatus) as refused, connect(address, origin=own, subprotocols=["streamlit"]):
        pass
    assert refused.value.response.status_code == 403


def start(home: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """A server that must not start."""
    return subprocess.run(
        [sys.executable, "-m", "dashboard.cli", "serve", *words],
        env=environment(home, **settings),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_second_server_on_the_same_home_is_refused(server: Served) -> None:
    done = start(server.home, "--port", str(free_port()))
    assert done.returncode == 1
    assert str(server.port) in done.stderr
    assert "PLANDECK_HOME" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_of_two_servers_started_at_once_on_one_home_one_is_refused(tmp_path: Path) -> None:
    commands = [[sys.executable, "-m", "dashboard.cli", "serve", "--port", str(free_port())] for _ in range(2)]
    pair = [
        subprocess.Popen(command, env=environment(tmp_path / "home"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for command in commands
    ]
    try:
        while all(process.poll() is None for process in pair):
            time.sleep(0.05)
        refused, other = sorted(pair, key=lambda process: process.poll() is None)
        assert refused.stderr
        assert b"Another server works on" in refused.stderr.read()
        assert (refused.returncode, other.poll()) == (1, None)
    finally:
        for process in pair:
            process.kill()
            process.communicate()


def test_the_doctor_knows_the_server_of_its_own_home_and_no_other(server: Served, tmp_path: Path) -> None:
    def port_of(home: Path) -> dict:
        plandeck = CommandLine(home).with_settings(PLANDECK_PORT=str(server.port), PLANDECK_OTLP_TOKEN=TOKEN)
        answer = plandeck("doctor", "--json")
        found = next(check for check in json.loads(answer.out) if check["name"] == "port")
        assert answer.code == (0 if found["ok"] else 1)
        return found

    own = port_of(server.home)
    assert (own["ok"], own["remedy"]) == (True, None)
    assert "served by this Plandeck" in own["detail"]
    assert "is not free" in port_of(tmp_path / "home")["detail"]


def test_a_busy_port_is_refused_with_the_option_that_changes_it(server: Served, tmp_path: Path) -> None:
    done = start(tmp_path / "home", "--port", str(server.port))
    assert done.returncode == 1
    assert done.stderr.startswith(f"plandeck: Port {server.port}")
    assert "--port" in done.stderr


def test_a_server_for_other_machines_or_with_an_unknown_provider_is_refused(tmp_path: Path) -> None:
    done = start(tmp_path / "home", "--host", "0.0.0.0", PLANDECK_OTLP_TOKEN=TOKEN)
    assert (done.returncode, "sign-in" in done.stderr) == (1, True)
    assert len(done.stderr.strip().splitlines()) == 1
    done = start(tmp_path / "home", PLANDECK_PROVIDER="opnai")
    assert (done.returncode, "openai" in done.stderr) == (1, True)


@pytest.mark.parametrize("wanted", [signal.SIGTERM, signal.SIGINT], ids=lambda wanted: wanted.name)
def test_a_server_says_where_it_is_and_stops_cleanly(tmp_path: Path, wanted: signal.Signals) -> None:
    with served(tmp_path / "home") as running:
        with httpx.Client(base_url=running.url) as client:
            assert client.get("/healthz").status_code == 200
            running.process.send_signal(wanted)
            assert running.process.wait(30) in ((0,) if wanted is signal.SIGTERM else (0, 1, 130, -signal.SIGINT))
        said = (tmp_path / f"server-{running.port}.log").read_text().splitlines()
    assert said[0] == f"Plandeck is served at {running.url}"
    assert not any("Traceback" in line for line in said)
    with served(tmp_path / "home", port=running.port):
        pass
