"""The nodes that wait for a person.

A node runs again from its first line when its pause is answered. So each of these holds a pause as its first statement
and nothing before it.
"""

from __future__ import annotations

from typing import Any

from agent.records import JsonObject, Plan, PlanStep, RequestKind, StopReason
from agent.run.deps import Deps
from agent.run.failing import ContractError, RefusedCallError
from agent.run.policy import Refusal
from agent.run.state import RunState, plan_of, with_plan
from agent.run.stepping import blocked


def ask(state: RunState, deps: Deps) -> RunState:
    """Put the planner's question to a person."""
    decision = deps.pause({"kind": str(RequestKind.QUESTION), "question": state.get("question")})
    if decision["decision"] != "respond":
        return _rejected(decision)
    said = f"You asked: {state.get('question')} The answer is: {decision.get('value') or decision.get('note')}"
    return {"question": None, "feedback": [*state.get("feedback", []), said]}


def review(state: RunState, deps: Deps) -> RunState:
    """Wait for a person's decision on the plan, and take it."""
    decision = deps.pause({"kind": str(RequestKind.PLAN), "plan": state.get("plan"), "task": state["task"]})
    proposed = plan_of(state)
    if proposed is None or decision["hash"] != proposed.hash:
        raise ContractError("The decision names another plan version than the one that waits; nothing was run.")
    if decision["decision"] == "reject":
        return _rejected(decision)
    if decision["decision"] == "respond":
        return _sent_back(state, decision, deps)
    if decision["decision"] == "edit":
        edited = Plan.from_json(decision["value"])
        return {**with_plan(state, edited), "approved_hash": edited.hash}
    if decision["decision"] != "approve":
        raise ContractError(f"{decision['decision']!r} is no decision; nothing was run.")
    return {"approved_hash": proposed.hash}


def _rejected(decision: JsonObject) -> RunState:
    return {"stop_reason": str(StopReason.REJECTED), "question": None, "error": decision.get("note")}


def _sent_back(state: RunState, decision: JsonObject, deps: Deps) -> RunState:
    send_backs = state.get("send_backs", 0) + 1
    if send_backs > deps.limits.max_replans:
        return {
            "stop_reason": str(StopReason.MAX_REPLANS),
            "error": f"The plan was sent back more than {deps.limits.max_replans} times.",
        }
    said = str(decision.get("value") or decision.get("note") or "")
    return {"feedback": [*state.get("feedback", []), said], "send_backs": send_backs, "approved_hash": None}


def consult(state: RunState, deps: Deps) -> RunState:
    """Put what the first waiting step asks to a person: a call to allow, a question, a budget to raise."""
    decision = deps.pause(first_asked(state)[1])
    step_id, payload = first_asked(state)
    update: RunState = {"asked": {step_id: None}}  # type: ignore[dict-item]  # None removes the entry, see `merge`
    if decision["decision"] == "reject":
        return {**update, **_refused(state, step_id, payload, decision, deps)}
    answered: JsonObject = {**decision, "kind": payload["kind"], "about": payload.get("about")}
    if payload.get("arguments") is not None:
        edited = decision["decision"] == "edit"
        answered["arguments"] = decision["value"] if edited else payload["arguments"]
    return {**update, "answered": {step_id: answered}}


def first_asked(state: RunState) -> tuple[str, JsonObject]:
    """The step that asks, and what; the first by id, so that it is the same one when the node runs again."""
    asked: dict[str, Any] = state.get("asked", {})
    step_id = min(asked)
    return step_id, asked[step_id]


def _refused(state: RunState, step_id: str, payload: JsonObject, decision: JsonObject, deps: Deps) -> RunState:
    """A person's no: the step is not done, and the run goes on with what does not need it, or ends."""
    why = f"{decision.get('by')} refused it: {decision.get('note')}"
    if payload.get("about") == "budget":
        return {"stop_reason": str(StopReason.BUDGET), "error": f"{payload['question']} {why}"}
    if deps.behaviour.refusal is Refusal.END:
        return {"stop_reason": str(StopReason.REJECTED), "error": why}
    if step_id not in {step.id for step in _steps(state)}:
        return {"answered": {step_id: {**decision, "kind": payload["kind"], "about": payload.get("about")}}}
    return {
        "statuses": blocked(state, step_id),
        "errors": {step_id: why},
        "triggers": {step_id: RefusedCallError.code},
    }


def _steps(state: RunState) -> tuple[PlanStep, ...]:
    current = plan_of(state)
    return current.steps if current else ()
