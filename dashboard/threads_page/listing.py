"""The list of threads of a store."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import streamlit as st

from agent.checkpoints.records import ThreadSummary
from agent.checkpoints.stores import CheckpointStore
from agent.errors import NotFoundError
from dashboard.look import places
from dashboard.look.formats import NONE
from dashboard.look.parts import clickable_table, empty, head, warn
from dashboard.look.text import escape
from dashboard.named_stores import OWN, named_stores
from dashboard.threads_page import model
from dashboard.threads_page.reading import run_of

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck

PAGE = 50


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
        st.button("Older threads", icon=":material/arrow_forward:", on_click=lambda: places.select(before=older))


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
                on_change=lambda: places.select(store=st.session_state["threads-store"], before=None),
            )
        st.text_input(
            "Search",
            value=search,
            key="threads-search",
            placeholder="Part of a thread id",
            icon=":material/search:",
            label_visibility="collapsed",
            width=320,
            on_change=lambda: places.select(q=st.session_state["threads-search"].strip() or None, before=None),
        )


def thread_table(app: Plandeck, store: CheckpointStore, threads: tuple[ThreadSummary, ...], now: datetime) -> None:
    """The threads as rows; a click on one opens it."""
    st.caption("A click on a thread opens it.")
    rows = [model.thread_row(thread, run_of(app, store.name, thread.thread_id), now) for thread in threads]
    if all(row["Id"] == NONE for row in rows):
        rows = [{name: value for name, value in row.items() if name != "Id"} for row in rows]
    text = st.column_config.TextColumn
    columns = {
        "Thread": text(width=350),
        "Id": text(width=126),
        "Last activity": text(width=96),
        "Checkpoints": text(width=92, alignment="right"),
        "Size": text(width=72, alignment="right"),
    }
    opened = clickable_table(rows, columns, key="threads-table", alt="Threads, newest first")
    if opened is not None:
        places.go(places.THREADS, thread=threads[opened].thread_id, store=store.name)


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
