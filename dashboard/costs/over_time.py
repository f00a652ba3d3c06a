"""What the charts of the costs page show by hour or day: cost, computing time, planning share. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from dashboard.costs.observed import NO_MODEL, Seen, rows_by
from dashboard.costs.selection import Period, day_words
from traces.records import dollars
from traces.usage import planning_share

MOST_SERIES = 5
OTHER = "other"
SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Series:
    """One colour of a stacked chart: a value a bucket, in dollars."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CostBars:
    """Cost by bucket and model, all real or all made-up."""

    title: str
    labels: tuple[str, ...]
    """A bar's time in words."""
    series: tuple[Series, ...]
    """The dearest model first; at most five, the last may be `other`."""

    @property
    def totals(self) -> tuple[float, ...]:
        """The height of each bar."""
        return tuple(sum(values) for values in zip(*(series.values for series in self.series), strict=True))

    @property
    def peak(self) -> int | None:
        """The highest bar; None where there is none or only one that is not empty."""
        filled = [total for total in self.totals if total > 0]
        return self.totals.index(max(filled)) if len(filled) > 1 else None


def cost_bars(seen: Seen, period: Period, now: datetime) -> CostBars:
    """Cost by hour or day, stacked by model."""
    positions = {_bucket_key(period, start): index for index, start in enumerate(period.starts)}
    costs: dict[str, list[int]] = defaultdict(lambda: [0] * len(positions))
    for row in seen.by_model:
        index = positions.get(row.group[period.bucket] or "")
        if index is not None and (amount := seen.amount(row)) is not None:
            costs[row.group["model"] or NO_MODEL][index] += amount
    ranked = sorted(costs, key=lambda name: (-sum(costs[name]), name))
    shown = ranked if len(ranked) <= MOST_SERIES else ranked[: MOST_SERIES - 1]
    series = [Series(name, _in_dollars(costs[name])) for name in shown]
    rest = ranked[len(shown) :]
    if rest:
        series.append(Series(OTHER, _in_dollars([sum(parts) for parts in zip(*(costs[n] for n in rest), strict=True)])))
    title = f"{'Made-up cost' if seen.made_up else 'Cost'} by {period.bucket} and model"
    return CostBars(title, bucket_labels(period, now), tuple(series))


def _in_dollars(values: Iterable[int]) -> tuple[float, ...]:
    return tuple(float(dollars(value)) for value in values)


def _bucket_key(period: Period, start: datetime) -> str:
    return f"{start:%Y-%m-%d}" if period.bucket == "day" else f"{start:%Y-%m-%dT%H}:00:00Z"


def bucket_labels(period: Period, now: datetime) -> tuple[str, ...]:
    """Each bar's time in words: `18 Nov`, or `09:00`."""
    if period.bucket == "hour":
        return tuple(f"{start:%H:%M}" for start in period.starts)
    return tuple(day_words(start.date(), now) for start in period.starts)


@dataclass(frozen=True, slots=True)
class TimeLines:
    """Percentiles by bucket, in seconds; None where nothing ended."""

    title: str
    labels: tuple[str, ...]
    p50: tuple[float | None, ...]
    p95: tuple[float | None, ...]
    p99: tuple[float | None, ...]

    def last(self, name: Literal["p50", "p95", "p99"]) -> tuple[int, float] | None:
        """The last point of a line."""
        values: tuple[float | None, ...] = getattr(self, name)
        known = [(index, value) for index, value in enumerate(values) if value is not None]
        return known[-1] if known else None

    @property
    def highest(self) -> float:
        """The highest point of all lines."""
        return max((value for value in self.p99 if value is not None), default=0.0)


def time_lines(seen: Seen, period: Period, now: datetime) -> TimeLines:
    """How long runs computed; where there are no runs, how long model calls took."""
    rows = seen.times_of_runs or seen.times_of_calls
    title = "Run time, computing only" if seen.times_of_runs or not rows else "Time of a model call"
    found = {row.group: row for row in rows}
    in_order = [found.get(_bucket_key(period, start)) for start in period.starts]
    return TimeLines(
        title,
        bucket_labels(period, now),
        *(tuple(getattr(row, name) / SECOND if row else None for row in in_order) for name in ("p50", "p95", "p99")),
    )


@dataclass(frozen=True, slots=True)
class ShareBars:
    """Planning share by bucket, 0 to 1; None without tokens of runs."""

    labels: tuple[str, ...]
    shares: tuple[float | None, ...]

    @property
    def empty(self) -> bool:
        """Whether no run used a token."""
        return all(share is None for share in self.shares)


def share_bars(seen: Seen, period: Period, now: datetime) -> ShareBars:
    """Tokens of planning as a share of the tokens of runs, by hour or day."""
    rows = rows_by(seen.roles_of_buckets, period.bucket)
    shares = (planning_share(rows.get(_bucket_key(period, start), [])) for start in period.starts)
    return ShareBars(bucket_labels(period, now), tuple(shares))
