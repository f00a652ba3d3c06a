"""Questions about how long things took."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Literal, TypeAlias

import sqlalchemy as sa

from traces.attributes import WORKING_KINDS
from traces.histogram import bucket_of, middle_of, nearest_rank
from traces.queries import TIMES, UsageQuery, latency_source, parts_of, span_conditions
from traces.records import LatencyRow
from traces.schema import spans
from traces.usage import group_text

Timed: TypeAlias = Literal["call", "run"]
"""Model calls, or the computing time of runs: what their parts took, without people."""
By: TypeAlias = Literal["day", "hour"] | None

_Timing = tuple[int, int, int]
"""A moment, a bucket of durations (of runs the duration itself), and how many there are."""


def latency(connection: sa.Connection, query: UsageQuery, *, of: Timed, by: By) -> list[LatencyRow]:
    """Percentiles of what ended: those of calls are right to 1.6 %, those of runs exact."""
    length = TIMES[by] if by else None
    histograms: dict[int | None, dict[int, int]] = {}
    timings = _runs(connection, query) if of == "run" else _calls(connection, query, by)
    for moment, bucket, number in timings:
        counts = histograms.setdefault(moment - moment % length if length else None, {})
        counts[bucket] = counts.get(bucket, 0) + number
    value_of = _itself if of == "run" else middle_of
    return [
        _row(group_text(by, at) if by else None, {value_of(bucket): number for bucket, number in counts.items()})
        for at, counts in sorted(histograms.items(), key=lambda item: item[0] or 0)
    ]


def _itself(duration: int) -> int:
    return duration


def _row(group: str | None, durations: dict[int, int]) -> LatencyRow:
    p50, p95, p99 = (nearest_rank(durations, percent) for percent in (50, 95, 99))
    return LatencyRow(group, sum(durations.values()), p50, p95, p99)


def _calls(connection: sa.Connection, query: UsageQuery, by: By) -> Iterator[_Timing]:
    stored = latency_source(query, by)
    if stored is None:
        yield from _span_calls(connection, query)
        return
    for chosen in stored:
        for row in connection.execute(chosen):
            yield int(row.at), int(row.bucket), int(row.calls)
    for part in parts_of(query.since, query.until, ("hour",) if by == "hour" else ("day", "hour")):
        if part.grain == "span":
            yield from _span_calls(connection, replace(query, since=part.since, until=part.until))


def _span_calls(connection: sa.Connection, query: UsageQuery) -> Iterator[_Timing]:
    ended = (*span_conditions(query), spans.c.is_call, spans.c.ended_at >= spans.c.started_at)
    for started_at, duration in connection.execute(sa.select(spans.c.started_at, spans.c.duration).where(*ended)):
        yield started_at, bucket_of(duration), 1


def _runs(connection: sa.Connection, query: UsageQuery) -> Iterator[_Timing]:
    """The computing time of each run at its first moment."""
    chosen = sa.select(spans.c.run_id, spans.c.started_at, spans.c.ended_at).where(
        *span_conditions(query), _is_work(), spans.c.ended_at >= spans.c.started_at, spans.c.run_id.is_not(None)
    )
    began: dict[str, int] = {}
    rows = sorted((run_id, began_at, ended_at) for run_id, began_at, ended_at in connection.execute(chosen))
    for run_id, started_at, _ in rows:
        began.setdefault(run_id, started_at)
    for run_id, worked in _worked(rows).items():
        yield began[run_id], worked, 1


def _is_work() -> sa.ColumnElement[bool]:
    # Written out, so that the index of such spans is used.
    words = ", ".join(f"'{kind}'" for kind in WORKING_KINDS)
    return sa.literal_column(f"spans.kind IN ({words})", sa.Boolean)


def computing_times(connection: sa.Connection, project: str, run_ids: Collection[str]) -> dict[str, int]:
    """Nanoseconds in which each run worked, without people; runs without finished parts are left out."""
    parts = (
        sa.select(spans.c.run_id, spans.c.started_at, spans.c.ended_at)
        .where(spans.c.project == project, spans.c.run_id.in_(list(run_ids)), spans.c.kind.in_(WORKING_KINDS))
        .where(spans.c.ended_at >= spans.c.started_at)
        .order_by(spans.c.run_id, spans.c.started_at)
    )
    return _worked((run_id, began_at, ended_at) for run_id, began_at, ended_at in connection.execute(parts))


def _worked(parts: Iterable[tuple[str, int, int]]) -> dict[str, int]:
    """Run, start and end of parts, in this order, to the time that each run worked; parallel parts count once."""
    worked: dict[str, int] = {}
    reached: dict[str, int] = {}
    for run_id, started_at, ended_at in parts:
        begin = max(started_at, reached.get(run_id, started_at))
        worked[run_id] = worked.get(run_id, 0) + max(0, ended_at - begin)
        reached[run_id] = max(ended_at, reached.get(run_id, ended_at))
    return worked
