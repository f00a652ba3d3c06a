"""The tables. Every one has `project` in its primary key, except `workers`: a process belongs to no project."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    UniqueConstraint,
    text,
)

from agent.store.columns import ExactJson, Json, UtcDateTime, Words

HEAD = "0004"
"""The newest migration. Here, so that opening a migrated database does not need alembic."""

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


def _of_run() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["project", "run_id"], ["runs.project", "runs.run_id"])


MOVING = text(
    "(status IN ('queued', 'planning', 'executing') OR (status = 'waiting_human' AND cancel_requested))",
)
"""A run that a worker has something to do for. Said as the index says it, or the engines would not use the index."""

runs = Table(
    "runs",
    metadata,
    Column("project", Words, primary_key=True),
    Column("run_id", Words, primary_key=True),
    Column("thread_id", Words, nullable=False),
    Column("agent", Words, nullable=False),
    Column("agent_version", Words, nullable=False),
    Column("task", Words, nullable=False),
    Column("mode", Words, nullable=False),
    Column("provider", Words, nullable=False),
    Column("model", Words, nullable=False),
    Column("status", Words, nullable=False),
    Column("requested_by", Words, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("limits", Json, nullable=False),
    Column("tools", Json, nullable=False),
    Column("trace_id", Words, nullable=False),
    Column("root_span_id", Words, nullable=False),
    Column("started_at", UtcDateTime),
    Column("finished_at", UtcDateTime),
    Column("stop_reason", Words),
    Column("error", Words),
    Column("plan_version", Integer),
    Column("answer", Words),
    Column("sources", Json, nullable=False),
    Column("degraded", Boolean, nullable=False),
    Column("engine", Words),
    Column("cancel_requested", Boolean, nullable=False),
    Column("cancelled_by", Words),
    Column("manifest", Json),
    Column("lease_owner", Words),
    Column("lease_until", UtcDateTime),
    # Grows with every taking of the lease; a write that names an older number is refused.
    Column("fence", Integer, nullable=False),
    Index(None, "project", "created_at", "run_id"),
    Index(None, "project", "status", "created_at", "run_id"),
    Index(None, "project", "finished_at", "run_id"),
    Index(None, "project", "thread_id", "created_at"),
    Index("ix_runs_moving", "created_at", sqlite_where=MOVING, postgresql_where=MOVING),
)

plans = Table(
    "plans",
    metadata,
    Column("project", Words, primary_key=True),
    Column("run_id", Words, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("hash", Words, nullable=False),
    Column("parent_hash", Words),
    Column("goal", Words, nullable=False),
    Column("rationale", Words, nullable=False),
    Column("steps", Json, nullable=False),
    Column("trigger", Words),
    Column("repairs", Json, nullable=False),
    Column("source", Words, nullable=False),
    Column("estimate", Json),
    Column("created_at", UtcDateTime, nullable=False),
    Column("created_by", Words, nullable=False),
    _of_run(),
)

steps = Table(
    "steps",
    metadata,
    Column("project", Words, primary_key=True),
    Column("run_id", Words, primary_key=True),
    Column("plan_version", Integer, primary_key=True, autoincrement=False),
    Column("step_id", Words, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("status", Words, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("started_at", UtcDateTime),
    Column("finished_at", UtcDateTime),
    Column("result", Json),
    Column("error", Words),
    ForeignKeyConstraint(
        ["project", "run_id", "plan_version"],
        ["plans.project", "plans.run_id", "plans.version"],
    ),
)

attempts = Table(
    "attempts",
    metadata,
    Column("project", Words, primary_key=True),
    Column("run_id", Words, primary_key=True),
    Column("plan_version", Integer, primary_key=True, autoincrement=False),
    Column("step_id", Words, primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("status", Words, nullable=False),
    Column("started_at", UtcDateTime, nullable=False),
    Column("finished_at", UtcDateTime),
    Column("error", Words),
    ForeignKeyConstraint(
        ["project", "run_id", "plan_version", "step_id"],
        ["steps.project", "steps.run_id", "steps.plan_version", "steps.step_id"],
    ),
)

UNAPPLIED = text("decision IS NOT NULL AND applied_at IS NULL")
"""A request whose decision has not reached the graph yet."""

requests = Table(
    "approval_requests",
    metadata,
    Column("project", Words, primary_key=True),
    Column("request_id", Words, primary_key=True),
    Column("kind", Words, nullable=False),
    Column("run_id", Words, nullable=False),
    Column("thread_id", Words, nullable=False),
    Column("checkpoint_id", Words, nullable=False),
    Column("interrupt_id", Words, nullable=False),
    Column("hash", Words, nullable=False),
    Column("status", Words, nullable=False),
    Column("requested_at", UtcDateTime, nullable=False),
    Column("requested_by", Words, nullable=False),
    Column("payload", Json, nullable=False),
    Column("expires_at", UtcDateTime),
    Column("decided_at", UtcDateTime),
    Column("decided_by", Words),
    Column("decided_by_system_user", Words),
    Column("decision", Words),
    Column("note", Words),
    Column("value", Json),
    Column("applied_at", UtcDateTime),
    _of_run(),
    UniqueConstraint("project", "thread_id", "checkpoint_id", "interrupt_id", name="uq_approval_requests_pause"),
    Index(None, "project", "status", "requested_at", "request_id"),
    Index(None, "project", "requested_at", "request_id"),
    Index(None, "project", "run_id", "requested_at"),
    Index(
        "ix_approval_requests_unapplied",
        "project",
        "run_id",
        sqlite_where=UNAPPLIED,
        postgresql_where=UNAPPLIED,
    ),
)

events = Table(
    "run_events",
    metadata,
    Column("project", Words, primary_key=True),
    Column("run_id", Words, primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("at", UtcDateTime, nullable=False),
    Column("kind", Words, nullable=False),
    Column("step_id", Words),
    Column("text", Words, nullable=False),
    # Names what the event tells, so that telling it again after a crash adds nothing.
    Column("once", Words),
    _of_run(),
    UniqueConstraint("project", "run_id", "once"),
)

artifacts = Table(
    "artifacts",
    metadata,
    Column("project", Words, primary_key=True),
    Column("run_id", Words, primary_key=True),
    Column("name", Words, primary_key=True),
    Column("step_id", Words),
    Column("media_type", Words, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", Words, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    _of_run(),
)

tool_calls = Table(
    "tool_calls",
    metadata,
    Column("project", Words, primary_key=True),
    Column("run_id", Words, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("key", Words, nullable=False),
    Column("step_id", Words, nullable=False),
    Column("tool", Words, nullable=False),
    Column("version", Integer, nullable=False),
    Column("effect", Words, nullable=False),
    Column("arguments", Json, nullable=False),
    Column("arguments_hash", Words, nullable=False),
    Column("state", Words, nullable=False),
    Column("started_at", UtcDateTime, nullable=False),
    Column("finished_at", UtcDateTime),
    Column("error", Words),
    Column("observation", Json),
    _of_run(),
    Index(None, "project", "run_id", "key"),
    Index(None, "project", "started_at"),
)

meters = Table(
    "run_meters",
    metadata,
    Column("project", Words, primary_key=True),
    Column("run_id", Words, primary_key=True),
    Column("llm_calls", Integer, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("cost", BigInteger, nullable=False),
    Column("unpriced_calls", Integer, nullable=False),
    Column("active_ms", BigInteger, nullable=False),
    _of_run(),
)

drafts = Table(
    "answer_drafts",
    metadata,
    Column("project", Words, primary_key=True),
    Column("run_id", Words, primary_key=True),
    Column("text", Words, nullable=False),
    _of_run(),
)

loop_places = Table(
    "loop_places",
    metadata,
    Column("project", Words, primary_key=True),
    Column("run_id", Words, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("state", ExactJson, nullable=False),
    _of_run(),
)

loop_writes = Table(
    "loop_writes",
    metadata,
    Column("project", Words, primary_key=True),
    Column("run_id", Words, primary_key=True),
    Column("task", Integer, primary_key=True, autoincrement=False),
    Column("written", ExactJson, nullable=False),
    _of_run(),
)

workers = Table(
    "workers",
    metadata,
    Column("worker_id", Words, primary_key=True),
    Column("seen_at", UtcDateTime, nullable=False),
)
