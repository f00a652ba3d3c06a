"""Sums by hour, day and entity, so that charts need not read spans."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from traces.rebuilding import rebuild

revision = "0002"
down_revision = "0001"

SUMS = (
    *("spans", "calls", "errors", "unpriced_calls", "unpriced_tokens", "calls_without_usage"),
    *("calls_with_invalid_usage", "priced_spans", "not_counted", "input_known", "output_known"),
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens"),
    *("reasoning_tokens", "input_audio_tokens", "output_audio_tokens", "cost"),
    *("illustrative_calls", "illustrative_cost", "reported_calls", "reported_cost"),
)
DIMENSIONS = ("model", "provider", "agent", "operation", "role", "status")
ENTITIES = ("run_id", "thread_id", "user_id")


def upgrade() -> None:
    """Go to this revision."""
    for name in ("spans_by_run", "spans_by_thread"):
        op.drop_index(name, "spans")
    _partial_index("spans_by_run", "spans", "run_id IS NOT NULL", "project", "run_id")
    _partial_index("spans_by_thread", "spans", "thread_id IS NOT NULL", "project", "thread_id", "started_at")
    _partial_index("working_spans", "spans", "kind IN ('plan', 'step', 'answer')", "project", "started_at")
    _make_traces_anew()
    op.create_table(
        "rollups",
        *_words("project", "grain"),
        _number("at"),
        *_words(*DIMENSIONS),
        *_charged(),
        *_sums(),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "entity_rollups",
        *_words("project"),
        _number("at"),
        *_words(*ENTITIES, *DIMENSIONS),
        *_charged(),
        *_sums(),
        sqlite_with_rowid=False,
    )
    op.create_index("entity_rollups_by_user", "entity_rollups", ["project", "user_id", "at"])
    op.create_table(
        "latencies",
        *_words("project", "grain"),
        _number("at"),
        *_words(*DIMENSIONS),
        sa.Column("in_run", sa.Boolean, primary_key=True),
        sa.Column("bucket", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("calls", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    rebuild(op.get_bind())


def _make_traces_anew() -> None:
    # Everything in it is worked out from the spans.
    op.drop_table("traces")
    op.create_table(
        "traces",
        *_words("project", "trace_id"),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("incomplete", sa.Boolean, nullable=False),
        *(sa.Column(name, sa.Text) for name in ("agent", "thread_id", "run_id", "user_id")),
        sa.Column("duration", sa.BigInteger),
        *_sums(),
    )
    op.create_index("traces_by_time", "traces", ["project", "started_at", "trace_id"])
    _partial_index("traces_by_thread", "traces", "thread_id IS NOT NULL", "project", "thread_id", "started_at")


def _partial_index(name: str, table: str, where: str, *columns: str) -> None:
    op.create_index(name, table, list(columns), sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def _words(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text, primary_key=True) for name in names]


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, primary_key=True, autoincrement=False)


def _charged() -> list[sa.Column[Any]]:
    return [
        sa.Column("in_run", sa.Boolean, primary_key=True),
        sa.Column("illustrative", sa.Boolean, primary_key=True),
        *_words("price_source", "rates_id"),
        sa.Column("fits", sa.Integer, primary_key=True, autoincrement=False),
    ]


def _sums() -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger, nullable=False) for name in SUMS]
