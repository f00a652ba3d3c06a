"""Records from rows, and columns from records."""

from __future__ import annotations

from dataclasses import asdict, fields
from enum import StrEnum
from typing import Any

from sqlalchemy import Row

from agent.records import (
    ApprovalRequest,
    Artifact,
    AttemptStatus,
    CallState,
    Decision,
    Effect,
    EventKind,
    Limits,
    Plan,
    PlanSource,
    PlanStep,
    RequestKind,
    RequestStatus,
    Run,
    RunEvent,
    RunStatus,
    Source,
    StepAttempt,
    StepProgress,
    StepStatus,
    ToolCall,
)

Columns = dict[str, Any]
AnyRow = Row[Any]


def columns_of(record: Any) -> Columns:
    """The columns of a flat record; words of enumerations as text, nested records as JSON."""
    return stored_columns({name: getattr(record, name) for name in _names(type(record))})


def stored_columns(columns: Columns) -> Columns:
    """Named values as the tables keep them."""
    return {name: _stored(name, value) for name, value in columns.items()}


def _stored(name: str, value: Any) -> Any:
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, Limits):
        return asdict(value)
    if name == "sources":
        return [asdict(source) for source in value]
    return value


def columns_of_plan(plan: Plan) -> Columns:
    """The columns of a plan version."""
    return {
        "version": plan.version,
        "hash": plan.hash,
        "parent_hash": plan.parent_hash,
        "goal": plan.goal,
        "rationale": plan.rationale,
        "steps": [step.to_json() for step in plan.steps],
        "trigger": plan.trigger,
        "repairs": list(plan.repairs),
        "source": str(plan.source),
        "estimate": plan.estimate,
    }


def run_from_row(row: AnyRow) -> Run:
    """A run."""
    columns = _picked(Run, row)
    columns["status"] = RunStatus(row.status)
    columns["limits"] = Limits(**{name: value for name, value in row.limits.items() if name in _names(Limits)})
    columns["sources"] = tuple(Source(**source) for source in row.sources)
    return Run(**columns)


def plan_from_row(row: AnyRow) -> Plan:
    """A plan version."""
    columns = _picked(Plan, row)
    columns["steps"] = tuple(PlanStep.from_json(step) for step in row.steps)
    columns["repairs"] = tuple(row.repairs)
    columns["source"] = PlanSource(row.source)
    return Plan(**columns)


def step_from_row(row: AnyRow) -> StepProgress:
    """How far a step came."""
    return StepProgress(**{**_picked(StepProgress, row), "status": StepStatus(row.status)})


def attempt_from_row(row: AnyRow) -> StepAttempt:
    """One try of a step."""
    return StepAttempt(**{**_picked(StepAttempt, row), "status": AttemptStatus(row.status)})


def request_from_row(row: AnyRow) -> ApprovalRequest:
    """An approval request."""
    columns = _picked(ApprovalRequest, row)
    columns["kind"] = RequestKind(row.kind)
    columns["status"] = RequestStatus(row.status)
    columns["decision"] = None if row.decision is None else Decision(row.decision)
    return ApprovalRequest(**columns)


def event_from_row(row: AnyRow) -> RunEvent:
    """A line of a run's history."""
    return RunEvent(**{**_picked(RunEvent, row), "kind": EventKind(row.kind)})


def artifact_from_row(row: AnyRow) -> Artifact:
    """A file that a run made."""
    return Artifact(**_picked(Artifact, row))


def call_from_row(row: AnyRow) -> ToolCall:
    """One call of a tool."""
    return ToolCall(**{**_picked(ToolCall, row), "effect": Effect(row.effect), "state": CallState(row.state)})


def _picked(record: type[Any], row: AnyRow) -> Columns:
    mapping = row._mapping
    return {name: mapping[name] for name in _names(record)}


def _names(record: type[Any]) -> list[str]:
    return [field.name for field in fields(record)]
