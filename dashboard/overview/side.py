"""The overview's right column: money, the queue, health."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from dashboard.look.colours import palette
from dashboard.look.figures import figure, show_figure
from dashboard.look.parts import fact_list, section
from dashboard.look.status import Slot
from dashboard.look.text import escape
from dashboard.overview.side_model import (
    Figure,
    HealthRow,
    SideSeen,
    cost_by_hour,
    cost_month,
    cost_today,
    health,
    made_up_today,
    oldest_request,
    runs_today,
    tokens_today,
)

LINE_HEIGHT = 52


def side(seen: SideSeen) -> None:
    """Draw the column."""
    with st.container(border=True):
        _figure(cost_today(seen))
        if beside := made_up_today(seen):
            st.caption(escape(beside))
        if any(hours := cost_by_hour(seen)):
            _line(hours)
        _pair(cost_month(seen), tokens_today(seen))
    with st.container(border=True):
        _pair(runs_today(seen), oldest_request(seen))
    section("Health")
    fact_list({row.name: _health(row) for row in health(seen)})


def _pair(*figures: Figure) -> None:
    for column, shown in zip(st.columns(len(figures)), figures, strict=True):
        with column:
            _figure(shown)


def _figure(shown: Figure) -> None:
    st.metric(
        escape(shown.label),
        shown.value,
        delta=escape(shown.context) or None,
        delta_color="off",
        delta_arrow="off",
        help=shown.help and escape(shown.help),
    )


def _health(row: HealthRow) -> str:
    slot, icon = (Slot.GREEN, "check_circle") if row.ok else (Slot.YELLOW, "warning")
    return f":{slot}[:material/{icon}:] {escape(row.words)}"


def _line(dollars: list[float]) -> None:
    colours = palette()
    made = figure(colours, height=LINE_HEIGHT)
    made.add_trace(
        go.Scatter(
            y=dollars,
            mode="lines",
            line={"color": colours[Slot.GRAY].solid, "width": 2},
            fill="tozeroy",
            fillcolor=colours.soft,
            hoverinfo="skip",
        )
    )
    made.update_xaxes(visible=False, range=[0, 24])
    made.update_yaxes(visible=False, rangemode="tozero", range=[0, (max(dollars) or 1) * 1.1])
    show_figure(made, alt=f"Cost of today by the hour, {dollars[-1]:.4f} dollars so far", key="cost-line")
