"""Records to rows of the tables and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from operator import attrgetter
from typing import Any

import sqlalchemy as sa

from traces.figures import USAGE_COLUMNS
from traces.records import PricedSpan, Rates, SpanBody, SpanEvent, StoredSpan, Usage

Row = sa.Row[Any]

_SAME = (
    *("trace_id", "span_id", "parent_span_id", "name", "kind", "operation", "provider", "model", "request_model"),
    *("response_model", "service_tier", "tool", "agent", "thread_id", "run_id", "step_id", "attempt", "role", "scope"),
    *("scope_version", "started_at", "ended_at", "duration", "status", "error", "usage_state", "attributes"),
)
"""Fields that have a column of the same name."""


_same_of = attrgetter(*_SAME)
_usage_of = attrgetter(*USAGE_COLUMNS)


def span_row(project: str, priced: PricedSpan, rates: str | None) -> dict[str, Any]:
    """The row of a span, before the counting of its trace; `rates` is the id of its entry of the price book."""
    span, price = priced.span, priced.priced
    return {
        "project": project,
        **dict(zip(_SAME, _same_of(span), strict=True)),
        **dict(zip(USAGE_COLUMNS.values(), _usage_of(span.usage), strict=True)),
        "user_id": span.user,
        "cost": price.cost,
        "price_source": price.price_source,
        "rates_id": rates,
        "illustrative": price.illustrative,
        "model_call": span.model_call,
        "is_call": False,
        "counted": False,
        "covered": False,
        "not_itemised": None,
        "flags": [*span.flags, *price.flags],
    }


def stored_span(row: Row) -> StoredSpan:
    """The span of a row."""
    values = row._mapping
    flags = [*values["flags"], *(["not_itemised"] if values["not_itemised"] else [])]
    return StoredSpan(
        project=values["project"],
        **{name: values[name] for name in _SAME},
        user=values["user_id"],
        usage=usage_of(row),
        cost=values["cost"],
        price_source=values["price_source"],
        illustrative=values["illustrative"],
        is_call=values["is_call"],
        counted=values["counted"],
        flags=tuple(flags),
    )


def usage_of(row: Row) -> Usage:
    """The token counts of a row."""
    return Usage(**{name: _count(row._mapping[column]) for name, column in USAGE_COLUMNS.items()})


def _count(value: Any) -> int | None:
    return None if value is None else int(value)


def span_body(value: Mapping[str, Any]) -> SpanBody:
    """The body of a stored JSON value."""
    return SpanBody(
        attributes=value.get("attributes", {}),
        events=tuple(SpanEvent(item["name"], item["at"], item["attributes"]) for item in value.get("events", ())),
        resource=value.get("resource", {}),
    )


def rates_id(rates: Rates) -> str:
    """The same for the same entry and rates."""
    return hashlib.sha256(json.dumps(_rates_values(rates), sort_keys=True).encode()).hexdigest()[:24]


def rates_row(project: str, rates: Rates) -> dict[str, Any]:
    """The row of an entry of a price book."""
    return {"project": project, "rates_id": rates_id(rates), **_rates_values(rates)}


def _rates_values(rates: Rates) -> dict[str, Any]:
    return {
        "entry": rates.entry,
        "source": rates.source,
        "since": rates.since,
        "service_tier": rates.service_tier,
        "illustrative": rates.illustrative,
        "per_million": {name: format(rate.normalize(), "f") for name, rate in sorted(rates.per_million.items())},
    }


def stored_rates(row: Row) -> Rates:
    """The entry of a row."""
    values = row._mapping
    return Rates(
        entry=values["entry"],
        source=values["source"],
        per_million={name: Decimal(rate) for name, rate in values["per_million"].items()},
        since=values["since"],
        service_tier=values["service_tier"],
        illustrative=values["illustrative"],
    )


def better(new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    """Whether a span that came again replaces the row that is there: ended, then knows more, then ends later.

    The same span again is no better, so that it keeps the price at which it was first counted.
    """
    return _rank(new) > _rank(old)


def _rank(row: Mapping[str, Any]) -> tuple[bool, int, int]:
    ended_at = row["ended_at"]
    known = sum(row[column] is not None for column in USAGE_COLUMNS.values())
    return ended_at is not None, known, ended_at or 0
