"""The timeline of a run without a plan: its calls by tool, and the model between them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from agent.records import ToolCall
from dashboard.look.formats import duration, stamp
from dashboard.look.status import Slot, look_of
from dashboard.look.timeline import PERSON_LANE, Bar, Timeline
from dashboard.runs.calls import short
from dashboard.runs.model import Observed

MODEL = "model"


def free_timeline(seen: Observed, waits: Sequence[Bar], until: datetime) -> Timeline | None:
    """What ran when; None before the run started."""
    start = seen.run.started_at
    if start is None:
        return None
    calls = [_call(call, until) for call in seen.calls]
    thinking = _between(start, until, [*calls, *waits], live=not seen.run.status.ended and seen.pending is None)
    lanes = (MODEL, *([PERSON_LANE] if waits else []), *dict.fromkeys(bar.lane for bar in calls))
    return Timeline(lanes, (*thinking, *calls), tuple(waits), start, until, not seen.run.status.ended)


def _call(call: ToolCall, until: datetime) -> Bar:
    look = look_of(call.state)
    end = max(call.started_at, min(call.finished_at or until, until))
    took = duration(end - call.started_at)
    hover = f"{call.step_id} {call.tool}: {short(call.arguments)}\n{look.word} · {took} from {stamp(call.started_at)}"
    return Bar(call.tool, call.started_at, end, look.slot, call.step_id, hover)


def _between(start: datetime, until: datetime, busy: Sequence[Bar], *, live: bool) -> list[Bar]:
    """The stretches in which neither a tool worked nor a person was awaited."""
    bars: list[Bar] = []
    at = start
    for bar in sorted(busy, key=lambda bar: bar.start):
        if bar.start > at:
            bars.append(_model(at, bar.start, Slot.GREEN))
        at = max(at, bar.end)
    if until > at:
        bars.append(_model(at, until, Slot.BLUE if live else Slot.GREEN))
    return bars


def _model(start: datetime, end: datetime, slot: Slot) -> Bar:
    return Bar(MODEL, start, end, slot, "", f"the model, between calls\n{duration(end - start)} from {stamp(start)}")
