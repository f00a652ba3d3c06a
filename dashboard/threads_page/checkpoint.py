"""One checkpoint: facts at the left; changes, state, messages and writes at the right."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import streamlit as st

from agent.checkpoints.records import CheckpointState
from dashboard.look import places
from dashboard.look.formats import cut, size
from dashboard.look.parts import empty, fact_list, section, small_table
from dashboard.look.text import escape, escape_lines, safe_markdown
from dashboard.threads_page import model
from dashboard.threads_page.conversation import Turn, turns
from dashboard.threads_page.reading import Thread
from dashboard.threads_page.timeline import Place, Timeline

FACTS_TO_TABS = (1, 1.78)
WHOLE_VALUE = 200_000


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
        places.select(view=str(st.session_state[key]).partition(" ")[0].lower())

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
