"""What is done within a transaction that the gateway began."""

from __future__ import annotations

from datetime import datetime
from importlib import import_module

from sqlalchemy import Connection, Table, and_, func, insert, select, update

from agent.errors import NotFoundError, RefusedError
from agent.records import (
    ApprovalRequest,
    Decision,
    EventKind,
    Plan,
    RequestKind,
    RequestStatus,
    Run,
    StepStatus,
)
from agent.store import schema
from agent.store.conditions import is_plan, is_request, is_run, is_step
from agent.store.errors import AlreadyDecidedError, StaleHashError, StaleLeaseError
from agent.store.rows import Columns, columns_of_plan, request_from_row, run_from_row


def lock_run(connection: Connection, project: str, run_id: str, fence: int | None = None) -> None:
    """Keep every other writer of the run out until the transaction ends, and check the fence."""
    row = connection.execute(select(schema.runs.c.fence).where(is_run(project, run_id)).with_for_update()).one_or_none()
    if row is None:
        raise no_run(project, run_id)
    if fence is not None and row.fence != fence:
        raise StaleLeaseError(f"Another process goes on with run {run_id}; this one has to leave it alone.")


def lock_word(connection: Connection, word: str) -> None:
    """Keep out every other writer that names the same word; on SQLite a writing transaction keeps out all of them."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(word, 0))))


def no_run(project: str, run_id: str) -> NotFoundError:
    """The error for a run that is not there."""
    return NotFoundError(f"Project {project} has no run {run_id}; `plandeck runs` lists them.")


def read_run(connection: Connection, project: str, run_id: str) -> Run:
    """The run; NotFoundError if there is none."""
    row = connection.execute(select(schema.runs).where(is_run(project, run_id))).one_or_none()
    if row is None:
        raise no_run(project, run_id)
    return run_from_row(row)


def read_request(connection: Connection, project: str, request_id: str) -> ApprovalRequest:
    """The request; NotFoundError if there is none."""
    row = connection.execute(select(schema.requests).where(is_request(project, request_id))).one_or_none()
    if row is None:
        raise NotFoundError(f"Project {project} has no approval request {request_id}; `plandeck approvals` lists them.")
    return request_from_row(row)


def compare_and_set(connection: Connection, project: str, request_id: str, expected: str, decided: Columns) -> None:
    """Decide a request that is pending with this hash; else say why not."""
    requests = schema.requests.c
    done = connection.execute(
        update(schema.requests)
        .where(
            is_request(project, request_id),
            requests.status == RequestStatus.PENDING,
            requests.hash == expected,
        )
        .values(decided)
    )
    if done.rowcount == 1:
        return
    now = read_request(connection, project, request_id)
    if now.status is not RequestStatus.PENDING:
        raise AlreadyDecidedError(now)
    raise StaleHashError(
        f"Request {request_id} waits for a decision on {now.hash[:12]}…, not on {expected[:12]}…; "
        "look at the current version and decide again."
    )


def decision_event(kind: RequestKind, decision: Decision, by: str, new_plan: Plan | None) -> tuple[EventKind, str]:
    """How a decision stands in the run's history."""
    if decision is Decision.APPROVE:
        return EventKind.APPROVED, f"approved by {by}"
    if decision is Decision.REJECT:
        return EventKind.REJECTED, f"rejected by {by}"
    if decision is Decision.EDIT:
        version = f", plan version {new_plan.version}" if new_plan else ""
        return EventKind.EDITED, f"edited by {by}{version}"
    if kind is RequestKind.PLAN:
        return EventKind.SENT_BACK, f"sent back by {by}"
    return EventKind.ANSWERED, f"answered by {by}"


def put_plan(
    connection: Connection, project: str, run_id: str, plan: Plan, *, created_at: datetime, created_by: str
) -> None:
    """Freeze a plan version, its steps pending; nothing if it is there, RefusedError if another is."""
    stored = connection.scalar(select(schema.plans.c.hash).where(is_plan(project, run_id, plan.version)))
    if stored == plan.hash:
        return
    if stored is not None:
        raise RefusedError(
            f"Plan version {plan.version} of run {run_id} is frozen with hash {stored[:12]}…, not {plan.hash[:12]}….",
            code="frozen_plan",
        )
    key = {"project": project, "run_id": run_id}
    connection.execute(
        insert(schema.plans).values(**key, **columns_of_plan(plan), created_at=created_at, created_by=created_by)
    )
    pending = {**key, "plan_version": plan.version, "status": str(StepStatus.PENDING), "attempts": 0}
    rows = [{**pending, "step_id": step.id, "position": n} for n, step in enumerate(plan.steps)]
    if rows:
        connection.execute(insert(schema.steps), rows)


def require_step(connection: Connection, project: str, run_id: str, plan_version: int, step_id: str) -> None:
    """NotFoundError unless the plan version has the step."""
    query = select(schema.steps.c.step_id).where(is_step(project, run_id, plan_version, step_id))
    if connection.scalar(query) is None:
        raise NotFoundError(f"Plan version {plan_version} of run {run_id} has no step {step_id}.")


def append_event(
    connection: Connection,
    project: str,
    run_id: str,
    kind: EventKind,
    text: str,
    *,
    at: datetime,
    step_id: str | None = None,
    once: str | None = None,
) -> None:
    """The next line of a run's history, unless `once` was told before. The run is locked."""
    events = schema.events.c
    of_run = and_(events.project == project, events.run_id == run_id)
    if once is not None and connection.scalar(select(events.seq).where(of_run, events.once == once)) is not None:
        return
    last = connection.scalar(select(func.max(events.seq)).where(of_run))
    connection.execute(
        insert(schema.events).values(
            project=project,
            run_id=run_id,
            seq=(last or 0) + 1,
            at=at,
            kind=str(kind),
            step_id=step_id,
            text=text,
            once=once,
        )
    )


def upsert(connection: Connection, table: Table, columns: Columns) -> None:
    """Insert a row, or set its other columns if its key is there."""
    # Both dialects have the same; importing the one that is not used costs a tenth of a second at every start.
    insert_or_update = import_module(f"sqlalchemy.dialects.{connection.dialect.name}").insert
    key = [column.name for column in table.primary_key]
    changed = {name: value for name, value in columns.items() if name not in key}
    connection.execute(insert_or_update(table).values(columns).on_conflict_do_update(index_elements=key, set_=changed))
