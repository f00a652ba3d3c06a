"""The drawing of a plan: steps as boxes from left to right, what depends on what as arrows between them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go

from agent.planning.ordering import layers
from agent.records import PlanStep
from dashboard.look.colours import ICON_FONT, Palette
from dashboard.look.figures import figure, plain, tooltip
from dashboard.look.formats import cut
from dashboard.look.placing import Path, place
from dashboard.look.status import Look, Slot

CONTENT_PIXELS = 860
"""The narrowest content that labels are made for; wider pages have air around them."""
EDGE_POINTS = 24


@dataclass(frozen=True, slots=True)
class Node:
    """What is drawn of one step. Plain text."""

    step: PlanStep
    look: Look
    second: str
    """The line below the title: tool and effect, or status and duration."""
    hover: str
    tinted: bool
    """Whether the box carries its look's colour; harmless and unbegun ones are plain."""


@dataclass(frozen=True, slots=True)
class _Form:
    """How much of a step fits into its box."""

    columns: int
    height: float
    gap: float
    between: float
    """Space between columns, as a share of the width."""

    @property
    def width(self) -> float:
        """Of a box, as a share of the drawing's width."""
        return min((1 - self.between * (self.columns - 1)) / self.columns, 0.31)

    def characters(self, taken: float, size: float) -> int:
        """How many characters of about `size` pixels fit beside `taken` pixels."""
        return max(4, int((self.width * CONTENT_PIXELS - taken) / size))


def plan_graph(nodes: Sequence[Node], colours: Palette) -> go.Figure:
    """Draw a plan; the more columns it has, the less is written into each box."""
    columns = layers([node.step for node in nodes])
    form = _form(max(columns.values(), default=0) + 1)
    known = {node.step.id for node in nodes}
    edges = [(before, node.step.id) for node in nodes for before in node.step.dependencies if before in known]
    placed = place(columns, edges, node_height=form.height, gap=form.gap)
    made = figure(colours, height=int(placed.height) + 4)
    made.update_xaxes(range=[-0.002, 1.002], visible=False)
    made.update_yaxes(range=[placed.height + 2, -2], visible=False)
    made.update_layout(barmode="overlay", hovermode="closest")
    pen = _Pen(form, colours, columns)
    for path in placed.paths:
        pen.edge(path)
    for node in nodes:
        pen.node(node, placed.y[node.step.id])
    pen.draw(made)
    return made


def graph_alt(nodes: Sequence[Node]) -> str:
    """The drawing in words."""
    described = "; ".join(
        f"{node.step.id} {cut(node.step.description, 80)}, {node.second}"
        + (f", after {' and '.join(node.step.dependencies)}" if node.step.dependencies else "")
        for node in nodes
    )
    return f"Plan graph with {len(nodes)} steps: {described}."


def _form(columns: int) -> _Form:
    if columns <= 4:
        return _Form(columns, height=80, gap=20, between=0.037)
    if columns <= 6:
        return _Form(columns, height=60, gap=16, between=0.035)
    return _Form(columns, height=44, gap=14, between=0.03)


@dataclass(slots=True)
class _Pen:
    """Collects boxes, words and lines, and draws all of them at once: one by one is slow."""

    form: _Form
    colours: Palette
    columns: dict[str, int]
    boxes: list[tuple[Node, float, float]] = field(default_factory=list)
    notes: list[dict[str, Any]] = field(default_factory=list)
    xs: list[float | None] = field(default_factory=list)
    ys: list[float | None] = field(default_factory=list)

    def left(self, column: int) -> float:
        """Where the boxes of a column begin."""
        return column * (self.form.width + self.form.between)

    def node(self, node: Node, y: float) -> None:
        x, tones = self.left(self.columns[node.step.id]), self.colours[node.look.slot]
        self.boxes.append((node, x, y))
        ink = tones.text if node.tinted else self.colours.muted
        icon = {"size": 20 if self.form.columns <= 4 else 16, "color": ink, "family": ICON_FONT}
        words = {"size": 12, "color": self.colours.text}
        if self.form.columns <= 4:
            self.write(x, y, 12, node.look.icon, icon)
            self.write(x, y, 44, _lines(node, self.form, ink), words)
        elif self.form.columns <= 6:
            second = cut(node.step.tool or "in words", self.form.characters(18, 6.2))
            self.write(x, y - 11, 9, node.look.icon, icon)
            self.write(x, y - 11, 31, f"<b>{plain(cut(node.step.id, 10))}</b>", words)
            self.write(x, y + 12, 9, plain(second), {"size": 11, "color": ink})
        else:
            name = cut(node.step.id, self.form.characters(34, 7))
            self.write(x, y, 8, node.look.icon, icon)
            self.write(x, y, 30, f"<b>{plain(name)}</b>", words)

    def write(self, x: float, y: float, shift: float, text: str, font: dict[str, Any], /) -> None:
        place = {"x": x, "y": y, "xshift": shift, "xanchor": "left", "yanchor": "middle", "align": "left"}
        self.notes.append({**place, "text": text, "font": font, "showarrow": False})

    def edge(self, path: Path) -> None:
        shares = [point / EDGE_POINTS for point in range(EDGE_POINTS + 1)]
        for offset, (start, end) in enumerate(pairwise(path.ys)):
            left = self.left(self.columns[path.source] + offset) + self.form.width
            self.xs += [left + self.form.between * share * 0.94 for share in shares]
            self.ys += [start + (end - start) * _ease(share) for share in shares]
        head = {"arrowhead": 2, "arrowsize": 1.3, "arrowwidth": 1.2, "arrowcolor": self.colours[Slot.GRAY].solid}
        x = self.left(self.columns[path.target])
        self.notes.append({"x": x, "y": path.ys[-1], "ax": -7, "ay": 0, "text": "", **head})
        self.xs.append(None)
        self.ys.append(None)

    def draw(self, made: go.Figure) -> None:
        tones = [(node.tinted, self.colours[node.look.slot]) for node, _, _ in self.boxes]
        made.add_bar(
            orientation="h",
            base=[x for _, x, _ in self.boxes],
            x=[self.form.width] * len(self.boxes),
            y=[y for _, _, y in self.boxes],
            width=[self.form.height] * len(self.boxes),
            marker={
                "color": [tone.tint if tinted else self.colours.paper for tinted, tone in tones],
                "line": {
                    "color": [tone.solid if tinted else self.colours.line for tinted, tone in tones],
                    "width": 1.5,
                },
                "cornerradius": 8,
            },
            hovertemplate=[tooltip(node.hover) for node, _, _ in self.boxes],
        )
        line = {"color": self.colours[Slot.GRAY].solid, "width": 1.2, "simplify": False}
        made.add_scatter(x=self.xs, y=self.ys, mode="lines", line=line, hoverinfo="skip")
        made.update_layout(annotations=self.notes)


def _lines(node: Node, form: _Form, ink: str) -> str:
    characters = form.characters(54, 6.3)
    name = cut(node.step.id, 10)
    wrapped = textwrap.wrap(
        f"{name}__{' '.join(node.step.description.split())}", characters, max_lines=2, placeholder="…"
    ) or [name]
    first = wrapped[0].removeprefix(name).removeprefix("__")
    title = "<br>".join([f"<b>{plain(name)}</b>  {plain(first)}", *(plain(line) for line in wrapped[1:])])
    second = plain(_fitting(node.second, int(characters * 1.1)))
    return f'{title}<br><span style="color:{ink};font-size:11px">{second}</span>'


def _fitting(second: str, characters: int) -> str:
    """The line, or its first part only (the icon says the other), cut if that is too long as well."""
    return second if len(second) <= characters else cut(second.split(" · ", maxsplit=1)[0], characters)


def _ease(share: float) -> float:
    """From 0 to 1 with a soft start and end."""
    return share * share * (3 - 2 * share)
