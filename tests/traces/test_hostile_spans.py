import copy
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from span_makers import NOON, SECOND, TRACE, ingest, span

from traces import otlp
from traces.errors import TracesError
from traces.ingest import Ingest
from traces.normalise import normalise
from traces.prices import PriceBook
from traces.store import SpanStore

GOOD = {"traceId": TRACE, "spanId": "cd" * 8, "name": "good", "startTimeUnixNano": NOON}
VALUES: dict[str, object] = {
    "gen_ai.operation.name": {"stringValue": "chat"},
    "gen_ai.usage.input_tokens": {"intValue": "100"},
    "llm.cost.total": {"doubleValue": 0.5},
    "flag": {"boolValue": True},
    "bytes": {"bytesValue": "aGk="},
    "list": {"arrayValue": {"values": [{"stringValue": "x"}]}},
    "map": {"kvlistValue": {"values": [{"key": "k", "value": {"intValue": 1}}]}},
}
PAIRS = [{"key": key, "value": value} for key, value in VALUES.items()]
WHOLE = {
    "resource": {"attributes": PAIRS[:1]},
    "scopeSpans": [
        {
            "scope": {"name": "lib", "version": "2"},
            "spans": [
                {
                    **GOOD,
                    "spanId": "ef" * 8,
                    "parentSpanId": "cd" * 8,
                    "name": "spoilt",
                    "endTimeUnixNano": str(NOON + SECOND),
                    "attributes": PAIRS,
                    "status": {"code": 2, "message": "broke"},
                    "events": [{"name": "exception", "timeUnixNano": NOON, "attributes": PAIRS[:1]}],
                }
            ],
        }
    ],
}
HUGE = 10**4_000
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from([HUGE, "\ud800\0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*(f"{kind}Value" for kind in ("int", "array", "kvlist")), "values", "key"]), inner
        )
    ),
    max_leaves=8,
)


def places(tree: object, *path: object) -> Iterator[tuple[Any, ...]]:
    yield path
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, child in children:
        yield from places(child, *path, key)


def spoilt(path: tuple[Any, ...], value: object) -> bytes:
    """A request of a good span and of another in which something else stands at a place."""
    request = {"resourceSpans": [copy.deepcopy(WHOLE), {"scopeSpans": [{"spans": [GOOD]}]}]}
    tree: Any = request["resourceSpans"]
    for key in (0, *path)[:-1]:
        tree = tree[key]
    tree[(0, *path)[-1]] = value
    return json.dumps(request).encode()


def assert_storable(value: object, depth: int = 0) -> None:
    assert depth < 60
    if isinstance(value, str):
        assert "\0" not in value.encode().decode()
    elif isinstance(value, int):
        assert -(2**63) <= value < 2**63
    elif isinstance(value, dict | list | tuple):
        for item in (*value, *value.values()) if isinstance(value, dict) else value:
            assert_storable(item, depth + 1)
    else:
        json.dumps(value, allow_nan=False)


@given(path=st.sampled_from(list(places(WHOLE))), value=ANY_JSON)
@example(path=("scopeSpans", 0, "spans", 0, "attributes", 5, "value", "arrayValue", "values"), value=5)
@example(path=("scopeSpans", 0, "spans", 0, "attributes", 1, "value"), value={"doubleValue": HUGE})
@example(path=("scopeSpans", 0, "spans", 0, "attributes", 1, "value"), value={"stringValue": float("nan")})
@example(path=("scopeSpans", 0, "spans", 0, "events", 0, "timeUnixNano"), value=2**70)
def test_whatever_stands_in_a_request_the_good_spans_are_taken(path: tuple[Any, ...], value: object) -> None:
    decoded = otlp.decode(spoilt(path, value), otlp.JSON)
    assert "good" in [record.name for record in decoded.spans]
    for record in decoded.spans:
        normal = normalise(record)
        assert_storable([getattr(normal, name) for name in normal.__slots__ if name not in ("usage", "reported_cost")])


@given(body=st.binary(max_size=60) | ANY_JSON.map(lambda value: json.dumps({"resourceSpans": value}).encode()))
@pytest.mark.parametrize("encoding", [otlp.JSON, otlp.PROTOBUF])
def test_a_request_is_decoded_or_refused_in_our_words(encoding: str, body: bytes) -> None:
    with suppress(TracesError):
        otlp.decode(body, encoding)


@pytest.mark.parametrize("key", ["resourceSpans", "scopeSpans", "spans"])
@pytest.mark.parametrize("wrong", [5, "x", [5], None])
def test_what_is_no_object_of_the_envelope_is_counted_as_refused(key: str, wrong: object) -> None:
    good = {"spans": [GOOD, wrong] if key == "spans" else [GOOD]}
    scopes = [good, wrong] if key == "scopeSpans" else [good]
    resources = [{"scopeSpans": scopes}, wrong] if key == "resourceSpans" else [{"scopeSpans": scopes}]
    decoded = otlp.decode(json.dumps({"resourceSpans": resources}).encode(), otlp.JSON)
    assert (len(decoded.spans), decoded.refused) == (1, (f"`{key}` is not a list of objects.",))


def nested(levels: int) -> bytes:
    opened, closed = b'{"kvlistValue":{"values":[{"key":"]}\\"","value":', b"}]}}"
    return opened * levels + b'{"stringValue":"bottom"}' + closed * levels


@pytest.mark.parametrize("levels", [30, 100, 5_000])
def test_json_nested_too_deeply_is_cut_in_its_own_span(levels: int) -> None:
    place = ("scopeSpans", 0, "spans", 0, "attributes", 0, "value")
    decoded = otlp.decode(spoilt(place, "HERE").replace(b'"HERE"', nested(levels)), otlp.JSON)
    assert ([record.name for record in decoded.spans], decoded.refused) == (["spoilt", "good"], ())
    value = decoded.spans[0].attributes["gen_ai.operation.name"]
    assert ("bottom" in json.dumps(value)) is (levels == 30)
    assert decoded.spans[0].attributes["gen_ai.usage.input_tokens"] == 100


@pytest.mark.parametrize("digits", [b"9" * 5_000, b"-" + b"9" * 5_000, b'"' + b"9" * 5_000 + b'"', b"1e999"])
@pytest.mark.parametrize("kind", [b"intValue", b"doubleValue", b"stringValue"])
def test_numbers_that_python_does_not_read_are_taken_as_text(kind: bytes, digits: bytes) -> None:
    place = ("scopeSpans", 0, "spans", 0, "attributes", 1, "value")
    body = spoilt(place, "HERE").replace(b'"HERE"', b'{"' + kind + b'":' + digits + b"}")
    decoded = otlp.decode(body, otlp.JSON)
    assert len(decoded.spans) == 2
    assert isinstance(decoded.spans[0].attributes["gen_ai.usage.input_tokens"], str)
    assert normalise(decoded.spans[0]).usage_state == "invalid"


def test_bytes_that_are_no_text_are_replaced_in_their_own_span() -> None:
    body = spoilt(("scopeSpans", 0, "spans", 0, "name"), "HERE").replace(b"HERE", b"\xff")
    assert [record.name for record in otlp.decode(body, otlp.JSON).spans] == ["\N{REPLACEMENT CHARACTER}", "good"]


def protobuf(*names: str) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    for number, name in enumerate(names, start=1):
        made = request.resource_spans.add().scope_spans.add().spans.add(name=name, start_time_unix_nano=NOON)
        made.trace_id, made.span_id = bytes.fromhex(TRACE), bytes([number] * 8)
    return request


def test_text_that_is_no_text_refuses_its_own_span_in_protobuf() -> None:
    body = protobuf("good", "HERE", "also").SerializeToString().replace(b"HERE", b"\xff" * 4)
    decoded = otlp.decode(body, otlp.PROTOBUF)
    assert [record.name for record in decoded.spans] == ["good", "also"]
    assert [reason.split(":")[0] for reason in decoded.refused] == ["A span is not OTLP protobuf"]
    with pytest.raises(TracesError):
        otlp.decode(body[:-3], otlp.PROTOBUF)


def test_a_resource_that_is_no_text_keeps_its_spans_in_protobuf() -> None:
    request = protobuf("good")
    request.resource_spans[0].resource.attributes.add(key="HERE")
    (record,) = otlp.decode(request.SerializeToString().replace(b"HERE", b"\xff" * 4), otlp.PROTOBUF).spans
    assert (record.name, record.resource) == ("good", {})


def test_protobuf_nested_too_deeply_is_refused_in_its_own_span() -> None:
    request = protobuf("good", "deep")
    value = request.resource_spans[1].scope_spans[0].spans[0].attributes.add(key="deep").value
    for _ in range(60):
        value = value.kvlist_value.values.add(key="k").value
    value.string_value = "bottom"
    decoded = otlp.decode(request.SerializeToString(), otlp.PROTOBUF)
    assert ([record.name for record in decoded.spans], len(decoded.refused)) == (["good"], 1)


def deep(levels: int) -> object:
    value: object = "bottom"
    for _ in range(levels):
        value = {"k": [value]}
    return value


HOSTILE: dict[str, object] = {
    "nul": "a\0b",
    "surrogate": "a\ud800b",
    "beyond int64": 2**64,
    "thousands of digits": 10**5_000,
    "nan": float("nan"),
    "infinity": float("-inf"),
    "list": ["\0", float("nan"), 2**64],
    "map": {"\0\ud800": {"x": "\0"}},
    "deep": deep(300),
    "long": "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(9_000)),
    "python": "{[]: 1}",
}


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_value_that_no_database_has_is_stored_harmless_wherever_it_stands(
    span_store: SpanStore, value: object
) -> None:
    names = ("plandeck.run_id", "gen_ai.conversation.id", "gen_ai.usage.input_tokens", "llm.cost.total", "error.type")
    details = ("gen_ai.usage.input_token_details", "logfire.pending_parent_id", "input.value", "anything")
    hostile = span(1, failed=True, **dict.fromkeys((*names, *details), value))
    pending = span(3, parent=2, **{"logfire.span_type": "pending_span", "logfire.pending_parent_id": value})
    ingest(span_store, hostile, pending, span(4, name="good"))
    assert len(span_store.spans("p", TRACE)) == 3
    stored = next(item for item in span_store.spans("p", TRACE) if item.span_id.endswith("1"))
    body = span_store.body("p", TRACE, stored.span_id)
    assert body is not None
    assert_storable([stored.attributes, body.attributes, stored.run_id, stored.thread_id, stored.error])


def test_a_spoilt_span_is_stored_with_the_others_of_its_request(span_store: SpanStore) -> None:
    place = ("scopeSpans", 0, "spans", 0, "attributes", 5, "value", "arrayValue", "values")
    decoded = otlp.decode(spoilt(place, [{"stringValue": "\0\ud800"}, {"intValue": HUGE}, 5]), otlp.JSON)
    assert Ingest(span_store, PriceBook()).ingest_decoded("p", decoded).accepted == 2
    good, other = sorted(span_store.spans("p", TRACE), key=lambda item: item.name)
    assert (good.name, other.attributes["list"][0], other.attributes["list"][2]) == (
        "good",
        "\N{REPLACEMENT CHARACTER}?",
        None,
    )
