"""The registry: what tools there are, what they take, what they do to the world."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from agent.errors import AgentError, ConfigurationError
from agent.records import Effect, JsonObject, JsonValue


class ErrorKind(StrEnum):
    """What kind of failure a tool call ended with: what may be done about it depends on nothing else."""

    TIMEOUT = "timeout"
    """It took too long, and nothing was done by it."""
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    """The other side cannot be reached, or answered that it is broken."""
    BAD_ARGUMENT = "bad_argument"
    """For the model to mend: it comes back as an observation."""
    PERMISSION_DENIED = "permission_denied"
    NOT_CONFIGURED = "not_configured"
    """A setting is missing; the message names it."""
    MISSING_INPUT = "missing_input"
    """For a person to answer."""
    OUTCOME_UNKNOWN = "outcome_unknown"
    """An effect was begun, and nobody knows whether it happened: a person has to look, it is never repeated."""
    FAILED = "failed"
    """Anything else; the same call would fail again."""


RETRYABLE = frozenset({ErrorKind.TIMEOUT, ErrorKind.RATE_LIMITED, ErrorKind.UNAVAILABLE})
"""After these the same call may work later."""


class ToolError(AgentError):
    """A tool call that did not do what was asked.

    `kind` says what may be done about it; `code` is finer and the tool's own. `retry_after` are the seconds that the
    other side asked to wait, None if it did not say. Anything else that a tool raises is an exception of the step and
    ends the attempt.
    """

    code = "tool_error"

    def __init__(
        self,
        message: str,
        *,
        kind: ErrorKind = ErrorKind.BAD_ARGUMENT,
        code: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, code=code or (None if kind is ErrorKind.BAD_ARGUMENT else str(kind)))
        self.kind = kind
        self.retry_after = retry_after


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
    idempotency_key: str | None = None
    """Identifies an intended effect (see `idempotency_key`); None for a call that has none."""


def idempotency_key(run_id: str, step_id: str, version: int, call: int) -> str:
    """The key of an effect: the same for every try of the same intended call, different for any other.

    `version` is the plan version in which the step first stood as it stands, `call` the number of the intended call
    within the step, 1 for the first: a try that failed does not count, an effect that is wanted once more does.
    """
    return sha256(json.dumps([run_id, step_id, version, call]).encode()).hexdigest()


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
    """Whether the same call made twice does no more than made once."""
    retryable: frozenset[ErrorKind] = RETRYABLE
    """After which failures the same call may be made again."""
    missing: str | None = None
    """The settings without which it cannot work, where they are not set; None for a tool that is ready."""
    details: Callable[[], str] = field(default=lambda: "")
    """What a model has to know beyond the summary, worked out when asked (e.g. the database's schema)."""

    @property
    def description(self) -> str:
        """Summary and details: what planner and executor are told."""
        details = self.details()
        return f"{self.summary}\n{details}" if details else self.summary

    @property
    def acts(self) -> bool:
        """Whether a call does something outside of the run's own folder."""
        return self.effect.gravity > Effect.DRAFT.gravity

    @property
    def schema(self) -> JsonObject:
        """JSON Schema of the arguments: the one that models see and that calls are validated against."""
        return self.arguments.model_json_schema()

    def validate(self, arguments: JsonObject) -> BaseModel:
        """The typed arguments; ToolError naming each wrong one otherwise."""
        try:
            json.dumps(arguments, ensure_ascii=False).encode()
            return self.arguments.model_validate(arguments)
        except UnicodeEncodeError as error:
            raise ToolError(f"{self.name} refuses a text with half a character in it.", code="bad_arguments") from error
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

    def get(self, name: str | None) -> Tool | None:
        """The tool of that name, or None."""
        return self._tools.get(name) if name is not None else None

    @property
    def names(self) -> list[str]:
        """Every name, in order."""
        return list(self._tools)

    @property
    def versions(self) -> dict[str, int]:
        """Name to version, as a run pins them."""
        return {tool.name: tool.version for tool in self}

    @property
    def ready(self) -> list[Tool]:
        """The tools whose settings are there, in order: what a planner may choose from."""
        return [tool for tool in self if tool.missing is None]

    def pinned(self, versions: Mapping[str, int]) -> ToolRegistry:
        """Only these tools, in our order; ConfigurationError naming the first that is not there in that version."""
        for name, version in versions.items():
            tool = self.get(name)
            if tool is None or tool.version != version:
                now = "is not registered" if tool is None else f"is registered in version {tool.version}"
                raise ConfigurationError(
                    f"The run began with version {version} of the tool {name}, which {now} now; start the task again, "
                    "or resume the run where that version is registered."
                )
        return ToolRegistry(tool for tool in self if tool.name in versions)

    def effect_of(self, name: str | None) -> Effect:
        """The effect of a tool; a step without a tool only reads."""
        return Effect.READ if name is None else self[name].effect

    def describe(self) -> str:
        """The tool list of the planning prompt: name, effect, description, argument schema of each that is ready."""
        return "\n\n".join(
            f"### {tool.name}\nEffect: {tool.effect}\n{tool.description}\n"
            f"Arguments (JSON Schema): {json.dumps(tool.schema, ensure_ascii=False)}"
            for tool in self.ready
        )
