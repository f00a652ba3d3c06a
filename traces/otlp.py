"""OTLP requests and files to span records. A span that is wrong is refused with a reason, the others are taken."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # it has no stubs
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from traces.errors import UndecodableError
from traces.records import JsonObject, SpanEvent, SpanRecord
from traces.values import DEEPEST, clean, storable
from traces.wire import fields

PROTOBUF = "application/x-protobuf"
JSON = "application/json"

MOST_NANOSECONDS = 2**63 - 1
DEEPEST_JSON = 400
"""Levels of lists and objects in JSON; deeper ones are cut, because Python's decoder would refuse the whole text."""
LONGEST_INT64 = 20
"""Characters of the longest int64, and of one that is just too large."""
_TEXT_OR_BRACKET = re.compile(r'"(?:[^"\\]+|\\.?)*"?|[\[\]{}]', re.DOTALL)
_SCOPE_LISTS = (("scopeSpans", "scope"), ("instrumentationLibrarySpans", "instrumentationLibrary"))
"""Envelopes from before OTLP 1.0 call the scope an instrumentation library."""
_Message = TypeVar("_Message", Resource, InstrumentationScope)
_FAILED = 2
_ERROR_STATUSES = (_FAILED, str(_FAILED), "STATUS_CODE_ERROR")


class RefusedSpanError(ValueError):
    """Why one span is not taken."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The spans of a request or file."""

    spans: tuple[SpanRecord, ...]
    refused: tuple[str, ...] = ()
    """One sentence for each span, or line of a file, that was refused."""


def decode(body: bytes, content_type: str) -> Decoded:
    """The spans of an OTLP/HTTP request body, `application/x-protobuf` or `application/json`.

    UndecodableError with one sentence if the body is no such request at all.
    """
    if content_type.partition(";")[0].strip().lower() == PROTOBUF:
        return _collect(_protobuf_spans(body))
    return _collect(_json_spans(_json_object(body, "The body")))


def decode_file(content: bytes) -> Decoded:
    """The spans of a file: OTLP JSON, one JSON request a line (the collector's file exporter), or protobuf.

    A line that is cut off or wrong is refused, the others are taken; UndecodableError if nothing can be read.
    """
    text = content.removeprefix(b"\xef\xbb\xbf")
    if not text.lstrip().startswith((b"{", b"[")):
        return _collect(_protobuf_spans(content))
    try:
        return _collect(_json_spans(_json_object(text, "The file")))
    except UndecodableError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) == 1:
            raise
    return _decoded_lines(lines)


def _decoded_lines(lines: Sequence[bytes]) -> Decoded:
    parts: list[Decoded] = []
    problems: list[str] = []
    for number, line in enumerate(lines, start=1):
        try:
            parts.append(_collect(_json_spans(_json_object(line, f"Line {number}"))))
        except UndecodableError as error:
            problems.append(error.message)
    if not parts:
        raise UndecodableError(problems[0])
    return Decoded(
        tuple(span for part in parts for span in part.spans),
        (*(reason for part in parts for reason in part.refused), *problems),
    )


@dataclass(frozen=True, slots=True)
class _RawSpan:
    """A span as both encodings give it, not yet checked."""

    trace_id: str
    span_id: str
    parent_span_id: str
    name: str
    started_at: int
    ended_at: int
    attributes: JsonObject
    failed: bool
    status_message: str
    events: tuple[SpanEvent, ...]
    resource: JsonObject
    scope: str
    scope_version: str


def _collect(found: Iterable[_RawSpan | str]) -> Decoded:
    taken: list[SpanRecord] = []
    refused: list[str] = []
    for raw in found:
        try:
            if isinstance(raw, str):
                raise RefusedSpanError(raw)
            taken.append(_checked(raw))
        except RefusedSpanError as error:
            refused.append(str(error))
    return Decoded(tuple(taken), tuple(refused))


def _checked(raw: _RawSpan) -> SpanRecord:
    what = f"Span {raw.name[:80]!r}"
    trace_id = _id(raw.trace_id, 32, f"{what}: trace id")
    span_id = _id(raw.span_id, 16, f"{what}: span id")
    parent = raw.parent_span_id
    started_at = raw.started_at or raw.ended_at
    if not started_at:
        raise RefusedSpanError(f"{what} has no start time.")
    times = (started_at, raw.ended_at, *(event.at for event in raw.events))
    if max(times) > MOST_NANOSECONDS or min(times) < 0:
        raise RefusedSpanError(f"{what} has a time that is no time in nanoseconds.")
    return SpanRecord(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=_id(parent, 16, f"{what}: parent span id") if parent.strip("0") else None,
        name=clean(raw.name),
        started_at=started_at,
        ended_at=raw.ended_at or None,
        attributes=raw.attributes,
        failed=raw.failed,
        status_message=clean(raw.status_message),
        events=raw.events,
        resource=raw.resource,
        scope=clean(raw.scope),
        scope_version=clean(raw.scope_version),
    )


def _id(value: str, digits: int, what: str) -> str:
    text = value.lower()
    if len(text) != digits or set(text) - set("0123456789abcdef") or not text.strip("0"):
        raise RefusedSpanError(f"{what} {value[:40]!r} is not {digits} hex digits, not all zero.")
    return text


# Protobuf


def _protobuf_spans(body: bytes) -> Iterable[_RawSpan | str]:
    try:
        # A file holds TracesData, whose bytes are those of a request.
        return _of_message(ExportTraceServiceRequest.FromString(body))
    except DecodeError as error:
        found = list(_one_by_one(body, error))
        if all(isinstance(span, str) for span in found):
            raise _no_protobuf(error) from error
        return found


def _no_protobuf(reason: object) -> UndecodableError:
    return UndecodableError(f"The body is not an OTLP protobuf request: {reason}.")


def _one_by_one(body: bytes, error: DecodeError) -> Iterator[_RawSpan | str]:
    """The spans of a request that is wrong somewhere, so that what is wrong in one span refuses no other."""
    try:
        for resource_spans in fields(body, 1):
            resource = _pairs(_or_empty(Resource, fields(resource_spans, 1)).attributes)
            for scope_spans in fields(resource_spans, 2):
                scope = _or_empty(InstrumentationScope, fields(scope_spans, 1))
                for span in fields(scope_spans, 2):
                    yield _alone(span, resource, scope)
    except ValueError:
        raise _no_protobuf(error) from error


def _or_empty(kind: type[_Message], parts: Iterable[bytes]) -> _Message:
    try:
        message: _Message = kind.FromString(b"".join(parts))
    except DecodeError:
        return kind()
    return message


def _alone(content: bytes, resource: JsonObject, scope: InstrumentationScope) -> _RawSpan | str:
    try:
        return _of_protobuf(Span.FromString(content), resource, scope.name, scope.version)
    except DecodeError as error:
        return f"A span is not OTLP protobuf: {error}."


def _of_message(message: ExportTraceServiceRequest) -> Iterator[_RawSpan]:
    for resource_spans in message.resource_spans:
        resource = _pairs(resource_spans.resource.attributes)
        for scope_spans in resource_spans.scope_spans:
            scope = scope_spans.scope
            for span in scope_spans.spans:
                yield _of_protobuf(span, resource, scope.name, scope.version)


def _of_protobuf(span: Span, resource: JsonObject, scope: str, version: str) -> _RawSpan:
    return _RawSpan(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_span_id=span.parent_span_id.hex(),
        name=span.name,
        started_at=span.start_time_unix_nano,
        ended_at=span.end_time_unix_nano,
        attributes=_pairs(span.attributes),
        failed=span.status.code == _FAILED,
        status_message=span.status.message,
        events=tuple(SpanEvent(clean(item.name), item.time_unix_nano, _pairs(item.attributes)) for item in span.events),
        resource=resource,
        scope=scope,
        scope_version=version,
    )


def _pairs(pairs: Iterable[KeyValue], depth: int = 0) -> JsonObject:
    return {clean(pair.key): _any_value(pair.value, depth) for pair in pairs}


def _any_value(value: AnyValue, depth: int) -> Any:
    kind = value.WhichOneof("value")
    if kind == "string_value":
        return clean(value.string_value)
    if kind is None or depth > DEEPEST:
        return None
    if kind == "array_value":
        return [_any_value(item, depth + 1) for item in value.array_value.values]
    if kind == "kvlist_value":
        return _pairs(value.kvlist_value.values, depth + 1)
    plain = getattr(value, kind)
    if isinstance(plain, bytes):
        return plain.hex()
    return storable(plain)


# JSON


def _json_object(body: bytes, what: str) -> Mapping[str, Any]:
    # What is no text becomes replacement characters: it is wrong in its own span only.
    text = body.decode(json.detect_encoding(body), "replace")
    try:
        content = _loaded(text)
    except ValueError as error:
        raise UndecodableError(f"{what} is not JSON: {error}.") from error
    if not isinstance(content, dict):
        raise UndecodableError(f"{what} is not an OTLP request: it must be a JSON object with `resourceSpans`.")
    return content


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, parse_int=_written_integer)
    except RecursionError:
        return json.loads(_shallow(text), parse_int=_written_integer)


def _written_integer(digits: str) -> int | str:
    """An integer, or its text where it is no int64: Python reads no number of many thousand digits."""
    return int(digits) if len(digits) <= LONGEST_INT64 else digits


def _shallow(text: str) -> str:
    """JSON with null in place of what is nested too deeply."""
    kept: list[str] = []
    depth = begin = 0
    for mark in _TEXT_OR_BRACKET.finditer(text):
        if mark[0] in ("[", "{"):
            depth += 1
            if depth == DEEPEST_JSON + 1:
                kept.append(text[begin : mark.start()])
        elif mark[0] in ("]", "}"):
            if depth == DEEPEST_JSON + 1:
                kept.append("null")
                begin = mark.end()
            depth -= 1
    return "".join((*kept, text[begin:] if depth <= DEEPEST_JSON else ""))


def _json_spans(content: Mapping[str, Any]) -> Iterator[_RawSpan | str]:
    if content and not isinstance(content.get("resourceSpans"), list):
        raise UndecodableError("The JSON object has no list `resourceSpans`; it is not an OTLP trace request.")
    for resource_spans in _parts(content, "resourceSpans"):
        if isinstance(resource_spans, str):
            yield resource_spans
            continue
        resource = _json_pairs(_object(resource_spans, "resource").get("attributes"))
        for list_name, scope_name in _SCOPE_LISTS:
            for scope_spans in _parts(resource_spans, list_name):
                yield from _json_scope(scope_spans, scope_name, resource)


def _json_scope(
    scope_spans: Mapping[str, Any] | str, scope_name: str, resource: JsonObject
) -> Iterator[_RawSpan | str]:
    if isinstance(scope_spans, str):
        yield scope_spans
        return
    scope = _object(scope_spans, scope_name)
    for span in _parts(scope_spans, "spans"):
        if isinstance(span, str):
            yield span
        else:
            yield _of_json(span, resource, _text(scope.get("name")), _text(scope.get("version")))


def _parts(parent: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any] | str]:
    """The objects of a list, and a sentence for each that is none."""
    value = parent.get(name)
    items = value if isinstance(value, list) else [] if value is None else [value]
    for item in items:
        yield item if isinstance(item, dict) and isinstance(value, list) else f"`{name}` is not a list of objects."


def _of_json(span: Mapping[str, Any], resource: JsonObject, scope: str, version: str) -> _RawSpan | str:
    name = _text(span.get("name"))
    status = _object(span, "status")
    try:
        started_at, ended_at = _integer(span.get("startTimeUnixNano")), _integer(span.get("endTimeUnixNano"))
        events = tuple(_json_event(event) for event in _objects(span, "events"))
    except ValueError:
        return f"Span {name[:80]!r} has a time that is no time in nanoseconds."
    return _RawSpan(
        trace_id=_text(span.get("traceId")),
        span_id=_text(span.get("spanId")),
        parent_span_id=_text(span.get("parentSpanId")),
        name=name,
        started_at=started_at,
        ended_at=ended_at,
        attributes=_json_pairs(span.get("attributes")),
        failed=status.get("code") in _ERROR_STATUSES,
        status_message=_text(status.get("message")),
        events=events,
        resource=resource,
        scope=scope,
        scope_version=version,
    )


def _json_event(event: Mapping[str, Any]) -> SpanEvent:
    at = _integer(event.get("timeUnixNano"))
    return SpanEvent(clean(_text(event.get("name"))), at, _json_pairs(event.get("attributes")))


def _objects(parent: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = parent.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _object(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = parent.get(name)
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""


def _integer(value: Any) -> int:
    """An int64 as JSON writes it: text or number, without a detour through a float."""
    if value is None or value == "":
        return 0
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError(f"A {type(value).__name__} is no integer.")
    return int(value)


def _json_pairs(pairs: Any, depth: int = 0) -> JsonObject:
    if not isinstance(pairs, list):
        return {}
    return {
        clean(_text(pair.get("key"))): _json_value(pair.get("value"), depth)
        for pair in pairs
        if isinstance(pair, dict) and "key" in pair
    }


def _json_value(value: Any, depth: int) -> Any:
    """The plain value of an `AnyValue`; None for what is none."""
    if not isinstance(value, dict) or depth > DEEPEST:
        return None
    for kind, read in _KINDS.items():
        if value.get(kind) is not None:
            return read(value[kind], depth)
    return None


def _plain_value(plain: Any, _depth: int) -> Any:
    return storable(plain) if isinstance(plain, str | int | float) else None


def _int_value(plain: Any, depth: int) -> Any:
    try:
        return storable(_integer(plain))
    except ValueError:
        return _plain_value(plain, depth)


def _double_value(plain: Any, depth: int) -> Any:
    try:
        return storable(float(plain))
    except (TypeError, ValueError, OverflowError):
        return _plain_value(plain, depth)


def _array_value(plain: Any, depth: int) -> Any:
    items = plain.get("values") if isinstance(plain, dict) else None
    return [_json_value(item, depth + 1) for item in items] if isinstance(items, list) else []


def _kvlist_value(plain: Any, depth: int) -> Any:
    return _json_pairs(plain.get("values") if isinstance(plain, dict) else None, depth + 1)


_KINDS: Mapping[str, Callable[[Any, int], Any]] = {
    "stringValue": _plain_value,
    "boolValue": _plain_value,
    "intValue": _int_value,
    "doubleValue": _double_value,
    "arrayValue": _array_value,
    "kvlistValue": _kvlist_value,
    "bytesValue": _plain_value,
}
"""How each kind of `AnyValue` is read."""
