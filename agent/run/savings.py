"""What resuming a run saves: what the steps that were done before have cost, and do not cost again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from agent.records import AttemptStatus, CallState, StepAttempt, ToolCall
from traces.records import StoredSpan, dollars

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck

KEPT = (AttemptStatus.COMPLETED, AttemptStatus.PAUSED)
"""Tries whose work stays: a try that waited handed on what it had asked the model for."""

Period = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Savings:
    """What is not done and not paid for again."""

    steps: int
    llm_calls: int
    tool_calls: int
    tokens: int | None
    """Input and output; None if a call did not report them."""
    cost: int | None
    """Pico-dollars; None if the price of a call is not known."""
    illustrative: bool
    """Whether that cost is made up, or a part of it."""

    def __str__(self) -> str:
        tokens = "unknown" if self.tokens is None else f"{self.tokens:,}"
        cost = "unknown cost" if self.cost is None else f"${dollars(self.cost):.4f}"
        made_up = " (made-up)" if self.illustrative and self.cost is not None else ""
        return (
            f"{self.steps} steps kept, saved {self.llm_calls} model calls, {self.tool_calls} tool calls, "
            f"{tokens} tokens, {cost}{made_up}"
        )


def saved_before(app: Plandeck, run_id: str, moment: datetime) -> Savings:
    """What a run saves that goes on after `moment` from where it stood then."""
    return savings(
        app.records.attempts(app.project, run_id),
        app.records.ledger.calls(app.project, run_id),
        app.spans.run_spans(app.project, run_id),
        moment,
    )


def savings(
    attempts: Sequence[StepAttempt], calls: Sequence[ToolCall], spans: Sequence[StoredSpan], moment: datetime
) -> Savings:
    """What the steps had cost that were completed by `moment`: failed tries and those cut off do not count.

    Without a plan there are no tries; then each committed call is a step.
    """
    committed = [call for call in calls if call.state is CallState.COMMITTED and _ended(call.finished_at, moment)]
    periods = _tried(attempts, moment) if attempts else _called(committed)
    asked = [
        span
        for span in spans
        if span.is_call and span.counted and _within(periods, span.step_id, _nanoseconds_to(span.started_at, moment))
    ]
    tokens = [span.usage.weight for span in asked]
    costs = [span.cost for span in asked]
    return Savings(
        steps=len(periods),
        llm_calls=len(asked),
        tool_calls=sum(_within(periods, call.step_id, call.started_at) for call in committed),
        tokens=_sum(tokens),
        cost=_sum(costs),
        illustrative=any(span.illustrative for span in asked),
    )


def _tried(attempts: Sequence[StepAttempt], moment: datetime) -> dict[str, list[Period]]:
    """The periods in which kept tries of completed steps ran."""
    ended = [item for item in attempts if item.status in KEPT and _ended(item.finished_at, moment)]
    completed = {item.step_id for item in ended if item.status is AttemptStatus.COMPLETED}
    periods: dict[str, list[Period]] = defaultdict(list)
    for item in ended:
        if item.step_id in completed and item.finished_at is not None:
            periods[item.step_id].append((item.started_at, item.finished_at))
    return periods


def _called(committed: Sequence[ToolCall]) -> dict[str, list[Period]]:
    return {call.step_id: [(call.started_at, call.finished_at)] for call in committed if call.finished_at is not None}


def _ended(at: datetime | None, moment: datetime) -> bool:
    return at is not None and at <= moment


def _within(periods: dict[str, list[Period]], step_id: str | None, at: datetime) -> bool:
    return any(first <= at <= last for first, last in periods.get(step_id or "", ()))


def _nanoseconds_to(at: int, like: datetime) -> datetime:
    return datetime.fromtimestamp(at / 1e9, like.tzinfo)


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None
