"""Where the nodes and edges of a plan graph stand: columns across, pixels down. Pure.

Columns are given; within a column a node stands beside what it depends on, and an edge that passes a column gets a
place of its own there, so that no line crosses a node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

LANE = 18.0
"""Height in pixels that a passing edge takes."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The drawing in units of columns (x of a node is its column) and pixels from the top (y of its centre)."""

    y: dict[str, float]
    height: float
    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """One edge: through which y it passes in each column from the first node's to the second's."""

    source: str
    target: str
    ys: tuple[float, ...]


@dataclass(slots=True)
class _Thing:
    """A node, or the place where an edge passes a column."""

    wanted: float
    height: float
    order: int
    y: float = 0.0


@dataclass(slots=True)
class _Drawing:
    columns: Mapping[str, int]
    node_height: float
    gap: float
    nodes: dict[str, _Thing] = field(default_factory=dict)
    passes: dict[tuple[str, str, int], _Thing] = field(default_factory=dict)

    def before(self, source: str, target: str, column: int) -> _Thing:
        """Where an edge comes from when it enters a column."""
        return self.passes.get((source, target, column - 1)) or self.nodes[source]


def place(columns: Mapping[str, int], edges: Sequence[tuple[str, str]], *, node_height: float, gap: float) -> Placed:
    """Lay out nodes of equal height; `columns` says which column each is in, in the order to draw them."""
    drawing = _Drawing(columns, node_height, gap)
    for column in range(max(columns.values(), default=-1) + 1):
        _spread(_things_of(drawing, column, edges), gap)
    every = [*drawing.nodes.values(), *drawing.passes.values()]
    top = min((thing.y - thing.height / 2 for thing in every), default=0.0)
    bottom = max((thing.y + thing.height / 2 for thing in every), default=0.0)
    return Placed(
        y={name: thing.y - top for name, thing in drawing.nodes.items()},
        height=bottom - top,
        paths=tuple(_path(drawing, source, target, edges, top) for source, target in edges),
    )


def _things_of(drawing: _Drawing, column: int, edges: Sequence[tuple[str, str]]) -> list[_Thing]:
    things: list[_Thing] = []
    for order, name in enumerate(name for name, at in drawing.columns.items() if at == column):
        near = [drawing.before(s, t, column).y for s, t in edges if t == name and drawing.columns[s] == column - 1]
        wanted = sum(near) / len(near) if near else order * (drawing.node_height + drawing.gap)
        drawing.nodes[name] = _Thing(wanted, drawing.node_height, order)
        things.append(drawing.nodes[name])
    for order, (source, target) in enumerate(edges, start=len(things)):
        if drawing.columns[source] < column < drawing.columns[target]:
            passing = _Thing(drawing.before(source, target, column).y, LANE, order)
            drawing.passes[source, target, column] = passing
            things.append(passing)
    return things


def _spread(things: list[_Thing], gap: float) -> None:
    """Push apart what overlaps, as little as possible away from where each wants to be."""
    things.sort(key=lambda thing: (thing.wanted, thing.order))
    blocks: list[list[_Thing]] = []
    for thing in things:
        blocks.append([thing])
        while len(blocks) > 1 and _top(blocks[-1], gap) < _bottom(blocks[-2], gap) + gap:
            last = blocks.pop()
            blocks[-1].extend(last)
    for block in blocks:
        y = _top(block, gap)
        for thing in block:
            thing.y = y + thing.height / 2
            y += thing.height + gap


def _extent(block: Sequence[_Thing], gap: float) -> float:
    return sum(thing.height for thing in block) + gap * (len(block) - 1)


def _top(block: Sequence[_Thing], gap: float) -> float:
    """Where a block begins if its members are on average where they want to be; nodes count more than edges."""
    offset, drift = 0.0, 0.0
    for thing in block:
        drift += thing.height * (thing.wanted - (offset + thing.height / 2))
        offset += thing.height + gap
    return drift / sum(thing.height for thing in block)


def _bottom(block: Sequence[_Thing], gap: float) -> float:
    return _top(block, gap) + _extent(block, gap)


def _path(drawing: _Drawing, source: str, target: str, edges: Sequence[tuple[str, str]], top: float) -> Path:
    first, last = drawing.columns[source], drawing.columns[target]
    between = [drawing.passes[source, target, column].y for column in range(first + 1, last)]
    leaves = _port(drawing, source, (source, target), [edge for edge in edges if edge[0] == source], outward=True)
    enters = _port(drawing, target, (source, target), [edge for edge in edges if edge[1] == target], outward=False)
    straight = len(between) == 0 and abs(leaves - enters) < 2
    ys = [leaves, *between, leaves if straight else enters]
    return Path(source, target, tuple(y - top for y in ys))


def _port(drawing: _Drawing, name: str, edge: tuple[str, str], edges: list[tuple[str, str]], *, outward: bool) -> float:
    """Where an edge touches a node: its edges share the side, in the order in which they come or go."""

    def far(other: tuple[str, str]) -> float:
        if outward:
            passing = drawing.passes.get((*other, drawing.columns[name] + 1))
            return (passing or drawing.nodes[other[1]]).y
        return drawing.before(*other, drawing.columns[name]).y

    ordered = sorted(edges, key=far)
    step = min(16.0, drawing.node_height * 0.6 / max(1, len(ordered) - 1))
    return drawing.nodes[name].y + (ordered.index(edge) - (len(ordered) - 1) / 2) * step
