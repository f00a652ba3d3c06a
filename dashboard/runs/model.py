"""What the runs page shows, from what was observed. Pure; texts are plain, the view escapes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from agent.records import (
    ApprovalRequest,
    Artifact,
    AttemptStatus,
    Decision,
    EventKind,
    Meter,
    Mode,
    Plan,
    PlanStep,
    RequestKind,
    RequestStatus,
    Run,
    RunEvent,
    RunStatus,
    StepAttempt,
    StepProgress,
    StepStatus,
    StopReason,
    ToolCall,
)
from dashboard.approvals.kinds import Asked, asked_for, decided
from dashboard.look.formats import age, at_moment, cut, duration, moment, money, percent, plural, tokens
from dashboard.look.graph import Node
from dashboard.look.metric import PLANNING_HELP, Metric
from dashboard.look.status import NOT_DOABLE, Look, look_of
from dashboard.runs import modes
from traces.records import UsageRow
from traces.usage import over_planned

if TYPE_CHECKING:
    from agent.run.free_calls import FreeCall

LIVE_SECONDS = 1.0
WAITING_SECONDS = 3.0
REDRAWN_SECONDS = 5
ENDS = (EventKind.RUN_FAILED, EventKind.RUN_CANCELLED)


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything that is known of one run at one moment."""

    run: Run
    plan: Plan | None
    """The current version."""
    now: datetime
    usage: UsageRow
    """Of the whole run."""
    steps: Sequence[StepProgress] = ()
    attempts: Sequence[StepAttempt] = ()
    """Of all plan versions, in the order in which they began."""
    requests: Sequence[ApprovalRequest] = ()
    """Oldest first."""
    events: Sequence[RunEvent] = ()
    artifacts: Sequence[Artifact] = ()
    by_step: Mapping[str, UsageRow] | None = None
    planning_share: float | None = None
    computing: timedelta | None = None
    """How long the parts of the run worked that ended; None before one did."""
    meter: Meter = field(default_factory=Meter)
    calls: Sequence[ToolCall] = ()
    """Every tool call, in order."""
    asked_calls: Sequence[FreeCall] = ()
    """What the model of a run without a plan asked for, in order."""
    plans: Sequence[Plan] = ()
    """All versions, oldest first."""
    progress_of: Mapping[int, Sequence[StepProgress]] = field(default_factory=dict)
    """How far the steps of each version came, where there are several."""

    @property
    def free(self) -> bool:
        """Whether the run works without a plan."""
        return self.plan is None and modes.taken(self.run, self.events).free

    @property
    def pending(self) -> ApprovalRequest | None:
        """What the run waits for."""
        return next((request for request in self.requests if request.status is RequestStatus.PENDING), None)

    @property
    def status(self) -> RunStatus:
        """The run's status, as a reader should see it."""
        return shown_status(self.run, self.requests)

    @property
    def progress(self) -> dict[str, StepProgress]:
        """By step id."""
        return {step.step_id: step for step in self.steps}

    def status_of(self, step_id: str) -> StepStatus:
        """Where a step stands; pending if nobody began it."""
        progress = self.progress.get(step_id)
        return progress.status if progress else StepStatus.PENDING


@dataclass(frozen=True, slots=True)
class StepRow:
    """One row of the table of steps."""

    step: PlanStep
    status: StepStatus
    error: str | None
    tries: int | None
    seconds: float | None
    """Over all tries; None if one was cut off, since nobody saw when."""
    tokens: int | None
    cost: int | None
    """Pico-dollars."""
    waits: bool = False
    """Whether it waits for a person in the middle."""


@dataclass(frozen=True, slots=True)
class ListRow:
    """One run of the list."""

    run: Run
    status: RunStatus
    task: str
    when: str
    steps: str
    computing: float | None
    people: float | None
    cost: int | None


def poll_seconds(seen: Observed) -> float | None:
    """How often the page asks again: at once while something moves, calmer while a person is awaited, then never."""
    if seen.run.status.ended:
        return None
    return WAITING_SECONDS if seen.pending else LIVE_SECONDS


def shown_status(run: Run, requests: Sequence[ApprovalRequest]) -> RunStatus:
    """A run's status; one that was decided and that no worker took on yet waits in the queue, not for a person."""
    decided = any(request.decision and request.applied_at is None for request in requests)
    pending = any(request.status is RequestStatus.PENDING for request in requests)
    goes_on = run.status is RunStatus.WAITING_HUMAN and decided and not pending
    return RunStatus.QUEUED if goes_on else run.status


def refusal(run: Run) -> str | None:
    """The planner's words if it said that the task cannot be done; None for every other run."""
    return run.answer if run.stop_reason == StopReason.EMPTY_PLAN else None


def signature(seen: Observed) -> tuple[object, ...]:
    """What a page is drawn for: when it changes, the page is out of date. Growing bars change it now and then."""
    run = seen.run
    grows = run.status in (RunStatus.PLANNING, RunStatus.EXECUTING)
    return (
        seen.status,
        run.cancel_requested,
        run.plan_version,
        seen.events[-1].seq if seen.events else 0,
        len(seen.artifacts),
        tuple((step.step_id, step.status, step.attempts) for step in seen.steps),
        int(seen.now.timestamp() // REDRAWN_SECONDS) if grows else 0,
        tuple((call.number, call.state) for call in seen.calls),
        seen.run.limits,
    )


def people_time(requests: Sequence[ApprovalRequest], until: datetime) -> timedelta:
    """How long people took or take: from each request to its decision, or until the given moment."""
    return sum((wait_end(request, until) - request.requested_at for request in requests), timedelta(0))


def wait_end(request: ApprovalRequest, until: datetime) -> datetime:
    """When a request stopped waiting; `until` if it still waits or was closed undecided."""
    return max(request.requested_at, min(request.decided_at or until, until))


def metrics(seen: Observed) -> list[Metric]:
    """The strip: steps, computing, people, cost, tokens."""
    until = seen.run.finished_at or seen.now
    return [
        _calls_metric(seen) if seen.free else Metric("Steps done", _steps_done(seen), _steps_context(seen)),
        Metric(
            "Computing",
            duration(seen.computing),
            plural(seen.usage.calls, "model call"),
            "Planning, steps and answer that ended; not in it: waiting for people, and time in which no process ran.",
        ),
        Metric("People", duration(people_time(seen.requests, until)) if seen.requests else "–", _people_context(seen)),
        Metric("Cost", money(seen.usage.cost), *_cost_context(seen)),
        Metric("Tokens", tokens(seen.usage.tokens), *_tokens_context(seen)),
    ]


def _calls_metric(seen: Observed) -> Metric:
    """In place of steps, for a run without a plan."""
    asking = seen.pending.payload.get("step_id") if seen.pending else None
    return Metric("Calls made", str(len(seen.calls)), f"{cut(str(asking), 10)} waits" if asking else "no plan")


def _steps_done(seen: Observed) -> str:
    if seen.plan is None:
        return "–"
    done = sum(seen.status_of(step.id) is StepStatus.COMPLETED for step in seen.plan.steps)
    return f"{done} of {len(seen.plan.steps)}"


def _steps_context(seen: Observed) -> str:
    if seen.plan is None:
        return {RunStatus.PLANNING: "being planned", RunStatus.QUEUED: "in the queue"}.get(seen.status, "no plan")
    statuses = {step.id: seen.status_of(step.id) for step in seen.plan.steps}
    running = [name for name, status in statuses.items() if status is StepStatus.RUNNING]
    blocked = [name for name, status in statuses.items() if status is StepStatus.BLOCKED]
    if running:
        return f"{cut(running[0], 10)} runs"
    if blocked:
        return f"{cut(blocked[0], 8)} blocked"
    if seen.pending:
        return f"{cut(str(seen.pending.payload.get('step_id') or 'plan'), 10)} waits"
    if all(status is StepStatus.COMPLETED for status in statuses.values()):
        return "all criteria met"
    return "in the queue" if seen.status is RunStatus.QUEUED else ""


def _people_context(seen: Observed) -> str:
    if seen.pending:
        return "waits for you"
    decided = [request for request in seen.requests if request.decided_by]
    if not decided:
        return ""
    names = {request.decided_by for request in decided}
    words = plural(len(decided), "decision")
    named = f"{words} by {next(iter(names))}"
    return named if len(names) == 1 and len(named) <= 17 else words


def _cost_context(seen: Observed) -> tuple[str, str | None]:
    usage = seen.usage
    if usage.unpriced_calls:
        return f"{plural(usage.unpriced_calls, 'call')} unpriced", "Calls whose model has no price are not in the cost."
    if usage.illustrative_calls:
        return "made-up rates", "The offline model costs nothing; its rates are made up to show the arithmetic."
    return "", None


def _tokens_context(seen: Observed) -> tuple[str, str | None]:
    usage, share = seen.usage, seen.planning_share
    if share:
        over = seen.run.status.ended and seen.run.plan_version is not None and over_planned(share)
        return (f"{percent(share)} over-planned" if over else f"planning {percent(share)}"), PLANNING_HELP
    return _tokens_out(usage), None


def _tokens_out(usage: UsageRow) -> str:
    if usage.cache_read_tokens and usage.input_tokens:
        return f"{percent(usage.cache_read_tokens / usage.input_tokens)} cached"
    return f"{tokens(usage.output_tokens)} out" if usage.output_tokens else ""


def step_rows(seen: Observed) -> list[StepRow]:
    """The table of steps, in plan order."""
    return [_step_row(seen, step) for step in (seen.plan.steps if seen.plan else ())]


def _step_row(seen: Observed, step: PlanStep) -> StepRow:
    progress = seen.progress.get(step.id)
    usage = (seen.by_step or {}).get(step.id)
    tried = tries_of(seen, step.id)
    counted = sum(attempt.status is not AttemptStatus.PAUSED for attempt in tried)
    asking = seen.pending.payload.get("step_id") if seen.pending else None
    spent = [time_of(attempt, seen.now) for attempt in tried]
    known = [time for time in spent if time is not None]
    return StepRow(
        step=step,
        status=seen.status_of(step.id),
        error=progress.error if progress else None,
        tries=counted or None,
        seconds=sum(known, timedelta(0)).total_seconds() if tried and len(known) == len(tried) else None,
        tokens=usage.tokens if usage else None,
        cost=usage.cost if usage else None,
        waits=asking == step.id,
    )


def tries_of(seen: Observed, step_id: str) -> list[StepAttempt]:
    """The tries of a step as it stands in the current version: older ones belong to what it was before."""
    tried = [attempt for attempt in seen.attempts if attempt.step_id == step_id]
    progress = seen.progress.get(step_id)
    if progress and progress.attempts:
        return tried[-progress.attempts :]
    return [attempt for attempt in tried if attempt.plan_version == seen.run.plan_version]


def time_of(attempt: StepAttempt, now: datetime) -> timedelta | None:
    """How long a try took or takes; None if it was cut off: its record ends when the next process found it."""
    if attempt.status is AttemptStatus.INTERRUPTED:
        return None
    return (attempt.finished_at or now) - attempt.started_at


def nodes(seen: Observed) -> list[Node]:
    """The plan as a graph by status."""
    return [_node(row) for row in step_rows(seen)]


def _node(row: StepRow) -> Node:
    look = look_of(row.status)
    spent = f" · {duration(row.seconds)}" if row.seconds is not None else ""
    hover = [f"{row.step.id} {row.step.description}", f"{row.step.tool or 'in words'} · {look.word}{spent}"]
    return Node(
        step=row.step,
        look=look,
        second=f"{look.word}{spent}",
        hover="\n".join([*hover, *([row.error] if row.error else [])]),
        tinted=row.status not in (StepStatus.PENDING, StepStatus.SKIPPED),
    )


def facts(seen: Observed) -> str:
    """The line below the task: who, agent, plan version and who decided on it."""
    run = seen.run
    parts = [
        f"{run.requested_by} asked {at_moment(run.created_at, seen.now)}",
        f"agent {run.agent} {run.agent_version}",
        modes.words(run, seen.events),
        f"model {run.model}",
        *([f"plan version {run.plan_version}"] if run.plan_version else []),
    ]
    decided = [request for request in seen.requests if request.decided_by]
    if decided:
        parts.append(_decision_words(decided[-1], seen.now))
    return " · ".join(parts)


def _decision_words(request: ApprovalRequest, now: datetime) -> str:
    answered = request.kind is RequestKind.QUESTION and request.status is RequestStatus.RESPONDED
    word = "answered" if answered else look_of(request.status).word
    return f"{word} by {request.decided_by} {at_moment(request.decided_at, now)}"


_RAISE = "Raise {} in the limits of agent {{agent}}"
REMEDIES = {
    StopReason.STEP_BLOCKED: "The step below names its last error; start the task again with more precise words.",
    StopReason.MAX_STEPS: f"{_RAISE.format('max_steps')}, ask for less in one task, or split it.",
    StopReason.MAX_ITERATIONS: f"{_RAISE.format('max_iterations')}, or say in the task when it is enough.",
    StopReason.MAX_TOOL_CALLS: f"{_RAISE.format('max_tool_calls')}, or ask for less in one task.",
    StopReason.MAX_LLM_CALLS: f"{_RAISE.format('max_llm_calls')}, or ask for less in one task.",
    StopReason.LOOP: f"{_RAISE.format('same_calls')} only if the repetition makes sense; else say what to look at.",
    StopReason.TIMEOUT: f"{_RAISE.format('wall_seconds')}, or ask for less in one task.",
    StopReason.BUDGET: f"{_RAISE.format('max_tokens or max_cost_usd')}, or ask for less in one task.",
    StopReason.NO_PROGRESS: "The planner had nothing new to try: start the task again and say what it lacks.",
    StopReason.POLICY_DENIED: "The policy of agent {agent} does not allow it; its owner can change that.",
    StopReason.EMPTY_PLAN: "Say in the task what the result should be, then start it again.",
    StopReason.INVALID_PLAN: "Say in the task what the result should be, then start it again.",
    StopReason.MAX_REPLANS: f"{_RAISE.format('max_replans')}, or start again and say what stood in the way.",
    StopReason.ERROR: "Once the cause is gone, plandeck resume goes on from the last checkpoint; done steps stay done.",
}


def event_look(seen: Observed, event: RunEvent) -> Look:
    """How an event is shown; a task that was refused is no failure."""
    return NOT_DOABLE if _is_refusal(seen, event) else look_of(event.kind)


def event_words(seen: Observed, event: RunEvent) -> str:
    """An event in words; the reasons for which runs end are names of ours."""
    if _is_refusal(seen, event):
        return "no plan, the agent can’t do this"
    return event.text.replace("_", " ") if event.kind in ENDS else event.text


def _is_refusal(seen: Observed, event: RunEvent) -> bool:
    return event.kind is EventKind.RUN_FAILED and refusal(seen.run) is not None


def offline(run: Run) -> bool:
    """Whether the offline model stands in for a real one."""
    return run.provider == "offline"


def what_to_do(run: Run) -> str:
    """The remedy for a task that the planner refused."""
    if offline(run):
        return "Nothing was run. Say the task in other words, or set a provider with a real model and start it again."
    return "Nothing was run. Say the task in other words, with what is missing, and start it again."


@dataclass(frozen=True, slots=True)
class Ending:
    """What a reader has to know about a run that did not simply succeed."""

    broken: bool
    title: str
    body: str


def ending(seen: Observed) -> Ending | None:
    """Why a run ended early, what was kept and what to do; None while it goes on, after a success and a refusal."""
    run = seen.run
    if run.status not in (RunStatus.FAILED, RunStatus.CANCELLED):
        return None
    if refusal(run):
        return None
    kept = _kept(seen)
    if run.status is RunStatus.CANCELLED:
        rejected = run.stop_reason == StopReason.REJECTED
        who = next((request.decided_by for request in reversed(seen.requests) if request.decided_by), None)
        by = who if rejected else run.cancelled_by
        title = f"{by or 'Somebody'} {_refused(seen) if rejected else 'cancelled the run'}."
        reason = f"The reason: {run.error}" if rejected and run.error else ""
        return Ending(False, title, " ".join(filter(None, [reason, kept])))
    reason = _stopped_at_budget(seen) or run.error or _without_words(run)
    remedy = REMEDIES.get(StopReason(run.stop_reason), "") if run.stop_reason in set(StopReason) else ""
    return Ending(True, reason, " ".join(filter(None, [kept, remedy.format(agent=run.agent)])))


def _without_words(run: Run) -> str:
    return f"It stopped: {(run.stop_reason or 'no reason is known').replace('_', ' ')}."


def _refused(seen: Observed) -> str:
    """What a person said no to."""
    last = next((request for request in reversed(seen.requests) if request.decision is Decision.REJECT), None)
    return (last and decided(last)) or "rejected the plan"


def _stopped_at_budget(seen: Observed) -> str | None:
    """Who did not raise the budget, and why; None for a run that did not end so."""
    if seen.run.stop_reason != StopReason.BUDGET:
        return None
    asked = [request for request in seen.requests if asked_for(request) is Asked.BUDGET and request.decided_by]
    return f"{asked[-1].decided_by} stopped the run at its budget: {asked[-1].note}" if asked else None


def _kept(seen: Observed) -> str:
    rows = step_rows(seen)
    done = sum(row.status is StepStatus.COMPLETED for row in rows)
    if seen.free:
        return f"What {plural(len(seen.calls), 'call')} showed is kept." if seen.calls else ""
    if not rows or not done:
        return "No step was done."
    files = f", and {plural(len(seen.artifacts), 'file')}" if seen.artifacts else ""
    return f"{done} of {plural(len(rows), 'step')} were done and are kept{files}."


def undone(seen: Observed) -> list[str]:
    """The steps of an ended run that were not done, each with why."""
    return [
        f"{row.step.id} {row.step.description}: {look_of(row.status).word}" + (f", {row.error}" if row.error else "")
        for row in step_rows(seen)
        if seen.run.status.ended and row.status is not StepStatus.COMPLETED
    ]


MOVING = {
    Mode.PLAN_EXECUTE: "The model proposes a plan; nothing runs before a person approves it.",
    Mode.AUTO: "The model chooses how to go about the task; nothing but reading runs without a person.",
    Mode.REACT: "The model looks with tools until it can answer; anything but reading waits for a person first.",
    Mode.DIRECT: "The model answers.",
}


def moving(seen: Observed) -> str | None:
    """What happens at this moment, for a run without a plan to look at."""
    match seen.status:
        case RunStatus.QUEUED if seen.run.status is RunStatus.WAITING_HUMAN:
            said = _decision_words([request for request in seen.requests if request.decision][-1], seen.now)
            return f"{said[0].upper()}{said[1:]}; a worker goes on with it."
        case RunStatus.QUEUED:
            return f"Waits for a worker, since {age(seen.run.created_at, seen.now)}."
        case RunStatus.PLANNING:
            return MOVING[modes.taken(seen.run, seen.events).mode]
        case RunStatus.EXECUTING if seen.free:
            return MOVING[modes.taken(seen.run, seen.events).mode]
        case _:
            return None


def list_headline(counts: Mapping[RunStatus, int]) -> str:
    """How many runs there are, and whether any goes on: `12 runs, 2 in motion, 1 waits for you`."""
    if not any(counts.values()):
        return "No runs yet"
    waiting = counts.get(RunStatus.WAITING_HUMAN, 0)
    moving = sum(count for status, count in counts.items() if not status.ended) - waiting
    parts = [
        plural(sum(counts.values()), "run"),
        *([f"{moving:,} in motion"] if moving else []),
        *([f"{waiting:,} {'waits' if waiting == 1 else 'wait'} for you"] if waiting else []),
    ]
    return ", ".join(parts) if len(parts) > 1 else f"{parts[0]}, all ended"


def list_row(  # noqa: PLR0917 - a line is told in one line
    run: Run,
    requests: Sequence[ApprovalRequest],
    steps: Sequence[StepProgress],
    cost: int | None,
    computing: timedelta | None,
    now: datetime,
) -> ListRow:
    """A run as a line of the list."""
    until = run.finished_at or now
    done = sum(step.status is StepStatus.COMPLETED for step in steps)
    return ListRow(
        run=run,
        status=shown_status(run, requests),
        task=" ".join(run.task.split()),
        when=moment(run.created_at, now),
        steps=f"{done} of {len(steps)}" if steps else "–",
        computing=computing.total_seconds() if computing is not None else None,
        people=people_time(requests, until).total_seconds() if requests else None,
        cost=cost,
    )
