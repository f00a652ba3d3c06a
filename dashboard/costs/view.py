"""The costs page. Everything that is selected stands in the address."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from dashboard.costs import bars, charts, filters, over_time, summary
from dashboard.costs.export import csv_text
from dashboard.costs.observed import Seen
from dashboard.costs.opening import run_arithmetic, runs_table, whole_arithmetic
from dashboard.costs.reading import CSV_GROUPS, observe, rows_for_export
from dashboard.costs.runs import run_rows
from dashboard.costs.selection import FILTER_NAMES, PERIODS, Selection, read_selection
from dashboard.look import places
from dashboard.look.colours import palette
from dashboard.look.figures import show_figure
from dashboard.look.parts import TWO_TO_ONE, empty, head, metric_strip, section, warn
from dashboard.look.text import code, escape
from dashboard.services import services

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck

PERIOD, DAYS = "costs-period", "costs-days"
FILTER_ICONS = {"model": "neurology", "agent": "smart_toy", "user": "group", "role": "category", "status": "rule"}


def show() -> None:
    """Draw the page for what the address selects."""
    app, now = services(), datetime.now(UTC)
    chosen = read_selection({name: st.query_params.get_all(name) for name in st.query_params}, now)
    seen = observe(app, chosen)
    head(
        f"Costs · project {escape(app.project)}",
        summary.headline(seen, chosen),
        facts=escape(summary.made_up_aside(seen)),
        actions=partial(_actions, app, chosen, now),
    )
    if seen.price_problem:
        warn("The price file is not in force as it stands.", seen.price_problem)
    if not seen.anything_ever:
        _never(app)
        return
    _filters(seen, chosen)
    if not seen.total.calls:
        _nothing_here(chosen)
        return
    _figures(app, seen, chosen, now)


def _figures(app: Plandeck, seen: Seen, chosen: Selection, now: datetime) -> None:
    metric_strip(summary.metrics(seen))
    if unpriced := summary.unpriced_notice(seen):
        st.warning(f"**{escape(unpriced.title)}** {escape(unpriced.body)}", icon=":material/help:")
    _upper_charts(seen, chosen, now)
    _lower_charts(seen, chosen, now)
    if rows := run_rows(seen):
        runs_table(rows, chosen)
    if chosen.run_id:
        run_arithmetic(app, chosen, chosen.run_id)
    else:
        whole_arithmetic(seen.arithmetic, chosen.period.words)


# Head and filters


def _actions(app: Plandeck, chosen: Selection, now: datetime) -> None:
    words = {"today": "Today", "7d": "7 days", "30d": "30 days", "month": f"{now:%B}", "custom": "Custom"}
    if chosen.period.key == "custom":
        _days(chosen, now)
    # The address says what is selected; the widget only shows it.
    st.session_state[PERIOD] = chosen.period.key
    st.segmented_control(
        "Period",
        PERIODS,
        format_func=lambda key: words[key],
        required=True,
        key=PERIOD,
        label_visibility="collapsed",
        on_change=_choose_period,
    )
    st.download_button(
        "Export",
        data=partial(_csv, app, chosen),
        file_name=f"costs-{chosen.period.since:%Y-%m-%d}-{chosen.period.until - timedelta(days=1):%Y-%m-%d}.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        help="The period and filters as CSV, by day, model, provider, agent, user, purpose and run.",
    )


def _csv(app: Plandeck, chosen: Selection) -> bytes:
    return csv_text(rows_for_export(app, chosen), CSV_GROUPS).encode()


def _choose_period() -> None:
    st.query_params["period"] = st.session_state[PERIOD]
    for name in ("since", "until", "run"):
        st.query_params.pop(name, None)


def _days(chosen: Selection, now: datetime) -> None:
    since, until = chosen.period.since.date(), (chosen.period.until - timedelta(days=1)).date()
    st.session_state[DAYS] = (since, until)
    st.date_input(
        "From and to",
        max_value=max(now.date(), until),
        key=DAYS,
        label_visibility="collapsed",
        format="YYYY-MM-DD",
        width=220,
        on_change=_choose_days,
    )


def _choose_days() -> None:
    days: tuple[date, ...] = st.session_state[DAYS]
    # While only the first day is picked there is nothing to show yet.
    if len(days) == 2:
        st.query_params["since"], st.query_params["until"] = (day.isoformat() for day in days)
        st.query_params.pop("run", None)


def _filters(seen: Seen, chosen: Selection) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for name in FILTER_NAMES:
            accepted = chosen.filters.get(name, ())
            label = escape(filters.filter_label(name, accepted))
            with st.popover(f"**{label}**" if accepted else label, icon=f":material/{FILTER_ICONS[name]}:"):
                key = f"costs-{name}"
                st.session_state[key] = list(accepted)
                st.multiselect(
                    filters.FILTER_WORDS[name][0],
                    filters.choices_of(name, seen, accepted),
                    format_func=partial(filters.choice_words, name),
                    key=key,
                    placeholder=filters.FILTER_WORDS[name][0],
                    label_visibility="collapsed",
                    width=280,
                    on_change=_choose_filter,
                    args=(name, key),
                )
        st.space("stretch")
        st.caption(f"Compared with {escape(chosen.period.compared)}", width="content")


def _choose_filter(name: str, key: str) -> None:
    values: list[str] = st.session_state[key]
    if values:
        st.query_params[name] = values
    else:
        st.query_params.pop(name, None)
    st.query_params.pop("run", None)


def _never(app: Plandeck) -> None:
    endpoint = f"http://{app.settings.host}:{app.settings.port}/v1/traces"
    empty(
        "No model call has been seen yet, so nothing has cost anything. A run of the agent fills this page, and so do "
        f"traces of any program that are sent to {code(endpoint)} or read with {code('plandeck ingest FILE')}."
    )
    if st.button("Ask for a run", icon=":material/play_arrow:"):
        places.go(places.RUNS)


def _nothing_here(chosen: Selection) -> None:
    if not chosen.filters:
        empty("No model was called in this period; choose a longer one above.")
        return
    empty("No model call of this period passes the filters.")
    st.button("Clear the filters", on_click=_clear_filters)


def _clear_filters() -> None:
    for name in FILTER_NAMES:
        st.query_params.pop(name, None)


# Charts


def _framed(title: str, draw: Callable[[], None]) -> None:
    with st.container(border=True, height="stretch"):
        section(title)
        draw()


def _upper_charts(seen: Seen, chosen: Selection, now: datetime) -> None:
    colours = palette()
    costs = over_time.cost_bars(seen, chosen.period, now)
    classes = bars.class_bars(seen)
    left, right = st.columns(TWO_TO_ONE, gap="medium")
    with left:
        _framed(costs.title, lambda: _cost_chart(costs))
    with right:
        _framed(
            bars.class_title(seen),
            lambda: show_figure(
                charts.bars_figure(classes, colours, height=charts.HIGH),
                alt=charts.bars_alt("Cost and tokens by token class", classes),
                key="costs-classes",
            ),
        )


def _cost_chart(costs: over_time.CostBars) -> None:
    if not costs.series:
        empty("None of these calls has a price, so there is no cost to draw.")
        return
    show_figure(charts.cost_figure(costs, palette()), alt=charts.cost_alt(costs), key="costs-bars")


def _lower_charts(seen: Seen, chosen: Selection, now: datetime) -> None:
    lines = over_time.time_lines(seen, chosen.period, now)
    shares = over_time.share_bars(seen, chosen.period, now)
    roles = bars.role_bars(seen)
    left, middle, right = st.columns(3, gap="medium")
    with left:
        _framed(lines.title, lambda: _time_chart(lines))
    with middle:
        _framed("Planning share", lambda: _share_chart(shares))
    with right:
        _framed(
            "What the calls were for",
            lambda: show_figure(
                charts.bars_figure(roles, palette(), height=charts.LOW, stone=True),
                alt=charts.bars_alt("Cost by purpose", roles),
                key="costs-roles",
            ),
        )


def _time_chart(lines: over_time.TimeLines) -> None:
    if not lines.highest:
        empty("Nothing ended in this period.")
        return
    show_figure(charts.time_figure(lines, palette()), alt=charts.time_alt(lines), key="costs-times")


def _share_chart(shares: over_time.ShareBars) -> None:
    if shares.empty:
        empty("No call of this period belongs to a run of the agent.")
        return
    show_figure(charts.share_figure(shares, palette()), alt=charts.share_alt(shares), key="costs-shares")


show()
