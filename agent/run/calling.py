"""A run's tool calls: allowed, within the limits, and written down before they are made.

An effect is intended, then committed. What lies between at a crash is never guessed: a tool that may be called twice is
called again with the same key, for any other a person is asked.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.planning.hashing import canonical_json
from agent.records import (
    Artifact,
    CallState,
    EventKind,
    JsonObject,
    JsonValue,
    PlanStep,
    RequestKind,
    Run,
    ToolCall,
)
from agent.run.failing import AskError, RefusedCallError
from agent.run.lease import Lease
from agent.run.meter import RunMeter
from agent.run.policy import Behaviour, Leave
from agent.tools.calling import call_tool
from agent.tools.registry import ErrorKind, Observation, Tool, ToolContext, ToolError, idempotency_key
from traces.values import clean, storable

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck


@dataclass
class RunCaller:
    """Makes one run's tool calls; steps of a wave may call at the same time."""

    app: Plandeck
    run: Run
    lease: Lease
    meter: RunMeter
    behaviour: Behaviour
    artifacts: Path
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(
        self, tool: Tool, arguments: JsonObject, step: PlanStep, attempt: int, *, seen: bool, version: int | None
    ) -> Observation:
        """Make a call; see `deps.CallTool`."""
        tool.validate(arguments)
        if self.behaviour.leaves[tool.effect] is Leave.REFUSE:
            raise RefusedCallError(f"The policy of this agent refuses {tool.name} ({tool.effect}).")
        key, earlier, made = self._intended(tool, arguments, step, version or 1)
        if earlier is not None and earlier.state is CallState.COMMITTED:
            return observation_from(earlier.observation or {})
        if earlier is not None:
            self._settle(tool, earlier, step, seen=seen)
        if not seen:
            self._require_leave(tool, arguments, step, made, planned=version is not None)
        self.lease.check()
        return self._call(tool, arguments, step, attempt, key)

    def _require_leave(
        self, tool: Tool, arguments: JsonObject, step: PlanStep, made: Sequence[ToolCall], *, planned: bool
    ) -> None:
        """AskError where a person has to say yes; also where the step has acted before, with other arguments."""
        if not made and self.behaviour.leave(tool.effect, planned=planned) is not Leave.ASK:
            return
        payload: JsonObject = {
            "kind": str(RequestKind.TOOL_CALL),
            "tool": tool.name,
            "effect": str(tool.effect),
            "arguments": arguments,
            "step_id": step.id,
            "description": step.description,
        }
        if made:
            payload["made_before"] = [call.arguments for call in made]
        raise AskError(payload)

    def _intended(
        self, tool: Tool, arguments: JsonObject, step: PlanStep, version: int
    ) -> tuple[str, ToolCall | None, list[ToolCall]]:
        """The key of a call, what became of it if it was made before, and what else this step has done.

        A step intends one effect. Only where that is done and the model wants another is the call a further one, with
        a key of its own; one of which nobody knows whether it happened comes first, whatever is wanted now.
        """
        made: list[ToolCall] = []
        while True:
            key = idempotency_key(self.run.run_id, step.id, version, len(made) + 1)
            earlier = self.app.records.ledger.last_call(self.run.project, self.run.run_id, key) if tool.acts else None
            if earlier is None or earlier.state is CallState.CANCELLED:
                return key, None, made
            if earlier.state is not CallState.COMMITTED or earlier.arguments == arguments:
                return key, earlier, made
            made.append(earlier)

    def _settle(self, tool: Tool, earlier: ToolCall, step: PlanStep, *, seen: bool) -> None:
        """Ask about a call that was cut off; it may be made again where that does no harm or a person said so."""
        if earlier.state is CallState.INTENDED:
            self._close(earlier.number, CallState.UNKNOWN, error="its process ended in the middle of the call")
        if tool.idempotent or (seen and earlier.state is CallState.UNKNOWN):
            return
        raise AskError(unknown_outcome(tool, earlier.arguments, step))

    def _call(self, tool: Tool, arguments: JsonObject, step: PlanStep, attempt: int, key: str) -> Observation:
        call = self._intend(tool, arguments, step, key)
        context = ToolContext(
            run_id=self.run.run_id,
            step_id=step.id,
            attempt=attempt,
            artifacts=self.artifacts,
            now=self.app.now,
            idempotency_key=key if tool.acts else None,
        )
        try:
            observation = _storable(call_tool(tool, arguments, context))
        except ToolError as error:
            unknown = error.kind is ErrorKind.OUTCOME_UNKNOWN
            self._close(call.number, CallState.UNKNOWN if unknown else CallState.CANCELLED, error=error.message)
            if unknown and not tool.idempotent:
                raise AskError(unknown_outcome(tool, arguments, step)) from error
            raise
        except Exception as error:
            self._close(call.number, CallState.CANCELLED, error=f"{type(error).__name__}: {error}")
            raise
        self._close(call.number, CallState.COMMITTED, observation=observation.to_json())
        for name in observation.artifacts:
            self._record_artifact(step, self.artifacts / name)
        return observation

    def _intend(self, tool: Tool, arguments: JsonObject, step: PlanStep, key: str) -> ToolCall:
        """Write the call down; one at a time, so that the steps of a wave cannot pass a limit together."""
        same = arguments_hash(tool.name, arguments)
        with self._lock:
            self.meter.before_tool_call(tool.name, same)
            return self.app.records.ledger.add_call(
                self.run.project,
                ToolCall(
                    run_id=self.run.run_id,
                    number=0,
                    key=key,
                    step_id=step.id,
                    tool=tool.name,
                    version=tool.version,
                    effect=tool.effect,
                    arguments=arguments,
                    arguments_hash=same,
                    state=CallState.INTENDED,
                    started_at=self.app.now(),
                ),
                fence=self.lease.fence,
            )

    def _close(self, number: int, state: CallState, **columns: Any) -> None:
        self.app.records.ledger.close_call(
            self.run.project,
            self.run.run_id,
            number,
            fence=self.lease.fence,
            state=state,
            finished_at=self.app.now(),
            **columns,
        )

    def _record_artifact(self, step: PlanStep, file: Path) -> None:
        content = file.read_bytes()
        self.app.records.put_artifact(
            self.run.project,
            Artifact(
                run_id=self.run.run_id,
                name=file.name,
                step_id=step.id,
                media_type=mimetypes.guess_type(file.name)[0] or "text/plain",
                bytes=len(content),
                sha256=hashlib.sha256(content).hexdigest(),
                created_at=self.app.now(),
            ),
        )
        self.app.records.add_event(
            self.run.project,
            self.run.run_id,
            EventKind.ARTIFACT_WRITTEN,
            f"{step.id} wrote {file.name}",
            self.app.now(),
            step_id=step.id,
        )


def unknown_outcome(tool: Tool, arguments: JsonObject, step: PlanStep) -> JsonObject:
    """The question about a call of which nobody knows whether it happened."""
    return {
        "kind": str(RequestKind.TOOL_CALL),
        "about": "outcome",
        "tool": tool.name,
        "effect": str(tool.effect),
        "arguments": arguments,
        "step_id": step.id,
        "description": step.description,
        "question": f"{tool.name} was called, and nobody knows whether it happened. Look, then approve to call it "
        "again, or respond with what happened to count it as done.",
    }


def _storable(observation: Observation) -> Observation:
    """The observation with texts and values that every store of the run takes."""
    return replace(observation, text=clean(observation.text), data=storable(observation.data))


def observation_from(value: JsonObject) -> Observation:
    """An observation from its JSON."""
    return Observation(value["text"], value["data"], tuple(value["artifacts"]), value["empty"])


def arguments_hash(tool: str, arguments: JsonObject) -> str:
    """By which two calls are the same: letter case, spaces and the order of names make no difference."""
    return hashlib.sha256(canonical_json([tool, _normalised(arguments)])).hexdigest()


def _normalised(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return re.sub(r"\s+", " ", value).strip().casefold()
    if isinstance(value, dict):
        return {key: _normalised(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_normalised(item) for item in value]
    return value
