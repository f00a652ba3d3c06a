"""The editor of a plan: one frame a step. Fields keep what is typed; the draft follows them, never the other way."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import streamlit as st

from agent.records import ApprovalRequest, Plan, StepStatus
from dashboard.approvals import editing
from dashboard.approvals.editing import IN_WORDS, Draft, Row
from dashboard.look.parts import gray, small
from dashboard.look.status import badge
from dashboard.look.text import escape

FIELDS = ("id", "description", "tool", "args", "dependencies", "acceptance_criteria")


def draft_of(request: ApprovalRequest, plan: Plan, done: Collection[str] = ()) -> Draft:
    """The edits of this request in this browser tab; begun with the plan as it is, its done steps locked."""
    key = _draft_key(request)
    if key not in st.session_state:
        st.session_state[key] = editing.begin(plan, done)
    draft: Draft = st.session_state[key]
    return draft


def discard(request: ApprovalRequest) -> None:
    """Forget the edits."""
    draft = st.session_state.pop(_draft_key(request), None)
    for row in draft.rows if draft else ():
        for name in FIELDS:
            st.session_state.pop(_field_key(request, row, name), None)


def edit(request: ApprovalRequest, plan: Plan, tools: list[str], done: Collection[str] = ()) -> Draft:
    """Draw the editor; the draft with everything that is typed so far."""
    draft = draft_of(request, plan, done)
    for index, row in enumerate(draft.rows):
        if row.done:
            _done_row(row, index)
            continue
        draft = editing.with_row(draft, _edit_row(request, row, draft, tools, index))
    st.session_state[_draft_key(request)] = draft
    st.button(
        "Add a step",
        icon=":material/add:",
        key=f"add-{request.request_id}",
        on_click=_change,
        args=(request, editing.added),
    )
    return draft


def _draft_key(request: ApprovalRequest) -> str:
    return f"draft-{request.request_id}"


def _field_key(request: ApprovalRequest, row: Row, name: str) -> str:
    return f"edit-{request.request_id}-{row.uid}-{name}"


def _change(request: ApprovalRequest, change: Callable[[Draft], Draft]) -> None:
    st.session_state[_draft_key(request)] = change(st.session_state[_draft_key(request)])


def _edit_row(request: ApprovalRequest, row: Row, draft: Draft, tools: list[str], index: int) -> Row:
    def keyed(name: str, value: object) -> str:
        # A field that is not on the page any more has lost its state; the draft has kept what it held.
        key = _field_key(request, row, name)
        st.session_state.setdefault(key, value)
        return key

    others = [other.uid for other in draft.rows if other.uid != row.uid]
    known = [IN_WORDS, *tools, *([row.tool] if row.tool and row.tool not in tools else [])]
    with st.container(border=True, key=f"row-{request.request_id}-{row.uid}"):
        _row_head(request, row, index, len(draft.rows))
        first, second = st.columns([2.1, 1], gap="medium")
        description = first.text_input("What it does", key=keyed("description", row.description))
        tool = second.selectbox("Tool", known, key=keyed("tool", row.tool or IN_WORDS))
        criterion = first.text_input("Done when", key=keyed("acceptance_criteria", row.acceptance_criteria))
        after_key = keyed("dependencies", list(row.dependencies))
        st.session_state[after_key] = [uid for uid in st.session_state[after_key] if uid in others]
        after = second.multiselect("After", others, format_func=draft.label, key=after_key, placeholder="nothing")
        args = first.text_area("Arguments, JSON", key=keyed("args", row.args), height=110)
        name = second.text_input("Id", key=keyed("id", row.id))
    return replace(
        row,
        id=name.strip() or row.id,
        description=description,
        tool=None if tool == IN_WORDS else tool,
        args=args,
        dependencies=tuple(after),
        acceptance_criteria=criterion,
    )


def _done_row(row: Row, index: int) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        words = f"**{index + 1}. {escape(row.id)}** {escape(row.description)} {gray(escape(row.tool or 'in words'))}"
        st.markdown(words, width="stretch")
        st.markdown(small(f"{badge(StepStatus.COMPLETED)} :gray[stays as it is]"), width="content")


def _row_head(request: ApprovalRequest, row: Row, index: int, count: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{index + 1}. {escape(row.id)}**", width="content")
        st.space("stretch")
        for icon, help_text, change, off in (
            ("arrow_upward", "Move up", lambda draft: editing.moved(draft, row.uid, -1), index == 0),
            ("arrow_downward", "Move down", lambda draft: editing.moved(draft, row.uid, 1), index == count - 1),
            ("delete", "Remove the step", lambda draft: editing.removed(draft, row.uid), count == 1),
        ):
            st.button(
                "",
                icon=f":material/{icon}:",
                help=escape(help_text),
                key=f"{icon}-{request.request_id}-{row.uid}",
                disabled=off,
                on_click=_change,
                args=(request, change),
                type="tertiary",
            )
