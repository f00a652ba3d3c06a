"""The drawings of the costs page. What they show is worked out in `over_time` and `bars`."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from dashboard.costs.bars import Bar
from dashboard.costs.over_time import CostBars, ShareBars, TimeLines
from dashboard.costs.scales import axis_money, nice_steps, spread, ticks
from dashboard.look.colours import Palette
from dashboard.look.figures import figure, plain, tooltip
from dashboard.look.formats import NBSP, duration, money, percent, plural
from traces.usage import OVER_PLANNED, over_planned

HIGH, LOW = 232, 168
"""Pixels of the charts of the upper and the lower row."""
CORNER = 3
LINE_GAP = 15.0
"""Pixels between the words at the ends of two lines."""
FEW_POINTS = 2


def cost_figure(bars: CostBars, colours: Palette) -> go.Figure:
    """Stacked bars with one legend; the highest bar is named."""
    highest = max(bars.totals, default=0.0)
    steps = nice_steps(highest)
    made = figure(
        colours,
        height=HIGH,
        margin={"l": 52, "r": 4, "t": 38, "b": 22},
        barmode="stack",
        bargap=0.28,
        barcornerradius=CORNER,
    )
    for index, series in enumerate(bars.series):
        made.add_bar(
            x=list(range(len(series.values))),
            y=list(series.values),
            name=plain(series.name),
            marker={"color": colours.series[index], "line": {"width": 0}},
            hovertemplate=[
                tooltip(f"{label}\n{series.name}: {_exact(value)}\nall: {_exact(total)}")
                for label, value, total in zip(bars.labels, series.values, bars.totals, strict=True)
            ],
        )
    made.update_layout(
        showlegend=len(bars.series) > 0,
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "xanchor": "left",
            "traceorder": "normal",
            "itemclick": False,
            "itemdoubleclick": False,
            "font": {"size": 12, "color": colours.text},
        },
    )
    _time_axis(made, bars.labels)
    made.update_yaxes(
        tickvals=list(steps), ticktext=[axis_money(step) for step in steps], range=[0, highest * 1.14 or 1]
    )
    if bars.peak is not None:
        made.add_annotation(
            x=bars.peak,
            y=bars.totals[bars.peak],
            text=plain(f"{bars.labels[bars.peak]} · {_exact(bars.totals[bars.peak])}"),
            showarrow=False,
            yshift=9,
            # Near the edges the words lean inwards.
            xanchor="left" if bars.peak < 2 else "right" if bars.peak > len(bars.labels) - 3 else "center",
            font={"size": 11, "color": colours.text},
        )
    return made


def _exact(value: float) -> str:
    return money(round(value * 10**12))


def _time_axis(made: go.Figure, labels: Sequence[str], most: int = 6) -> None:
    shown = ticks(len(labels), most)
    made.update_xaxes(
        tickvals=list(shown),
        ticktext=[labels[index] for index in shown],
        range=[-0.6, len(labels) - 0.4],
        ticklabelposition="outside",
    )


def bars_figure(bars: Sequence[Bar], colours: Palette, *, height: int, stone: bool = False) -> go.Figure:
    """Horizontal bars; left of each its name, at its end its words, bold above plain."""
    longest = max((bar.value for bar in bars), default=0.0) or 1.0
    made = figure(colours, height=height, margin={"l": 104, "r": 0, "t": 4, "b": 4}, bargap=0.5)
    places = list(range(len(bars)))
    made.add_bar(
        x=[max(bar.value, longest * 0.004) for bar in bars],
        y=places,
        orientation="h",
        marker={"color": colours.series[2 if stone else 0], "cornerradius": CORNER, "line": {"width": 0}},
        width=0.46,
        hovertemplate=[
            tooltip("\n".join(filter(None, (f"{bar.label}: {bar.first}", bar.second, bar.aside)))) for bar in bars
        ],
    )
    for place, bar in zip(places, bars, strict=True):
        second = f"<br>{plain(bar.second)}" if bar.second else ""
        made.add_annotation(
            x=bar.value,
            y=place,
            text=f"<b>{plain(bar.first)}</b>{second}",
            showarrow=False,
            xanchor="left",
            align="left",
            xshift=6,
            font={"size": 11, "color": colours.text},
        )
    made.update_xaxes(visible=False, range=[0, longest * 1.75])
    made.update_yaxes(
        tickvals=places,
        ticktext=[plain(bar.label) for bar in bars],
        # With few bars they keep the thickness that they have among four.
        range=[max(len(bars), 4) - 0.5, -0.5],
        showgrid=False,
        tickfont={"size": 12, "color": colours.text},
        ticklabelstandoff=6,
    )
    return made


def time_figure(lines: TimeLines, colours: Palette) -> go.Figure:
    """Three lines, each named at its end."""
    steps = nice_steps(lines.highest, most=3)
    made = figure(colours, height=LOW, margin={"l": 48, "r": 74, "t": 10, "b": 22})
    looks = {
        "p99": {"color": colours.series[0], "width": 1.2, "dash": "dot"},
        "p95": {"color": colours.series[0], "width": 2},
        "p50": {"color": colours.series[1], "width": 2},
    }
    for name, look in looks.items():
        values: Sequence[float | None] = getattr(lines, name)
        known = sum(value is not None for value in values)
        made.add_scatter(
            x=list(range(len(values))),
            y=list(values),
            mode="lines+markers" if known <= FEW_POINTS else "lines",
            marker={"size": 7, "color": look["color"]},
            line=look,
            connectgaps=True,
            cliponaxis=False,
            hovertemplate=[tooltip(f"{label}\n{name}: {duration(value)}") for label, value in _pairs(lines, values)],
        )
    _time_axis(made, lines.labels, most=3)
    top = lines.highest * 1.1 or 1
    made.update_yaxes(tickvals=list(steps), ticktext=[_short(step) for step in steps], range=[0, top])
    _end_words(made, lines, colours, top)
    return made


def _pairs(lines: TimeLines, values: Sequence[float | None]) -> list[tuple[str, float | None]]:
    return list(zip(lines.labels, values, strict=True))


def _short(seconds: float) -> str:
    return f"0{NBSP}s" if seconds == 0 else duration(seconds).replace(f".0{NBSP}s", f"{NBSP}s")


def _end_words(made: go.Figure, lines: TimeLines, colours: Palette, top: float) -> None:
    """The names of the lines in the right margin, kept apart where the lines end close together."""
    inner = LOW - 32
    ends = [(name, end[1]) for name in ("p50", "p95", "p99") if (end := lines.last(name))]
    heights = spread([value / top * inner for _, value in ends], LINE_GAP, inner - LINE_GAP / 2)
    for (name, value), height in zip(ends, heights, strict=True):
        made.add_annotation(
            xref="paper",
            yref="paper",
            x=1,
            y=0,
            yshift=height,
            xshift=8,
            xanchor="left",
            yanchor="middle",
            text=plain(f"{name} {_short(value)}"),
            showarrow=False,
            font={"size": 11, "color": colours.text},
        )


def share_figure(bars: ShareBars, colours: Palette) -> go.Figure:
    """Planning share by bucket; what is above the line is darker."""
    highest = max((share for share in bars.shares if share is not None), default=0.0)
    top = max(highest, OVER_PLANNED) * 1.22
    made = figure(colours, height=LOW, margin={"l": 40, "r": 16, "t": 24, "b": 22}, bargap=0.25, barcornerradius=2)
    over = [over_planned(share) for share in bars.shares]
    strong, weak = colours.series[0], colours.series[1]
    made.add_bar(
        x=list(range(len(bars.shares))),
        y=list(bars.shares),
        marker={"color": [strong if is_over else weak for is_over in over], "line": {"width": 0}},
        hovertemplate=[
            tooltip(f"{label}\nplanning share: {percent(share)}")
            for label, share in zip(bars.labels, bars.shares, strict=True)
        ],
    )
    made.add_hline(y=OVER_PLANNED, line={"color": colours.muted, "width": 1, "dash": "dot"})
    made.add_annotation(
        # Above the plot, where no bar stands behind the words.
        xref="paper",
        yref="paper",
        x=0,
        y=1,
        text=f"··· over-planned above {percent(OVER_PLANNED)}",
        showarrow=False,
        xanchor="left",
        yanchor="bottom",
        yshift=4,
        font={"size": 11, "color": colours.muted},
    )
    _time_axis(made, bars.labels, most=3)
    steps = (0.0, 0.2, 0.4) if top < 0.6 else (0.0, 0.4, 0.8) if top < 1.0 else (0.0, 0.5, 1.0)
    made.update_yaxes(tickvals=list(steps), ticktext=[percent(step) for step in steps], range=[0, top])
    return made


def cost_alt(bars: CostBars) -> str:
    """The cost chart in words."""
    parts = [f"{series.name} {_exact(sum(series.values))}" for series in bars.series]
    peak = f" The most is {_exact(bars.totals[bars.peak])}, {bars.labels[bars.peak]}." if bars.peak is not None else ""
    return f"{bars.title}: {', '.join(parts)}.{peak}"


def bars_alt(what: str, bars: Sequence[Bar]) -> str:
    """Horizontal bars in words."""
    told = (" ".join(filter(None, (bar.label, bar.first, bar.second, bar.aside))) for bar in bars)
    return f"{what}: {', '.join(told)}."


def time_alt(lines: TimeLines) -> str:
    """The percentiles in words."""
    ends = [f"{name} {duration(end[1])}" for name in ("p50", "p95", "p99") if (end := lines.last(name))]
    return f"{lines.title}, at last: {', '.join(ends)}."


def share_alt(bars: ShareBars) -> str:
    """The planning shares in words."""
    known = [share for share in bars.shares if share is not None]
    over = plural(sum(over_planned(share) for share in known), "bar")
    return f"Planning share: at most {percent(max(known, default=None))}, {over} above {percent(OVER_PLANNED)}."
