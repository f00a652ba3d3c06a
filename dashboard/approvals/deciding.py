"""From a click to a decision: once, whoever and however often somebody clicks."""

from __future__ import annotations

import streamlit as st

from agent.errors import AgentError
from agent.records import ApprovalRequest, Decision, JsonObject
from dashboard.services import current_user, services

NOTE = "decision-note"
REFUSED = "decision-refused"
GOES_ON = "decision-goes-on"


def note_key(request: ApprovalRequest, decision: Decision) -> str:
    """Where the words of a rejection, an answer or feedback are kept while they are typed."""
    return f"{NOTE}-{decision}-{request.request_id}"


def decide_now(
    request: ApprovalRequest,
    decision: Decision,
    plan: JsonObject | None = None,
    arguments: JsonObject | None = None,
) -> None:
    """A click on a button of the bar; an edit comes with the plan, or with the arguments of the call.

    It runs before the page is drawn again, so the page shows what came of it.
    A second click, a second tab and a second person come too late; what the first said stays and the bar says so.
    """
    from agent.run.usecases import decide  # noqa: PLC0415 - pages are served while the agent is imported

    said = str(st.session_state.get(note_key(request, decision)) or "").strip() or None
    try:
        decide(
            services(),
            request.request_id,
            decision,
            hash=request.hash,
            by=current_user(),
            plan=plan,
            value=said if decision is Decision.RESPOND else arguments,
            note=said,
        )
    except AgentError as error:
        st.session_state[f"{REFUSED}-{request.request_id}"] = error.message
    else:
        # A page cannot be switched in a callback, so the next drawing does it.
        st.session_state[f"{GOES_ON}-{request.request_id}"] = decision is not Decision.REJECT


def refusal(request: ApprovalRequest) -> str | None:
    """Why the last click on this request was refused; told once."""
    said: str | None = st.session_state.pop(f"{REFUSED}-{request.request_id}", None)
    return said


def goes_on(request: ApprovalRequest) -> bool:
    """Whether the last click here set the run going again: its page is what the person wants to see. Told once."""
    return bool(st.session_state.pop(f"{GOES_ON}-{request.request_id}", False))
