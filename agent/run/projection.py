"""From a checkpoint's state to the records that pages read. Pure.

The checkpoint is the truth; records follow it, and can be made again from it after a crash between the two.
"""

from __future__ import annotations

from datetime import datetime

from agent.records import AttemptStatus, EventKind, Plan, StepAttempt, StepProgress, StepStatus
from agent.run.state import RunState, status_of


def progress(run_id: str, plan: Plan, state: RunState, attempts: list[StepAttempt]) -> list[StepProgress]:
    """How far each step is, in plan order. Tries of a step that an older version had as it stands count."""
    return [_step_progress(run_id, plan, step.id, state, attempts) for step in plan.steps]


def _step_progress(run_id: str, plan: Plan, step_id: str, state: RunState, attempts: list[StepAttempt]) -> StepProgress:
    first = state.get("since", {}).get(step_id, plan.version)
    tried = [item for item in attempts if item.step_id == step_id and first <= item.plan_version <= plan.version]
    result = state.get("results", {}).get(step_id)
    running = any(item.status is AttemptStatus.RUNNING for item in tried)
    return StepProgress(
        run_id=run_id,
        plan_version=plan.version,
        step_id=step_id,
        status=StepStatus.RUNNING if running else status_of(state, step_id),
        attempts=len(tried),
        started_at=tried[0].started_at if tried else None,
        finished_at=datetime.fromisoformat(result["finished_at"]) if result else None,
        result=result,
        error=state.get("errors", {}).get(step_id),
    )


def closed_attempts(state: RunState, attempts: list[StepAttempt], now: datetime) -> list[StepAttempt]:
    """The running tries that the state says are over, with how they ended."""
    closed = []
    for item in attempts:
        if item.status is not AttemptStatus.RUNNING:
            continue
        result = state.get("results", {}).get(item.step_id)
        if result is not None:
            closed.append(_ended(item, AttemptStatus.COMPLETED, datetime.fromisoformat(result["finished_at"]), None))
        elif item.step_id in state.get("asked", {}):
            closed.append(_ended(item, AttemptStatus.PAUSED, now, None))
        elif state.get("tries", {}).get(item.step_id, 0) > _failures(attempts, item):
            closed.append(_ended(item, AttemptStatus.FAILED, now, state["errors"][item.step_id]))
    return closed


def with_closed(attempts: list[StepAttempt], closed: list[StepAttempt]) -> list[StepAttempt]:
    """The tries, those that are over now as they ended."""
    ended = {(item.plan_version, item.step_id, item.attempt): item for item in closed}
    return [ended.get((item.plan_version, item.step_id, item.attempt), item) for item in attempts]


def _failures(attempts: list[StepAttempt], of: StepAttempt) -> int:
    """How many tries of the same step are already recorded as failed."""
    same = (item for item in attempts if (item.step_id, item.plan_version) == (of.step_id, of.plan_version))
    return sum(1 for item in same if item.status is AttemptStatus.FAILED)


def _ended(item: StepAttempt, status: AttemptStatus, at: datetime, error: str | None) -> StepAttempt:
    return StepAttempt(
        run_id=item.run_id,
        plan_version=item.plan_version,
        step_id=item.step_id,
        attempt=item.attempt,
        status=status,
        started_at=item.started_at,
        finished_at=at,
        error=error,
    )


def step_event(before: StepStatus, after: StepProgress) -> tuple[EventKind, str] | None:
    """The line that a change of a step's status is worth."""
    if before is after.status:
        return None
    step = after.step_id
    worth = {
        StepStatus.COMPLETED: (EventKind.STEP_COMPLETED, f"{step} criterion met"),
        StepStatus.BLOCKED: (EventKind.STEP_BLOCKED, f"{step} blocked: {after.error}"),
        StepStatus.SKIPPED: (EventKind.STEP_SKIPPED, f"{step} skipped, it needs a blocked step"),
    }
    return worth.get(after.status)
