"""From records to the timeline "As it happened". Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from agent.records import (
    ApprovalRequest,
    AttemptStatus,
    PlanStep,
    RequestKind,
    RequestStatus,
    RunStatus,
    StepAttempt,
    StepStatus,
)
from dashboard.approvals.kinds import Asked, asked_for
from dashboard.look.formats import duration, short_moment, stamp
from dashboard.look.status import Slot, look_of
from dashboard.look.timeline import PERSON_LANE, Bar, Timeline
from dashboard.runs.free import free_timeline
from dashboard.runs.model import Observed, refusal, time_of, wait_end

PLANNING = "planning"
ANSWER = "answer"
PARTS = {"plan": PLANNING, "answer": ANSWER}
"""The lane by the kind of the span."""


@dataclass(frozen=True, slots=True)
class Part:
    """When a process really planned or wrote the answer, by its span."""

    lane: str
    start: datetime
    end: datetime


def timeline(seen: Observed, parts: Sequence[Part] = ()) -> Timeline | None:
    """What ran when; None before the run started.

    Records say only from when to when planning and answering took; where parts are known, no downtime is in them.
    """
    if seen.run.started_at is None:
        return None
    until = max(seen.run.finished_at or seen.now, seen.run.started_at)
    if seen.free:
        return free_timeline(seen, _waits(seen, until), until)
    waits = _waits(seen, until)
    tries = _tries(seen)
    bars = [*_worked(_planning(seen, until), parts), *tries, *_worked(_answer(seen, until), parts)]
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


def _worked(bars: list[Bar], parts: Sequence[Part]) -> list[Bar]:
    """Each bar cut to the parts that began in it; one without any as it is."""
    found = [[part for part in parts if part.lane == bar.lane and bar.start <= part.start <= bar.end] for bar in bars]
    return [
        each
        for bar, inside in zip(bars, found, strict=True)
        for each in ([_cut(bar, part) for part in inside] if inside and not _moves(bar) else [bar])
    ]


def _moves(bar: Bar) -> bool:
    """Whether it still grows; its span is written at its end."""
    return bar.slot is Slot.BLUE


def _cut(bar: Bar, part: Part) -> Bar:
    end = min(part.end, bar.end)
    return replace(bar, start=part.start, end=end, hover=_hover(bar.label or bar.lane, part.start, end))


def _hover(words: str, start: datetime, end: datetime) -> str:
    return f"{words}\n{duration(end - start)} from {stamp(start)}"


def _waits(seen: Observed, until: datetime) -> list[Bar]:
    return [_wait(request, until, seen.now) for request in seen.requests]


def _wait(request: ApprovalRequest, until: datetime, now: datetime) -> Bar:
    """A request that still waits says since when: how long is counted in the strip, and this is not drawn again."""
    end = wait_end(request, until)
    look = look_of(request.status)
    what = f"{request.kind.replace('_', ' ')} {look.word}"
    if request.status is RequestStatus.PENDING:
        since = short_moment(request.requested_at, now)
        hover = f"{what}\nsince {stamp(request.requested_at)}"
        return Bar(PERSON_LANE, request.requested_at, end, Slot.YELLOW, f"waits · since {since}", hover)
    by = f" by {request.decided_by}" if request.decided_by else ""
    label = f"{request.decided_by or look.word} · {duration(end - request.requested_at)}"
    hover = _hover(what + by, request.requested_at, end)
    return Bar(PERSON_LANE, request.requested_at, end, Slot.YELLOW, label, hover)


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
        bars.append(_planned(begin, until, *_end_of_planning(seen)))
    return bars


def _end_of_planning(seen: Observed) -> tuple[Slot, str]:
    if refusal(seen.run):
        return Slot.GRAY, "no plan"
    if seen.run.status is RunStatus.FAILED:
        return Slot.RED, "failed"
    return (Slot.GRAY if seen.run.status.ended else Slot.BLUE), PLANNING


def _by_the_planner(request: ApprovalRequest) -> bool:
    """Whether planning led to the request, and not the work on a step."""
    return asked_for(request) in (Asked.PLAN, Asked.QUESTION) and not request.payload.get("step_id")


def _planned_anew(seen: Observed, request: ApprovalRequest) -> datetime | None:
    """When the run began to plan anew by itself: after the last try before the request."""
    ends = [attempt.finished_at for attempt in seen.attempts if attempt.finished_at]
    return max((end for end in ends if end <= request.requested_at), default=None)


def _planned(start: datetime, end: datetime, slot: Slot, label: str) -> Bar:
    return Bar(PLANNING, start, end, slot, label, _hover(label, start, end))


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
        return [Bar(ANSWER, start, until, Slot.GREEN, "", _hover(ANSWER, start, until))]
    writing = not seen.run.status.ended and all(status.ended for status in statuses)
    return [Bar(ANSWER, start, until, Slot.BLUE, "", f"answer\nbeing written since {stamp(start)}")] if writing else []
