"""Why a plan version came to be, and what of it is done already. Pure; texts are plain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.records import ApprovalRequest, Decision, Plan, RequestKind, StepProgress, StepStatus

TITLES = {
    "execution_error": "{step} failed",
    "criterion_unmet": "{step} did not meet its criterion",
    "empty_observation": "{step} found nothing",
    "not_enough": "The agent looked back and found that it is not enough yet",
    "feedback": "The version before was sent back",
    "edit": "A person edited the version before",
    "invalid_plan": "The model gave no valid plan twice",
}
BY_PEOPLE = ("feedback", "edit")
"""Versions that somebody asked for, who knows why."""
OF_A_STEP = ("execution_error", "criterion_unmet", "empty_observation")


@dataclass(frozen=True, slots=True)
class Trigger:
    """Why there is a new version."""

    title: str
    reason: str
    """The step's last error or what a person said; empty where nothing more is known."""


def trigger(
    plan: Plan, before: Sequence[StepProgress], requests: Sequence[ApprovalRequest], parent: Plan | None = None
) -> Trigger | None:
    """Why this version was made; None for a first one. `before` is how far the steps of its parent came."""
    if plan.trigger is None:
        return None
    failed = next((step for step in before if step.status is StepStatus.BLOCKED), None)
    step = _named(failed.step_id, parent) if failed else "A step"
    title = TITLES.get(plan.trigger, plan.trigger.replace("_", " ").capitalize()).format(step=step)
    if plan.trigger in OF_A_STEP:
        return Trigger(title, (failed.error or "") if failed else "")
    return Trigger(title, _said(plan, requests) if plan.trigger == "feedback" else "")


def _named(step_id: str, parent: Plan | None) -> str:
    found = next((step for step in (parent.steps if parent else ()) if step.id == step_id), None)
    return f"{step_id} ({found.description})" if found else step_id


def _said(plan: Plan, requests: Sequence[ApprovalRequest]) -> str:
    """What the person said who sent the version before back, or answered the planner."""
    said = [
        request
        for request in requests
        if request.decision is Decision.RESPOND and not request.payload.get("step_id")
        if request.kind is RequestKind.QUESTION or request.hash == plan.parent_hash
    ]
    last = max(said, key=lambda request: request.requested_at, default=None)
    return f"{last.decided_by}: “{last.note or last.value}”" if last else ""


def done_steps(progress: Sequence[StepProgress]) -> frozenset[str]:
    """The ids of the steps that are done and stay done."""
    return frozenset(step.step_id for step in progress if step.status is StepStatus.COMPLETED)
