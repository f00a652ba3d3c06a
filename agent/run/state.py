"""The state that a run's checkpoints hold, and what can be read off it. Pure; everything in it is JSON.

Only JSON: a checkpoint must open without this code, and nothing in it may need a class to be imported.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, TypedDict

from agent.planning.hashing import canonical_json
from agent.planning.ordering import ready_steps
from agent.records import JsonObject, Plan, PlanStep, StepStatus


def merge(old: Mapping[str, object], new: Mapping[str, object]) -> dict[str, object]:
    """A reducer for mappings: new entries win, an entry of None goes away. Never mutates either side."""
    joined = {**old, **new}
    return {key: value for key, value in joined.items() if value is not None}


def latest(_: object, new: object) -> object:
    """A reducer for what several steps of a wave may say at once: the last word stays."""
    return new


class RunState(TypedDict, total=False):
    """One thread's state. Keyed mappings go by step id; a call of the free mode counts as a step (`c1`, `c2`, …)."""

    run_id: str
    """The run that the thread belongs to."""
    task: str
    mode: str
    """How the run goes about the task: `direct`, `react` or `plan_execute`."""
    mode_reason: str | None
    """Why, in one sentence, if the model chose."""
    plan: JsonObject | None
    """`Plan.to_json()` of the current version."""
    plan_rounds: int
    """How many versions the model was asked for."""
    send_backs: int
    """How often a person sent a version back."""
    feedback: list[str]
    """What people said to earlier versions or to the planner's questions, oldest first."""
    question: str | None
    """What the planner asks; None unless it waits for the answer."""
    approved_hash: str | None
    """The hash that a person approved; None before."""
    statuses: Annotated[dict[str, str], merge]
    tries: Annotated[dict[str, int], merge]
    """Failed tries; a try that a crash cut off is not one."""
    errors: Annotated[dict[str, str], merge]
    """Why the last try of a step failed, as one sentence."""
    triggers: Annotated[dict[str, str], merge]
    """What kind of failure a blocked step ended with: the word by which a replan is asked for."""
    retry_at: Annotated[dict[str, str], merge]
    """When a failed step may be tried again, RFC 3339."""
    since: Annotated[dict[str, int], merge]
    """The plan version in which a step first stood as it stands now."""
    results: Annotated[dict[str, JsonObject], merge]
    """`StepResult` of each completed step."""
    asked: Annotated[dict[str, JsonObject], merge]
    """What a step waits for a person for: the payload of a request."""
    answered: Annotated[dict[str, JsonObject], merge]
    """What the person said, until the step is done."""
    trigger: JsonObject | None
    """Why a new plan is wanted: `{kind, step_id, reason}`; None when none is."""
    replans: int
    reflections: int
    turns: Annotated[list[JsonObject], operator.add]
    """The model's turns in the free mode: `{text, calls: [{id, tool, arguments}]}`."""
    stop_reason: Annotated[str | None, latest]
    error: Annotated[str | None, latest]
    answer: str | None
    sources: list[JsonObject]
    current: str
    """The step that one task of a wave is about; never in a checkpoint's own values."""


class StepResult(TypedDict):
    """What a completed step leaves behind; results of direct dependencies reach later steps whole."""

    key_result: str
    criterion_met: bool
    reason: str
    """Why the criterion counts as met."""
    arguments: JsonObject
    """The arguments that the tool was called with; empty for a step without a tool."""
    observation: JsonObject
    """`Observation.to_json()`."""
    started_at: str
    finished_at: str


def plan_of(state: RunState) -> Plan | None:
    """The current plan version, or None before there is one."""
    value = state.get("plan")
    return Plan.from_json(value) if value else None


def status_of(state: RunState, step_id: str) -> StepStatus:
    """Where a step stands; a step nobody touched is pending."""
    return StepStatus(state.get("statuses", {}).get(step_id, StepStatus.PENDING))


def ready(state: RunState) -> list[PlanStep]:
    """The steps that can be tried now, in plan order: pending, all dependencies completed, nobody asked about them."""
    plan = plan_of(state)
    if plan is None:
        return []
    statuses = {step.id: status_of(state, step.id) for step in plan.steps}
    asked = state.get("asked", {})
    return [step for step in ready_steps(plan.steps, statuses) if step.id not in asked]


def seconds_to_wait(state: RunState, step_id: str, now: datetime) -> float:
    """How long a failed step is still left alone."""
    at = state.get("retry_at", {}).get(step_id)
    return max(0.0, (datetime.fromisoformat(at) - now).total_seconds()) if at else 0.0


def with_plan(state: RunState, new: Plan) -> RunState:
    """Make `new` the current version. A completed step that stands in it unchanged stays completed, with its result.

    Everything else begins anew, and no approval of an older version holds.
    """
    old = plan_of(state)
    before = {step.id: canonical_json(step.to_json()) for step in old.steps} if old else {}
    same = {step.id for step in new.steps if before.get(step.id) == canonical_json(step.to_json())}
    kept = {step_id for step_id in same if status_of(state, step_id) is StepStatus.COMPLETED}
    gone = {step_id for step_id in before if step_id not in kept}
    forgotten: dict[str, Any] = dict.fromkeys(gone)
    since = state.get("since", {})
    return {
        "plan": new.to_json(),
        "approved_hash": None,
        "trigger": None,
        "statuses": {**forgotten, **{step.id: str(StepStatus.PENDING) for step in new.steps if step.id not in kept}},
        "results": forgotten,
        "tries": forgotten,
        "errors": forgotten,
        "triggers": forgotten,
        "retry_at": forgotten,
        "asked": forgotten,
        "answered": forgotten,
        "since": {
            **forgotten,
            **{step.id: since.get(step.id, 1) if step.id in kept else new.version for step in new.steps},
        },
    }


def earlier_results(state: RunState, step: PlanStep) -> list[JsonObject]:
    """What a step may know of the steps before it: direct dependencies whole, the rest in summary."""
    plan = plan_of(state)
    if plan is None:
        return []
    return [
        _earlier(other, result, whole=other.id in step.dependencies)
        for other in plan.steps
        if (result := state.get("results", {}).get(other.id)) is not None
    ]


def _earlier(step: PlanStep, result: JsonObject, *, whole: bool) -> JsonObject:
    summary: JsonObject = {
        "step_id": step.id,
        "description": step.description,
        "tool": step.tool,
        "status": str(StepStatus.COMPLETED),
        "key_result": result["key_result"],
        "criterion_met": result["criterion_met"],
    }
    return {**summary, "observation": result["observation"]} if whole else summary


def progress_summary(state: RunState) -> list[JsonObject]:
    """What a planner may know of the steps: id, status, key result and whether the criterion is met, never logs."""
    plan = plan_of(state)
    return [_summary(state, step) for step in (plan.steps if plan else ())]


def _summary(state: RunState, step: PlanStep) -> JsonObject:
    result = state.get("results", {}).get(step.id)
    told: JsonObject = {"step_id": step.id, "description": step.description, "status": str(status_of(state, step.id))}
    if result is not None:
        return {**told, "key_result": result["key_result"], "criterion_met": result["criterion_met"]}
    return {**told, "error": state.get("errors", {}).get(step.id)}
