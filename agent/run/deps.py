"""Everything that the graph's nodes need from outside; a test replaces any of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from langchain_core.messages import AIMessage, BaseMessage

from agent.records import EventKind, JsonObject, Limits, Meter, PlanStep
from agent.run.policy import Behaviour
from agent.tools.registry import Observation, Tool, ToolRegistry


class Models(Protocol):
    """The model calls that a run makes, each counted before it is made and marked with its role.

    A role is `planning`, `execution`, `check` or `synthesis`. LimitError if a limit forbids the call, AskError if a
    person has to raise a budget first.
    """

    def ask(self, role: str, messages: Sequence[BaseMessage], function: JsonObject) -> str | JsonObject:
        """The function's arguments as the model gave them, or its prose if it called nothing."""

    def turn(self, role: str, messages: Sequence[BaseMessage], tools: Sequence[Tool] = ()) -> AIMessage:
        """One turn with these tools on offer."""

    def write(self, messages: Sequence[BaseMessage]) -> str:
        """The final answer; everybody who watches the run sees it grow."""


class Recorder(Protocol):
    """What a node tells the outside while it works; everything else is read off the checkpoints."""

    def step_started(self, step: PlanStep) -> int:
        """Note that a try begins; returns its number, 1 for the first."""

    def is_approved(self, plan_hash: str) -> bool:
        """Whether a person's decision names this plan hash."""

    def tell(self, kind: EventKind, text: str, *, step_id: str | None = None, once: str | None = None) -> None:
        """Add a line to the run's history."""

    def tool_health(self) -> dict[str, JsonObject]:
        """`{calls, failed}` of the last calls of each tool that failed lately."""

    def effects_made(self) -> list[JsonObject]:
        """`{step_id, tool, arguments}` of every call of the run that acted and is done."""


class Tracing(Protocol):
    """Spans around the run's own parts, and what model and tool spans inside them are marked with."""

    def part(self, name: str, *, kind: str, step: str | None = None, attempt: int = 0) -> AbstractContextManager[None]:
        """Open a span for a part of the run (a plan, a try of a step, the answer) and mark what happens inside."""


class CallTool(Protocol):
    """Makes a tool call that the contract covers, once.

    ToolError is for the model; AskError when a person has to say yes first; LimitError when a limit forbids it; any
    other exception ends the try.
    """

    def __call__(
        self, tool: Tool, arguments: JsonObject, step: PlanStep, attempt: int, *, seen: bool, version: int | None
    ) -> Observation:
        """Call it.

        `seen`: a person saw exactly these arguments and said yes. `version`: the plan version in which the step first
        stood as it stands; None where no plan was approved.
        """


class UsedUp(Protocol):
    """What the run uses up."""

    def used(self) -> Meter:
        """So far, time included."""

    def flush(self) -> None:
        """Write it down."""


def _no_engine(_: JsonObject) -> JsonObject:
    raise RuntimeError("Nothing runs this node that could wait for a person.")


@dataclass(frozen=True, slots=True)
class Deps:
    """One run's dependencies."""

    models: Models
    registry: ToolRegistry
    recorder: Recorder
    tracing: Tracing
    call_tool: CallTool
    limits: Limits
    behaviour: Behaviour
    meter: UsedUp
    now: Callable[[], datetime]
    wait: Callable[[float], bool]
    """Let seconds pass; False if the run should stop instead of going on."""
    pause: Callable[[JsonObject], JsonObject] = _no_engine
    """Stop until a person decided about the payload; the decision, when the node runs again from its first line.

    Set by what runs the nodes.
    """
