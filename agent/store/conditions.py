"""Which rows: the keys of each table as conditions, and the query of what workers may move."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, false, or_, select, true, union, union_all

from agent.records import RunStatus
from agent.store import schema


def is_run(project: str, run_id: str) -> ColumnElement[bool]:
    """The row of a run."""
    return and_(schema.runs.c.project == project, schema.runs.c.run_id == run_id)


def holds(project: str, run_id: str, owner: str, fence: int) -> ColumnElement[bool]:
    """The row of a run whose lease is this one."""
    return and_(is_run(project, run_id), schema.runs.c.lease_owner == owner, schema.runs.c.fence == fence)


def is_plan(project: str, run_id: str, version: int) -> ColumnElement[bool]:
    """The row of a plan version."""
    plans = schema.plans.c
    return and_(plans.project == project, plans.run_id == run_id, plans.version == version)


def is_step(project: str, run_id: str, plan_version: int, step_id: str) -> ColumnElement[bool]:
    """The row of a step."""
    steps = schema.steps.c
    return and_(
        steps.project == project,
        steps.run_id == run_id,
        steps.plan_version == plan_version,
        steps.step_id == step_id,
    )


def of_step(project: str, run_id: str, plan_version: int, step_id: str) -> ColumnElement[bool]:
    """The tries of a step."""
    attempts = schema.attempts.c
    return and_(
        attempts.project == project,
        attempts.run_id == run_id,
        attempts.plan_version == plan_version,
        attempts.step_id == step_id,
    )


def is_request(project: str, request_id: str) -> ColumnElement[bool]:
    """The row of an approval request."""
    return and_(schema.requests.c.project == project, schema.requests.c.request_id == request_id)


def runnable_query(now: ColumnElement[datetime], project: str | None, limit: int) -> Select[Any]:
    """At most `limit` runs to advance that nobody has, and every one that somebody has, `leased`.

    The second kind is as few as there are busy workers; only a process of the same host can tell that one is dead.
    """
    runs, requests = schema.runs.c, schema.requests.c
    of_project = true() if project is None else runs.project == project
    # DISTINCT also keeps SQLite from walking all waiting runs and asking for each whether it was decided.
    decided = select(requests.project, requests.run_id).where(schema.UNAPPLIED).distinct().subquery()
    wanted = select(runs.project, runs.run_id, runs.created_at, runs.lease_owner, runs.lease_until).where(of_project)
    moves = union(
        wanted.where(schema.MOVING),
        wanted.join(decided, and_(decided.c.project == runs.project, decided.c.run_id == runs.run_id)).where(
            runs.status == RunStatus.WAITING_HUMAN
        ),
    ).cte("moves")
    leased = and_(moves.c.lease_owner.is_not(None), moves.c.lease_until > now)
    found = (moves.c.project, moves.c.run_id, moves.c.created_at, moves.c.lease_owner)
    free = select(*found, false().label("leased")).where(or_(moves.c.lease_owner.is_(None), moves.c.lease_until <= now))
    oldest = free.order_by(moves.c.created_at, moves.c.project, moves.c.run_id).limit(limit).subquery()
    return select(union_all(select(oldest), select(*found, true().label("leased")).where(leased)).subquery())
