"""Everything that the graph's nodes need from outside; a test replaces any of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from langchain_core.messages import AIMessage, BaseMessage

from agent.records import JsonObject, Limits, PlanStep
from agent.tools.registry import Observation, Tool, ToolRegistry


class Models(Protocol):
    """The model calls that a run makes."""

    def ask(self, messages: Sequence[BaseMessage], function: JsonObject) -> str | JsonObject:
        """The function's arguments as the model gave them, or its prose if it called nothing."""

    def turn(self, messages: Sequence[BaseMessage], tool: Tool | None) -> AIMessage:
        """One turn with at most one tool on offer."""


class Recorder(Protocol):
    """What a node tells the outside while it works; everything else is read off the checkpoints."""

    def step_started(self, step: PlanStep) -> int:
        """Note that a try begins; returns its number, 1 for the first."""

    def is_approved(self, plan_hash: str) -> bool:
        """Whether a person's decision names this plan hash."""


class Tracing(Protocol):
    """Spans around the run's own parts, and what model and tool spans inside them are marked with."""

    def part(self, name: str, *, kind: str, step: str | None = None, attempt: int = 0) -> AbstractContextManager[None]:
        """Open a span for a part of the run (a plan, a try of a step, the answer) and mark what happens inside."""

    def role(self, role: str) -> AbstractContextManager[None]:
        """Mark the model calls inside: `planning`, `execution`, `check` or `synthesis`."""


CallTool = Callable[[Tool, JsonObject, PlanStep, int], Observation]
"""Call a tool for a try of a step. A ToolError about an argument is for the model; any other exception ends the try."""


@dataclass(frozen=True, slots=True)
class Deps:
    """One run's dependencies."""

    models: Models
    registry: ToolRegistry
    recorder: Recorder
    tracing: Tracing
    call_tool: CallTool
    limits: Limits
    now: Callable[[], datetime]
