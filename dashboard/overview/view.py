"""The overview: what waits, what runs, what failed, what is done; beside it money and health."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from agent.records import RunStatus
from dashboard.look import places
from dashboard.look.parts import TWO_TO_ONE, empty, gray, guarded, item, section, small
from dashboard.look.status import NOT_DOABLE, Slot, badge, glyph, look_of
from dashboard.look.text import escape
from dashboard.overview.asking import observe, observe_side
from dashboard.overview.model import (
    EXAMPLE_TASKS,
    FailedItem,
    FinishedRow,
    RunningItem,
    WaitingItem,
    overview,
)
from dashboard.overview.side import side
from dashboard.overview.side_model import today_words
from dashboard.runs.start import prefill, start_box
from dashboard.services import services

# While something moves, and to see whether something new came.
POLL_SECONDS = 3
QUIET_SECONDS = 20
FINISHED_COLUMNS = (0.4, 4.3, 1.1, 1.0, 1.5, 1.2, 2.5)
# A link to a page stands a little to the right of other text.
BESIDE_LINK = "\u00a0\u00a0"
NUMBERS = ("Computing", "Cost")
RUNNING_COLUMNS = (4, 1.6, 1)


def view() -> None:
    """Draw the page: two parts that change by themselves, and the box for a new task, which must not.

    The box stands above all that can grow, so that it is there without scrolling.
    """
    shown = overview(observe(services(), datetime.now(UTC)))
    every = POLL_SECONDS if shown.running else QUIET_SECONDS
    left, right = st.columns(TWO_TO_ONE, gap="medium")
    with left:
        st.title(escape(shown.headline), anchor=False)
        st.fragment(run_every=every)(guarded(_work))(shown.headline, bool(shown.running))
        if shown.first_run:
            _first_run()
    with right:
        # So that the first frames of both columns begin at the same height.
        st.space(8)
        with st.container(horizontal=True, horizontal_alignment="right"):
            st.caption(escape(today_words(datetime.now(UTC))), width="content")
        if not shown.first_run:
            start_box(primary=not shown.waiting, narrow=True)
        st.fragment(run_every=every)(guarded(_side))()


def _side() -> None:
    side(observe_side(services(), datetime.now(UTC)))


def _work(headline: str, moving: bool) -> None:
    shown = overview(observe(services(), datetime.now(UTC)))
    if (shown.headline, bool(shown.running)) != (headline, moving):
        # The count in the navigation and the pace of the parts belong to the whole page.
        st.rerun()
    for position, waiting in enumerate(shown.waiting):
        _waiting(waiting, primary=position == 0)
    _more(shown.more_waiting, places.APPROVALS)
    if shown.running:
        section("Running")
        with st.container(border=True):
            for running in shown.running:
                _running(running)
        _more(shown.more_running, places.RUNS)
    if shown.failed:
        section("Failed today")
        for failed in shown.failed:
            _failed(failed)
        _more(shown.more_failed, places.RUNS, status=RunStatus.FAILED)
    if shown.finished:
        section("Finished")
        _finished(shown.finished)
    if shown.first_run:
        empty("No run has been asked for yet: give the agent a task, and its plan waits here for you.")


def _more(words: str, page: str, **selected: str) -> None:
    """The way to what a list leaves out."""
    if words:
        st.page_link(page, label=small(escape(words)), icon=":material/arrow_forward:", query_params=selected)


def _waiting(waiting: WaitingItem, *, primary: bool) -> None:
    badges = [badge(waiting.effect)] if waiting.effect else []
    badges += [f":{Slot.YELLOW}-badge[:material/warning: {finding}]" for finding in waiting.findings]
    clicked = item(
        waiting.request_id,
        icon=glyph(waiting.kind),
        title=waiting.title,
        second=" ".join([*badges, f":gray[{escape(waiting.facts)}]"]),
        button=waiting.button,
        primary=primary,
    )
    if clicked:
        places.go(places.APPROVALS, request=waiting.request_id)


def _running(running: RunningItem) -> None:
    what, how_far, cost = st.columns(RUNNING_COLUMNS, vertical_alignment="center", gap="medium")
    with what, st.container(gap=None):
        _to_run(running.run_id, f"{glyph(running.status)} {escape(running.title)}")
        st.markdown(small(gray(BESIDE_LINK + escape(running.facts))))
    how_far.progress(running.share, text=small(escape(running.progress)))
    with cost, st.container(horizontal=True, horizontal_alignment="right"):
        st.markdown(escape(running.cost), width="content")


def _failed(failed: FailedItem) -> None:
    look = look_of(RunStatus.FAILED) if failed.broken else NOT_DOABLE
    clicked = item(
        failed.run_id,
        icon=look.glyph,
        title=failed.title,
        second=f":{look.slot}-badge[:material/{look.icon}: {escape(failed.badge)}] :gray[{escape(failed.facts)}]",
        button="Open run",
    )
    if clicked:
        places.go(places.RUNS, run=failed.run_id)


def _finished(rows: tuple[FinishedRow, ...]) -> None:
    with st.container(gap="xxsmall"):
        heads = ("", "Run", "Who", "When", "Computing", "People", "Cost")
        for column, head in zip(_columns(), heads, strict=True):
            _cell(column, head, f":gray[{BESIDE_LINK if head == 'Run' else ''}{head}]" if head else "")
        for row in rows:
            icon, title, *rest = _columns()
            icon.markdown(small(glyph(row.status)))
            with title:
                _to_run(row.run_id, small(escape(row.title)))
            cells = (row.who, row.when, row.computing, row.people, row.cost)
            for column, head, cell in zip(rest, heads[2:], cells, strict=True):
                _cell(column, head, escape(cell))


def _columns() -> list[DeltaGenerator]:
    return st.columns(FINISHED_COLUMNS, vertical_alignment="center", gap="small")


def _cell(column: DeltaGenerator, head: str, markdown: str) -> None:
    side: Literal["left", "right"] = "right" if head in NUMBERS else "left"
    column.container(horizontal=True, horizontal_alignment=side).markdown(small(markdown), width="content")


def _to_run(run_id: str, label: str) -> None:
    st.page_link(places.RUNS, label=label, query_params={"run": run_id})


def _first_run() -> None:
    start_box()
    st.caption("For example")
    for position, task in enumerate(EXAMPLE_TASKS):
        st.button(task, key=f"example-{position}", icon=":material/arrow_insert:", on_click=prefill, args=(task,))


view()
