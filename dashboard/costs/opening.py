"""The lower part of the costs page: the dearest runs, and a figure opened to its parts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from agent.records import RunStatus
from dashboard.costs.arithmetic import (
    ArithmeticLine,
    arithmetic_lines,
    arithmetic_note,
    arithmetic_title,
    total_line,
    verdict_sign,
)
from dashboard.costs.observed import Opened
from dashboard.costs.reading import arithmetic_of_run, known_run, planning_share_of_run
from dashboard.costs.runs import LINE_CHARACTERS, RunRow, over_planned_note
from dashboard.costs.selection import Selection
from dashboard.look import places
from dashboard.look.colours import palette
from dashboard.look.formats import NONE
from dashboard.look.metric import PLANNING_HELP
from dashboard.look.parts import TWO_TO_ONE, empty, gray, section, small, small_table
from dashboard.look.status import look_of
from dashboard.look.text import code, escape

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck
    from traces.records import Arithmetic

SHORT_ARITHMETIC = 8
"""Lines up to which the sum of the whole period is open from the start."""
RATE = "Rate\u00a0per\u00a0million"
RUNS = "costs-runs"
TWO_LINES = 58
"""Pixels of a row whose task takes two lines."""


def runs_table(rows: list[RunRow], chosen: Selection) -> None:
    """The dearest runs; selecting one writes it into the address."""
    section("Runs that cost most")
    ids = [row.run_id for row in rows]
    selected = [ids.index(chosen.run_id)] if chosen.run_id in ids else []
    # Another list begins without the selection of the one before.
    key = f"{RUNS} {chosen.period.key} {sorted(chosen.filters.items())} {ids}"
    st.dataframe(
        _columns_with_money(rows),
        column_config=_column_config(max(row.bar for row in rows)),
        row_height=TWO_LINES if any(len(row.task) > LINE_CHARACTERS for row in rows) else None,
        hide_index=True,
        key=key,
        on_select=partial(_choose_run, ids, key),
        selection_mode="single-row",
        selection_default={"selection": {"rows": selected}},
        placeholder="–",
        alt="The dearest runs; selecting one opens how its cost is made",
    )


def _columns_with_money(rows: list[RunRow]) -> list[dict[str, object]]:
    """The cells; a kind of money that no run has gets no column, and bars compare where there is only one kind."""
    kinds = {"Cost": [row.cost for row in rows], "Made-up": [row.made_up for row in rows]}
    shown = {name: words for name, words in kinds.items() if any(words)}
    return [
        {
            "Status": [look_of(row.status).word] if row.status else [],
            "Task": row.task,
            "User": row.user,
            "Model": row.model,
            **({" ": row.bar} if len(shown) == 1 else {}),
            **{name: words[place] or NONE for name, words in shown.items()},
            "Tokens": row.tokens,
            "Planning share": row.planning,
            "Computing": row.computing,
        }
        for place, row in enumerate(rows)
    ]


def _column_config(dearest: float) -> dict[str, ColumnConfig]:
    """Widths that fit beside each other at 1,280 pixels, with bars or with a second kind of money."""
    column, colours = st.column_config, palette()
    words = [look_of(status).word for status in RunStatus]
    return {
        "Status": column.MultiselectColumn(
            width=92, options=words, color=[colours[look_of(status).slot].tint for status in RunStatus]
        ),
        "Task": column.TextColumn(width=188),
        "User": column.TextColumn(width=68),
        "Model": column.TextColumn(width=112),
        " ": column.ProgressColumn(width=50, format=" ", min_value=0, max_value=dearest or 1, color=colours.series[1]),
        "Cost": column.TextColumn(width=68, alignment="right"),
        "Made-up": column.TextColumn(width=68, alignment="right"),
        "Tokens": column.TextColumn(width=68, alignment="right"),
        "Planning share": column.TextColumn(width=98, alignment="right", help=PLANNING_HELP),
        "Computing": column.TextColumn(width=80, alignment="right"),
    }


def _choose_run(ids: list[str], key: str) -> None:
    rows = st.session_state[key].selection.rows
    if rows:
        st.query_params["run"] = ids[rows[0]]
    else:
        st.query_params.pop("run", None)


def run_arithmetic(app: Plandeck, chosen: Selection, run_id: str) -> None:
    """How the cost of one run of the selection is made, under its task."""
    opened = arithmetic_of_run(app, chosen, run_id)
    if not opened.parts:
        empty(f"Run {code(run_id)} called no model {escape(chosen.period.words)} that passes the filters.")
        return
    run, title, *others = known_run(app, run_id), *(arithmetic_title(part, f"of {run_id}") for part in opened.parts)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        section(title)
        st.space("stretch")
        if run:
            st.page_link(
                places.RUNS, label="Open the run", icon=":material/arrow_forward:", query_params={"run": run_id}
            )
    note = over_planned_note(run, planning_share_of_run(app, run_id))
    if said := "  \n".join(
        escape(line) for line in (f"{run.task} · {run.requested_by} asked" if run else "", note) if line
    ):
        st.caption(said)
    _arithmetic(opened.parts[0])
    for part, other in zip(opened.parts[1:], others, strict=True):
        section(other)
        _arithmetic(part)


def whole_arithmetic(opened: Opened, words: str) -> None:
    """How the cost of the selection is made; folded where that takes many lines."""
    for part in opened.parts:
        title = arithmetic_title(part, words)
        if len(part.rows) <= SHORT_ARITHMETIC:
            section(title)
            _arithmetic(part)
            continue
        with st.expander(escape(title)):
            _arithmetic(part)


def _arithmetic(opened: Arithmetic) -> None:
    left, right = st.columns(TWO_TO_ONE, gap="medium")
    with left:
        _arithmetic_table(opened)
    with right:
        st.caption(f":material/info: {escape(arithmetic_note(opened))}")


def _arithmetic_table(opened: Arithmetic) -> None:
    lines, total = arithmetic_lines(opened), total_line(opened)
    sign = verdict_sign(opened)
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


def _worded(lines: list[ArithmeticLine], total: ArithmeticLine, name: str) -> Callable[[float], str]:
    words = [escape(getattr(line, name)) for line in lines]
    last = escape(getattr(total, name))
    words.append(f"**{last}**" if last else "")
    return lambda index: words[int(index)]
