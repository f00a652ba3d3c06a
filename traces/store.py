"""The store of spans. Writing and counting are one transaction; reading returns records."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any

import sqlalchemy as sa

from traces import latency as timing
from traces import usage as questions
from traces.database import Database
from traces.errors import TracesError
from traces.latency import By, Timed
from traces.queries import UsageQuery
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
from traces.rows import span_body, stored_span
from traces.schema import span_bodies, spans
from traces.schema import traces as traces_table
from traces.writing import write_spans

__all__ = ["SpanStore", "UsageQuery", "open_span_store"]


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
        if batch:
            with self._database.writing() as connection:
                write_spans(connection, project, batch)

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

    def latency(self, query: UsageQuery, *, of: Timed = "call", by: By = None) -> list[LatencyRow]:
        """Percentiles of model calls, or of the computing time of runs; empty if nothing ended."""
        with self._database.reading() as connection:
            return timing.latency(connection, query, of=of, by=by)

    def computing_times(self, project: str, run_ids: Collection[str]) -> dict[str, int]:
        """Nanoseconds in which each run worked, people's time left out; runs without finished parts are missing."""
        with self._database.reading() as connection:
            return timing.computing_times(connection, project, run_ids)

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
        return self._summaries(newest.limit(limit))

    def trace(self, project: str, trace_id: str) -> TraceSummary | None:
        """One trace without its spans; None if there is none."""
        table = traces_table
        one = sa.select(table).where(table.c.project == project, table.c.trace_id == trace_id.lower())
        return next(iter(self._summaries(one)), None)

    def _summaries(self, chosen: sa.Select[Any]) -> list[TraceSummary]:
        with self._database.reading() as connection:
            return [_trace_summary(row) for row in connection.execute(chosen)]


def _cursor(text: str) -> tuple[int, str]:
    started_at, dot, trace_id = text.partition(".")
    if not dot or not started_at.lstrip("-").isdigit():
        raise TracesError(f"{text!r} is no place in the list of traces; leave it out to begin with the newest.")
    return int(started_at), trace_id


def _trace_summary(row: sa.Row[Any]) -> TraceSummary:
    return TraceSummary(
        trace_id=row.trace_id,
        name=row.name,
        started_at=row.started_at,
        duration=row.duration,
        status=row.status,
        incomplete=row.incomplete,
        agent=row.agent,
        thread_id=row.thread_id,
        run_id=row.run_id,
        spans=row.spans,
        usage=questions.usage_row((), row),
    )
