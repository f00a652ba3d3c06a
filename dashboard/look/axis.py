"""An axis of computing time: waiting for people, and standing still, are cut to a fixed width. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

PERSON_WIDTH = 0.12
IDLE_WIDTH = 0.05
MOST_CUT = 0.6
"""What bands may take of the axis altogether."""
IDLE_FROM = 0.25
"""A standstill of more than this share of the computing time is cut,"""
IDLE_AT_LEAST = timedelta(seconds=5)
"""unless it is as short as this."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of time with its begin and end on the axis, each from 0 to 1."""

    start: datetime
    end: datetime
    left: float
    right: float
    person: bool = False
    idle: bool = False

    @property
    def length(self) -> timedelta:
        """Real time."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Axis:
    """Consecutive stretches from the first moment to the last."""

    stretches: tuple[Stretch, ...]

    def x(self, at: datetime) -> float:
        """Where a moment is, from 0 to 1."""
        index = bisect_right([stretch.start for stretch in self.stretches], at) - 1
        stretch = self.stretches[max(0, index)]
        if stretch.length <= timedelta(0):
            return stretch.left
        share = (at - stretch.start) / stretch.length
        return stretch.left + (stretch.right - stretch.left) * min(1.0, max(0.0, share))


Interval = tuple[datetime, datetime]


def make_axis(start: datetime, end: datetime, people: Sequence[Interval], busy: Sequence[Interval]) -> Axis:
    """An axis from start to end; `people` are waits for a person, `busy` is when something ran."""
    bounds = _bounds(start, end, [*people, *busy])
    kinds = ["person" if _inside(people, *bound) else "busy" if _inside(busy, *bound) else "idle" for bound in bounds]
    pieces = _joined(bounds, kinds)
    computing = sum((last - first for (first, last), kind in pieces if kind == "busy"), timedelta(0))
    cut = [
        kind == "person" or (kind == "idle" and (last - first) > max(computing * IDLE_FROM, IDLE_AT_LEAST))
        for (first, last), kind in pieces
    ]
    return Axis(tuple(_placed(pieces, cut)))


def _bounds(start: datetime, end: datetime, intervals: Sequence[Interval]) -> list[Interval]:
    moments = {start, max(start, end)}
    moments |= {at for interval in intervals for at in interval if start < at < end}
    ordered = sorted(moments)
    return list(pairwise(ordered)) or [(start, start)]


def _inside(intervals: Sequence[Interval], first: datetime, last: datetime) -> bool:
    return any(begin <= first and last <= finish for begin, finish in intervals)


def _joined(bounds: Sequence[Interval], kinds: Sequence[str]) -> list[tuple[Interval, str]]:
    pieces: list[tuple[Interval, str]] = []
    for bound, kind in zip(bounds, kinds, strict=True):
        if pieces and pieces[-1][1] == kind and kind != "person":
            (first, _), _ = pieces.pop()
            pieces.append(((first, bound[1]), kind))
        else:
            pieces.append((bound, kind))
    return pieces


def _placed(pieces: Sequence[tuple[Interval, str]], cut: Sequence[bool]) -> list[Stretch]:
    widths = {"person": PERSON_WIDTH, "idle": IDLE_WIDTH}
    wanted = [widths[kind] if is_cut else 0.0 for (_, kind), is_cut in zip(pieces, cut, strict=True)]
    taken = sum(wanted)
    real = sum((b - a for ((a, b), _), is_cut in zip(pieces, cut, strict=True) if not is_cut), timedelta(0))
    shrink = 1.0
    if taken:
        shrink = min(1.0, MOST_CUT / taken) if real > timedelta(0) else 1.0 / taken
    rest = 1.0 - taken * shrink
    placed: list[Stretch] = []
    left = 0.0
    for ((first, last), kind), is_cut, width in zip(pieces, cut, wanted, strict=True):
        share = width * shrink if is_cut else rest * ((last - first) / real if real > timedelta(0) else 1 / len(pieces))
        placed.append(Stretch(first, last, left, left + share, kind == "person", is_cut and kind == "idle"))
        left += share
    return placed
