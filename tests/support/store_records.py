"""Small valid records for tests of the record store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from agent.records import (
    ApprovalRequest,
    Effect,
    Limits,
    Plan,
    PlanSource,
    PlanStep,
    RequestKind,
    RequestStatus,
    Run,
    RunStatus,
)

START = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def a_run(run_id: str = "r-1", **changes: Any) -> Run:
    run = Run(
        project="default",
        run_id=run_id,
        thread_id=f"th-{run_id}",
        agent="analyst",
        agent_version="1",
        task="Which three projects cost most? 🙂",
        mode="plan_execute",
        provider="offline",
        model="offline-1",
        status=RunStatus.QUEUED,
        requested_by="ana",
        created_at=START,
        limits=Limits(max_steps=5),
        tools={"lookup": 1},
        trace_id="0" * 31 + "1",
        root_span_id="0" * 15 + "1",
    )
    return replace(run, **changes)


def a_plan(version: int = 1, **changes: Any) -> Plan:
    steps = (
        PlanStep("s2", "Look up the stock", "lookup", {"sku": "B-7"}, (), "A number is named", Effect.READ),
        PlanStep("s1", "Say it", None, {}, ("s2",), "One sentence"),
    )
    plan = Plan(
        goal="Know the stock",
        rationale="Look, then say",
        steps=steps,
        version=version,
        hash=f"{version:064x}",
        parent_hash=None if version == 1 else f"{version - 1:064x}",
        trigger=None if version == 1 else "edit",
        repairs=("code_fence",),
        source=PlanSource.MODEL if version == 1 else PlanSource.PERSON,
        estimate={"calls": 4},
    )
    return replace(plan, **changes)


def a_request(request_id: str = "q-1", run_id: str = "r-1", **changes: Any) -> ApprovalRequest:
    request = ApprovalRequest(
        project="default",
        request_id=request_id,
        kind=RequestKind.PLAN,
        run_id=run_id,
        thread_id=f"th-{run_id}",
        checkpoint_id=f"cp-{request_id}",
        interrupt_id="i-1",
        hash=a_plan().hash,
        status=RequestStatus.PENDING,
        requested_at=START,
        requested_by="ana",
        payload={"plan": a_plan().to_json(), "task": "…"},
    )
    return replace(request, **changes)
