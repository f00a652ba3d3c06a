"""The nodes' dependencies as they are in production: models, records, tools."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from agent.models.client import ask_function, ask_turn
from agent.models.providers import Provider
from agent.records import (
    Artifact,
    Decision,
    EventKind,
    JsonObject,
    PlanStep,
    RequestKind,
    Run,
    StepProgress,
    StepStatus,
)
from agent.run.deps import CallTool
from agent.run.lease import Lease
from agent.tools.calling import call_tool
from agent.tools.registry import Observation, Tool, ToolContext

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck


@dataclass(frozen=True, slots=True)
class RunModels:
    """A chat model, asked in the way that its provider understands."""

    model: BaseChatModel
    provider: Provider

    def ask(self, messages: Sequence[BaseMessage], function: JsonObject) -> str | JsonObject:
        """The function's arguments as the model gave them, or its prose if it called nothing."""
        return ask_function(self.model, self.provider, messages, function)

    def turn(self, messages: Sequence[BaseMessage], tool: Tool | None) -> AIMessage:
        """One turn with at most one tool on offer."""
        offered = {"name": tool.name, "description": tool.description, "parameters": tool.schema} if tool else None
        return ask_turn(self.model, self.provider, messages, offered)


@dataclass(frozen=True, slots=True)
class RunRecorder:
    """What nodes write while they work, fenced by the run's lease."""

    app: Plandeck
    run: Run
    fence: int

    def step_started(self, step: PlanStep) -> int:
        """Note that a try begins, so that pages show it running; returns its number."""
        records, project, run_id = self.app.records, self.run.project, self.run.run_id
        version = records.run(project, run_id).plan_version or 1
        now = self.app.now()
        attempt = records.start_attempt(project, run_id, version, step.id, now, fence=self.fence)
        tried = [item for item in records.attempts(project, run_id) if item.step_id == step.id]
        running = StepProgress(
            run_id=run_id,
            plan_version=version,
            step_id=step.id,
            status=StepStatus.RUNNING,
            attempts=attempt,
            started_at=tried[0].started_at if tried else now,
        )
        records.put_steps(project, run_id, version, [running], fence=self.fence)
        kind = EventKind.STEP_STARTED if attempt == 1 else EventKind.STEP_RETRIED
        text = f"{step.id} {step.tool or 'thinks'}" if attempt == 1 else f"{step.id} try {attempt}"
        records.add_event(
            project, run_id, kind, text, now, step_id=step.id, once=f"start:{version}:{step.id}:{attempt}"
        )
        return attempt

    def is_approved(self, plan_hash: str) -> bool:
        """Whether a recorded decision approves this hash: as it was proposed, or as it was edited."""
        requests = self.app.records.requests(self.run.project, run_id=self.run.run_id)
        return any(
            (request.decision is Decision.APPROVE and request.hash == plan_hash)
            or (request.decision is Decision.EDIT and request.value["hash"] == plan_hash)
            for request in requests
            if request.kind is RequestKind.PLAN
        )


def tool_caller(app: Plandeck, run: Run, artifacts: Path, lease: Lease) -> CallTool:
    """Calls of a run's tools, with the files that they write put on record."""

    def call(tool: Tool, arguments: JsonObject, step: PlanStep, attempt: int) -> Observation:
        context = ToolContext(
            run_id=run.run_id,
            step_id=step.id,
            attempt=attempt,
            artifacts=artifacts,
            now=app.now,
        )
        lease.check()
        observation = call_tool(tool, arguments, context)
        for name in observation.artifacts:
            _record_artifact(app, run, step, artifacts / name)
        return observation

    return call


def _record_artifact(app: Plandeck, run: Run, step: PlanStep, file: Path) -> None:
    content = file.read_bytes()
    app.records.put_artifact(
        run.project,
        Artifact(
            run_id=run.run_id,
            name=file.name,
            step_id=step.id,
            media_type=mimetypes.guess_type(file.name)[0] or "text/plain",
            bytes=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            created_at=app.now(),
        ),
    )
    app.records.add_event(
        run.project, run.run_id, EventKind.ARTIFACT_WRITTEN, f"{step.id} wrote {file.name}", app.now(), step_id=step.id
    )
