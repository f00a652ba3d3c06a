"""The overview: what waits, what runs, what failed, what is done; beside it money and health."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from dashboard.look import places
from dashboard.look.parts import TWO_TO_ONE, empty, guarded, item, section, small
from dashboard.look.status import Slot, badge, glyph
from dashboard.look.text import escape
from dashboard.overview.asking import observe, observe_side
from dashboard.overview.model import (
    EXAMPLE_TASKS,
    FailedItem,
    FinishedRow,
    Overview,
    RunningItem,
    WaitingItem,
    overview,
)
from dashboard.overview.side import side
from dashboard.overview.side_model import today_words
from dashboard.runs.start import TASK, start_box
from dashboard.services import services

POLL_SECONDS = 3
"""How often the page looks while something moves."""
QUIET_SECONDS = 20
"""How often it looks whether something new came."""
FINISHED_COLUMNS = (0.4, 5.6, 1.2, 1.3, 1.4, 1.4, 1.2)
RUNNING_COLUMNS = (3.2, 1.9, 1.1)


def view() -> None:
    """Draw the page: the part that changes by itself, and the box for a new task, which must not."""
    now = datetime.now(UTC)
    seen = observe(services(), now)
    shown = overview(seen)
    every = POLL_SECONDS if shown.running else QUIET_SECONDS
    st.fragment(run_every=every)(guarded(_live))(shown.headline, bool(shown.running))
    left, _ = st.columns(TWO_TO_ONE, gap="medium")
    with left:
        _new_run(shown)


def _live(headline: str, moving: bool) -> None:
    app, now = services(), datetime.now(UTC)
    seen = observe(app, now)
    shown = overview(seen)
    if (shown.headline, bool(shown.running)) != (headline, moving):
        # The count in the navigation and the pace of this part belong to the whole page.
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.title(escape(shown.headline), anchor=False)
        st.space("stretch")
        st.caption(escape(today_words(now)), width="content")
    left, right = st.columns(TWO_TO_ONE, gap="medium")
    with left:
        _work(shown)
    with right:
        side(observe_side(app, now, seen))


def _work(shown: Overview) -> None:
    for position, waiting in enumerate(shown.waiting):
        _waiting(waiting, primary=position == 0)
    if shown.running:
        section("Running")
        with st.container(border=True):
            for running in shown.running:
                _running(running)
    if shown.failed:
        section("Failed today")
        for failed in shown.failed:
            _failed(failed)
    if shown.finished:
        section("Finished")
        _finished(shown.finished)
    if shown.first_run:
        empty("No run has been asked for yet: give the agent a task below, and its plan waits here for you.")


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
        st.caption(escape(running.facts))
    how_far.progress(running.share, text=small(escape(running.progress)))
    with cost, st.container(horizontal=True, horizontal_alignment="right"):
        st.markdown(escape(running.cost), width="content")


def _failed(failed: FailedItem) -> None:
    clicked = item(
        failed.run_id,
        icon=f":{Slot.RED}[:material/error:]",
        title=failed.title,
        second=f":{Slot.RED}-badge[:material/error: {escape(failed.badge)}] :gray[{escape(failed.facts)}]",
        button="Open run",
    )
    if clicked:
        places.go(places.RUNS, run=failed.run_id)


def _finished(rows: tuple[FinishedRow, ...]) -> None:
    with st.container(gap="xxsmall"):
        _line("", ":gray[Run]", *(f":gray[{head}]" for head in ("Who", "When", "Computing", "People", "Cost")))
        for row in rows:
            cells = (row.who, row.when, row.computing, row.people, row.cost)
            _line(f"{glyph(row.status)}", escape(row.title), *(escape(cell) for cell in cells), run_id=row.run_id)


def _line(icon: str, title: str, *cells: str, run_id: str | None = None) -> None:
    columns = st.columns(FINISHED_COLUMNS, vertical_alignment="center", gap="small")
    columns[0].markdown(small(icon) if icon else "")
    with columns[1]:
        if run_id:
            _to_run(run_id, small(title))
        else:
            st.markdown(small(title))
    for column, cell in zip(columns[2:], cells, strict=True):
        column.markdown(small(cell))


def _to_run(run_id: str, label: str) -> None:
    st.page_link(places.RUNS, label=label, query_params={"run": run_id})


def _new_run(shown: Overview) -> None:
    if not shown.first_run:
        section("Ask for something")
    start_box(primary=not shown.waiting)
    if shown.first_run:
        st.caption("For example")
        for position, task in enumerate(EXAMPLE_TASKS):
            st.button(task, key=f"example-{position}", icon=":material/arrow_insert:", on_click=_fill, args=(task,))


def _fill(task: str) -> None:
    st.session_state[TASK] = task


view()
