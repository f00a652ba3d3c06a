"""What nodes write and ask of the records while they work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.records import (
    Decision,
    EventKind,
    JsonObject,
    PlanStep,
    RequestKind,
    Run,
    StepProgress,
    StepStatus,
)

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck


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

    def tell(self, kind: EventKind, text: str, *, step_id: str | None = None, once: str | None = None) -> None:
        """Add a line to the run's history."""
        self.app.records.add_event(
            self.run.project, self.run.run_id, kind, text, self.app.now(), step_id=step_id, once=once
        )

    def tool_health(self) -> dict[str, JsonObject]:
        """`{calls, failed}` of the last calls of each tool that failed lately, in any run of the project."""
        counts = self.app.records.ledger.health(self.run.project)
        return {tool: {"calls": calls, "failed": failed} for tool, (calls, failed) in counts.items() if failed}

    def effects_made(self) -> list[JsonObject]:
        """`{step_id, tool, arguments}` of every call of the run that acted and is done."""
        calls = self.app.records.ledger.calls(self.run.project, self.run.run_id)
        return [
            {"step_id": call.step_id, "tool": call.tool, "arguments": call.arguments}
            for call in calls
            if call.has_acted
        ]
