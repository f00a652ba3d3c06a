"""Where runs without LangGraph stand, and which engine a run began with."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Make the tables. Every run that has begun did so on LangGraph."""
    op.add_column("runs", sa.Column("engine", sa.Text(), nullable=True))
    op.execute(sa.text("UPDATE runs SET engine = 'langgraph' WHERE started_at IS NOT NULL"))
    op.create_table(
        "loop_places",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "run_id"], ["runs.project", "runs.run_id"], name=op.f("fk_loop_places_runs")
        ),
        sa.PrimaryKeyConstraint("project", "run_id", name=op.f("pk_loop_places")),
    )
    op.create_table(
        "loop_writes",
        sa.Column("project", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("task", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("written", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project", "run_id"], ["runs.project", "runs.run_id"], name=op.f("fk_loop_writes_runs")
        ),
        sa.PrimaryKeyConstraint("project", "run_id", "task", name=op.f("pk_loop_writes")),
    )
