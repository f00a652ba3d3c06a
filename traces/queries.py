"""Which spans a question is about, and from where its sums are read: rollups where they know enough, else spans.

A period is cut into whole days, whole hours and what is left at its edges; each part is read from the coarsest sums
that have it, so that charts over a month read some hundred rows, however many spans there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa

from traces.errors import TracesError
from traces.figures import DAY, HOUR, matters, span_figures, span_keys
from traces.schema import CHARGED, DIMENSIONS, ENTITIES, SUMS, entity_rollups, latencies, rollups, spans

GROUPS: Mapping[str, str] = {
    "model": "model",
    "provider": "provider",
    "agent": "agent",
    "thread": "thread_id",
    "operation": "operation",
    "run": "run_id",
    "step": "step_id",
    "user": "user_id",
    "role": "role",
}
"""What usage can be grouped and filtered by, besides `day` and `hour`, and the column of it."""

TIMES: Mapping[str, int] = {"day": DAY, "hour": HOUR}
FILTERS: Mapping[str, str] = {**GROUPS, "status": "status", "trace": "trace_id"}


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


def span_conditions(query: UsageQuery) -> list[sa.ColumnElement[bool]]:
    """The WHERE of a query over spans; TracesError for a filter that there is not."""
    clauses: list[sa.ColumnElement[bool]] = [spans.c.project == query.project, *_within(query, spans.c.started_at)]
    if query.in_runs:
        clauses.append(spans.c.run_id.is_not(None))
    if query.illustrative is not None:
        clauses.append(spans.c.illustrative == query.illustrative)
    for name, accepted in query.filters.items():
        column = spans.c[_filter_column(name)]
        clause = column.in_([value for value in accepted if value is not None])
        clauses.append(sa.or_(clause, column.is_(None)) if None in accepted else clause)
    return clauses


def _within(query: UsageQuery, moment: sa.ColumnElement[int]) -> Iterator[sa.ColumnElement[bool]]:
    if query.since is not None:
        yield moment >= query.since
    if query.until is not None:
        yield moment < query.until


def _filter_column(name: str) -> str:
    if name not in FILTERS:
        raise TracesError(f"There is no filter {name!r}; the choice is: {', '.join(FILTERS)}.")
    return FILTERS[name]


# From where


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a period with the table that has its sums; `grain` is `day`, `hour` or `span`."""

    grain: str
    since: int | None
    until: int | None


def parts_of(since: int | None, until: int | None, grains: tuple[str, ...]) -> list[Part]:
    """A period as parts that do not overlap, each of the first of these grains that fits; what is left is spans."""
    if since is not None and until is not None and since >= until:
        return []
    if not grains:
        return [Part("span", since, until)]
    grain, *finer = grains
    length = TIMES[grain]
    first = None if since is None else since + -since % length
    last = None if until is None else until - until % length
    if first is not None and last is not None and first >= last:
        return parts_of(since, until, tuple(finer))
    before = parts_of(since, first, tuple(finer)) if first is not None else []
    after = parts_of(last, until, tuple(finer)) if last is not None else []
    return [*before, Part(grain, first, last), *after]


def figure_source(query: UsageQuery) -> sa.Subquery:
    """The sums that a query is about, with every dimension that it groups or filters by, already filtered."""
    asked = {_filter_column(name) for name in query.filters} | {_group_column(name) for name in query.by} - {""}
    table = _table_for(asked, query)
    grains = _grains(table, query)
    names = tuple(dict.fromkeys((*(name for name in asked if name != "trace_id"), *CHARGED)))
    selects = [_select(part, table, query, names) for part in parts_of(query.since, query.until, grains)]
    if not selects:
        selects = [_select(Part("span", 0, 0), None, query, names)]
    return sa.union_all(*selects).subquery("figures")


def _group_column(name: str) -> str:
    if name in TIMES:
        return ""
    if name not in GROUPS:
        choice = ", ".join((*TIMES, *GROUPS))
        raise TracesError(f"Usage cannot be grouped by {name!r}; the choice is: {choice}.")
    return GROUPS[name]


def _table_for(asked: Collection[str], query: UsageQuery) -> sa.Table | None:
    """The rollups that know every dimension asked for; None where only the spans do, or are few."""
    if set(asked) <= set(DIMENSIONS):
        return rollups
    # The spans of some runs or threads are found by their index at once.
    few = {"run", "thread", "trace"} & set(query.filters)
    if set(asked) <= {*DIMENSIONS, *ENTITIES} and not few:
        return entity_rollups
    return None


def _grains(table: sa.Table | None, query: UsageQuery) -> tuple[str, ...]:
    if table is None or (table is entity_rollups and "hour" in query.by):
        return ()
    if table is entity_rollups:
        return ("day",)
    return ("hour",) if "hour" in query.by else ("day", "hour")


def _select(part: Part, table: sa.Table | None, query: UsageQuery, names: tuple[str, ...]) -> sa.Select[Any]:
    within = replace(query, since=part.since, until=part.until)
    if table is None or part.grain == "span":
        keys, figures = span_keys(), span_figures()
        keys["step_id"] = sa.func.coalesce(spans.c.step_id, "")
        columns = [keys[name].label(name) for name in names]
        sums = [figures[name].label(name) for name in SUMS]
        return sa.select(spans.c.started_at.label("at"), *columns, *sums).where(*span_conditions(within), matters())
    clauses = [table.c.project == query.project, *_within(within, table.c.at)]
    if table is rollups:
        clauses.append(table.c.grain == part.grain)
    return sa.select(table.c.at, *(table.c[name] for name in (*names, *SUMS))).where(
        *clauses, *_rollup_conditions(query, table)
    )


def _rollup_conditions(query: UsageQuery, table: sa.Table) -> Iterator[sa.ColumnElement[bool]]:
    if query.in_runs:
        yield table.c.in_run
    if query.illustrative is not None and "illustrative" in table.c:
        yield table.c.illustrative == query.illustrative
    for name, accepted in query.filters.items():
        yield table.c[_filter_column(name)].in_([value or "" for value in accepted])


def latency_source(query: UsageQuery, by: str | None) -> list[sa.Select[Any]] | None:
    """Buckets of durations of model calls with their number, by `at`; None where only the spans know."""
    asked = {_filter_column(name) for name in query.filters}
    if not asked <= set(DIMENSIONS) or query.illustrative is not None:
        return None
    parts = parts_of(query.since, query.until, ("hour",) if by == "hour" else ("day", "hour"))
    table = latencies
    return [
        sa.select(table.c.at, table.c.bucket, table.c.calls).where(
            table.c.project == query.project,
            table.c.grain == part.grain,
            *_within(replace(query, since=part.since, until=part.until), table.c.at),
            *_rollup_conditions(query, table),
        )
        for part in parts
        if part.grain != "span"
    ]
