import json
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from span_makers import CASES, NOON

from traces import otlp
from traces.errors import UndecodableError
from traces.records import SpanEvent


def case(*parts: str) -> bytes:
    return CASES.joinpath(*parts).read_bytes()


def one_span(**span: object) -> bytes:
    whole = {"traceId": "ab" * 16, "spanId": "cd" * 8, "name": "x", "startTimeUnixNano": NOON, **span}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [whole]}]}]}).encode()


def attribute(value: object) -> object:
    body = one_span(attributes=[{"key": "a", "value": value}])
    return otlp.decode(body, otlp.JSON).spans[0].attributes["a"]


def request() -> ExportTraceServiceRequest:
    message = ExportTraceServiceRequest()
    resource_spans = message.resource_spans.add()
    resource_spans.resource.attributes.add(key="service.name").value.string_value = "demo"
    scope_spans = resource_spans.scope_spans.add()
    scope_spans.scope.name = "lib"
    scope_spans.scope.version = "2"
    span = scope_spans.spans.add(name="chat", start_time_unix_nano=NOON, end_time_unix_nano=NOON + 5)
    span.trace_id = bytes.fromhex("ab" * 16)
    span.span_id = bytes.fromhex("cd" * 8)
    span.parent_span_id = bytes.fromhex("ef" * 8)
    span.status.code = 2
    span.status.message = "broke"
    values = {
        key: span.attributes.add(key=key).value for key in ("text", "int", "double", "bool", "list", "map", "nan")
    }
    values["text"].string_value = "t"
    values["int"].int_value = 2**53 + 1
    values["double"].double_value = 0.5
    values["bool"].bool_value = True
    values["list"].array_value.values.add().string_value = "x"
    values["map"].kvlist_value.values.add(key="k").value.int_value = 1
    values["nan"].double_value = float("nan")
    event = span.events.add(name="exception", time_unix_nano=NOON + 1)
    event.attributes.add(key="exception.message").value.string_value = "why"
    return message


def test_protobuf_is_decoded_whole() -> None:
    (span,) = otlp.decode(request().SerializeToString(), otlp.PROTOBUF).spans
    assert (span.trace_id, span.span_id, span.parent_span_id) == ("ab" * 16, "cd" * 8, "ef" * 8)
    assert (span.started_at, span.ended_at, span.failed, span.status_message) == (NOON, NOON + 5, True, "broke")
    assert (span.scope, span.scope_version, span.resource) == ("lib", "2", {"service.name": "demo"})
    assert span.events == (SpanEvent("exception", NOON + 1, {"exception.message": "why"}),)
    assert span.attributes == {
        "text": "t",
        "int": 2**53 + 1,
        "double": 0.5,
        "bool": True,
        "list": ["x"],
        "map": {"k": 1},
        "nan": "NaN",
    }


def test_ids_are_lower_case_whatever_they_came_in() -> None:
    spans = otlp.decode(case("D01_hex_case", "trace.json"), otlp.JSON).spans
    assert {span.trace_id for span in spans} == {"7a20f652910f52810009811ae8ac484f"}
    assert [span.parent_span_id for span in spans] == [None, spans[0].span_id, spans[1].span_id]


def test_integers_keep_every_digit() -> None:
    (span,) = otlp.decode(case("D03_int64_forms", "trace.json"), otlp.JSON).spans
    assert (span.attributes["big"], span.attributes["neg"]) == (9007199254740993, -9223372036854775808)
    assert span.started_at == 1767258000000000000


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ({"stringValue": "x"}, "x"),
        ({"intValue": "12"}, 12),
        ({"intValue": 12}, 12),
        ({"intValue": "many"}, "many"),
        ({"doubleValue": "NaN"}, "NaN"),
        ({"doubleValue": 1}, 1.0),
        ({"boolValue": False}, False),
        ({"arrayValue": {"values": [{"stringValue": "a"}, {}]}}, ["a", None]),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "k", "value": {"intValue": 1}}]}}, {"k": 1}),
        ({}, None),
        (None, None),
    ],
)
def test_json_values_become_plain(value: object, read: object) -> None:
    assert attribute(value) == read


def test_bad_spans_are_refused_and_the_others_taken() -> None:
    decoded = otlp.decode(case("D17_partial_success", "trace.json"), otlp.JSON)
    assert len(decoded.spans) == 1
    assert decoded.refused == (
        f"Span 'zero': trace id '{'0' * 32}' is not 32 hex digits, not all zero.",
        "Span 'short': span id 'abc' is not 16 hex digits, not all zero.",
    )


@pytest.mark.parametrize(
    ("span", "reason"),
    [
        ({"startTimeUnixNano": 0}, "has no start time"),
        ({"startTimeUnixNano": "soon"}, "has a time that is no time"),
        ({"startTimeUnixNano": 2**64}, "has a time that is no time"),
        ({"startTimeUnixNano": -5}, "has a time that is no time"),
        ({"parentSpanId": "xyz"}, "parent span id 'xyz'"),
        ({"traceId": 7}, "trace id '7'"),
        ({"traceId": None}, "trace id ''"),
    ],
)
def test_each_reason_for_refusing_is_told(span: dict[str, object], reason: str) -> None:
    decoded = otlp.decode(one_span(**span), otlp.JSON)
    assert decoded.spans == ()
    assert reason in decoded.refused[0]


@pytest.mark.parametrize("name", ["empty1.json", "empty2.json", "empty3.json"])
def test_empty_envelopes_hold_nothing(name: str) -> None:
    assert otlp.decode(case("D18_empty_and_old_envelopes", name), otlp.JSON).spans == ()


def test_old_envelopes_are_read() -> None:
    assert len(otlp.decode(case("D18_empty_and_old_envelopes", "old.json"), otlp.JSON).spans) == 1


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"text", b"{", b'{"spans": []}', b'{"resourceSpans": 3}', b"\xff\xfe", b"[" * 100_000]
)
def test_what_is_no_request_is_told_in_one_sentence(body: bytes) -> None:
    with pytest.raises(UndecodableError) as told:
        otlp.decode(body, "application/json; charset=utf-8")
    assert told.value.message.endswith(".")


def test_wrong_protobuf_is_told() -> None:
    with pytest.raises(UndecodableError, match="not an OTLP protobuf request"):
        otlp.decode(b"{}", otlp.PROTOBUF)


@pytest.mark.parametrize(
    ("name", "spans", "refused"), [("collector.jsonl", 3, 0), ("bom.json", 1, 0), ("cut.jsonl", 2, 1)]
)
def test_files_come_in_several_forms(name: str, spans: int, refused: int) -> None:
    decoded = otlp.decode_file(case("D21_file_forms", name))
    assert (len(decoded.spans), len(decoded.refused)) == (spans, refused)
    assert all(reason.startswith("Line 3 is not JSON") for reason in decoded.refused)


def test_a_protobuf_file_is_read_by_its_content() -> None:
    assert len(otlp.decode_file(request().SerializeToString()).spans) == 1


@pytest.mark.parametrize("content", [b"{", b"hello there", b"[1]\n[2]"])
def test_a_file_of_nothing_readable_is_told(content: bytes) -> None:
    with pytest.raises(UndecodableError):
        otlp.decode_file(content)


@pytest.mark.parametrize("decode", [otlp.decode_file, lambda body: otlp.decode(body, otlp.JSON)])
@given(
    content=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["resourceSpans", "scopeSpans", "spans", "attributes", "key", "value", "events", "scope"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_decoded_or_refused_never_a_crash(decode: Callable[[bytes], otlp.Decoded], content: object) -> None:
    with suppress(UndecodableError):
        decode(json.dumps({"resourceSpans": [content]}).encode())
