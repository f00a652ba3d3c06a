"""From records to the timeline "As it happened". Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from agent.records import (
    ApprovalRequest,
    AttemptStatus,
    PlanStep,
    RequestKind,
    RunStatus,
    StepAttempt,
    StepStatus,
)
from dashboard.approvals.kinds import Asked, asked_for
from dashboard.look.formats import duration, stamp
from dashboard.look.status import Slot, look_of
from dashboard.look.timeline import PERSON_LANE, Bar, Timeline
from dashboard.runs.free import free_timeline
from dashboard.runs.model import Observed, time_of, wait_end

PLANNING = "planning"
ANSWER = "answer"


def timeline(seen: Observed) -> Timeline | None:
    """What ran when; None before the run started."""
    if seen.run.started_at is None:
        return None
    until = max(seen.run.finished_at or seen.now, seen.run.started_at)
    if seen.free:
        return free_timeline(seen, _waits(seen, until), until)
    waits = _waits(seen, until)
    tries = _tries(seen)
    bars = [*_planning(seen, until), *tries, *_answer(seen, until)]
    used = {bar.lane for bar in bars}
    lanes = [
        *([PLANNING] if PLANNING in used else []),
        *([PERSON_LANE] if waits else []),
        *_step_lanes(seen, tries),
        *([ANSWER] if ANSWER in used else []),
    ]
    if not lanes:
        return None
    return Timeline(tuple(lanes), tuple(bars), tuple(waits), seen.run.started_at, until, not seen.run.status.ended)


def _lane(seen: Observed, step_id: str) -> str:
    step = _step(seen, step_id)
    return f"{step_id} {step.tool or 'in words'}" if step else step_id


def _step(seen: Observed, step_id: str) -> PlanStep | None:
    """The step in the newest version that has it."""
    plans = [*([seen.plan] if seen.plan else []), *reversed(seen.plans)]
    return next((step for plan in plans for step in plan.steps if step.id == step_id), None)


def _step_lanes(seen: Observed, tries: list[Bar]) -> list[str]:
    """A lane for each step of the plan, and for each that was tried in an older version only."""
    current = [_lane(seen, step.id) for step in (seen.plan.steps if seen.plan and seen.attempts else ())]
    return list(dict.fromkeys([*(bar.lane for bar in tries if bar.lane not in current), *current]))


def _waits(seen: Observed, until: datetime) -> list[Bar]:
    return [
        Bar(
            PERSON_LANE,
            request.requested_at,
            wait_end(request, until),
            Slot.YELLOW,
            f"{request.decided_by or 'waits'} · {duration(wait_end(request, until) - request.requested_at)}",
            f"{request.kind.replace('_', ' ')} {look_of(request.status).word}"
            + (f" by {request.decided_by}" if request.decided_by else "")
            + f"\n{duration(wait_end(request, until) - request.requested_at)} from {stamp(request.requested_at)}",
        )
        for request in seen.requests
    ]


def _planning(seen: Observed, until: datetime) -> list[Bar]:
    """Planning went on from the start, or from a plan that was sent back, to the next request."""
    bars: list[Bar] = []
    begin = seen.run.started_at
    for request in filter(_by_the_planner, seen.requests):
        begin = begin or _planned_anew(seen, request)
        if begin is not None and request.requested_at >= begin:
            version = (request.payload.get("plan") or {}).get("version")
            label = f"plan v{version}" if version else "question"
            bars.append(_planned(begin, request.requested_at, Slot.GREEN, label))
        plans_again = request.decided_at and (
            request.kind is RequestKind.QUESTION or look_of(request.status).word == "sent back"
        )
        begin = request.decided_at if plans_again else None
    if begin is not None and not seen.attempts:
        ended_badly = seen.run.status is RunStatus.FAILED
        slot = Slot.RED if ended_badly else Slot.GRAY if seen.run.status.ended else Slot.BLUE
        bars.append(_planned(begin, until, slot, "failed" if ended_badly else PLANNING))
    return bars


def _by_the_planner(request: ApprovalRequest) -> bool:
    """Whether planning led to the request, and not the work on a step."""
    return asked_for(request) in (Asked.PLAN, Asked.QUESTION) and not request.payload.get("step_id")


def _planned_anew(seen: Observed, request: ApprovalRequest) -> datetime | None:
    """When the run began to plan anew by itself: after the last try before the request."""
    ends = [attempt.finished_at for attempt in seen.attempts if attempt.finished_at]
    return max((end for end in ends if end <= request.requested_at), default=None)


def _planned(start: datetime, end: datetime, slot: Slot, label: str) -> Bar:
    return Bar(PLANNING, start, end, slot, label, f"{label}\n{duration(end - start)} from {stamp(start)}")


def _tries(seen: Observed) -> list[Bar]:
    return [_try(seen, attempt) for attempt in seen.attempts if _belongs(seen, attempt)]


def _belongs(seen: Observed, attempt: StepAttempt) -> bool:
    return _step(seen, attempt.step_id) is not None


def _try(seen: Observed, attempt: StepAttempt) -> Bar:
    look = look_of(attempt.status)
    time = time_of(attempt, seen.run.finished_at or seen.now)
    # Where a try was cut off is not known: what is drawn is that it began.
    end = attempt.started_at + (time or timedelta(0))
    label = f"try {attempt.attempt}" if attempt.attempt > 1 else ""
    if attempt.status in (AttemptStatus.FAILED, AttemptStatus.INTERRUPTED):
        label = look.word
    step = _step(seen, attempt.step_id)
    took = duration(time) if time is not None else "time unknown"
    words = [
        f"{attempt.step_id} {step.description if step else ''}",
        f"try {attempt.attempt} · {look.word} · {took} from {stamp(attempt.started_at)}",
        attempt.error or "",
    ]
    return Bar(_lane(seen, attempt.step_id), attempt.started_at, end, look.slot, label, "\n".join(filter(None, words)))


def _answer(seen: Observed, until: datetime) -> list[Bar]:
    """The answer is written after the last try."""
    over = [attempt.finished_at for attempt in seen.attempts if attempt.finished_at]
    statuses = [seen.status_of(step.id) for step in (seen.plan.steps if seen.plan else ())]
    if not over or len(over) < len(seen.attempts) or any(status is StepStatus.RUNNING for status in statuses):
        return []
    start = max(over)
    if seen.run.answer is not None and until > start:
        return [Bar(ANSWER, start, until, Slot.GREEN, "", f"answer\n{duration(until - start)} from {stamp(start)}")]
    writing = not seen.run.status.ended and all(status.ended for status in statuses)
    return [Bar(ANSWER, start, until, Slot.BLUE, "", f"answer\nbeing written since {stamp(start)}")] if writing else []
