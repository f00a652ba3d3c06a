"""What every plotly figure has in common, and the way onto a page."""

from __future__ import annotations

import textwrap
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard.look.colours import FONT, Palette

CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False, "showTips": False}


def figure(colours: Palette, *, height: int, **layout: Any) -> go.Figure:
    """An empty figure in our font and colours: transparent, fixed ranges, no grid but hairlines across."""
    made = go.Figure()
    made.update_layout(
        height=height,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"family": FONT, "size": 12, "color": colours.text},
        colorway=list(colours.series),
        showlegend=False,
        dragmode=False,
        hoverlabel={
            "bgcolor": colours.soft,
            "bordercolor": colours.line,
            "font": {"family": FONT, "size": 12, "color": colours.text},
            "align": "left",
        },
    )
    axis = {"fixedrange": True, "zeroline": False, "tickfont": {"size": 11, "color": colours.muted}}
    made.update_xaxes(showgrid=False, linecolor=colours.line, **axis)
    made.update_yaxes(gridcolor=colours.line, showline=False, **axis)
    made.update_layout(**layout)
    return made


def show_figure(made: go.Figure, *, alt: str, key: str | None = None) -> None:
    """Place a figure; `alt` says in words what it shows."""
    st.plotly_chart(made, theme=None, config=CONFIG, alt=alt, key=key)


def plain(text: str) -> str:
    """Text for plotly, which reads `<b>` and `<a href>` in labels, titles and tooltips."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def tooltip(text: str) -> str:
    """A hover template that shows the text literally, its lines wrapped."""
    lines = [line for part in text.split("\n") for line in textwrap.wrap(part, 60, max_lines=4, placeholder="…")]
    return "<br>".join(plain(line).replace("%{", "%\u2060{") for line in lines) + "<extra></extra>"
