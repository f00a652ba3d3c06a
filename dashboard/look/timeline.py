"""The drawing "As it happened": what ran when, tries and waits included. Waiting for people has a fixed width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import plotly.graph_objects as go

from dashboard.look.axis import Axis, Stretch, make_axis
from dashboard.look.colours import Palette
from dashboard.look.figures import figure, plain, tooltip
from dashboard.look.formats import cut, duration
from dashboard.look.status import Slot

LANE_PIXELS = 26
BAR_PIXELS = 15
LABEL_PIXELS = 128
DRAWN_PIXELS = 708
"""The narrowest width that labels inside bars are made for."""
CHARACTER_PIXELS = 5.8
TICKS_APART = 0.085
PERSON_LANE = "person"


@dataclass(frozen=True, slots=True)
class Bar:
    """One stretch of one lane. Plain text."""

    lane: str
    start: datetime
    end: datetime
    slot: Slot
    label: str
    """Written into the bar where it fits; of `who · how long` the second part alone if only that fits."""
    hover: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything that is drawn; lanes from top to bottom."""

    lanes: tuple[str, ...]
    bars: tuple[Bar, ...]
    waits: tuple[Bar, ...]
    """Waiting for a person, in the lane `person`."""
    start: datetime
    end: datetime
    live: bool
    """Whether it goes on: then `end` is now."""


def timeline_figure(timeline: Timeline, colours: Palette) -> go.Figure:
    """Draw it."""
    axis = make_axis(
        timeline.start,
        timeline.end,
        [(bar.start, bar.end) for bar in timeline.waits],
        [(bar.start, bar.end) for bar in timeline.bars],
    )
    rows = {lane: row for row, lane in enumerate(timeline.lanes)}
    above = timeline.live or any(stretch.idle for stretch in axis.stretches)
    made = figure(colours, height=LANE_PIXELS * len(rows) + (50 if above else 34))
    made.update_layout(
        margin={"l": LABEL_PIXELS, "r": 30, "t": 20 if above else 4, "b": 30}, barmode="overlay", hovermode="closest"
    )
    ticks = axis_ticks(axis, live=timeline.live)
    made.update_xaxes(
        range=[0, 1.005],
        tickvals=[x for x, _ in ticks],
        ticktext=[words for _, words in ticks],
        showline=True,
        ticks="outside",
        ticklen=4,
        tickcolor=colours.line,
    )
    made.update_yaxes(
        range=[len(rows) - 0.4, -0.6],
        tickvals=list(rows.values()),
        ticktext=[f"{plain(cut(lane, 20))}  " for lane in rows],
        showgrid=False,
    )
    waiting = colours[Slot.YELLOW]
    bars = [
        *((bar, colours[bar.slot].solid, colours[bar.slot].solid, colours.on_solid) for bar in timeline.bars),
        *((bar, waiting.tint, waiting.solid, waiting.text) for bar in timeline.waits),
    ]
    _draw_bars(made, bars, axis, rows)
    bands = [stretch for stretch in axis.stretches if stretch.person or stretch.idle]
    now = _now(colours) if timeline.live else None
    made.update_layout(
        shapes=[*(_band(stretch, colours) for stretch in bands), *([now[0]] if now else [])],
        annotations=[*(_idle(stretch, colours) for stretch in bands if stretch.idle), *([now[1]] if now else [])],
    )
    return made


def timeline_alt(timeline: Timeline) -> str:
    """The drawing in words."""
    lines = [
        f"{bar.lane} {bar.label}".strip() + f" {duration(bar.end - bar.start if bar.end > bar.start else None)}"
        for bar in sorted((*timeline.bars, *timeline.waits), key=lambda bar: bar.start)
    ]
    return f"What ran when, in order: {'; '.join(lines)}."


def axis_ticks(axis: Axis, *, live: bool = False) -> list[tuple[float, str]]:
    """Clock times where stretches meet, and seconds since the last of them where it is long; none too near another.

    While a run is live its end is `now`, and no clock time that would stand still.
    """
    found: list[tuple[float, str]] = []
    for stretch in axis.stretches:
        _add_tick(found, stretch.left, f"{stretch.start.astimezone(UTC):%H:%M:%S}")
    last = axis.stretches[-1]
    if last.right - last.left < 3 * TICKS_APART or last.person or last.idle:
        if not live:
            _add_tick(found, 1.0, f"{last.end.astimezone(UTC):%H:%M:%S}")
        return found
    step = nice_step(last.length.total_seconds() / ((last.right - last.left) / 0.2))
    for count in range(1, int(last.length.total_seconds() / step) + 1):
        x = axis.x(last.start + timedelta(seconds=count * step))
        _add_tick(found, x, f"+{duration(count * step).replace('.0', '')}")
    return found


def _add_tick(found: list[tuple[float, str]], x: float, words: str) -> None:
    if all(abs(x - other) >= TICKS_APART for other, _ in found) and all(words != other for _, other in found):
        found.append((x, words))


def nice_step(seconds: float) -> float:
    """A round number of seconds near the given one: 1, 2 or 5 times a power of ten, or of minutes and hours."""
    if seconds <= 0:
        return 1.0
    if seconds > 30:
        return next((step for step in (60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600) if step >= seconds), 86_400)
    power = 10.0 ** math.floor(math.log10(seconds))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= seconds * 0.999)


def _band(stretch: Stretch, colours: Palette) -> dict[str, Any]:
    return {
        "type": "rect", "x0": stretch.left, "x1": stretch.right, "y0": 0, "y1": 1, "yref": "paper", "layer": "below",
        "fillcolor": colours[Slot.YELLOW if stretch.person else Slot.GRAY].tint, "opacity": 0.6, "line": {"width": 0},
    }  # fmt: skip


def _idle(stretch: Stretch, colours: Palette) -> dict[str, Any]:
    return _above((stretch.left + stretch.right) / 2, f"idle {duration(stretch.length)}", colours.muted, "center")


def _above(x: float, text: str, color: str, anchor: str) -> dict[str, Any]:
    return {
        "x": x, "y": 1, "yref": "paper", "xanchor": anchor, "yanchor": "bottom", "text": text, "showarrow": False,
        "font": {"size": 11, "color": color},
    }  # fmt: skip


def _now(colours: Palette) -> tuple[dict[str, Any], dict[str, Any]]:
    """The line at this moment and its word."""
    line = {"color": colours[Slot.BLUE].solid, "width": 1, "dash": "dot"}
    shape = {"type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper", "line": line}
    return shape, _above(1, "now", colours[Slot.BLUE].text, "right")


def _draw_bars(made: go.Figure, bars: Sequence[tuple[Bar, str, str, str]], axis: Axis, rows: dict[str, int]) -> None:
    """Bars with their colours of area, line and words, all at once: one by one is slow."""
    lefts = [axis.x(bar.start) for bar, *_ in bars]
    widths = [max(axis.x(bar.end) - left, 0.003) for left, (bar, *_) in zip(lefts, bars, strict=True)]
    made.add_bar(
        orientation="h",
        base=lefts,
        x=widths,
        y=[rows[bar.lane] for bar, *_ in bars],
        width=[BAR_PIXELS / LANE_PIXELS] * len(bars),
        marker={
            "color": [fill for _, fill, _, _ in bars],
            "line": {"color": [line for _, _, line, _ in bars], "width": 1},
            "cornerradius": 2,
        },
        text=[plain(_fitting(bar.label, width)) for (bar, *_), width in zip(bars, widths, strict=True)],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        constraintext="none",
        insidetextfont={"size": 11, "color": [ink for _, _, _, ink in bars]},
        hovertemplate=[tooltip(bar.hover) for bar, *_ in bars],
    )


def _fitting(label: str, width: float) -> str:
    characters = int((width * DRAWN_PIXELS - 4) / CHARACTER_PIXELS)
    return next((words for words in (label, label.rsplit(" · ", maxsplit=1)[-1]) if len(words) <= characters), "")
