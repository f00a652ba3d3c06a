"""Spans of any convention in the words of this package. Pure; the conventions' names are in `traces.conventions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from traces import attributes as marks
from traces import values
from traces.conventions import (
    BODY_ATTRIBUTES,
    BODY_PREFIXES,
    BY_ATTRIBUTE,
    KINDS,
    MODEL_OPERATIONS,
    NO_ERRORS,
    OPERATION_ALIASES,
    OPERATION_SOURCES,
    PROVIDER_SUFFIXES,
    PROVIDER_WORDS,
    QUANTITIES,
    SPAN_NAMES,
    WORDS,
    Source,
)
from traces.records import JsonObject, NormalisedSpan, SpanRecord, SpanStatus, Usage, UsageState
from traces.values import InvalidValueError, clean

OUTPUTLESS_OPERATIONS = frozenset({"embeddings"})
"""Operations of which nobody expects output tokens."""

# Logfire sends a sign of life for a span that still runs, under an id of its own.
_PENDING, _PENDING_PARENT = "logfire.span_type", "logfire.pending_parent_id"


def normalise(record: SpanRecord) -> NormalisedSpan:
    """The span in our words. Never refuses: what cannot be understood is unknown, and flagged where it was there."""
    record = _real(record)
    given = record.attributes
    sources = sources_in(given)
    words = {name: values.word(given, sources[name]) if name in sources else None for name in WORDS}
    counts = _counts(given, sources)
    model = words["response_model"] or words["request_model"]
    operation = _operation(record, has_model_usage=model is not None and counts.usage.weight is not None)
    cost, cost_flags = _reported_cost(given, sources)
    status, error = _status(record)
    kept, body = _parted(record)
    pending = _is_pending(given)
    usage = Usage() if pending else counts.usage
    return NormalisedSpan(
        trace_id=record.trace_id,
        span_id=record.span_id,
        parent_span_id=record.parent_span_id,
        name=record.name,
        kind=_kind(given, operation),
        operation=operation,
        provider=_provider(words["provider"]),
        model=model,
        request_model=words["request_model"],
        response_model=words["response_model"],
        service_tier=words["service_tier"].lower() if words["service_tier"] else None,
        tool=words["tool"],
        agent=words["agent"],
        thread_id=words["thread_id"],
        run_id=words["run_id"],
        step_id=words["step_id"],
        attempt=_attempt(given),
        role=words["role"],
        user=words["user"],
        scope=record.scope,
        scope_version=record.scope_version,
        started_at=record.started_at,
        ended_at=record.ended_at,
        status=status,
        error=error,
        usage=usage,
        usage_state=_usage_state(usage, counts.invalid, operation),
        model_call=operation in MODEL_OPERATIONS and not pending,
        reported_cost=cost,
        flags=(*counts.flags, *cost_flags, *_time_flags(record)),
        attributes=kept,
        body=body,
    )


def sources_in(given: Mapping[str, Any]) -> dict[str, list[Source]]:
    """The sources of each quantity and word at which these attributes have something, the one that wins first."""
    ranked: dict[str, list[tuple[int, Source]]] = {}
    for attribute in given.keys() & BY_ATTRIBUTE.keys():
        for name, rank, source in BY_ATTRIBUTE[attribute]:
            ranked.setdefault(name, []).append((rank, source))
    return {name: [source for _, source in sorted(places, key=_rank)] for name, places in ranked.items()}


def _rank(place: tuple[int, Source]) -> int:
    return place[0]


def _is_pending(given: Mapping[str, Any]) -> bool:
    return given.get(_PENDING) == "pending_span"


def _real(record: SpanRecord) -> SpanRecord:
    """A placeholder as the span that it stands for; any other span as it is."""
    if not _is_pending(record.attributes) or record.parent_span_id is None:
        return record
    parent = str(record.attributes.get(_PENDING_PARENT, "")).lower()
    return replace(
        record,
        span_id=record.parent_span_id,
        parent_span_id=parent if parent.strip("0") else None,
        ended_at=None,
    )


@dataclass(frozen=True, slots=True)
class _Counts:
    usage: Usage
    invalid: bool
    flags: tuple[str, ...]


def _counts(given: Mapping[str, Any], sources: Mapping[str, Sequence[Source]]) -> _Counts:
    """One value a quantity, and what input and output mean by arithmetic."""
    raw: dict[str, int | None] = dict.fromkeys(QUANTITIES)
    flags: list[str] = []
    for name in QUANTITIES:
        if name not in sources:
            continue
        try:
            raw[name] = values.tokens(given, sources[name])
        except InvalidValueError:
            flags.append(f"invalid_{name}_tokens")
    invalid = "invalid_input_tokens" in flags or "invalid_output_tokens" in flags
    total = raw.pop("total")
    raw["input"], input_flags = _whole_input(raw, total)
    raw["output"], output_flags = _whole_output(raw, total)
    usage = Usage(**raw)
    return _Counts(usage, invalid, (*flags, *input_flags, *output_flags, *_detail_flags(usage)))


def _whole_input(raw: Mapping[str, int | None], total: int | None) -> tuple[int | None, list[str]]:
    """Input with cached tokens inside: a sum where the emitter counts the cache outside."""
    given, output = raw["input"], raw["output"] or 0
    cached = (raw["cache_read"] or 0) + (raw["cache_write"] or 0)
    if given is None or not cached:
        return given, []
    if total == given + cached + output or cached > given:
        return given + cached, ["cache_outside_input"]
    return given, []


def _whole_output(raw: Mapping[str, int | None], total: int | None) -> tuple[int | None, list[str]]:
    """Output with reasoning inside: a sum where the emitter counts the reasoning outside."""
    output, reasoning = raw["output"], raw["reasoning"] or 0
    if output is None or not reasoning or total is None:
        return output, []
    if total == (raw["input"] or 0) + output + reasoning:
        return output + reasoning, ["reasoning_outside_output"]
    return output, []


def _detail_flags(usage: Usage) -> list[str]:
    details = {
        "reasoning_exceeds_output": (usage.reasoning, usage.output),
        "cache_write_1h_exceeds_cache_write": (usage.cache_write_1h, usage.cache_write),
    }
    return [flag for flag, (part, whole) in details.items() if part and whole is not None and part > whole]


def _usage_state(usage: Usage, invalid: bool, operation: str | None) -> UsageState:
    if invalid:
        return "invalid"
    output_known = usage.output is not None or operation in OUTPUTLESS_OPERATIONS
    return "known" if usage.input is not None and output_known else "unknown"


def _reported_cost(
    given: Mapping[str, Any], sources: Mapping[str, Sequence[Source]]
) -> tuple[Decimal | None, tuple[str, ...]]:
    try:
        return values.amount(given, sources.get("cost", ())), ()
    except InvalidValueError:
        return None, ("invalid_reported_cost",)


def _operation(record: SpanRecord, *, has_model_usage: bool) -> str | None:
    given: Mapping[str, Any] = record.attributes
    for other, name in OPERATION_ALIASES.items():
        if other in given and name not in given:
            given = {**given, name: given[other]}
    for source, table in OPERATION_SOURCES:
        if source.attribute not in given:
            continue
        value = values.found(given, source)
        if isinstance(value, str) and value.strip():
            said = clean(value).lower().split()[0]
            return table.get(said, said)
    if record.name in SPAN_NAMES:
        return SPAN_NAMES[record.name]
    if "gen_ai.tool.name" in given:
        return "execute_tool"
    first = record.name.split(" ")[0]
    if first in MODEL_OPERATIONS and "gen_ai.request.model" in given:
        return first
    return "chat" if has_model_usage and marks.KIND not in given else None


def _kind(given: Mapping[str, Any], operation: str | None) -> str:
    part = given.get(marks.KIND)
    if isinstance(part, str) and part:
        return part
    return KINDS.get(operation or "", "span")


def _provider(said: str | None) -> str | None:
    if said is None:
        return None
    name = said.lower()
    for suffix in PROVIDER_SUFFIXES:
        name = name.removesuffix(suffix)
    return PROVIDER_WORDS.get(name, name) or None


def _attempt(given: Mapping[str, Any]) -> int | None:
    value = given.get(marks.ATTEMPT)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else None


def _status(record: SpanRecord) -> tuple[SpanStatus, str | None]:
    if record.failed and not _is_pause(record):
        return "error", _error_text(record)
    return ("running" if record.ended_at is None else "ok"), None


def _is_pause(record: SpanRecord) -> bool:
    return _class_name(record.attributes.get("error.type")) in NO_ERRORS or any(
        _class_name(event.attributes.get("exception.type")) in NO_ERRORS for event in record.events
    )


def _class_name(value: object) -> str:
    return str(value or "").rsplit(".", 1)[-1]


def _error_text(record: SpanRecord) -> str:
    """What went wrong, in the first words that the span has for it."""
    exceptions = (event.attributes.get("exception.message") for event in record.events if event.name == "exception")
    said = record.status_message or next((str(text) for text in exceptions if text), "")
    return said or str(record.attributes.get("error.type") or "failed, no reason given")


def _time_flags(record: SpanRecord) -> tuple[str, ...]:
    ended_early = record.ended_at is not None and record.ended_at < record.started_at
    return ("end_before_start",) if ended_early else ()


def _parted(record: SpanRecord) -> tuple[JsonObject, JsonObject]:
    """Attributes without message bodies, and the bodies with events and resource."""
    kept: JsonObject = {}
    bodies: JsonObject = {}
    for name, value in record.attributes.items():
        (bodies if name in BODY_ATTRIBUTES or name.startswith(BODY_PREFIXES) else kept)[name] = value
    body = {
        "attributes": bodies,
        "events": [{"name": event.name, "at": event.at, "attributes": event.attributes} for event in record.events],
        "resource": dict(record.resource),
    }
    return kept, {name: value for name, value in body.items() if value}
