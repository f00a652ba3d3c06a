"""The parts that pages are made of. Arguments named as Markdown are ours or escaped already."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from agent.errors import AgentError
from dashboard.look.colours import palette
from dashboard.look.formats import NONE
from dashboard.look.metric import Metric
from dashboard.look.status import Slot
from dashboard.look.text import escape
from traces.errors import TracesError

P = ParamSpec("P")
R = TypeVar("R")

SHOWN = "shown-thing"
TWO_TO_ONE = (2.1, 1)
"""The split of a page into what is worked on and what goes with it; the same all the way down."""


def head(
    path: str,
    title: str,
    *,
    badge: str = "",
    facts: str = "",
    actions: Callable[[], None] | None = None,
) -> None:
    """The small line (Markdown) with badge and actions, the one h1 (plain text), a gray line of facts (Markdown).

    A list has no path: its name is in the navigation.
    """
    with st.container(gap="xxsmall"):
        if path:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(path, width="content")
                if badge:
                    st.markdown(small(badge), width="content")
                st.space("stretch")
                if actions:
                    actions()
        st.title(escape(title), anchor=False)
        if facts:
            st.caption(facts)


def section(title: str) -> None:
    """The heading of a section, plain text."""
    st.markdown(f"##### {escape(title)}", anchors=False)


def small(markdown: str) -> str:
    """The Markdown in the size of tables and notes."""
    return f":small[{markdown}]"


def gray(markdown: str) -> str:
    """The Markdown in the colour of what is read second."""
    return f":gray[{markdown}]"


def metric_strip(metrics: Sequence[Metric], *, key: str | None = None) -> DeltaGenerator:
    """One frame with a figure per column; returned for what belongs below the figures (meters)."""
    frame = st.container(border=True, key=key)
    columns = frame.columns(len(metrics), gap="medium")
    for column, metric in zip(columns, metrics, strict=True):
        column.metric(
            escape(metric.label),
            metric.value,
            delta=escape(metric.context) or None,
            delta_color="off",
            delta_arrow="off",
            help=metric.help and escape(metric.help),
        )
    return frame


def meter(share: float, sentence: str, *, over: str = "") -> None:
    """A bar with its sentence above; `over` is the amber note when the cap is passed. Both plain text."""
    st.progress(min(1.0, max(0.0, share)), text=small(escape(sentence)))
    if over:
        st.caption(f":yellow[:material/warning:] {escape(over)}")


def item(
    key: str,
    *,
    icon: str,
    title: str,
    second: str,
    button: str,
    primary: bool = False,
    third: str = "",
) -> bool:
    """A frame with icon, bold title (plain text), second line, one button; True on its click. The rest is Markdown."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"item-{key}"):
        with st.container(gap="xxsmall"):
            st.markdown(f"{icon} **{escape(title)}**")
            st.markdown(small(second))
            if third:
                st.caption(third)
        return st.button(button, type="primary" if primary else "secondary", key=f"open-{key}")


def fact_list(facts: Mapping[str, str]) -> None:
    """Names and values (Markdown) under each other, lines between."""
    st.table({escape(name): value or NONE for name, value in facts.items()}, border="horizontal")


Format = Callable[[Any], str]


def small_table(
    rows: Sequence[Mapping[str, Any]],
    formats: Mapping[str, Format] | None = None,
    *,
    alt: str,
    heads: bool = True,
    stands_out: Mapping[str, Callable[[Any], bool]] | None = None,
) -> None:
    """A table of up to about 15 rows; its keys are the heads.

    Strings are Markdown. A column with a format holds numbers or None: they are worded by it and stand at the right.
    `stands_out` says by column which of them are written in red.
    """
    frame = pd.DataFrame(list(rows))
    for name in formats or {}:
        frame[name] = pd.to_numeric(frame[name], errors="coerce") if frame[name].notna().any() else frame[name]
    worded = {name: _none_aware(form) for name, form in (formats or {}).items()}
    styled = frame.style.format(worded)  # type: ignore[arg-type]  # the stubs do not know columns without a name
    for name, wrong in (stands_out or {}).items():
        styled = styled.map(_red_where(wrong), subset=[name])
    st.table(styled, border="horizontal", hide_index=True, hide_header=not heads, alt=alt)


def _red_where(wrong: Callable[[Any], bool]) -> Callable[[Any], str]:
    red = f"color: {palette()[Slot.RED].text}; font-weight: 600"
    return lambda value: "" if pd.isna(value) or not wrong(value) else red


def _none_aware(form: Format) -> Format:
    return lambda value: NONE if pd.isna(value) else form(value)


def clickable_table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, Any], *, key: str, alt: str) -> int | None:
    """A long table; the index of the row that was clicked. A column named Status holds looks, shown as tinted chips."""
    looks = {row["Status"] for row in rows if "Status" in row}
    chips = st.column_config.MultiselectColumn(
        width=112, options=[look.word for look in looks], color=[palette()[look.slot].tint for look in looks]
    )
    chosen = st.dataframe(
        [{**row, "Status": [row["Status"].word]} if "Status" in row else dict(row) for row in rows],
        column_config={"Status": chips, **columns},
        hide_index=True,
        on_select="rerun",
        selection_mode="single-cell",
        height="content",
        key=key,
        placeholder=NONE,
        alt=alt,
    )
    cells = chosen.selection.cells
    return int(cells[0][0]) if cells else None


def empty(sentence: str) -> None:
    """Why there is nothing here and what would fill it, in one sentence (Markdown)."""
    st.markdown(gray(sentence))


@contextmanager
def skeleton(shown: object, heights: Sequence[int]) -> Iterator[None]:
    """Gray blocks of these heights in pixels while something is read; gone when it was, or when that failed.

    Only the first time: while the page goes on to show the same thing, what is there stays there.
    """
    place = st.empty()
    if st.session_state.get(SHOWN) != shown:
        with place.container():
            for height in heights:
                st.skeleton(height)
    try:
        yield
        st.session_state[SHOWN] = shown
    finally:
        place.empty()


def warn(title: str, body: str = "") -> None:
    """An amber box for what must be read before acting; both plain text."""
    st.warning(_boxed(title, body), icon=":material/warning:")


def fail(title: str, body: str = "") -> None:
    """A red box for what is broken; both plain text."""
    st.error(_boxed(title, body), icon=":material/error:")


def _boxed(title: str, body: str) -> str:
    return f"**{escape(title)}**" + (f" {escape(body)}" if body else "")


@contextmanager
def shown_errors() -> Iterator[None]:
    """Show what a page or a part of it raises as its one sentence, and go on after it."""
    try:
        yield
    except (AgentError, TracesError) as error:
        st.error(escape(str(error)), icon=":material/error:")


def guarded(part: Callable[P, R]) -> Callable[P, R | None]:
    """A part of a page, e.g. a fragment, whose errors are shown as sentences; put it below `@st.fragment`."""

    @functools.wraps(part)
    def run(*args: P.args, **kwargs: P.kwargs) -> R | None:
        with shown_errors():
            return part(*args, **kwargs)
        return None  # type: ignore[unreachable]  # reached when `shown_errors` swallowed an error

    return run
