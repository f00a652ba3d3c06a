"""The store of spans. Writing and counting are one transaction; reading returns records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from traces import usage as questions
from traces.counting import Count, CountableSpan, count_trace
from traces.database import Database
from traces.errors import TracesError
from traces.records import (
    Arithmetic,
    LatencyRow,
    PricedSpan,
    SpanBody,
    StoredSpan,
    TraceSummary,
    UnpricedModel,
    UsageRow,
)
from traces.rows import better, known_counts, rates_row, span_body, span_row, stored_span
from traces.schema import rates, span_bodies, spans
from traces.schema import traces as traces_table
from traces.usage import Timed, UsageQuery

__all__ = ["SpanStore", "UsageQuery", "open_span_store"]

KEYS_AT_ONCE = 500
"""Keys in one statement; SQLite takes a limited number of parameters."""

Key = tuple[str, str]


def open_span_store(url: str) -> SpanStore:
    """Open `sqlite:///PATH` or `postgresql://…`, with the newest schema; TracesError with one sentence if it cannot be.

    Processes and threads may open the same database as often as they like.
    """
    return SpanStore(Database(url))


class SpanStore:
    """Spans of every project in one database; a context manager. Every method may raise TracesError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> SpanStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the database."""
        self._database.close()

    # Writing

    def write(self, project: str, batch: Sequence[PricedSpan]) -> None:
        """Store spans, durable on return. A span that is there is replaced by a better one, never added to it.

        Who is counted in the traces that the spans belong to is decided anew in the same transaction.
        """
        if not batch:
            return
        with self._database.writing() as connection:
            touched = sorted({priced.span.trace_id for priced in batch})
            self._lock_traces(connection, project, touched)
            chosen = _without_worse(connection, project, _best_by_key(batch))
            _replace(connection, project, chosen)
            for begin in range(0, len(touched), KEYS_AT_ONCE):
                _recount(connection, project, touched[begin : begin + KEYS_AT_ONCE])

    def _lock_traces(self, connection: sa.Connection, project: str, trace_ids: Iterable[str]) -> None:
        """Let no other process count the same trace at the same time; SQLite has one writer anyway."""
        if self._database.is_sqlite:
            return
        for trace_id in trace_ids:
            key = sa.func.hashtextextended(f"{project}/{trace_id}", 0)
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))

    # Usage

    def usage(self, query: UsageQuery) -> list[UsageRow]:
        """Calls, tokens and cost by the query's groups."""
        with self._database.reading() as connection:
            return questions.usage(connection, query)

    def usage_total(self, query: UsageQuery) -> UsageRow:
        """The same over all groups."""
        return self.usage(replace(query, by=(), limit=None))[0]

    def run_usage(self, project: str, run_id: str) -> UsageRow:
        """What a run used so far."""
        return self.usage_total(UsageQuery(project, filters={"run": [run_id]}))

    def planning_share(self, query: UsageQuery) -> float | None:
        """Tokens of planning as a share of all tokens of runs, 0 to 1; None without tokens."""
        return questions.planning_share(self.usage(replace(query, by=("role",), in_runs=True, limit=None)))

    def dearest_runs(self, query: UsageQuery, limit: int = 10) -> list[UsageRow]:
        """Runs by cost, the dearest first."""
        return self.usage(replace(query, by=("run",), in_runs=True, dearest=True, limit=limit))

    def unpriced_models(self, query: UsageQuery) -> list[UnpricedModel]:
        """Models without a price whose tokens are therefore in no cost."""
        with self._database.reading() as connection:
            return questions.unpriced_models(connection, query)

    def latency(
        self, query: UsageQuery, *, of: Timed = "call", by: Literal["day", "hour"] | None = None
    ) -> list[LatencyRow]:
        """Percentiles of model calls, or of the computing time of runs; empty if nothing ended."""
        with self._database.reading() as connection:
            return questions.latency(connection, query, of=of, by=by)

    def computing_times(self, project: str, run_ids: Collection[str]) -> dict[str, int]:
        """Nanoseconds in which each run worked, people's time left out; runs without finished parts are missing."""
        with self._database.reading() as connection:
            return questions.computing_times(connection, project, run_ids)

    def arithmetic(self, query: UsageQuery) -> Arithmetic:
        """The query's cost opened to tokens × rate = cost."""
        with self._database.reading() as connection:
            return questions.arithmetic(connection, query)

    # Spans and traces

    def spans(self, project: str, trace_id: str) -> list[StoredSpan]:
        """The spans of a trace by start."""
        return self._spans(spans.c.project == project, spans.c.trace_id == trace_id.lower())

    def run_spans(self, project: str, run_id: str) -> list[StoredSpan]:
        """The spans of a run by start."""
        return self._spans(spans.c.project == project, spans.c.run_id == run_id)

    def spans_between(
        self, project: str, since: int, until: int, *, thread_id: str | None = None, limit: int = 1000
    ) -> list[StoredSpan]:
        """The spans that began in a period (nanoseconds, `until` exclusive), by start."""
        clauses = [spans.c.project == project, spans.c.started_at >= since, spans.c.started_at < until]
        if thread_id is not None:
            clauses.append(spans.c.thread_id == thread_id)
        first = sa.select(spans).where(*clauses).order_by(spans.c.started_at, spans.c.span_id).limit(limit)
        with self._database.reading() as connection:
            return [stored_span(row) for row in connection.execute(first)]

    def _spans(self, *clauses: sa.ColumnElement[bool]) -> list[StoredSpan]:
        with self._database.reading() as connection:
            found = [stored_span(row) for row in connection.execute(sa.select(spans).where(*clauses))]
        # Sorted here: asked to sort, SQLite would walk the index of times through the whole project.
        return sorted(found, key=lambda span: (span.started_at, span.span_id))

    def body(self, project: str, trace_id: str, span_id: str) -> SpanBody | None:
        """Message contents, events and resource of a span; None if it has none."""
        chosen = sa.select(span_bodies.c.body).where(
            span_bodies.c.project == project,
            span_bodies.c.trace_id == trace_id.lower(),
            span_bodies.c.span_id == span_id.lower(),
        )
        with self._database.reading() as connection:
            value = connection.execute(chosen).scalar()
        return None if value is None else span_body(value)

    def traces(
        self,
        project: str,
        *,
        limit: int = 50,
        before: str | None = None,
        status: str | None = None,
    ) -> list[TraceSummary]:
        """Traces by start, the newest first; `before` is the cursor of the last one seen."""
        table = traces_table
        clauses = [table.c.project == project]
        if status is not None:
            clauses.append(table.c.status == status)
        if before is not None:
            started_at, last_id = _cursor(before)
            clauses.append(sa.tuple_(table.c.started_at, table.c.trace_id) < (started_at, last_id))
        newest = sa.select(table).where(*clauses).order_by(table.c.started_at.desc(), table.c.trace_id.desc())
        return self._summaries(project, newest.limit(limit))

    def trace(self, project: str, trace_id: str) -> TraceSummary | None:
        """One trace without its spans; None if there is none."""
        table = traces_table
        one = sa.select(table).where(table.c.project == project, table.c.trace_id == trace_id.lower())
        return next(iter(self._summaries(project, one)), None)

    def _summaries(self, project: str, chosen: sa.Select[Any]) -> list[TraceSummary]:
        with self._database.reading() as connection:
            rows = connection.execute(chosen).all()
            return [_trace_summary(row, _trace_usage(connection, project, row.trace_id)) for row in rows]


def _cursor(text: str) -> tuple[int, str]:
    started_at, dot, trace_id = text.partition(".")
    if not dot or not started_at.lstrip("-").isdigit():
        raise TracesError(f"{text!r} is no place in the list of traces; leave it out to begin with the newest.")
    return int(started_at), trace_id


def _trace_usage(connection: sa.Connection, project: str, trace_id: str) -> UsageRow:
    return questions.usage(connection, UsageQuery(project, filters={"trace": [trace_id]}))[0]


def _trace_summary(row: sa.Row[Any], usage: UsageRow) -> TraceSummary:
    return TraceSummary(
        trace_id=row.trace_id,
        name=row.name,
        started_at=row.started_at,
        duration=None if row.ended_at is None else max(0, row.ended_at - row.started_at),
        status=row.status,
        incomplete=row.incomplete,
        agent=row.agent,
        thread_id=row.thread_id,
        run_id=row.run_id,
        spans=row.spans,
        usage=usage,
    )


def _best_by_key(batch: Iterable[PricedSpan]) -> dict[Key, PricedSpan]:
    best: dict[Key, PricedSpan] = {}
    for priced in batch:
        key = (priced.span.trace_id, priced.span.span_id)
        there = best.get(key)
        if there is None or better(priced.span, _mind(there)):
            best[key] = priced
    return best


def _mind(priced: PricedSpan) -> Mapping[str, Any]:
    usage = priced.span.usage
    known = sum(getattr(usage, name) is not None for name in usage.__slots__)
    return {"ended_at": priced.span.ended_at, "known": known}


def _without_worse(connection: sa.Connection, project: str, batch: dict[Key, PricedSpan]) -> dict[Key, PricedSpan]:
    """The spans that are new or better than what is stored."""
    there: dict[Key, Mapping[str, Any]] = {}
    for keys in _portions(list(batch)):
        chosen = sa.select(spans.c.trace_id, spans.c.span_id, spans.c.ended_at, known_counts().label("known"))
        for row in connection.execute(chosen.where(spans.c.project == project, _is_one_of(spans, keys))):
            there[row.trace_id, row.span_id] = dict(row._mapping)
    return {key: item for key, item in batch.items() if key not in there or better(item.span, there[key])}


def _is_one_of(table: sa.Table, keys: Sequence[Key]) -> sa.ColumnElement[bool]:
    return sa.tuple_(table.c.trace_id, table.c.span_id).in_(keys)


def _portions(keys: Sequence[Key]) -> Iterable[Sequence[Key]]:
    return (keys[begin : begin + KEYS_AT_ONCE] for begin in range(0, len(keys), KEYS_AT_ONCE))


def _replace(connection: sa.Connection, project: str, batch: Mapping[Key, PricedSpan]) -> None:
    for keys in _portions(list(batch)):
        for table in (spans, span_bodies):
            connection.execute(sa.delete(table).where(table.c.project == project, _is_one_of(table, keys)))
    if not batch:
        return
    connection.execute(sa.insert(spans), [span_row(project, priced) for priced in batch.values()])
    bodies = [
        {"project": project, "trace_id": trace_id, "span_id": span_id, "body": priced.span.body}
        for (trace_id, span_id), priced in batch.items()
        if priced.span.body
    ]
    if bodies:
        connection.execute(sa.insert(span_bodies), bodies)
    _add_rates(connection, project, batch.values())


def _add_rates(connection: sa.Connection, project: str, batch: Iterable[PricedSpan]) -> None:
    rows = [rates_row(project, priced.priced.rates) for priced in batch if priced.priced.rates]
    new = {row["rates_id"]: row for row in rows}
    if not new:
        return
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    connection.execute(dialect.insert(rates).on_conflict_do_nothing(), [new[key] for key in sorted(new)])


def _recount(connection: sa.Connection, project: str, trace_ids: Sequence[str]) -> None:
    """Decide who is counted in these traces, and write their summaries."""
    columns = (
        *("trace_id", "span_id", "parent_span_id", "name", "model_call", "input_tokens", "output_tokens", "cost"),
        *("is_call", "counted", "covered", "not_itemised", "started_at", "ended_at", "status"),
        *("agent", "thread_id", "run_id"),
    )
    chosen = sa.select(*(spans.c[name] for name in columns))
    found = connection.execute(chosen.where(spans.c.project == project, spans.c.trace_id.in_(trace_ids)))
    by_trace: dict[str, list[sa.Row[Any]]] = {}
    # Sorted here: asked to sort, SQLite would walk the index of times through the whole project.
    for row in sorted(found, key=lambda row: (row.started_at, row.span_id)):
        by_trace.setdefault(row.trace_id, []).append(row)
    _write_counts(connection, project, by_trace.values())
    table = traces_table
    connection.execute(sa.delete(table).where(table.c.project == project, table.c.trace_id.in_(trace_ids)))
    summaries = [{"project": project, "trace_id": key, **_summary_values(rows)} for key, rows in by_trace.items()]
    connection.execute(sa.insert(table), summaries)


def _write_counts(connection: sa.Connection, project: str, traces: Iterable[Sequence[sa.Row[Any]]]) -> None:
    changed: list[dict[str, Any]] = []
    for rows in traces:
        counts = count_trace([_countable(row) for row in rows])
        for row in rows:
            values = _count_values(counts[row.span_id])
            if values != {name: row._mapping[name] for name in Count.__slots__}:
                changed.append({"the_trace": row.trace_id, "the_span": row.span_id, **values})
    if not changed:
        return
    columns: dict[str, Any] = {name: sa.bindparam(name) for name in Count.__slots__}
    its_key = (spans.c.trace_id == sa.bindparam("the_trace"), spans.c.span_id == sa.bindparam("the_span"))
    connection.execute(sa.update(spans).where(spans.c.project == project, *its_key).values(columns), changed)


def _countable(row: sa.Row[Any]) -> CountableSpan:
    weight = None
    if row.input_tokens is not None or row.output_tokens is not None:
        weight = (row.input_tokens or 0) + (row.output_tokens or 0)
    elif row.cost is not None:
        weight = 0
    return CountableSpan(row.span_id, row.parent_span_id, row.model_call, weight)


def _count_values(count: Count) -> dict[str, Any]:
    return {name: getattr(count, name) for name in Count.__slots__}


def _summary_values(rows: Sequence[sa.Row[Any]]) -> dict[str, Any]:
    """One row about a trace, from its spans by start."""
    known = {row.span_id for row in rows}
    roots = [row for row in rows if row.parent_span_id is None]
    top = roots[0] if roots else rows[0]
    orphans = any(row.parent_span_id is not None and row.parent_span_id not in known for row in rows)
    running = any(row.ended_at is None for row in rows)
    failed = top.status == "error" if roots else any(row.status == "error" for row in rows)
    return {
        "name": top.name,
        "started_at": rows[0].started_at,
        "ended_at": max((row.ended_at for row in rows if row.ended_at is not None), default=None),
        "status": "error" if failed else "running" if running else "ok",
        "incomplete": running or orphans or not roots,
        **{name: _first(rows, name) for name in ("agent", "thread_id", "run_id")},
        "spans": len(rows),
    }


def _first(rows: Sequence[sa.Row[Any]], name: str) -> str | None:
    return next((row._mapping[name] for row in rows if row._mapping[name] is not None), None)
