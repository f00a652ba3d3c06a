"""What the reviews of plans and calls share: a warning, and parts of their bars."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from agent.records import ApprovalRequest, Decision, JsonValue
from dashboard.approvals.deciding import decide_now, note_key
from dashboard.look.hidden import hidden_in
from dashboard.look.parts import warn
from dashboard.look.text import escape


def explanation(said: Iterable[tuple[str, str]]) -> None:
    """What each button does, in one line that takes the room beside them."""
    st.caption(" · ".join(f"**{name}** {escape(what)}" for name, what in said), width="stretch")


def warn_of_hidden(value: JsonValue) -> None:
    """Say which characters of what is reviewed do not show, or turn around how it reads."""
    found = hidden_in(value)
    if found:
        warn(
            "It holds characters that do not show or change how it reads.",
            f"{', '.join(found)}. They are written as escapes in the exact arguments.",
        )


def with_words(request: ApprovalRequest, decision: Decision, label: str, question: str, icon: str) -> None:
    """A decision that needs words: the field opens above the bar, where no refresh comes."""
    with st.popover(label, icon=f":material/{icon}:", key=f"open-{decision}-{request.request_id}"):
        st.text_area(question, key=note_key(request, decision), height=100)
        st.button(
            label,
            type="primary",
            key=f"{decision}-{request.request_id}",
            on_click=decide_now,
            args=(request, decision),
        )
