"""What the approvals page shows, from what was observed. Pure; texts are plain, the view escapes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from agent.records import (
    ApprovalRequest,
    Decision,
    Effect,
    Plan,
    PlanSource,
    PlanStep,
    RequestKind,
    RequestStatus,
    Run,
    StepStatus,
)
from dashboard.approvals import kinds
from dashboard.look.formats import age, at_moment, cut, duration, moment, plural
from dashboard.look.graph import Node
from dashboard.look.status import AGENT, PERSON, Look, look_of

POLL_SECONDS = 2.0
DECIDED_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Consequence:
    """One line of what happens after a yes."""

    look: Look
    words: str
    grave: bool


@dataclass(frozen=True, slots=True)
class Happened:
    """One line of a request's history."""

    look: Look
    title: str
    more: str


def headline(count: int) -> str:
    """How many requests wait."""
    if count == 0:
        return "Nothing waits for you"
    return f"{plural(count, 'request')} {'waits' if count == 1 else 'wait'} for you"


def plan_of(request: ApprovalRequest) -> Plan | None:
    """The plan that is to be decided, as it was when the run stopped; as edited if it was edited."""
    if request.kind is not RequestKind.PLAN:
        return None
    payload = request.value if request.decision is Decision.EDIT else request.payload.get("plan")
    return Plan.from_json(payload) if payload else None


def gravest(plan: Plan | None) -> Effect | None:
    """The gravest effect of a plan."""
    return max((step.effect for step in plan.steps), key=lambda effect: effect.gravity, default=None) if plan else None


def waits(request: ApprovalRequest, now: datetime) -> str:
    """How long a request waits, or waited until its decision."""
    if request.decided_at:
        return f"decided after {duration(request.decided_at - request.requested_at)}"
    return f"waits {age(request.requested_at, now)}"


def asked(request: ApprovalRequest, now: datetime) -> str:
    """The second line of an item: who asks, since when, how much."""
    plan = plan_of(request)
    step = kinds.step_words(request)
    return " · ".join(
        [
            f"{request.requested_by} asked",
            waits(request, now),
            *([f"{step} of the run" if step.startswith("call") else f"{step} of the plan"] if step else []),
            *([plural(len(plan.steps), "step"), f"plan version {plan.version}"] if plan else []),
        ]
    )


def was_cut(plan: Plan | None) -> bool:
    """Whether steps were left out to hold the limit."""
    return plan is not None and any(repair.startswith("truncated") for repair in plan.repairs)


def consequences(plan: Plan, done: Collection[str] = ()) -> list[Consequence]:
    """What will happen after a yes, harmless to grave, counted by effect; done steps do not happen again."""
    counts = Counter(step.effect for step in plan.steps if step.id not in done)
    return [consequence(effect, counts[effect]) for effect in Effect if counts[effect]]


def consequence(effect: Effect, count: int) -> Consequence:
    """What so many calls of an effect do."""
    one = count == 1
    words = {
        Effect.READ: f"{plural(count, 'step')} only {'reads' if one else 'read'}",
        Effect.DRAFT: f"{plural(count, 'step')} {'writes' if one else 'write'} a file here",
        Effect.PUBLISH_INTERNAL: f"{plural(count, 'step')} {'publishes' if one else 'publish'} inside the company",
        Effect.SEND_EXTERNAL: f"{plural(count, 'message')} {'leaves' if one else 'leave'} the company",
        Effect.WRITE_SYSTEM: f"{plural(count, 'step')} {'changes' if one else 'change'} another system",
    }
    return Consequence(look_of(effect), words[effect], effect in (Effect.SEND_EXTERNAL, Effect.WRITE_SYSTEM))


def nodes(plan: Plan, done: Collection[str] = ()) -> list[Node]:
    """The plan as a graph by effect; done steps say so."""
    return [_node(step, done=step.id in done) for step in plan.steps]


def _node(step: PlanStep, *, done: bool) -> Node:
    look = look_of(StepStatus.COMPLETED if done else step.effect)
    tool = step.tool or "in words"
    hover = [f"{step.id} {step.description}", f"{tool} · {look.word}"]
    if step.acceptance_criteria:
        hover.append(f"Done when: {step.acceptance_criteria}")
    return Node(
        step=step,
        look=look,
        second=f"{tool} · {look.word}",
        hover="\n".join(hover),
        tinted=done or step.effect.gravity >= Effect.PUBLISH_INTERNAL.gravity,
    )


MODE_WORDS = {"plan_execute": "plan, approve, execute"}


def facts(request: ApprovalRequest, run: Run, plan: Plan | None, now: datetime) -> str:
    """The line below the headline."""
    parts = [
        f"{request.requested_by} asked {at_moment(run.created_at, now)}",
        f"agent {run.agent} {run.agent_version}",
        MODE_WORDS.get(run.mode, run.mode),
        *([planned_by(plan, run)] if plan else []),
    ]
    return " · ".join(parts)


def planned_by(plan: Plan, run: Run) -> str:
    """Who wrote the plan version."""
    return {
        PlanSource.MODEL: f"planned by {run.model}",
        PlanSource.FALLBACK: "generic plan",
        PlanSource.PERSON: "edited by a person",
    }[plan.source]


def history(requests: Sequence[ApprovalRequest], run: Run, now: datetime) -> list[Happened]:
    """What happened around a run's requests, newest first."""
    lines = [Happened(PERSON, f"{run.requested_by} asked", moment(run.created_at, now))]
    for request in sorted(requests, key=lambda request: request.requested_at):
        lines.append(_proposed(request, run, now))
        if request.status is not RequestStatus.PENDING:
            lines.append(_decided(request, now))
    return list(reversed(lines))


def _proposed(request: ApprovalRequest, run: Run, now: datetime) -> Happened:
    plan = plan_of(request)
    if plan is None:
        who = kinds.step_words(request) or "the agent"
        what = f"{moment(request.requested_at, now)} · “{kinds.title(request)}”"
        return Happened(kinds.look(request), f"{who[0].upper()}{who[1:]} asked", what)
    pending = request.status is RequestStatus.PENDING
    more = [moment(request.requested_at, now), planned_by(plan, run)]
    if plan.repairs:
        more.append(plural(len(plan.repairs), "repair"))
    look = look_of(request.status) if pending else AGENT
    return Happened(look, f"Version {plan.version} {'waits' if pending else 'proposed'}", " · ".join(more))


def _decided(request: ApprovalRequest, now: datetime) -> Happened:
    said = request.note or (request.value if isinstance(request.value, str) else None)
    more = moment(request.decided_at, now) if request.decided_at else ""
    if said:
        more += f" · “{cut(str(said), 300)}”"
    return Happened(kinds.status_look(request), decided_words(request), more)


def decided_words(request: ApprovalRequest) -> str:
    """Who decided what: "li sent version 1 back"."""
    plan = plan_of(request)
    what = f"version {plan.version}" if plan else kinds.subject(request)
    who = request.decided_by or "Nobody"
    special = kinds.decided(request)
    if special:
        return f"{who} {special}"
    match request.decision:
        case Decision.APPROVE:
            return f"{who} approved {what}"
        case Decision.EDIT:
            return f"{who} edited {what} and approved it as edited"
        case Decision.REJECT:
            return f"{who} rejected {what}"
        case Decision.RESPOND:
            return f"{who} sent {what} back"
        case _:
            return f"{what[0].upper()}{what[1:]} is {look_of(request.status).word}: nobody has to decide it any more"


def bar_sentence(request: ApprovalRequest, now: datetime) -> str:
    """What the decision bar says when there is nothing to decide any more."""
    when = f" {at_moment(request.decided_at, now)}" if request.decided_at else ""
    return f"{decided_words(request)}{when}."


def explained(plan: Plan, done: Collection[str] = ()) -> tuple[tuple[str, str], ...]:
    """What each button of the bar does."""
    left = sum(step.id not in done for step in plan.steps)
    again = f", the {len(done)} done {'one' if len(done) == 1 else 'ones'} not again" if done else ""
    return (
        ("Approve", f"runs exactly these {plural(left, 'step')} once{again}"),
        ("Edit", f"makes version {plan.version + 1} and checks it"),
        ("Send back", "plans again with your note"),
        ("Reject", "ends the run"),
    )
