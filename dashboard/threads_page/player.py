"""The timeline of a thread, and what moves the selection along it: clicks, buttons, slider, branch and play."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.errors import NotFoundError
from dashboard.look import places
from dashboard.look.colours import palette
from dashboard.look.figures import CONFIG
from dashboard.look.formats import plural
from dashboard.threads_page import model
from dashboard.threads_page.charts import draw_timeline, window_around
from dashboard.threads_page.reading import Thread
from dashboard.threads_page.timeline import Place, Timeline

PLAY_SECONDS = 1.0
FEW_BRANCHES = 6
PLAYING, FRESH, PLAYED = "threads-playing", "threads-play-fresh", "threads-played"
CLICKS, POSITION = "threads-clicks", "threads-position"


def current_place(timeline: Timeline) -> Place:
    """What the address selects; the newest checkpoint where it selects none."""
    branch = st.query_params.get("branch", "")
    place = timeline.place(st.query_params.get("checkpoint"), int(branch) - 1 if branch.isdecimal() else None)
    if place is None:
        wanted = st.query_params["checkpoint"]
        raise NotFoundError(f"This thread has no checkpoint {wanted}, or it is older than the ones shown.")
    return place


def play_on(timeline: Timeline, place: Place) -> Place:
    """One checkpoint on at each tick, and an end at the last.

    Where the play is is kept here: a tick may come before the browser took on the address that the last one set.
    """
    if st.session_state.pop(FRESH, False):
        st.session_state[PLAYED] = (place.point.id, place.branch)
        return place
    place = timeline.place(*st.session_state[PLAYED]) or place
    if place.after is None:
        st.session_state[PLAYING] = False
        return place
    st.session_state[PLAYED] = (place.after, place.branch)
    go_to(place.after, place.branch, playing=True)
    return timeline.place(place.after, place.branch) or place


def go_to(checkpoint_id: str, branch: int, *, playing: bool = False) -> None:
    """Select a checkpoint; whoever does so by hand stops the play."""
    st.session_state[PLAYING] = playing
    places.select(checkpoint=checkpoint_id, branch=str(branch + 1) if branch else None)


def chart(thread: Thread, timeline: Timeline, place: Place) -> None:
    """The timeline; a click selects."""
    window = window_around(place.point.column, timeline.columns)
    tips = frozenset(timeline.line(branch)[-1] for branch in range(len(timeline.branches)))
    marks = {
        point.id: model.mark_of(point, timeline, thread.own, tips, thread.now)
        for point in timeline.points.values()
        if point.column in window
    }
    # A new key after each click forgets the click, so that the same point can be clicked again later.
    key = f"threads-timeline-{st.session_state.setdefault(CLICKS, 0)}"

    def clicked() -> None:
        points = st.session_state[key]["selection"]["points"]
        if points:
            st.session_state[CLICKS] += 1
            found = timeline.place(points[0]["customdata"][0], place.branch)
            if found:
                go_to(found.point.id, found.branch)

    st.plotly_chart(
        draw_timeline(timeline, place, marks, palette()),
        theme=None,
        config=CONFIG,
        key=key,
        on_select=clicked,
        selection_mode="points",
        alt=f"Timeline of {plural(len(timeline.points), 'checkpoint')}; buttons and slider below select the same",
    )


def controls(timeline: Timeline, place: Place) -> None:
    """First, back, play, on, last, the slider and the branch."""
    line, branch = place.line, place.branch
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        step_button("First", "first_page", line[0], branch, disabled=place.before is None)
        step_button("Back", "chevron_left", place.before, branch, disabled=place.before is None)
        play_button(place)
        step_button("On", "chevron_right", place.after, branch, disabled=place.after is None)
        step_button("Last", "last_page", line[-1], branch, disabled=place.after is None)
        if len(line) > 1:
            st.session_state[POSITION] = place.index + 1
            st.slider(
                "Checkpoint",
                1,
                len(line),
                key=POSITION,
                label_visibility="collapsed",
                on_change=lambda: go_to(line[st.session_state[POSITION] - 1], branch),
            )
        branch_choice(timeline, branch)


def step_button(words: str, icon: str, target: str | None, branch: int, *, disabled: bool) -> None:
    """A button with an icon only; the words are its tooltip."""

    def clicked() -> None:
        if target is not None:
            go_to(target, branch)

    st.button("", icon=f":material/{icon}:", help=words, key=f"threads-{icon}", disabled=disabled, on_click=clicked)


def play_button(place: Place) -> None:
    """Play from here, from the first when this is the last; or stop."""

    def start() -> None:
        if place.after is None:
            go_to(place.line[0], place.branch)
        st.session_state[PLAYING] = st.session_state[FRESH] = True

    def stop() -> None:
        st.session_state[PLAYING] = False

    playing = st.session_state.get(PLAYING)
    st.button(
        "Stop" if playing else "Play",
        icon=":material/pause:" if playing else ":material/play_arrow:",
        key="threads-play",
        disabled=len(place.line) == 1,
        on_click=stop if playing else start,
    )


def branch_choice(timeline: Timeline, branch: int) -> None:
    """The lanes by name; choosing one goes to its tip."""
    names = timeline.branches
    if len(names) == 1:
        return
    key = f"threads-branch-{branch}"

    def chosen() -> None:
        lane = st.session_state[key]
        go_to(timeline.line(lane)[-1], lane)

    shared: dict[str, Any] = {
        "format_func": lambda lane: names[lane],
        "key": key,
        "label_visibility": "collapsed",
        "on_change": chosen,
    }
    lanes = list(range(len(names)))
    if len(names) <= FEW_BRANCHES:
        st.segmented_control("Branch", lanes, default=branch, required=True, **shared)
    else:
        st.selectbox("Branch", lanes, index=branch, width=140, **shared)
