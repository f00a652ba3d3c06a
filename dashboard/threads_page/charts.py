"""The timeline of a thread as a plotly figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import plotly.graph_objects as go

from dashboard.look.colours import ICON_FONT, Palette
from dashboard.look.figures import figure, plain
from dashboard.look.status import Look, Slot
from dashboard.threads_page.model import Mark
from dashboard.threads_page.timeline import Place, Point, Timeline

WINDOW = 13
"""How many columns are shown at once; the label of each then fits below 1,280 px."""
FEWEST = 8
"""Shorter threads are drawn as if they had this many columns, so that a few points don't stand far apart."""
LANE_HEIGHT = 54
ONE_LINE, TWO_LINES = 20, 33
"""What the labels above the first lane need beyond its height."""
BELOW = 14
"""What the labels below the last lane, or the words on what lies beyond the window, need."""
LEFT = 62
LINE_LETTERS = 11
_RING, _DOT, _SELECTED = 22, 12, 15


@dataclass(frozen=True, slots=True)
class Window:
    """The columns that are shown."""

    first: int
    last: int

    def __contains__(self, column: object) -> bool:
        return isinstance(column, int) and self.first <= column <= self.last


def window_around(column: int, columns: int) -> Window:
    """A window that turns like a page: it stays while the selection moves inside it."""
    if columns <= WINDOW:
        return Window(0, columns - 1)
    stride = WINDOW - 1
    first = min(column // stride * stride, columns - WINDOW)
    return Window(first, first + WINDOW - 1)


def draw_timeline(timeline: Timeline, place: Place, marks: Mapping[str, Mark], colours: Palette) -> go.Figure:
    """Branches as lanes, special checkpoints as rings with an icon, the selected one on a soft band.

    `marks` holds the checkpoints of the window; each has a marker whose custom data is its id.
    """
    drawing = _Drawing(timeline, place, marks, colours)
    drawing.band()
    drawing.lines()
    drawing.dots()
    drawing.labels()
    drawing.lane_names()
    drawing.more()
    return drawing.finished()


class _Drawing:
    """What the parts of the figure have in common."""

    def __init__(self, timeline: Timeline, place: Place, marks: Mapping[str, Mark], colours: Palette) -> None:
        self.timeline, self.place, self.marks, self.colours = timeline, place, marks, colours
        self.window = window_around(place.point.column, timeline.columns)
        self.points = [timeline.points[checkpoint_id] for checkpoint_id in marks]
        self.rows = {lane: row for row, lane in enumerate(sorted({point.lane for point in self.points}))}
        self.made = self._canvas()
        # Plotly checks all that is there again with each one that is added, so they are added at once.
        self.shapes: list[dict[str, Any]] = []
        self.annotations: list[dict[str, Any]] = []

    def finished(self) -> go.Figure:
        """The figure with everything that was drawn."""
        self.made.update_layout(shapes=self.shapes, annotations=self.annotations)
        return self.made

    def _canvas(self) -> go.Figure:
        lanes = len(self.rows)
        below = BELOW if lanes > 1 or self.timeline.columns > WINDOW else -8
        broken_first = any("<br>" in broken(words) for point, words in self._words() if self.rows[point.lane] == 0)
        self.above = TWO_LINES if broken_first else ONE_LINE
        made = figure(
            self.colours,
            height=self.above + LANE_HEIGHT * lanes + below,
            margin={"l": LEFT if len(self.timeline.branches) > 1 or self.window.first else 0, "r": 0, "t": 0, "b": 0},
            hovermode="closest",
            clickmode="event+select",
        )
        width = max(self.window.last - self.window.first + 1, FEWEST)
        made.update_xaxes(visible=False, range=[self.window.first - 0.5, self.window.first + width - 0.5])
        made.update_yaxes(visible=False, range=[lanes - 0.5 + below / LANE_HEIGHT, -0.5 - self.above / LANE_HEIGHT])
        return made

    def band(self) -> None:
        """The soft ground of the selected checkpoint and its label."""
        column, row = self.place.point.column, self.rows[self.place.point.lane]
        above, below = (-0.45 - self.above / LANE_HEIGHT, 0.34) if row == 0 else (-0.34, 0.72)
        self.shapes.append(
            {
                "type": "rect",
                "x0": column - 0.46,
                "x1": column + 0.46,
                "y0": row + above,
                "y1": row + below,
                "fillcolor": self.colours.soft,
                "line": {"width": 0},
                "layer": "below",
            }
        )

    def lines(self) -> None:
        """From each checkpoint to the one before it, curved where a branch begins."""
        line = {"color": self.colours[Slot.GRAY].solid, "width": 1.2}
        for point in self.points:
            if point.parent_id is not None:
                self._line(self._path(point), line)
            if self._goes_on(point):
                x, y = point.column, self.rows[point.lane]
                self._line(f"M {x},{y} L {x + 1},{y}", {**line, "dash": "dot"})

    def _line(self, path: str, line: dict[str, Any]) -> None:
        self.shapes.append({"type": "path", "path": path, "line": line, "layer": "below"})

    def _goes_on(self, point: Point) -> bool:
        """Whether something still to run is drawn after a point."""
        return bool(self.marks[point.id].ahead) and point.column + 1 in self.window

    def _words(self) -> Iterator[tuple[Point, str]]:
        for point in self.points:
            yield point, self.marks[point.id].label
            if self._goes_on(point):
                yield replace(point, column=point.column + 1), self.marks[point.id].ahead

    def _markers(self) -> Iterator[tuple[Point, Look | None]]:
        """Where a marker stands and its ring; what is still to run has the ring of its tip."""
        for point in self.points:
            look = self.marks[point.id].look
            if self._goes_on(point):
                yield point, None
                yield replace(point, column=point.column + 1), look
            else:
                yield point, look

    def _path(self, point: Point) -> str:
        parent = self.timeline.points[point.parent_id or ""]
        x, y = point.column, self.rows[point.lane]
        if parent.column not in self.window or parent.lane not in self.rows:
            return f"M {x - 0.5},{y} L {x},{y}"
        if parent.lane == point.lane:
            return f"M {parent.column},{y} L {x},{y}"
        start, middle = self.rows[parent.lane], (parent.column + x) / 2
        return f"M {parent.column},{start} C {middle},{start} {middle},{y} {x},{y}"

    def dots(self) -> None:
        """The checkpoints, and what is still to run; they take the clicks."""
        points, looks = zip(*self._markers(), strict=True)
        solid = [self.colours[look.slot].solid if look else self.colours.accent for look in looks]
        chosen = [self._chosen(point) for point in points]
        sizes = [_RING if look else _SELECTED if here else _DOT for look, here in zip(looks, chosen, strict=True)]
        self.made.add_scatter(
            x=[point.column for point in points],
            y=[self.rows[point.lane] for point in points],
            mode="markers",
            marker={
                "size": sizes,
                "color": [self.colours.paper if look else ink for look, ink in zip(looks, solid, strict=True)],
                "opacity": 1,
                "line": {"color": solid, "width": [2.5 if here else 1.6 for here in chosen]},
            },
            customdata=[[point.id] for point in points],
            hovertext=[plain(self.marks[point.id].hover).replace("\n", "<br>") for point in points],
            hovertemplate="%{hovertext}<extra></extra>",
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
        )
        for point, look, ink in zip(points, looks, solid, strict=True):
            if look:
                self._note(point, look.icon, {"family": ICON_FONT, "size": 14, "color": ink})

    def _chosen(self, point: Point) -> bool:
        return point.id == self.place.point.id and point.column == self.place.point.column

    def labels(self) -> None:
        """What ran, above the first lane and below the others."""
        for point, label in self._words():
            here, first = self._chosen(point), self.rows[point.lane] == 0
            words = broken(label)
            self._note(
                point,
                f"<b>{words}</b>" if here else words,
                {"size": 11, "color": self.colours.text if here else self.colours.muted},
                yshift=15 if first else -15,
                yanchor="bottom" if first else "top",
            )

    def lane_names(self) -> None:
        """`main`, `branch 2` … at the left, where there are branches."""
        if len(self.timeline.branches) == 1:
            return
        for lane, row in self.rows.items():
            ink = self.colours.text if lane == self.place.branch else self.colours.muted
            self._margin(self.timeline.branches[lane], {"size": 11, "color": ink}, y=row)

    def more(self) -> None:
        """How much lies beyond the window."""
        font = {"size": 11, "color": self.colours.muted}
        if self.window.first:
            self._margin(f"← {self.window.first} more", font, y=0, yshift=-18)
        if (beyond := self.timeline.columns - 1 - self.window.last) > 0:
            words = f"{beyond} more →"
            self._annotate(words, font, x=1, xref="paper", xanchor="right", y=0, yshift=-22)

    def _note(self, point: Point, text: str, font: dict[str, Any], **place: Any) -> None:
        self._annotate(text, font, x=point.column, y=self.rows[point.lane], **place)

    def _margin(self, text: str, font: dict[str, Any], **place: Any) -> None:
        self._annotate(text, font, x=0, xref="paper", xanchor="left", xshift=-LEFT, **place)

    def _annotate(self, text: str, font: dict[str, Any], **place: Any) -> None:
        self.annotations.append({"text": text, "font": font, "showarrow": False, **place})


def broken(label: str) -> str:
    """A label on at most two lines, cut where it is still too long; safe for plotly."""
    if len(label) <= LINE_LETTERS:
        return plain(label)
    head = label[: LINE_LETTERS + 1]
    at = max(head.rfind(sign) for sign in "_ -:.")
    at = at + 1 if at > 2 else LINE_LETTERS
    first, rest = label[:at].strip(), label[at:].strip()
    if len(rest) > LINE_LETTERS:
        rest = rest[: LINE_LETTERS - 1] + "…"
    return f"{plain(first)}<br>{plain(rest)}"
