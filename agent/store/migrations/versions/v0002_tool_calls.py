"""The ledger of tool calls, what a run has used up, and answers that are being written."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "tool_calls",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("step_id", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("effect", sa.Text(), nullable=False),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("arguments_hash", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("observation", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(
            ["project", "run_id"], ["runs.project", "runs.run_id"], name=op.f("fk_tool_calls_runs")
        ),
        sa.PrimaryKeyConstraint("project", "run_id", "number", name=op.f("pk_tool_calls")),
    )
    op.create_index(op.f("ix_tool_calls_project_run_id_key"), "tool_calls", ["project", "run_id", "key"], unique=False)
    op.create_index(op.f("ix_tool_calls_project_started_at"), "tool_calls", ["project", "started_at"], unique=False)
    op.create_table(
        "run_meters",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("llm_calls", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("cost", sa.BigInteger(), nullable=False),
        sa.Column("unpriced_calls", sa.Integer(), nullable=False),
        sa.Column("active_ms", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "run_id"], ["runs.project", "runs.run_id"], name=op.f("fk_run_meters_runs")
        ),
        sa.PrimaryKeyConstraint("project", "run_id", name=op.f("pk_run_meters")),
    )
    op.create_table(
        "answer_drafts",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "run_id"], ["runs.project", "runs.run_id"], name=op.f("fk_answer_drafts_runs")
        ),
        sa.PrimaryKeyConstraint("project", "run_id", name=op.f("pk_answer_drafts")),
    )
