"""The state that a run's checkpoints hold, and what can be read off it. Pure; everything in it is JSON.

Only JSON: a checkpoint must open without this code, and nothing in it may need a class to be imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypedDict

from agent.records import JsonObject, Plan, PlanStep, StepStatus


def merge(old: Mapping[str, object], new: Mapping[str, object]) -> dict[str, object]:
    """A reducer for mappings: new entries win, an entry of None goes away. Never mutates either side."""
    joined = {**old, **new}
    return {key: value for key, value in joined.items() if value is not None}


class RunState(TypedDict, total=False):
    """One thread's state. Keyed mappings go by step id."""

    run_id: str
    """The run that the thread belongs to."""
    task: str
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
    results: Annotated[dict[str, JsonObject], merge]
    """`StepResult` of each completed step."""
    stop_reason: str | None
    error: str | None
    answer: str | None
    sources: list[JsonObject]


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


def next_step(state: RunState) -> PlanStep | None:
    """The first pending step, in plan order, whose dependencies are all completed; None when there is none."""
    plan = plan_of(state)
    if plan is None:
        return None
    for step in plan.steps:
        ready = all(status_of(state, other) is StepStatus.COMPLETED for other in step.dependencies)
        if ready and status_of(state, step.id) is StepStatus.PENDING:
            return step
    return None


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
