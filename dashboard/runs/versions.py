"""The versions of a run's plan: why each came to be, what it changed, what was said to it. Pure; texts are plain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.planning.changes import ChangeKind, plan_changes
from agent.records import ApprovalRequest, Decision, Plan, StepProgress
from dashboard.approvals.changes import SIGNS
from dashboard.approvals.kinds import status_look
from dashboard.approvals.replans import trigger
from dashboard.look.formats import cut, plural
from dashboard.look.status import EDITED, Look


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version."""

    version: int
    why: str
    changes: str
    """`+ s5, ~ s3`; how many steps for the first."""
    decision: Look | None
    """None while nobody was asked."""
    by: str


def version_rows(
    plans: Sequence[Plan], progress: Mapping[int, Sequence[StepProgress]], requests: Sequence[ApprovalRequest]
) -> list[VersionRow]:
    """All versions, newest first; `progress` is how far the steps of each came."""
    by_hash = {plan.hash: plan for plan in plans}
    return [_row(plan, by_hash.get(plan.parent_hash or ""), progress, requests) for plan in reversed(plans)]


def _row(
    plan: Plan,
    parent: Plan | None,
    progress: Mapping[int, Sequence[StepProgress]],
    requests: Sequence[ApprovalRequest],
) -> VersionRow:
    why = trigger(plan, progress.get(parent.version, ()) if parent else (), requests, parent)
    asked = [request for request in requests if request.hash == plan.hash]
    edited = [request for request in requests if (request.value or {}) == plan.to_json()]
    decided = (asked or edited)[-1:]
    return VersionRow(
        version=plan.version,
        why=cut(". ".join(filter(None, [why.title, why.reason])), 240) if why else "The first plan",
        changes=_changes(parent, plan) if parent else plural(len(plan.steps), "step"),
        decision=_decision(decided[0], plan) if decided else None,
        by=next((request.decided_by or "" for request in decided), ""),
    )


def _decision(request: ApprovalRequest, plan: Plan) -> Look:
    """What was said to a version; one that was edited was not approved itself."""
    if request.decision is Decision.EDIT and request.hash == plan.hash:
        return EDITED
    return status_look(request)


def _changes(old: Plan, new: Plan) -> str:
    changed = [change for change in plan_changes(old, new) if change.kind is not ChangeKind.KEPT]
    return ", ".join(f"{SIGNS[change.kind]} {change.step_id}" for change in changed) or "the order or the goal"
