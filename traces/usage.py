"""Questions about calls, tokens, cost and time over many spans, as SQL."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import sqlalchemy as sa

from traces.attributes import PLANNING, WORKING_KINDS
from traces.errors import TracesError
from traces.prices import rate_of
from traces.records import (
    TOKEN_CLASSES,
    Arithmetic,
    ArithmeticRow,
    LatencyRow,
    Rates,
    UnpricedModel,
    Usage,
    UsageRow,
    dollars,
)
from traces.rows import USAGE_COLUMNS, Row, stored_rates, usage_of
from traces.schema import rates, spans

HOUR = 3_600_000_000_000
DAY = 24 * HOUR

GROUPS: Mapping[str, sa.Column[Any]] = {
    "model": spans.c.model,
    "provider": spans.c.provider,
    "agent": spans.c.agent,
    "thread": spans.c.thread_id,
    "operation": spans.c.operation,
    "run": spans.c.run_id,
    "step": spans.c.step_id,
    "user": spans.c.user_id,
    "role": spans.c.role,
}
"""What usage can be grouped and filtered by, besides `day` and `hour`."""

TIMES: Mapping[str, int] = {"day": DAY, "hour": HOUR}
FILTERS: Mapping[str, sa.Column[Any]] = {**GROUPS, "status": spans.c.status, "trace": spans.c.trace_id}

OVER_PLANNED = 0.4
"""A run whose planning share is above this was over-planned."""

Timed: TypeAlias = Literal["call", "run"]
"""Model calls, or the computing time of runs: what their parts took, without people."""


@dataclass(frozen=True, slots=True)
class UsageQuery:
    """Which spans of a project, and how to group them. Times are nanoseconds, `until` is exclusive."""

    project: str
    by: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    filters: Mapping[str, Collection[str | None]] = field(default_factory=dict)
    """Name to accepted values, of `FILTERS`; None accepts spans that do not say."""
    in_runs: bool = False
    """Only spans that belong to a run."""
    dearest: bool = False
    """Order by real cost, then by made-up cost, the dearest first; else by group."""
    limit: int | None = None
    illustrative: bool | None = None
    """Only what was charged at made-up rates, or only the rest, what has no price included; None: both."""


def conditions(query: UsageQuery) -> list[sa.ColumnElement[bool]]:
    """The WHERE of a query; TracesError for a filter that there is not."""
    clauses: list[sa.ColumnElement[bool]] = [spans.c.project == query.project]
    if query.since is not None:
        clauses.append(spans.c.started_at >= query.since)
    if query.until is not None:
        clauses.append(spans.c.started_at < query.until)
    if query.in_runs:
        clauses.append(spans.c.run_id.is_not(None))
    if query.illustrative is not None:
        clauses.append(spans.c.illustrative == query.illustrative)
    clauses += [_accepts(name, accepted) for name, accepted in query.filters.items()]
    return clauses


def _accepts(name: str, accepted: Collection[str | None]) -> sa.ColumnElement[bool]:
    column = FILTERS.get(name)
    if column is None:
        raise TracesError(f"There is no filter {name!r}; the choice is: {', '.join(FILTERS)}.")
    words = [value for value in accepted if value is not None]
    clause: sa.ColumnElement[bool] = column.in_(words)
    return sa.or_(clause, column.is_(None)) if None in accepted else clause


def usage(connection: sa.Connection, query: UsageQuery) -> list[UsageRow]:
    """One row a group; without groups one row, also if there is nothing."""
    groups = [_group(name).label(f"group_{name}") for name in query.by]
    figures = _figures()
    chosen = sa.select(*groups, *figures).where(*conditions(query), _matters())
    if groups:
        money = (_cost_where(sa.not_(spans.c.illustrative)), _cost_where(spans.c.illustrative))
        order = [sa.desc(sa.func.coalesce(cost, 0)) for cost in money] if query.dearest else []
        chosen = chosen.group_by(*groups).order_by(*order, *(group.nulls_last() for group in groups))
    if query.limit is not None:
        chosen = chosen.limit(query.limit)
    return [_usage_row(query.by, row) for row in connection.execute(chosen)]


def _group(name: str) -> sa.ColumnElement[Any]:
    if name in TIMES:
        return _start_of(spans.c.started_at, name)
    if name not in GROUPS:
        choice = ", ".join((*TIMES, *GROUPS))
        raise TracesError(f"Usage cannot be grouped by {name!r}; the choice is: {choice}.")
    return GROUPS[name]


def _start_of(moment: sa.ColumnElement[Any], name: str) -> sa.ColumnElement[Any]:
    # Written out: PostgreSQL takes two parameters of one value for two expressions.
    return moment - moment % sa.literal_column(str(TIMES[name]))


def _matters() -> sa.ColumnElement[bool]:
    return sa.or_(spans.c.is_call, spans.c.counted)


def _number_of(*clauses: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.coalesce(sa.func.sum(sa.case((sa.and_(*clauses), 1), else_=0)), 0)


def _counted(column: str) -> sa.ColumnElement[Any]:
    return sa.func.sum(sa.case((spans.c.counted, spans.c[column])))


def _cost_where(clause: sa.ColumnElement[bool]) -> sa.ColumnElement[Any]:
    return sa.func.sum(sa.case((sa.and_(spans.c.counted, clause), spans.c.cost)))


def _figures() -> list[sa.Label[Any]]:
    own_call = sa.and_(spans.c.is_call, sa.not_(spans.c.covered))
    priced = sa.and_(spans.c.counted, spans.c.cost.is_not(None))
    columns = [spans.c[f"{name}_tokens"] for name in ("input", "output", "cache_read", "cache_write", "reasoning")]
    return [
        _number_of(spans.c.is_call).label("calls"),
        _number_of(spans.c.is_call, spans.c.status == "error").label("errors"),
        _number_of(own_call, spans.c.cost.is_(None), spans.c.usage_state == "known").label("unpriced_calls"),
        _number_of(own_call, spans.c.usage_state == "unknown").label("calls_without_usage"),
        _number_of(own_call, spans.c.usage_state == "invalid").label("calls_with_invalid_usage"),
        _number_of(priced, spans.c.illustrative).label("illustrative_calls"),
        _number_of(priced, spans.c.price_source == "reported").label("reported_calls"),
        *(_counted(column.name).label(column.name) for column in columns),
        _counted("cost").label("cost"),
        _cost_where(spans.c.illustrative).label("illustrative_cost"),
    ]


def _usage_row(by: Sequence[str], row: Row) -> UsageRow:
    values = row._mapping
    nothing = 0 if values["calls"] == 0 else None
    any_known = values["input_tokens"] is not None or values["output_tokens"] is not None
    detail = 0 if any_known else nothing
    return UsageRow(
        group={name: _group_text(name, values[f"group_{name}"]) for name in by},
        calls=int(values["calls"]),
        errors=int(values["errors"]),
        input_tokens=_known(values["input_tokens"], nothing),
        output_tokens=_known(values["output_tokens"], nothing),
        cache_read_tokens=_known(values["cache_read_tokens"], detail),
        cache_write_tokens=_known(values["cache_write_tokens"], detail),
        reasoning_tokens=_known(values["reasoning_tokens"], detail),
        cost=_known(values["cost"], nothing),
        unpriced_calls=int(values["unpriced_calls"]),
        calls_without_usage=int(values["calls_without_usage"]),
        calls_with_invalid_usage=int(values["calls_with_invalid_usage"]),
        illustrative_calls=int(values["illustrative_calls"]),
        reported_calls=int(values["reported_calls"]),
        illustrative_cost=_known(values["illustrative_cost"], None),
    )


def _known(value: Any, otherwise: int | None) -> int | None:
    return otherwise if value is None else int(value)


def _group_text(name: str, value: Any) -> str | None:
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
    tokens = sa.func.sum(sa.func.coalesce(spans.c.input_tokens, 0) + sa.func.coalesce(spans.c.output_tokens, 0))
    own = [spans.c.is_call, sa.not_(spans.c.covered), spans.c.cost.is_(None), spans.c.usage_state == "known"]
    chosen = (
        sa.select(spans.c.model, spans.c.provider, sa.func.count().label("calls"), tokens.label("tokens"))
        .where(*conditions(query), *own)
        .group_by(spans.c.model, spans.c.provider)
        .order_by(sa.desc("tokens"), spans.c.model)
    )
    return [UnpricedModel(row[0], row[1], int(row[2]), int(row[3])) for row in connection.execute(chosen)]


def latency(
    connection: sa.Connection, query: UsageQuery, *, of: Timed, by: Literal["day", "hour"] | None
) -> list[LatencyRow]:
    """Percentiles of what ended; spans that ended before they started are left out."""
    timed = _durations(query, of).subquery()
    bucket = _start_of(timed.c.started_at, by) if by else sa.literal_column("0")
    ranked = sa.select(
        bucket.label("bucket"),
        timed.c.duration,
        sa.func.row_number().over(partition_by=bucket, order_by=timed.c.duration).label("rank"),
        sa.func.count().over(partition_by=bucket).label("count"),
    ).subquery()
    percentiles = [
        # The nearest rank: the first whose share of the whole is at least that percentage.
        sa.func.min(sa.case((ranked.c.rank * 100 >= ranked.c.count * percent, ranked.c.duration)))
        for percent in (50, 95, 99)
    ]
    chosen = sa.select(ranked.c.bucket, sa.func.max(ranked.c.count), *percentiles).group_by(ranked.c.bucket)
    return [
        LatencyRow(_group_text(by, row[0]) if by else None, *(int(value) for value in row[1:]))
        for row in connection.execute(chosen.order_by(ranked.c.bucket))
    ]


def _durations(query: UsageQuery, of: Timed) -> sa.Select[Any, Any]:
    ended = [*conditions(query), spans.c.ended_at >= spans.c.started_at]
    if of == "call":
        return sa.select(spans.c.started_at, spans.c.duration).where(*ended, spans.c.is_call)
    return (
        sa.select(
            sa.func.min(spans.c.started_at).label("started_at"),
            sa.cast(sa.func.sum(spans.c.duration), sa.BigInteger).label("duration"),
        )
        .where(*ended, spans.c.kind.in_(WORKING_KINDS), spans.c.run_id.is_not(None))
        .group_by(spans.c.run_id)
    )


def computing_times(connection: sa.Connection, project: str, run_ids: Collection[str]) -> dict[str, int]:
    """Nanoseconds in which each run worked, without people; runs without finished parts are left out."""
    parts = (
        sa.select(spans.c.run_id, spans.c.started_at, spans.c.ended_at)
        .where(spans.c.project == project, spans.c.run_id.in_(list(run_ids)), spans.c.kind.in_(WORKING_KINDS))
        .where(spans.c.ended_at >= spans.c.started_at)
        .order_by(spans.c.run_id, spans.c.started_at)
    )
    worked: dict[str, int] = {}
    reached: dict[str, int] = {}
    for run_id, started_at, ended_at in connection.execute(parts):
        begin = max(started_at, reached.get(run_id, started_at))
        worked[run_id] = worked.get(run_id, 0) + max(0, ended_at - begin)
        reached[run_id] = max(ended_at, reached.get(run_id, ended_at))
    return worked


def arithmetic(connection: sa.Connection, query: UsageQuery) -> Arithmetic:
    """A figure opened to tokens × rate, by entry of the price book."""
    where = conditions(query)
    rows = [
        row
        for entry, classes in _tokens_by_entry(connection, where, query.project)
        for row in _arithmetic_rows(entry, classes)
    ]
    counted = sa.and_(spans.c.counted, spans.c.cost.is_not(None))
    reported = sa.and_(counted, spans.c.price_source == "reported")
    has_usage = sa.or_(spans.c.input_tokens.is_not(None), spans.c.output_tokens.is_not(None))
    sums = connection.execute(
        sa.select(
            sa.func.sum(sa.case((counted, spans.c.cost))),
            _number_of(spans.c.is_call),
            sa.func.sum(sa.case((reported, spans.c.cost))),
            _number_of(reported),
            _number_of(counted),
            _number_of(has_usage, sa.not_(spans.c.counted)),
        ).where(*where)
    ).one()
    cost = None if sums[0] is None else int(sums[0])
    claimed = dollars(int(sums[2] or 0))
    parts = sum((row.cost for row in rows if row.cost is not None), Decimal(0))
    return Arithmetic(
        rows=tuple(rows),
        reported=claimed,
        reported_calls=int(sums[3]),
        rounding=dollars(cost or 0) - parts - claimed,
        cost=cost,
        calls=int(sums[1]),
        priced_spans=int(sums[4]),
        not_counted=int(sums[5]),
    )


def _tokens_by_entry(
    connection: sa.Connection, where: Sequence[sa.ColumnElement[bool]], project: str
) -> Iterator[tuple[Rates | None, dict[str, int]]]:
    """Entry of the price book, None for no price, with the tokens of each class that were charged by it."""
    known = {
        row.rates_id: stored_rates(row)
        for row in connection.execute(sa.select(rates).where(rates.c.project == project))
    }
    not_reported = sa.or_(spans.c.price_source.is_(None), spans.c.price_source != "reported")
    fits = _fits()
    sums_of = [sa.func.sum(spans.c[column]).label(column) for column in USAGE_COLUMNS.values()]
    grouped = sa.select(spans.c.rates_id, *fits, *sums_of).where(*where, spans.c.counted, not_reported)
    sums: dict[str | None, dict[str, int]] = {}
    for row in connection.execute(grouped.group_by(spans.c.rates_id, *fits)):
        classes = sums.setdefault(row.rates_id, {})
        for token_class, tokens in _fitting_usage(row).classes().items():
            classes[token_class] = classes.get(token_class, 0) + tokens
    for key, classes in sorted(sums.items(), key=lambda item: (item[0] is None, -sum(item[1].values()))):
        yield known.get(key) if key else None, classes


def _fits() -> list[sa.Label[int]]:
    """Which details of a span fit into their whole, as `Usage.classes` decides it, so that sums may be split."""
    count = {name: sa.func.coalesce(spans.c[column], 0) for name, column in USAGE_COLUMNS.items()}
    cached = count["cache_read"] + count["cache_write"]
    cache = sa.and_(count["input"] >= cached, count["cache_write"] >= count["cache_write_1h"])
    reasoning = count["output"] >= count["reasoning"]
    uncached = count["input"] - sa.case((cache, cached), else_=0)
    answer = count["output"] - sa.case((reasoning, count["reasoning"]), else_=0)
    audio_in, audio_out = uncached >= count["input_audio"], answer >= count["output_audio"]
    fits = {"cache": cache, "reasoning": reasoning, "input_audio": audio_in, "output_audio": audio_out}
    return [_as_digit(clause).label(f"fits_{name}") for name, clause in fits.items()]


def _as_digit(clause: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.case((clause, sa.literal_column("1", sa.Integer)), else_=sa.literal_column("0", sa.Integer))


def _fitting_usage(row: Row) -> Usage:
    """The sums of a group without the details that do not fit."""
    usage = usage_of(row)
    if not row.fits_cache:
        usage = replace(usage, cache_read=None, cache_write=None, cache_write_1h=None)
    unfitting = {
        name: None for name in ("reasoning", "input_audio", "output_audio") if not row._mapping[f"fits_{name}"]
    }
    return replace(usage, **unfitting)


def _arithmetic_rows(entry: Rates | None, classes: Mapping[str, int]) -> Iterator[ArithmeticRow]:
    for token_class in TOKEN_CLASSES:
        tokens = classes.get(token_class)
        if not tokens:
            continue
        rate = rate_of(entry, token_class) if entry else None
        cost = None if rate is None else (rate * tokens).scaleb(-6)
        yield ArithmeticRow(token_class, tokens, entry, rate, cost)
