"""Runs, plans, steps, attempts, approval requests, events, artifacts and workers."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "runs",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("agent_version", sa.Text(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("limits", sa.JSON(), nullable=False),
        sa.Column("tools", sa.JSON(), nullable=False),
        sa.Column("trace_id", sa.Text(), nullable=False),
        sa.Column("root_span_id", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("stop_reason", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("plan_version", sa.Integer(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("degraded", sa.Boolean(), nullable=False),
        sa.Column("cancel_requested", sa.Boolean(), nullable=False),
        sa.Column("cancelled_by", sa.Text(), nullable=True),
        sa.Column("lease_owner", sa.Text(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("fence", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("project", "run_id", name=op.f("pk_runs")),
    )
    op.create_index(
        "ix_runs_moving",
        "runs",
        ["created_at"],
        unique=False,
        sqlite_where=sa.text(
            "(status IN ('queued', 'planning', 'executing') OR (status = 'waiting_human' AND cancel_requested))"
        ),
        postgresql_where=sa.text(
            "(status IN ('queued', 'planning', 'executing') OR (status = 'waiting_human' AND cancel_requested))"
        ),
    )
    op.create_index(
        op.f("ix_runs_project_created_at_run_id"), "runs", ["project", "created_at", "run_id"], unique=False
    )
    op.create_index(
        op.f("ix_runs_project_finished_at_run_id"), "runs", ["project", "finished_at", "run_id"], unique=False
    )
    op.create_index(
        op.f("ix_runs_project_status_created_at_run_id"),
        "runs",
        ["project", "status", "created_at", "run_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_runs_project_thread_id_created_at"), "runs", ["project", "thread_id", "created_at"], unique=False
    )
    op.create_table(
        "workers",
        sa.Column("worker_id", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("worker_id", name=op.f("pk_workers")),
    )
    op.create_table(
        "approval_requests",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("thread_id", sa.Text(), nullable=False),
        sa.Column("checkpoint_id", sa.Text(), nullable=False),
        sa.Column("interrupt_id", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("requested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("requested_by", sa.Text(), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("decided_by_system_user", sa.Text(), nullable=True),
        sa.Column("decision", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("value", sa.JSON(), nullable=True),
        sa.Column("applied_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["project", "run_id"], ["runs.project", "runs.run_id"], name=op.f("fk_approval_requests_runs")
        ),
        sa.PrimaryKeyConstraint("project", "request_id", name=op.f("pk_approval_requests")),
        sa.UniqueConstraint("project", "thread_id", "checkpoint_id", "interrupt_id", name="uq_approval_requests_pause"),
    )
    op.create_index(
        op.f("ix_approval_requests_project_requested_at_request_id"),
        "approval_requests",
        ["project", "requested_at", "request_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_approval_requests_project_run_id_requested_at"),
        "approval_requests",
        ["project", "run_id", "requested_at"],
        unique=False,
    )
    op.create_index(
        op.f("ix_approval_requests_project_status_requested_at_request_id"),
        "approval_requests",
        ["project", "status", "requested_at", "request_id"],
        unique=False,
    )
    op.create_index(
        "ix_approval_requests_unapplied",
        "approval_requests",
        ["project", "run_id"],
        unique=False,
        sqlite_where=sa.text("decision IS NOT NULL AND applied_at IS NULL"),
        postgresql_where=sa.text("decision IS NOT NULL AND applied_at IS NULL"),
    )
    op.create_table(
        "artifacts",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("step_id", sa.Text(), nullable=True),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["project", "run_id"], ["runs.project", "runs.run_id"], name=op.f("fk_artifacts_runs")),
        sa.PrimaryKeyConstraint("project", "run_id", "name", name=op.f("pk_artifacts")),
    )
    op.create_table(
        "plans",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("parent_hash", sa.Text(), nullable=True),
        sa.Column("goal", sa.Text(), nullable=False),
        sa.Column("rationale", sa.Text(), nullable=False),
        sa.Column("steps", sa.JSON(), nullable=False),
        sa.Column("trigger", sa.Text(), nullable=True),
        sa.Column("repairs", sa.JSON(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("estimate", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project", "run_id"], ["runs.project", "runs.run_id"], name=op.f("fk_plans_runs")),
        sa.PrimaryKeyConstraint("project", "run_id", "version", name=op.f("pk_plans")),
    )
    op.create_table(
        "run_events",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("step_id", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("once", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project", "run_id"], ["runs.project", "runs.run_id"], name=op.f("fk_run_events_runs")
        ),
        sa.PrimaryKeyConstraint("project", "run_id", "seq", name=op.f("pk_run_events")),
        sa.UniqueConstraint("project", "run_id", "once", name=op.f("uq_run_events_project_run_id_once")),
    )
    op.create_table(
        "steps",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("plan_version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("step_id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project", "run_id", "plan_version"],
            ["plans.project", "plans.run_id", "plans.version"],
            name=op.f("fk_steps_plans"),
        ),
        sa.PrimaryKeyConstraint("project", "run_id", "plan_version", "step_id", name=op.f("pk_steps")),
    )
    op.create_table(
        "attempts",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("plan_version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("step_id", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project", "run_id", "plan_version", "step_id"],
            ["steps.project", "steps.run_id", "steps.plan_version", "steps.step_id"],
            name=op.f("fk_attempts_steps"),
        ),
        sa.PrimaryKeyConstraint("project", "run_id", "plan_version", "step_id", "attempt", name=op.f("pk_attempts")),
    )
