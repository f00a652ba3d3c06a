"""The tree of a thread's checkpoints as lanes, and the place of one checkpoint in it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from agent.checkpoints.records import CheckpointSummary

MAIN = "main"


@dataclass(frozen=True, slots=True)
class Point:
    """One checkpoint and where it is drawn."""

    checkpoint: CheckpointSummary
    parent_id: str | None
    """The checkpoint before it among those loaded; None for a root."""
    column: int
    lane: int

    @property
    def id(self) -> str:
        """The checkpoint's id."""
        return self.checkpoint.checkpoint_id


@dataclass(frozen=True, slots=True)
class Place:
    """A checkpoint as a step of one line from the root to a tip."""

    point: Point
    branch: int
    line: tuple[str, ...]
    """Ids of the whole line, oldest first."""
    index: int
    """0 for the first of the line."""

    @property
    def before(self) -> str | None:
        """The checkpoint before this one; None for the first."""
        return self.line[self.index - 1] if self.index else None

    @property
    def after(self) -> str | None:
        """The next one on the line; None for the last."""
        return self.line[self.index + 1] if self.index + 1 < len(self.line) else None


class Timeline:
    """Every checkpoint of a namespace; the oldest child of a checkpoint goes on in its lane, others open new ones."""

    def __init__(self, history: Sequence[CheckpointSummary]) -> None:
        """`history` is newest first, as the reader gives it."""
        self.newest = history[0].checkpoint_id
        self.points, self._tips = _laid_out(history)

    @property
    def branches(self) -> tuple[str, ...]:
        """The names of the lanes, main first."""
        return tuple(MAIN if lane == 0 else f"branch {lane + 1}" for lane in range(len(self._tips)))

    @cached_property
    def columns(self) -> int:
        """How many checkpoints the longest way from a root has, with what is still to run at its end."""
        longest = max(self.points.values(), key=lambda point: (point.column, point.id in self.open_ends))
        return longest.column + (2 if longest.id in self.open_ends else 1)

    @cached_property
    def open_ends(self) -> dict[str, tuple[str, ...]]:
        """The tips from which something is still to run, and the nodes that it is."""
        tips = (self.points[tip].checkpoint for tip in self._tips)
        return {tip.checkpoint_id: tuple(dict.fromkeys(tip.next)) for tip in tips if tip.next}

    def line(self, branch: int) -> tuple[str, ...]:
        """Ids from the root to the tip of a branch."""
        ids: list[str] = []
        current: str | None = self._tips[branch]
        while current is not None:
            ids.append(current)
            current = self.points[current].parent_id
        return tuple(reversed(ids))

    def place(self, checkpoint_id: str | None, branch: int | None = None) -> Place | None:
        """The place of a checkpoint, the newest for None; on `branch` where that passes it. None if it is not here."""
        point = self.points.get(self.newest if checkpoint_id is None else checkpoint_id)
        if point is None:
            return None
        if branch is not None and 0 <= branch < len(self._tips) and point.id in (line := self.line(branch)):
            return Place(point, branch, line, line.index(point.id))
        line = self.line(point.lane)
        return Place(point, point.lane, line, line.index(point.id))

    def children(self, checkpoint_id: str) -> list[Point]:
        """The checkpoints directly after one."""
        return [point for point in self.points.values() if point.parent_id == checkpoint_id]


def _laid_out(history: Iterable[CheckpointSummary]) -> tuple[dict[str, Point], list[str]]:
    """Points by id, and the tip of each lane. Oldest first, so that a parent is laid out before its children."""
    points: dict[str, Point] = {}
    tips: list[str] = []
    parents = _parents(history)
    for checkpoint, parent_id in parents:
        parent = points.get(parent_id) if parent_id is not None else None
        if parent and tips[parent.lane] == parent.id:
            lane = parent.lane
            tips[lane] = checkpoint.checkpoint_id
        else:
            lane = len(tips)
            tips.append(checkpoint.checkpoint_id)
        column = parent.column + 1 if parent else 0
        points[checkpoint.checkpoint_id] = Point(checkpoint, parent.id if parent else None, column, lane)
    return points, tips


def _parents(history: Iterable[CheckpointSummary]) -> list[tuple[CheckpointSummary, str | None]]:
    """Oldest first, each with its parent; stores that keep no parents give a line in the order of steps."""
    ordered = list(history)[::-1]
    kept: Mapping[str, str | None] = {each.checkpoint_id: each.parent_checkpoint_id for each in ordered}
    if any(kept.values()):
        return [(each, kept[each.checkpoint_id]) for each in ordered]
    ids = [None, *kept]
    return [(each, ids[position]) for position, each in enumerate(ordered)]
