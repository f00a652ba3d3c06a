"""One thread: its head and its replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from agent.checkpoints.stores import CheckpointStore
from agent.errors import NotFoundError
from dashboard.look import places
from dashboard.look.formats import cut, plural, size
from dashboard.look.parts import guarded, head, skeleton, warn
from dashboard.look.status import badge
from dashboard.look.text import code, escape
from dashboard.threads_page.checkpoint import checkpoint
from dashboard.threads_page.listing import store_words
from dashboard.threads_page.player import PLAY_SECONDS, PLAYING, chart, controls, current_place, play_on
from dashboard.threads_page.reading import Thread, own_run, read_thread
from dashboard.threads_page.timeline import Timeline

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck


SKELETON = (24, 34, 110, 38, 320)
"""Heights of the small line, the title, the timeline, the controls and the checkpoint."""


def draw_thread(app: Plandeck, store: CheckpointStore, thread_id: str) -> None:
    """Head and replay of one thread."""
    ns = st.query_params.get("ns", "")
    own = own_run(app, store.name, thread_id)
    if own and own.run.degraded:
        raise NotFoundError(
            "This run works without LangGraph, so there are no checkpoints to replay; its run page shows each step."
        )
    with skeleton((store.name, thread_id, ns), SKELETON):
        thread = read_thread(app, store, thread_id, ns)
        timeline = Timeline(thread.history)
        status = thread.own.run.status if thread.own else thread.state(timeline.newest).summary.status
    thread_head(thread, timeline, badge(status))
    playing = bool(st.session_state.get(PLAYING))
    st.fragment(replay, run_every=PLAY_SECONDS if playing else None)(thread, timeline, playing)


def thread_head(thread: Thread, timeline: Timeline, status: str) -> None:
    """Where this is, what it is about, and the way to its run; `status` is a badge."""
    summary, own = thread.summary, thread.own
    branches = f", {plural(len(timeline.branches), 'branch', 'branches')}" if len(timeline.branches) > 1 else ""
    counted = f"{plural(len(timeline.points), 'checkpoint')}{branches}, {size(summary.bytes)}"
    path = " · ".join(escape(part) for part in ("Threads", store_words(thread.store.name), cut(summary.thread_id, 40)))
    head(
        f"{path} · {escape(counted)}",
        own.run.task if own else summary.thread_id,
        badge=status,
        actions=lambda: head_actions(thread),
    )
    if thread.store.note:
        warn("Not the newest.", thread.store.note)


def head_actions(thread: Thread) -> None:
    """To the list, to the run, and into a subgraph."""
    if len(thread.summary.namespaces) > 1:
        names = list(thread.summary.namespaces)
        st.selectbox(
            "Graph",
            names,
            index=names.index(thread.ns) if thread.ns in names else 0,
            format_func=graph_words,
            key="threads-ns",
            label_visibility="collapsed",
            width=220,
            on_change=lambda: places.select(ns=st.session_state["threads-ns"] or None, checkpoint=None, branch=None),
        )
    st.button(
        "All threads",
        icon=":material/arrow_back:",
        on_click=lambda: places.select(thread=None, checkpoint=None, branch=None, ns=None),
    )
    if thread.own and st.button("Run", icon=":material/play_circle:", help=code(thread.own.run.run_id)):
        places.go(places.RUNS, run=thread.own.run.run_id)


def graph_words(ns: str) -> str:
    """A namespace as a graph: `import · bb07`."""
    if not ns:
        return "whole graph"
    return " / ".join(f"{part.partition(':')[0]} · {part.partition(':')[2][:4]}" for part in ns.split("|"))


@guarded
def replay(thread: Thread, timeline: Timeline, playing: bool) -> None:
    """Timeline, controls and the selected checkpoint; scrubbing runs nothing but this."""
    place = current_place(timeline)
    if playing:
        place = play_on(timeline, place)
    if bool(st.session_state.get(PLAYING)) is not playing:
        # Only a run of the whole page starts or stops the clock of this fragment.
        st.rerun()
    chart(thread, timeline, place)
    controls(timeline, place)
    checkpoint(thread, timeline, place)
