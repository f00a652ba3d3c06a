"""The tool calls of a run as rows: those of the ledger, and in a run without a plan every call that was asked for.

Pure; texts are plain.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from agent.records import (
    ApprovalRequest,
    AttemptStatus,
    CallState,
    Effect,
    JsonObject,
    RequestKind,
    RequestStatus,
    StepStatus,
    ToolCall,
)
from dashboard.approvals.kinds import status_look
from dashboard.look.formats import cut
from dashboard.look.status import Look, look_of

if TYPE_CHECKING:
    from agent.run.free_calls import FreeCall

ARGUMENTS = 90
SHOWN = 110


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call."""

    name: str
    """Its number in the run, or `c1` in a run without a plan."""
    step_id: str
    tool: str
    arguments: str
    effect: Effect | None
    """None where the tool is not known."""
    look: Look
    shown: str
    """What it showed, or why it did not happen."""
    seconds: float | None


def made(calls: Sequence[ToolCall], now: datetime) -> list[CallRow]:
    """The ledger, in order."""
    return [_made(call, now) for call in calls]


def _made(call: ToolCall, now: datetime) -> CallRow:
    return CallRow(
        name=str(call.number),
        step_id=call.step_id,
        tool=call.tool,
        arguments=short(call.arguments),
        effect=call.effect,
        look=look_of(call.state),
        shown=cut(call.error or str((call.observation or {}).get("text") or ""), SHOWN),
        seconds=_seconds(call, now),
    )


def _seconds(call: ToolCall, now: datetime) -> float | None:
    """How long it took or takes; None if nobody saw its end."""
    if call.state is CallState.UNKNOWN:
        return None
    return ((call.finished_at or now) - call.started_at).total_seconds()


def short(arguments: JsonObject) -> str:
    """Arguments on one line: the only value alone, else name and value."""
    if len(arguments) == 1:
        return cut(_value(next(iter(arguments.values()))), ARGUMENTS)
    return cut(", ".join(f"{name} {_value(value)}" for name, value in arguments.items()), ARGUMENTS)


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def free(
    asked: Sequence[FreeCall], calls: Sequence[ToolCall], requests: Sequence[ApprovalRequest], now: datetime
) -> list[CallRow]:
    """Every call that the model of a run without a plan asked for, in order, whatever became of it."""
    last = {call.step_id: call for call in calls}
    of = {str(request.payload.get("step_id")): request for request in requests if request.kind is RequestKind.TOOL_CALL}
    known = {call.step_id: call for call in asked}
    return [
        _free(step_id, known.get(step_id), last.get(step_id), of.get(step_id), now)
        for step_id in {**known, **last, **of}
    ]


def _free(
    step_id: str, asked: FreeCall | None, call: ToolCall | None, request: ApprovalRequest | None, now: datetime
) -> CallRow:
    asked_with = request.payload["arguments"] if request else {}
    arguments = call.arguments if call else asked.arguments if asked else asked_with
    effect = call.effect if call else Effect(request.payload["effect"]) if request else None
    shown = (call.error if call else None) or (asked.error or asked.shown if asked else None)
    shown = shown or (str((call.observation or {}).get("text") or "") if call else "")
    return CallRow(
        name=step_id,
        step_id=step_id,
        tool=call.tool if call else asked.tool if asked else str(request.payload["tool"] if request else ""),
        arguments=short(arguments),
        effect=effect,
        look=_look(asked, call, request),
        shown=cut(_told(shown or ""), SHOWN),
        seconds=_seconds(call, now) if call else None,
    )


def _look(asked: FreeCall | None, call: ToolCall | None, request: ApprovalRequest | None) -> Look:
    """What became of it: a person's word first, then what is known of the call, then the run's own state."""
    if request and request.status is RequestStatus.PENDING:
        return look_of(AttemptStatus.PAUSED)
    if request and request.status in (RequestStatus.REJECTED, RequestStatus.RESPONDED):
        return status_look(request)
    if call:
        return look_of(call.state)
    return look_of(asked.status if asked else StepStatus.PENDING)


def _told(error: str) -> str:
    """A tool's refusal in words; it is kept as the JSON that the model got."""
    try:
        said = json.loads(error)
    except ValueError:
        return error
    return str(said.get("message") or error) if isinstance(said, dict) else error
