"""The agent's graph as data: its nodes, and where each leads."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from agent.records import Mode, StepStatus
from agent.run import completing, pausing, planning, reacting, stepping
from agent.run.deps import Deps
from agent.run.failing import AskError, LimitError, StoppedError
from agent.run.state import RunState, ready

log = logging.getLogger(__name__)

Node = Callable[[RunState, Deps], RunState]

MOST_AT_ONCE = 4
"""Steps of one wave: each is a thread that talks to a model and to a tool."""


@dataclass(frozen=True, slots=True)
class Task:
    """One node to run next; `current` is the step that it is about, where several run at once."""

    node: str
    current: str | None = None


def limited(node: Node) -> Node:
    """A node that calls the model: a limit ends the run there, a budget question waits for a person."""

    @wraps(node)
    def run(state: RunState, deps: Deps) -> RunState:
        try:
            return node(state, deps)
        except StoppedError:
            return {}
        except AskError as question:
            return {"asked": {RUN_ITSELF: question.payload}}
        except LimitError as limit:
            return {"stop_reason": str(limit.reason), "error": limit.message}

    return run


def join(_: RunState, __: Deps) -> RunState:
    """Wait until every task of a wave has ended: each of them alone sees only what it did itself."""
    return {}


IN_WAVE = {"execute": "execute_in_wave", "act": "act_in_wave"}
"""The nodes that run as tasks of a wave, and are followed by `join`."""
RUN_ITSELF = "run"
"""The key of a question that belongs to no step."""

NODES: dict[str, Node] = {
    "route": limited(planning.route),
    "plan": limited(planning.plan),
    "ask": pausing.ask,
    "review": pausing.review,
    "consult": pausing.consult,
    "execute": stepping.execute,
    "check": limited(planning.check),
    "replan": limited(planning.replan),
    "direct": limited(reacting.answer_directly),
    "think": limited(reacting.think),
    "act": reacting.act,
    "complete": completing.complete,
    "execute_in_wave": stepping.execute,
    "act_in_wave": reacting.act,
    "join": join,
}


def after(node: str, state: RunState, deps: Deps) -> list[Task]:
    """What runs next, read off the state; several tasks are one wave. Empty at the end.

    Not to be asked of a task of a wave: what follows is `join`, and then what follows that.
    """
    if node == "complete":
        return []
    if state.get("stop_reason"):
        return [Task("complete")]
    if state.get("asked"):
        return [Task("consult")]
    if state.get("mode") == Mode.AUTO:
        return [Task("route")]
    if state.get("mode") in (Mode.DIRECT, Mode.REACT):
        return _free(state)
    return _planned(node, state, deps.limits.max_steps)


def _planned(node: str, state: RunState, max_steps: int) -> list[Task]:
    """Where a run with a plan goes on."""
    if state.get("question"):
        return [Task("ask")]
    if state.get("trigger"):
        return [Task("replan")]
    sent_back = node == "review" and not state.get("approved_hash")
    if not state.get("plan") or node == "ask" or sent_back:
        return [Task("plan")]
    if not state.get("approved_hash"):
        return [Task("review")]
    return [Task("complete")] if node == "check" else _wave(state, max_steps)


def _wave(state: RunState, max_steps: int) -> list[Task]:
    """The executing edge: the steps that are ready, as long as fewer were done than the limit allows."""
    steps = [step.id for step in ready(state)]
    if not steps:
        return [Task("check")]
    done = sum(1 for value in state.get("statuses", {}).values() if value == StepStatus.COMPLETED)
    room = max_steps - done
    return _at_once("execute", steps[: min(room, MOST_AT_ONCE)]) if room > 0 else [Task("complete")]


def _free(state: RunState) -> list[Task]:
    """Where a run without a plan goes on: the calls that the model asked for, or its next turn."""
    if state.get("answer") is not None:
        return [Task("complete")]
    if state.get("mode") == Mode.DIRECT:
        return [Task("direct")]
    calls = [call["id"] for call in reacting.waiting_calls(state)]
    return _at_once("act", calls[:MOST_AT_ONCE]) if calls else [Task("think")]


def _at_once(node: str, steps: list[str]) -> list[Task]:
    """A wave. A single step is read off the state, so that the state is not stored a second time for it."""
    return [Task(node)] if len(steps) == 1 else [Task(IN_WAVE[node], step) for step in steps]


FIRST = "route"
"""Where a run begins."""


def handed(state: RunState, task: Task) -> RunState:
    """What a task of a wave is given: the state, and which step it is about."""
    return state if task.current is None else {**state, "current": task.current}
