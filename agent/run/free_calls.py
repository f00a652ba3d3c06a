"""What a run without a plan asked its tools for, read off its newest checkpoint; each call counts as a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from agent.records import JsonObject, Run, StepStatus
from agent.run.checkpointer import guarded
from agent.run.engine import EngineName
from agent.run.state import RunState, status_of

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck


@dataclass(frozen=True, slots=True)
class FreeCall:
    """One call that the model asked for, made or not."""

    step_id: str
    """`c1` for the first."""
    tool: str
    arguments: JsonObject
    status: StepStatus
    error: str | None
    shown: str | None
    """What it showed, in a few hundred characters; None before it was done."""


def free_calls_of(app: Plandeck, run: Run) -> list[FreeCall]:
    """The calls of a run in order; none before it began. StorageError if the checkpoints are out of reach."""
    return free_calls(_values(app, run))


def _values(app: Plandeck, run: Run) -> RunState:
    """Where the run stands, from the engine that it began with."""
    if run.engine == EngineName.LOOP:
        place = app.records.loop.place(run.project, run.run_id)
        return cast(RunState, place.state["values"]) if place else {}
    if app.checkpointer is None:
        return {}
    newest = guarded(app.checkpointer, lambda: None).get_tuple({"configurable": {"thread_id": run.thread_id}})
    return cast(RunState, newest.checkpoint["channel_values"]) if newest else {}


def free_calls(state: RunState) -> list[FreeCall]:
    """The calls of a state's turns, in order."""
    return [_call(state, call) for turn in state.get("turns", []) for call in turn["calls"]]


def _call(state: RunState, call: JsonObject) -> FreeCall:
    result = state.get("results", {}).get(call["id"])
    return FreeCall(
        step_id=call["id"],
        tool=call["tool"],
        arguments=call["arguments"],
        status=status_of(state, call["id"]),
        error=state.get("errors", {}).get(call["id"]),
        shown=result["key_result"] if result else None,
    )
