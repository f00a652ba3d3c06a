"""What a request asks a person for, and the words of each kind. Pure; texts are plain."""

from __future__ import annotations

from enum import StrEnum

from agent.records import ApprovalRequest, Decision, Effect, RequestKind, RequestStatus
from dashboard.look.status import BUDGET, OUTCOME, Look, Slot, look_of


class Asked(StrEnum):
    """A request's kind, told apart as finely as a person has to."""

    PLAN = "plan"
    CALL = "tool call"
    OUTCOME = "outcome"
    """Nobody knows whether a tool call happened."""
    BUDGET = "budget"
    QUESTION = "question"
    INTERRUPT = "interrupt"


BUTTONS = {
    Asked.PLAN: "Review plan",
    Asked.CALL: "Review call",
    Asked.OUTCOME: "Say what happened",
    Asked.BUDGET: "Review budget",
    Asked.QUESTION: "Answer",
    Asked.INTERRUPT: "Review",
}
CALLS = {
    Effect.READ: "May {tool} read this?",
    Effect.DRAFT: "May {tool} write this file?",
    Effect.PUBLISH_INTERNAL: "May {tool} publish this inside the company?",
    Effect.SEND_EXTERNAL: "May {tool} send this out of the company?",
    Effect.WRITE_SYSTEM: "May {tool} change another system?",
}
_DONE = "check_circle"
STATUSES: dict[tuple[Asked, RequestStatus], Look] = {
    (Asked.QUESTION, RequestStatus.RESPONDED): Look(Slot.GREEN, _DONE, "answered"),
    (Asked.OUTCOME, RequestStatus.RESPONDED): Look(Slot.GREEN, _DONE, "counted as done"),
    (Asked.OUTCOME, RequestStatus.APPROVED): Look(Slot.YELLOW, "replay", "called again"),
    (Asked.OUTCOME, RequestStatus.REJECTED): Look(Slot.GRAY, "cancel", "left undone"),
    (Asked.BUDGET, RequestStatus.APPROVED): Look(Slot.GREEN, _DONE, "raised"),
    (Asked.BUDGET, RequestStatus.REJECTED): Look(Slot.GRAY, "cancel", "not raised"),
}
"""Where the general word of a status says the wrong thing."""
DECIDED: dict[tuple[Asked, Decision], str] = {
    (Asked.CALL, Decision.APPROVE): "allowed the call of {tool}",
    (Asked.CALL, Decision.EDIT): "changed the arguments of {tool} and allowed that call",
    (Asked.CALL, Decision.REJECT): "refused the call of {tool}",
    (Asked.CALL, Decision.RESPOND): "sent the call of {tool} back",
    (Asked.OUTCOME, Decision.APPROVE): "had {tool} called again",
    (Asked.OUTCOME, Decision.EDIT): "had {tool} called again with other arguments",
    (Asked.OUTCOME, Decision.REJECT): "left the call of {tool} undone",
    (Asked.OUTCOME, Decision.RESPOND): "said what became of the call of {tool}",
    (Asked.BUDGET, Decision.APPROVE): "raised the budget",
    (Asked.BUDGET, Decision.REJECT): "stopped the run at its budget",
    (Asked.QUESTION, Decision.RESPOND): "answered the question",
    (Asked.QUESTION, Decision.REJECT): "rejected the question",
}


def asked_for(request: ApprovalRequest) -> Asked:
    """What a request is about."""
    about = request.payload.get("about")
    if request.kind is RequestKind.TOOL_CALL:
        return Asked.OUTCOME if about == "outcome" else Asked.CALL
    if request.kind is RequestKind.QUESTION:
        return Asked.BUDGET if about == "budget" else Asked.QUESTION
    return Asked.PLAN if request.kind is RequestKind.PLAN else Asked.INTERRUPT


def title(request: ApprovalRequest) -> str:
    """What is asked, as a headline."""
    payload = request.payload
    match asked_for(request):
        case Asked.CALL:
            return CALLS[Effect(payload["effect"])].format(tool=payload["tool"])
        case Asked.OUTCOME:
            return f"Did the call of {payload['tool']} happen?"
        case Asked.BUDGET:
            return "May this run use more than its budget?"
        case Asked.QUESTION:
            return str(payload.get("question") or "The agent asks something")
        case _:
            return str(payload.get("task") or f"Run {request.run_id}")


def button(request: ApprovalRequest) -> str:
    """The word on the button that opens the request."""
    return BUTTONS[asked_for(request)]


def look(request: ApprovalRequest) -> Look:
    """How a request of its kind is shown."""
    return {Asked.BUDGET: BUDGET, Asked.OUTCOME: OUTCOME}.get(asked_for(request)) or look_of(request.kind)


def status_look(request: ApprovalRequest) -> Look:
    """How its status is shown, in the words of its kind."""
    return STATUSES.get((asked_for(request), request.status)) or look_of(request.status)


def subject(request: ApprovalRequest) -> str:
    """What the request is, as the object of a sentence: `the call of mail`."""
    match asked_for(request):
        case Asked.CALL | Asked.OUTCOME:
            return f"the call of {request.payload['tool']}"
        case Asked.BUDGET:
            return "the budget"
        case Asked.QUESTION:
            return "the question"
        case _:
            return "the request"


def decided(request: ApprovalRequest) -> str | None:
    """What the decision did, after the person's name; None where the kind has no words of its own."""
    if request.decision is None:
        return None
    words = DECIDED.get((asked_for(request), request.decision))
    return words.format(tool=request.payload.get("tool")) if words else None


def effect(request: ApprovalRequest) -> Effect | None:
    """The effect of the call that waits; None for anything but a call."""
    return Effect(request.payload["effect"]) if request.kind is RequestKind.TOOL_CALL else None


def step_words(request: ApprovalRequest) -> str | None:
    """The step that asks, `step s2` or `call c1`; None for a question of the planner."""
    step_id = request.payload.get("step_id")
    if not step_id:
        return None
    free = str(step_id).startswith("c") and request.payload.get("description") == f"Call {request.payload.get('tool')}"
    return f"call {step_id}" if free else f"step {step_id}"
