"""The registry: what tools there are, what they take, what they do to the world."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from agent.errors import AgentError, ConfigurationError
from agent.records import Effect, JsonObject, JsonValue


class ToolError(AgentError):
    """A failure that a model can act on (a bad argument, an unknown column); it comes back as an observation.

    Anything else that a tool raises is an exception of the step and ends the attempt.
    """

    code = "tool_error"


@dataclass(frozen=True, slots=True)
class Observation:
    """What a tool call showed."""

    text: str
    """What a model and a person read; at most `OBSERVATION_CHARACTERS` long, says itself where it was cut."""
    data: JsonValue = None
    """The same in structure, small enough for a checkpoint (big results are artifacts)."""
    artifacts: tuple[str, ...] = ()
    """Names of the files that the call wrote into the run's artifact folder."""
    empty: bool = False
    """Whether there was nothing to see (no rows, no hits): never taken for success by itself."""

    def to_json(self) -> JsonObject:
        """The observation as a model reads it and as a checkpoint keeps it."""
        return {"text": self.text, "data": self.data, "artifacts": list(self.artifacts), "empty": self.empty}


OBSERVATION_CHARACTERS = 6_000


class ToolArguments(BaseModel):
    """Base of a tool's arguments: one that the tool does not know is refused, never dropped in silence."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool call may know of the run that it belongs to."""

    run_id: str
    step_id: str
    attempt: int
    artifacts: Path
    """Folder of the run's files; it exists."""
    now: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `run` gets validated arguments and returns an observation, or raises ToolError."""

    name: str
    version: int
    summary: str
    """One sentence for pages and lists."""
    arguments: type[BaseModel]
    effect: Effect
    run: Callable[[Any, ToolContext], Observation]
    timeout_seconds: float = 30.0
    idempotent: bool = True
    details: Callable[[], str] = field(default=lambda: "")
    """What a model has to know beyond the summary, worked out when asked (e.g. the database's schema)."""

    @property
    def description(self) -> str:
        """Summary and details: what planner and executor are told."""
        details = self.details()
        return f"{self.summary}\n{details}" if details else self.summary

    @property
    def schema(self) -> JsonObject:
        """JSON Schema of the arguments: the one that models see and that calls are validated against."""
        return self.arguments.model_json_schema()

    def validate(self, arguments: JsonObject) -> BaseModel:
        """The typed arguments; ToolError naming each wrong one otherwise."""
        try:
            return self.arguments.model_validate(arguments)
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(str(part) for part in item['loc']) or 'arguments'}: {item['msg']}"
                for item in error.errors()
            )
            raise ToolError(f"{self.name} refuses its arguments: {wrong}.", code="bad_arguments") from error


class ToolRegistry:
    """The tools of one agent by name, in the order in which they were given."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ConfigurationError(f"Two tools are called {tool.name}; rename one of them.")
            self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __getitem__(self, name: str) -> Tool:
        """The tool of that name; KeyError if there is none."""
        return self._tools[name]

    @property
    def names(self) -> list[str]:
        """Every name, in order."""
        return list(self._tools)

    @property
    def versions(self) -> dict[str, int]:
        """Name to version, as a run pins them."""
        return {tool.name: tool.version for tool in self}

    def effect_of(self, name: str | None) -> Effect:
        """The effect of a tool; a step without a tool only reads."""
        return Effect.READ if name is None else self[name].effect

    def describe(self) -> str:
        """The tool list of the planning prompt: name, effect, description, argument schema."""
        return "\n\n".join(
            f"### {tool.name}\nEffect: {tool.effect}\n{tool.description}\n"
            f"Arguments (JSON Schema): {json.dumps(tool.schema, ensure_ascii=False)}"
            for tool in self
        )
