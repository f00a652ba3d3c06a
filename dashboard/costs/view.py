"""The costs page. Everything that is selected stands in the address."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from agent.records import RunStatus
from dashboard.costs import charts, model
from dashboard.costs.reading import CSV_GROUPS, arithmetic_of_run, is_own_run, observe, rows_for_export
from dashboard.costs.selection import FILTER_NAMES, PERIODS, Selection, read_selection
from dashboard.look import places
from dashboard.look.colours import palette
from dashboard.look.figures import show_figure
from dashboard.look.parts import TWO_TO_ONE, empty, gray, head, metric_strip, section, small, small_table, warn
from dashboard.look.status import look_of
from dashboard.look.text import code, escape
from dashboard.services import services

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck
    from traces.records import Arithmetic

SHORT_ARITHMETIC = 8
"""Lines up to which the sum of the whole period is open from the start."""
RATE = "Rate\u00a0per\u00a0million"
PERIOD, DAYS, RUNS = "costs-period", "costs-days", "costs-runs"
FILTER_ICONS = {"model": "neurology", "agent": "smart_toy", "user": "group", "role": "category", "status": "rule"}


def show() -> None:
    """Draw the page for what the address selects."""
    app, now = services(), datetime.now(UTC)
    chosen = read_selection({name: st.query_params.get_all(name) for name in st.query_params}, now)
    seen = observe(app, chosen)
    head(
        f"Costs · project {escape(app.project)}",
        model.headline(seen, chosen),
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


def _figures(app: Plandeck, seen: model.Seen, chosen: Selection, now: datetime) -> None:
    metric_strip(model.metrics(seen))
    if unpriced := model.unpriced_notice(seen):
        st.warning(f"**{escape(unpriced.title)}** {escape(unpriced.body)}", icon=":material/help:")
    if made_up := model.illustrative_notice(seen):
        st.caption(f":material/info: {escape(made_up)}")
    _upper_charts(seen, chosen, now)
    _lower_charts(seen, chosen, now)
    if rows := model.run_rows(seen):
        _runs(rows, chosen)
    if chosen.run_id:
        _run_arithmetic(app, chosen, chosen.run_id)
    else:
        _whole_arithmetic(seen, chosen)


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
    return model.csv_text(rows_for_export(app, chosen), CSV_GROUPS).encode()


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


def _filters(seen: model.Seen, chosen: Selection) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for name in FILTER_NAMES:
            accepted = chosen.filters.get(name, ())
            label = escape(model.filter_label(name, accepted))
            with st.popover(f"**{label}**" if accepted else label, icon=f":material/{FILTER_ICONS[name]}:"):
                key = f"costs-{name}"
                st.session_state[key] = list(accepted)
                st.multiselect(
                    model.FILTER_WORDS[name][0],
                    model.choices_of(name, seen, accepted),
                    format_func=partial(model.choice_words, name),
                    key=key,
                    placeholder=model.FILTER_WORDS[name][0],
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


def _upper_charts(seen: model.Seen, chosen: Selection, now: datetime) -> None:
    colours = palette()
    bars = model.cost_bars(seen, chosen.period, now)
    classes = model.class_bars(seen.arithmetic)
    left, right = st.columns(TWO_TO_ONE, gap="medium")
    with left:
        _framed(f"Cost by {chosen.period.bucket} and model", lambda: _cost_chart(bars))
    with right:
        _framed(
            "Where it went, by token class",
            lambda: show_figure(
                charts.bars_figure(classes, colours, height=charts.HIGH),
                alt=charts.bars_alt("Cost and tokens by token class", classes),
                key="costs-classes",
            ),
        )


def _cost_chart(bars: model.CostBars) -> None:
    if not bars.series:
        empty("None of these calls has a price, so there is no cost to draw.")
        return
    show_figure(charts.cost_figure(bars, palette()), alt=charts.cost_alt(bars), key="costs-bars")


def _lower_charts(seen: model.Seen, chosen: Selection, now: datetime) -> None:
    lines = model.time_lines(seen, chosen.period, now)
    shares = model.share_bars(seen, chosen.period, now)
    roles = model.role_bars(seen)
    left, middle, right = st.columns(3, gap="medium")
    with left:
        _framed(lines.title, lambda: _time_chart(lines))
    with middle:
        _framed("Planning share of tokens", lambda: _share_chart(shares))
    with right:
        _framed(
            "What the calls were for",
            lambda: show_figure(
                charts.bars_figure(roles, palette(), height=charts.LOW, stone=True),
                alt=charts.bars_alt("Cost by purpose", roles),
                key="costs-roles",
            ),
        )


def _time_chart(lines: model.TimeLines) -> None:
    if not lines.highest:
        empty("Nothing ended in this period.")
        return
    show_figure(charts.time_figure(lines, palette()), alt=charts.time_alt(lines), key="costs-times")


def _share_chart(shares: model.ShareBars) -> None:
    if shares.empty:
        empty("No call of this period belongs to a run of the agent.")
        return
    show_figure(charts.share_figure(shares, palette()), alt=charts.share_alt(shares), key="costs-shares")


# Runs and arithmetic


def _runs(rows: list[model.RunRow], chosen: Selection) -> None:
    section("Runs that cost most")
    ids = [row.run_id for row in rows]
    selected = [ids.index(chosen.run_id)] if chosen.run_id in ids else []
    # Another list begins without the selection of the one before.
    key = f"{RUNS} {chosen.period.key} {sorted(chosen.filters.items())} {ids}"
    words = [look_of(status).word for status in RunStatus]
    dearest = max(row.cost for row in rows)
    st.dataframe(
        [
            {
                "Status": [look_of(row.status).word] if row.status else [],
                "Task": row.task,
                "User": row.user,
                "Model": row.model,
                " ": row.cost,
                "Cost": row.cost_words,
                "Tokens": row.tokens,
                "Planning": row.planning,
                "Computing": row.computing,
            }
            for row in rows
        ],
        column_config={
            "Status": st.column_config.MultiselectColumn(
                width=92, options=words, color=[palette()[look_of(status).slot].tint for status in RunStatus]
            ),
            "Task": st.column_config.TextColumn(width=226),
            "User": st.column_config.TextColumn(width=58),
            "Model": st.column_config.TextColumn(width=112),
            " ": st.column_config.ProgressColumn(
                width=66, format=" ", min_value=0, max_value=dearest or 1, color=palette().series[1]
            ),
            "Cost": st.column_config.TextColumn(width=70, alignment="right"),
            "Tokens": st.column_config.TextColumn(width=72, alignment="right"),
            "Planning": st.column_config.TextColumn(width=68, alignment="right"),
            "Computing": st.column_config.TextColumn(width=78, alignment="right"),
        },
        hide_index=True,
        key=key,
        on_select=partial(_choose_run, ids, key),
        selection_mode="single-row",
        selection_default={"selection": {"rows": selected}},
        placeholder="–",
        alt="The dearest runs; selecting one opens how its cost is made",
    )


def _choose_run(ids: list[str], key: str) -> None:
    rows = st.session_state[key].selection.rows
    if rows:
        st.query_params["run"] = ids[rows[0]]
    else:
        st.query_params.pop("run", None)


def _run_arithmetic(app: Plandeck, chosen: Selection, run_id: str) -> None:
    opened = arithmetic_of_run(app, chosen, run_id)
    if not opened.calls:
        empty(f"Run {code(run_id)} called no model {escape(chosen.period.words)} that passes the filters.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        section(model.arithmetic_title(opened, f"of {run_id}"))
        st.space("stretch")
        if is_own_run(app, run_id):
            st.page_link(
                places.RUNS, label="Open the run", icon=":material/arrow_forward:", query_params={"run": run_id}
            )
    _arithmetic(opened)


def _whole_arithmetic(seen: model.Seen, chosen: Selection) -> None:
    title = model.arithmetic_title(seen.arithmetic, chosen.period.words)
    if len(seen.arithmetic.rows) <= SHORT_ARITHMETIC:
        section(title)
        _arithmetic(seen.arithmetic)
        return
    with st.expander(escape(title)):
        _arithmetic(seen.arithmetic)


def _arithmetic(opened: Arithmetic) -> None:
    left, right = st.columns(TWO_TO_ONE, gap="medium")
    with left:
        _arithmetic_table(opened)
    with right:
        st.caption(f":material/info: {escape(model.arithmetic_note(opened))}")


def _arithmetic_table(opened: Arithmetic) -> None:
    lines, total = model.arithmetic_lines(opened), model.total_line(opened)
    sign = model.verdict_sign(opened)
    rows = [(line.token_class, "×" if line.rate else "", "=", gray(small(escape(line.book)))) for line in lines]
    rows.append((f"**{total.token_class}**", "", "=", f"{sign} {small(escape(total.book))}"))
    # A table sets only numbers to the right, so these cells are the numbers of their lines, and worded from those.
    worded = {name: _worded(lines, total, name) for name in ("tokens", "rate", "cost")}
    small_table(
        [
            {
                "Token class": what,
                "Tokens": index,
                " ": times,
                RATE: index,
                "  ": equals,
                "Cost": index,
                "Price book": book,
            }
            for index, (what, times, equals, book) in enumerate(rows)
        ],
        {"Tokens": worded["tokens"], RATE: worded["rate"], "Cost": worded["cost"]},
        alt="Tokens times rate is cost, by token class and entry of the price book",
    )


def _worded(lines: list[model.ArithmeticLine], total: model.ArithmeticLine, name: str) -> Callable[[float], str]:
    words = [escape(getattr(line, name)) for line in lines]
    last = escape(getattr(total, name))
    words.append(f"**{last}**" if last else "")
    return lambda index: words[int(index)]


show()
