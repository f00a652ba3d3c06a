"""What the overview shows, from what was observed. Pure; texts are plain, the view escapes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from agent.records import (
    ApprovalRequest,
    Effect,
    JsonObject,
    PlanSource,
    RequestKind,
    Run,
    RunStatus,
    StepProgress,
    StepStatus,
)
from dashboard.approvals import kinds
from dashboard.look.formats import UNKNOWN, age, cut, duration, money_apart, plural, short_moment
from dashboard.look.status import NOT_DOABLE
from dashboard.runs.model import refusal

TITLE_CHARACTERS = 120
ROW_CHARACTERS = 60
FINISHED_CHARACTERS = 29
"""What the narrow table shows whole; the cell would cut a longer one in the middle of a letter."""
REASON_CHARACTERS = 60
COUNT_WORDS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten")
EXAMPLE_TASKS = (
    "Which three projects cost most in the latest month with data, and did any exceed its budget? "
    "Write a short report.",
    "Which region sold most in 2026?",
    "How did revenue develop month by month?",
)


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything that was asked from the stores at one moment."""

    now: datetime
    pending: Sequence[ApprovalRequest] = ()
    """Oldest first."""
    more_pending: int = 0
    """How many wait beyond those."""
    running: Sequence[Run] = ()
    more_running: int = 0
    failed: Sequence[Run] = ()
    """Those that ended today, newest first."""
    more_failed: int = 0
    finished: Sequence[Run] = ()
    """The last that ended well or were cancelled, newest first."""
    steps: Mapping[str, Sequence[StepProgress]] | None = None
    costs: Mapping[str, int | None] | None = None
    """Pico-dollars of real money by run; a run that is not named has cost nothing yet."""
    made_up: Mapping[str, int] | None = None
    """Pico-dollars at made-up rates by run, of those that have any."""
    waits: Mapping[str, timedelta] | None = None
    """People's time by run."""
    computing: Mapping[str, timedelta] | None = None
    """The agent's time by run; a run that is not named has not worked yet."""


@dataclass(frozen=True, slots=True)
class WaitingItem:
    """One request that waits for a person."""

    request_id: str
    kind: RequestKind
    title: str
    effect: Effect | None
    """The gravest effect of what is asked; None where nothing would run."""
    findings: tuple[str, ...]
    facts: str
    button: str


@dataclass(frozen=True, slots=True)
class RunningItem:
    """One run that works or will."""

    run_id: str
    status: RunStatus
    title: str
    facts: str
    progress: str
    share: float
    cost: str


@dataclass(frozen=True, slots=True)
class FailedItem:
    """One run that did not do everything."""

    run_id: str
    title: str
    badge: str
    broken: bool
    """False for a task that the planner refused: nothing broke."""
    facts: str


@dataclass(frozen=True, slots=True)
class FinishedRow:
    """One run that ended."""

    run_id: str
    status: RunStatus
    title: str
    who: str
    when: str
    computing: str
    people: str
    cost: str


@dataclass(frozen=True, slots=True)
class Overview:
    """The left side of the page and its headline."""

    headline: str
    first_run: bool
    """Whether nobody has asked for anything yet."""
    waiting: tuple[WaitingItem, ...]
    more_waiting: str
    """What is not shown, in words; empty where all is."""
    running: tuple[RunningItem, ...]
    more_running: str
    failed: tuple[FailedItem, ...]
    more_failed: str
    finished: tuple[FinishedRow, ...]


def overview(seen: Observed) -> Overview:
    """The page's left side."""
    return Overview(
        headline=headline(len(seen.pending) + seen.more_pending),
        first_run=not (seen.pending or seen.running or seen.failed or seen.finished),
        waiting=tuple(waiting_item(request, seen.now) for request in seen.pending),
        more_waiting=more(seen.more_pending),
        running=tuple(running_item(run, seen) for run in seen.running),
        more_running=more(seen.more_running),
        failed=tuple(failed_item(run, seen) for run in seen.failed),
        more_failed=more(seen.more_failed),
        finished=tuple(finished_row(run, seen) for run in seen.finished),
    )


def headline(waiting: int) -> str:
    """The answer to "does anything need me?"."""
    if waiting == 0:
        return "Nothing waits for you"
    count = COUNT_WORDS[waiting] if waiting < len(COUNT_WORDS) else f"{waiting:,}"
    return f"{count} thing waits for you" if waiting == 1 else f"{count} things wait for you"


def more(count: int) -> str:
    """What a list does not show: `and 12 more`; empty for none."""
    return f"and {count:,} more" if count else ""


def waiting_item(request: ApprovalRequest, now: datetime) -> WaitingItem:
    """A request as a line that says what is asked, who asks and since when."""
    plan = request.payload.get("plan") or {}
    steps = plan.get("steps") or []
    waits = f"waits {age(request.requested_at, now)}"
    asked = f"{request.requested_by} asked"
    if kinds.asked_for(request) is kinds.Asked.QUESTION:
        facts = f"{request.requested_by}’s run asks · {waits} · the run goes on with your answer"
    else:
        step = kinds.step_words(request)
        facts = " · ".join([asked, waits, *([step] if step else []), *([plural(len(steps), "step")] if steps else [])])
    return WaitingItem(
        request_id=request.request_id,
        kind=request.kind,
        title=cut(kinds.title(request), TITLE_CHARACTERS),
        effect=kinds.effect(request) or _gravest(steps),
        findings=_findings(plan),
        facts=facts,
        button=kinds.button(request),
    )


def _gravest(steps: Sequence[JsonObject]) -> Effect | None:
    return max((Effect(step["effect"]) for step in steps), key=lambda effect: effect.gravity, default=None)


def _findings(plan: JsonObject) -> tuple[str, ...]:
    """What an approver has to know before opening the plan."""
    found = []
    if plan.get("source") == PlanSource.FALLBACK:
        found.append("generic plan")
    if any(str(repair).startswith("truncated") for repair in plan.get("repairs", ())):
        found.append("steps were cut")
    return tuple(found)


def running_item(run: Run, seen: Observed) -> RunningItem:
    """A run in motion with its progress and its cost so far."""
    steps = list((seen.steps or {}).get(run.run_id, ()))
    done = sum(step.status is StepStatus.COMPLETED for step in steps)
    verb, at = ("started", run.started_at) if run.started_at else ("asked", run.created_at)
    if run.cancel_requested:
        words = "stopping"
    elif run.status is RunStatus.EXECUTING and steps:
        words = f"step {min(done + 1, len(steps))} of {len(steps)}"
    elif run.status is RunStatus.WAITING_HUMAN:
        words = "decided, goes on"
    else:
        words = "plans" if run.status is RunStatus.PLANNING else str(run.status)
    return RunningItem(
        run_id=run.run_id,
        status=RunStatus.QUEUED if run.status is RunStatus.WAITING_HUMAN else run.status,
        title=cut(run.task, ROW_CHARACTERS),
        facts=f"{run.run_id} · {run.requested_by} · {verb} {age(at, seen.now)} ago",
        progress=words,
        share=done / len(steps) if steps else 0.0,
        cost=_cost(run, seen),
    )


def failed_item(run: Run, seen: Observed) -> FailedItem:
    """A failed run: where it broke, why, and what was kept."""
    steps = list((seen.steps or {}).get(run.run_id, ()))
    broken = next((step for step in steps if step.status in (StepStatus.BLOCKED, StepStatus.FAILED)), None)
    kept = sum(step.status is StepStatus.COMPLETED for step in steps)
    facts = [run.run_id, run.requested_by, short_moment(run.finished_at, seen.now)]
    why = _refused_for(run) or (broken.error if broken else None) or run.error
    if why:
        facts.append(cut(why, REASON_CHARACTERS))
    if steps:
        facts.append(f"{kept} of {plural(len(steps), 'step')} kept")
    cost = _cost(run, seen)
    facts.append("cost unknown" if cost == UNKNOWN else cost)
    tries = f"{broken.step_id}, {plural(broken.attempts, 'try', 'tries')}" if broken else reason_words(run.stop_reason)
    badge = NOT_DOABLE.word if refusal(run) else tries
    return FailedItem(run.run_id, cut(run.task, TITLE_CHARACTERS), badge, not refusal(run), " · ".join(facts))


def _refused_for(run: Run) -> str:
    """The planner's reason, without a beginning like "I cannot do this task:", which the badge says already."""
    words = refusal(run) or ""
    first, _, reason = words.partition(": ")
    return reason if reason and len(first) < REASON_CHARACTERS else words


def _cost(run: Run, seen: Observed) -> str:
    """Real and made-up money of a run, told apart."""
    return money_apart((seen.costs or {}).get(run.run_id, 0), (seen.made_up or {}).get(run.run_id))


def reason_words(reason: str | None) -> str:
    """A stop reason as words: `max_steps` is "max steps"."""
    return (reason or "failed").replace("_", " ")


def finished_row(run: Run, seen: Observed) -> FinishedRow:
    """A run that ended, with the agent's time and people's time apart."""
    return FinishedRow(
        run_id=run.run_id,
        status=run.status,
        title=cut(run.task, FINISHED_CHARACTERS),
        who=run.requested_by,
        when=short_moment(run.finished_at, seen.now),
        computing=duration((seen.computing or {}).get(run.run_id)),
        people=duration((seen.waits or {}).get(run.run_id)),
        cost=_cost(run, seen),
    )


def people_time(requests: Sequence[ApprovalRequest]) -> dict[str, timedelta]:
    """By run, how long its requests waited for a decision."""
    waited: dict[str, timedelta] = {}
    for request in requests:
        if request.decided_at:
            spent = request.decided_at - request.requested_at
            waited[request.run_id] = waited.get(request.run_id, timedelta()) + spent
    return waited


def start_of_day(now: datetime) -> datetime:
    """Midnight UTC before `now`."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def start_of_month(now: datetime) -> datetime:
    """The first midnight UTC of the month."""
    return start_of_day(now).replace(day=1)
