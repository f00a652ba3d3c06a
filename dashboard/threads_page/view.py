"""The page of threads. Looking at a thread, scrubbing and playing only read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from agent.checkpoints.records import CheckpointState, ThreadSummary
from agent.checkpoints.stores import CheckpointStore
from agent.errors import NotFoundError
from dashboard.look import places
from dashboard.look.colours import palette
from dashboard.look.figures import CONFIG
from dashboard.look.formats import cut, plural, size
from dashboard.look.parts import empty, fact_list, guarded, head, section, small_table, warn
from dashboard.look.status import badge, look_of
from dashboard.look.text import code, escape, escape_lines, safe_markdown
from dashboard.named_stores import OWN, named_stores
from dashboard.services import services
from dashboard.threads_page import model
from dashboard.threads_page.charts import draw_timeline, window_around
from dashboard.threads_page.conversation import Turn, turns
from dashboard.threads_page.reading import Version, history_of, own_run, state_of, stores_of, title_of
from dashboard.threads_page.timeline import Place, Timeline

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck

PAGE = 50
PLAY_SECONDS = 1.0
FACTS_TO_TABS = (1, 1.78)
FEW_BRANCHES = 6
PLAYING, FRESH, CLICKS, POSITION = "threads-playing", "threads-play-fresh", "threads-clicks", "threads-position"
WHOLE_VALUE = 200_000


@dataclass(frozen=True, slots=True)
class Thread:
    """The thread that the page shows, and all that was read for it."""

    app: Plandeck
    store: CheckpointStore
    summary: ThreadSummary
    version: Version
    own: model.OwnRun | None
    now: datetime

    def state(self, checkpoint_id: str) -> CheckpointState:
        """One checkpoint's state."""
        return state_of(self.store, self.version, checkpoint_id)

    @property
    def ns(self) -> str:
        """The graph that is shown: the root, or a subgraph."""
        return self.version.ns


def draw() -> None:
    """The list, or the thread that the address names."""
    app = services()
    stores = stores_of(app)
    name = places.selected("store") or OWN
    store = stores.get(name)
    if store is None:
        raise NotFoundError(f"There is no store {name} here; there are {', '.join(stores)}.")
    thread_id = places.selected("thread")
    if thread_id is None:
        draw_list(app, stores, store)
    else:
        draw_thread(app, store, thread_id)


# The list of threads.


def draw_list(app: Plandeck, stores: dict[str, CheckpointStore], store: CheckpointStore) -> None:
    """Every thread of one store, newest first."""
    search = places.selected("q") or ""
    before = places.selected("before")
    now = app.now()
    try:
        page = store.threads(limit=PAGE, before=before, search=search or None)
    except NotFoundError:
        if store.name != OWN:
            raise
        page = None
    threads = page.items if page else ()
    more = bool(page and page.next_cursor)
    head(f"Threads · {escape(store_words(store.name))}", model.headline(threads, more, search))
    for problem in named_stores(app.settings).problems:
        warn("A store is missing here.", problem)
    filters(stores, store, search)
    if not threads:
        empty(nothing_here(store.name, search))
        return
    if store.note:
        warn("Not the newest.", store.note)
    thread_table(app, store, threads, now)
    if page and page.next_cursor:
        older = page.next_cursor
        st.button("Older threads", icon=":material/arrow_forward:", on_click=lambda: select(before=older))


def filters(stores: dict[str, CheckpointStore], store: CheckpointStore, search: str) -> None:
    """Which store, and a part of the id."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if len(stores) > 1:
            st.segmented_control(
                "Store",
                list(stores),
                default=store.name,
                required=True,
                format_func=lambda name: escape(store_words(name)),
                key="threads-store",
                label_visibility="collapsed",
                on_change=lambda: select(store=st.session_state["threads-store"], before=None),
            )
        st.text_input(
            "Search",
            value=search,
            key="threads-search",
            placeholder="Part of a thread id",
            icon=":material/search:",
            label_visibility="collapsed",
            width=320,
            on_change=lambda: select(q=st.session_state["threads-search"].strip() or None, before=None),
        )


def thread_table(app: Plandeck, store: CheckpointStore, threads: tuple[ThreadSummary, ...], now: datetime) -> None:
    """The threads as rows; choosing one opens it."""
    rows = [model.thread_row(thread, title_of(app, store.name, thread.thread_id), now) for thread in threads]
    if all(row["Thread"] == row["Id"] for row in rows):
        rows = [{name: value for name, value in row.items() if name != "Id"} for row in rows]
    states = {look_of(thread.status).word: palette()[look_of(thread.status).slot].solid for thread in threads}

    def opened() -> None:
        chosen = st.session_state["threads-table"]["selection"]["rows"]
        if chosen:
            select(thread=threads[chosen[0]].thread_id, store=store.name, q=None, before=None)

    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        key="threads-table",
        on_select=opened,
        selection_mode="single-row",
        height="content",
        column_config={
            "Thread": st.column_config.TextColumn(width=300),
            "Id": st.column_config.TextColumn(width=120),
            "State": st.column_config.MultiselectColumn(options=list(states), color=list(states.values()), width=150),
            "Last activity": st.column_config.TextColumn(width=95),
            "Checkpoints": st.column_config.NumberColumn(format="localized", width=92),
            "Size": st.column_config.TextColumn(width=75),
        },
        alt="Threads, newest first",
    )


def store_words(name: str) -> str:
    """How a store is called on the page."""
    return "own store" if name == OWN else name


def nothing_here(name: str, search: str) -> str:
    """Why the list is empty."""
    if search:
        return "Try a shorter part of the id, or another store."
    if name == OWN:
        return (
            "A run writes a thread as it goes. Start one on the overview, or add another store with `PLANDECK_STORES`."
        )
    return "Nothing has been written to this store yet."


def select(**chosen: str | None) -> None:
    """Put a selection into the address; None takes it out."""
    for name, value in chosen.items():
        if value is None:
            st.query_params.pop(name, None)
        else:
            st.query_params[name] = value


# One thread.


def draw_thread(app: Plandeck, store: CheckpointStore, thread_id: str) -> None:
    """Head and replay of one thread."""
    own = own_run(app, store.name, thread_id)
    if own and own.run.degraded:
        raise NotFoundError(
            "This run works without LangGraph, so there are no checkpoints to replay; its run page shows each step."
        )
    summary = store.thread(thread_id)
    location = named_stores(app.settings).locations[store.name]
    ns = st.query_params.get("ns", "")
    version = Version(location, thread_id, ns, summary.last_checkpoint_id, summary.bytes)
    thread = Thread(app, store, summary, version, own, app.now())
    timeline = Timeline(history_of(store, version))
    thread_head(thread, timeline)
    playing = bool(st.session_state.get(PLAYING))
    st.fragment(replay, run_every=PLAY_SECONDS if playing else None)(thread, timeline, playing)


def thread_head(thread: Thread, timeline: Timeline) -> None:
    """Where this is, what it is about, and the way to its run."""
    summary, own = thread.summary, thread.own
    branches = f", {plural(len(timeline.branches), 'branch', 'branches')}" if len(timeline.branches) > 1 else ""
    counted = f"{plural(len(timeline.points), 'checkpoint')}{branches}, {size(summary.bytes)}"
    path = " · ".join(escape(part) for part in ("Threads", store_words(thread.store.name), cut(summary.thread_id, 40)))
    status = own.run.status if own else thread.state(timeline.newest).summary.status
    head(
        f"{path} · {escape(counted)}",
        own.run.task if own else summary.thread_id,
        badge=badge(status),
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
            on_change=lambda: select(ns=st.session_state["threads-ns"] or None, checkpoint=None, branch=None),
        )
    st.button(
        "All threads",
        icon=":material/arrow_back:",
        on_click=lambda: select(thread=None, checkpoint=None, branch=None, ns=None),
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


def current_place(timeline: Timeline) -> Place:
    """What the address selects; the newest checkpoint where it selects none."""
    branch = st.query_params.get("branch", "")
    place = timeline.place(st.query_params.get("checkpoint"), int(branch) - 1 if branch.isdecimal() else None)
    if place is None:
        wanted = st.query_params["checkpoint"]
        raise NotFoundError(f"This thread has no checkpoint {wanted}, or it is older than the ones shown.")
    return place


def play_on(timeline: Timeline, place: Place) -> Place:
    """One checkpoint on at each tick, and an end at the last."""
    if st.session_state.pop(FRESH, False):
        return place
    if place.after is None:
        st.session_state[PLAYING] = False
        return place
    go_to(place.after, place.branch, playing=True)
    return timeline.place(place.after, place.branch) or place


def go_to(checkpoint_id: str, branch: int, *, playing: bool = False) -> None:
    """Select a checkpoint; whoever does so by hand stops the play."""
    st.session_state[PLAYING] = playing
    select(checkpoint=checkpoint_id, branch=str(branch + 1) if branch else None)


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


# One checkpoint.


def checkpoint(thread: Thread, timeline: Timeline, place: Place) -> None:
    """Facts at the left; changes, state, messages and writes at the right."""
    state = thread.state(place.point.id)
    before = thread.state(place.before) if place.before is not None else None
    left, right = st.columns(FACTS_TO_TABS, gap="medium")
    with left:
        section(f"Checkpoint {place.index + 1} of {len(place.line)}")
        fact_list(model.facts(place, state, timeline, thread.own, thread.now))
    with right:
        said = turns(state.values, before.values if before else None, thread.own)
        written = model.write_rows(state.made_by)
        draw_tab = open_tab(
            {
                f"Changes since {place.index}" if before else "Changes": lambda: changes_tab(before, state),
                "State": lambda: state_tab(state),
                f"Messages {len(said)}" if said else "Messages": lambda: messages_tab(said),
                f"Writes {len(written)}" if written else "Writes": lambda: writes_tab(written, state),
            }
        )
        draw_tab()


def open_tab(tabs: dict[str, Callable[[], None]]) -> Callable[[], None]:
    """Tabs by label, whose first word is what the address says; gives what draws the open one.

    Their labels change from checkpoint to checkpoint, and Streamlit would go back to the first tab each time.
    """
    words = {label.partition(" ")[0].lower(): label for label in tabs}
    label = words.get(st.query_params.get("view", ""), next(iter(tabs)))
    key = f"threads-tabs-{' '.join(tabs)}"

    def chosen() -> None:
        select(view=str(st.session_state[key]).partition(" ")[0].lower())

    shown = dict(zip(tabs, st.tabs(list(tabs), default=label, key=key, on_change=chosen), strict=True))
    label = next((each for each, tab in shown.items() if tab.open), label)

    def draw_open() -> None:
        with shown[label]:
            tabs[label]()

    return draw_open


def changes_tab(before: CheckpointState | None, state: CheckpointState) -> None:
    """What is new since the checkpoint before."""
    found = model.changes_since(before, state)
    if found.rows:
        small_table(found.rows, alt="Changes since the checkpoint before")
    else:
        empty(
            "Nothing in the state changed." if before else "The state is still empty: the next step takes the input in."
        )
    if found.left_out:
        st.caption(f"and {found.left_out:,} more changes; the state shows them")
    if found.kept:
        st.caption(f"= {len(found.kept)} kept: {escape(cut(', '.join(found.kept), 160))}")


def state_tab(state: CheckpointState) -> None:
    """The values as a tree; what was cut can be asked for."""
    if state.values:
        st.json(model.tree(state.values), expanded=1)
    else:
        empty("No values yet.")
    if names := model.cut_channels(state.values):
        name = st.selectbox(
            "Show whole", names, index=None, key="threads-whole", placeholder="A value that is cut above", width=320
        )
        if name is not None:
            whole_value(name, state.values[name])
    if state.unreadable:
        small_table(
            [
                {"Not shown": escape(entry.where), "Size": size(entry.bytes), "Why": escape(entry.reason)}
                for entry in state.unreadable
            ],
            alt="Values that are not shown",
        )


def whole_value(name: str, value: Any) -> None:
    """One value in full, as a file too."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    st.code(text[:WHOLE_VALUE], language=None, wrap_lines=True, height=420)
    if len(text) > WHOLE_VALUE:
        st.caption(f"The first {WHOLE_VALUE:,} of {len(text):,} characters; the file has them all.")
    st.download_button("Download", text, f"{name}.json", "application/json", icon=":material/download:")


def messages_tab(said: list[Turn]) -> None:
    """The conversation up to here."""
    if not said:
        empty("This state holds no messages.")
        return
    with st.container(gap=None):
        for turn in said:
            bubble = st.chat_message(turn.who, avatar=f":material/{turn.icon}:")
            with bubble.container(gap="xxsmall"):
                notes = [part for part in (turn.note, "new here" if turn.new else "") if part]
                note = f" :gray[:small[{escape(' · '.join(notes))}]]" if notes else ""
                text = cut_text(turn.text)
                shown = safe_markdown(text) if turn.written else escape_lines(text)
                st.markdown(f"**{escape(turn.who)}**{note}")
                if shown:
                    st.markdown(shown)


def cut_text(text: str, characters: int = 4_000) -> str:
    """A long message shortened, and saying so."""
    return text if len(text) <= characters else f"{text[:characters]}… ({len(text):,} characters)"


def writes_tab(written: list[dict[str, str]], state: CheckpointState) -> None:
    """What the nodes wrote to make this checkpoint, and what was written from here on."""
    if written:
        small_table(written, alt="Writes that made this checkpoint")
    else:
        empty("No writes are kept for this checkpoint.")
    if pending := model.write_rows(state.pending_writes):
        section("Written after this checkpoint")
        small_table(pending, alt="Writes after this checkpoint")


draw()
