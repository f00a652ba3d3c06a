"""Questions about calls, tokens and cost over many spans, as SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import RowMapping

from traces.attributes import PLANNING
from traces.figures import USAGE_COLUMNS, unfitting
from traces.prices import rate_of
from traces.queries import GROUPS, TIMES, UsageQuery, figure_source
from traces.records import (
    TOKEN_CLASSES,
    Arithmetic,
    ArithmeticRow,
    Rates,
    UnpricedModel,
    UsageRow,
    dollars,
)
from traces.rows import Row, stored_rates, usage_of
from traces.schema import SUMS, rates

OVER_PLANNED = 0.4
"""A run whose planning share is above this was over-planned."""


def usage(connection: sa.Connection, query: UsageQuery) -> list[UsageRow]:
    """One row a group; without groups one row, also if there is nothing."""
    source = figure_source(query)
    groups = [_group(source, name).label(f"group_{name}") for name in query.by]
    sums = {name: _sum(source, name) for name in SUMS}
    chosen = sa.select(*groups, *(column.label(name) for name, column in sums.items()))
    if groups:
        money = (sums["cost"] - sums["illustrative_cost"], sums["illustrative_cost"])
        order = [sa.desc(amount) for amount in money] if query.dearest else []
        # A group of spans that only repeat others has nothing to tell.
        tells = sums["calls"] + sums["input_known"] + sums["output_known"] + sums["priced_spans"]
        chosen = chosen.group_by(*groups).having(tells > 0)
        chosen = chosen.order_by(*order, *(group.nulls_last() for group in groups))
    if query.limit is not None:
        chosen = chosen.limit(query.limit)
    return [usage_row(query.by, row) for row in connection.execute(chosen)]


def _group(source: sa.Subquery, name: str) -> sa.ColumnElement[Any]:
    if name in TIMES:
        return start_of(source.c.at, name)
    return sa.func.nullif(source.c[GROUPS[name]], sa.literal_column("''"))


def start_of(moment: sa.ColumnElement[Any], name: str) -> sa.ColumnElement[Any]:
    """The start of the day or hour of a moment, in UTC."""
    # Written out: PostgreSQL takes two parameters of one value for two expressions.
    return moment - moment % sa.literal_column(str(TIMES[name]))


def _sum(source: sa.Subquery, name: str) -> sa.ColumnElement[int]:
    # PostgreSQL's sum of int8 is a numeric.
    return sa.cast(sa.func.coalesce(sa.func.sum(source.c[name]), 0), sa.BigInteger)


def usage_row(by: Sequence[str], row: Row) -> UsageRow:
    """A row of sums as a record: what no counted span knows is None."""
    values = row._mapping
    calls = int(values["calls"])
    nothing = 0 if calls == 0 else None
    given = _known(values, "input_tokens", "input_known", nothing)
    made = _known(values, "output_tokens", "output_known", nothing)
    known = given is not None or made is not None
    details = {
        name: int(values[name]) or (0 if known else nothing)
        for name in ("cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
    }
    return UsageRow(
        group={name: group_text(name, values[f"group_{name}"]) for name in by},
        calls=calls,
        errors=int(values["errors"]),
        input_tokens=given,
        output_tokens=made,
        cost=_known(values, "cost", "priced_spans", nothing),
        unpriced_calls=int(values["unpriced_calls"]),
        calls_without_usage=int(values["calls_without_usage"]),
        calls_with_invalid_usage=int(values["calls_with_invalid_usage"]),
        illustrative_calls=int(values["illustrative_calls"]),
        reported_calls=int(values["reported_calls"]),
        illustrative_cost=_known(values, "illustrative_cost", "illustrative_calls", None),
        **details,
    )


def _known(values: RowMapping, name: str, count: str, otherwise: int | None) -> int | None:
    return int(values[name]) if values[count] else otherwise


def group_text(name: str, value: Any) -> str | None:
    """What a group is called: a day or hour in UTC, or the value itself."""
    if value is None or name not in TIMES:
        return None if value is None else str(value)
    moment = datetime.fromtimestamp(int(value) // 1_000_000_000, UTC)
    return moment.strftime("%Y-%m-%d" if name == "day" else "%Y-%m-%dT%H:00:00Z")


def planning_share(rows: Sequence[UsageRow]) -> float | None:
    """Tokens of planning as a share of all tokens, from rows grouped by role; None without tokens."""
    every = sum(row.tokens or 0 for row in rows)
    planning = sum(row.tokens or 0 for row in rows if row.group.get("role") == PLANNING)
    return planning / every if every else None


def over_planned(share: float | None) -> bool:
    """Whether too much of the work went into planning; not said where the share is unknown."""
    return share is not None and share > OVER_PLANNED


def unpriced_models(connection: sa.Connection, query: UsageQuery) -> list[UnpricedModel]:
    """Models whose calls have tokens and no price, those with most tokens first."""
    source = figure_source(replace(query, by=("model", "provider")))
    model, provider = _group(source, "model"), _group(source, "provider")
    calls, tokens = _sum(source, "unpriced_calls"), _sum(source, "unpriced_tokens")
    chosen = sa.select(model, provider, calls, tokens).group_by(model, provider).having(calls > 0)
    found = connection.execute(chosen.order_by(sa.desc(tokens), model))
    return [UnpricedModel(row[0], row[1], int(row[2]), int(row[3])) for row in found]


def arithmetic(connection: sa.Connection, query: UsageQuery) -> Arithmetic:
    """A figure opened to tokens × rate, by entry of the price book."""
    query = replace(query, by=())
    rows = [row for entry, classes in _tokens_by_entry(connection, query) for row in _arithmetic_rows(entry, classes)]
    source = figure_source(query)
    sums = connection.execute(sa.select(*(_sum(source, name).label(name) for name in SUMS))).one()
    cost = int(sums.cost) if sums.priced_spans else None
    claimed = dollars(int(sums.reported_cost))
    parts = sum((row.cost for row in rows if row.cost is not None), Decimal(0))
    return Arithmetic(
        rows=tuple(rows),
        reported=claimed,
        reported_calls=int(sums.reported_calls),
        rounding=dollars(cost or 0) - parts - claimed,
        cost=cost,
        calls=int(sums.calls),
        priced_spans=int(sums.priced_spans),
        not_counted=int(sums.not_counted),
    )


def _tokens_by_entry(connection: sa.Connection, query: UsageQuery) -> Iterator[tuple[Rates | None, dict[str, int]]]:
    """Entry of the price book, None for no price, with the tokens of each class that were charged by it."""
    known = {
        row.rates_id: stored_rates(row)
        for row in connection.execute(sa.select(rates).where(rates.c.project == query.project))
    }
    source = figure_source(query)
    sums_of = [_sum(source, column).label(column) for column in USAGE_COLUMNS.values()]
    grouped = sa.select(source.c.rates_id, source.c.fits, *sums_of).where(source.c.price_source != "reported")
    sums: dict[str, dict[str, int]] = {}
    for row in connection.execute(grouped.group_by(source.c.rates_id, source.c.fits)):
        classes = sums.setdefault(row.rates_id, {})
        counts = usage_of(row)
        for token_class, tokens in replace(counts, **unfitting(row.fits)).classes().items():
            classes[token_class] = classes.get(token_class, 0) + tokens
    for key, classes in sorted(sums.items(), key=lambda item: (item[0] == "", -sum(item[1].values()))):
        yield known.get(key), classes


def _arithmetic_rows(entry: Rates | None, classes: Mapping[str, int]) -> Iterator[ArithmeticRow]:
    for token_class in TOKEN_CLASSES:
        tokens = classes.get(token_class)
        if not tokens:
            continue
        rate = rate_of(entry, token_class) if entry else None
        cost = None if rate is None else (rate * tokens).scaleb(-6)
        yield ArithmeticRow(token_class, tokens, entry, rate, cost)
