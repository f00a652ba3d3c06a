"""The tables. Every key begins with the project; times are nanoseconds, money is pico-dollars, NULL is unknown."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

metadata = sa.MetaData()


SUMS = (
    *("spans", "calls", "errors", "unpriced_calls", "unpriced_tokens", "calls_without_usage"),
    *("calls_with_invalid_usage", "priced_spans", "not_counted", "input_known", "output_known"),
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "cache_write_1h_tokens"),
    *("reasoning_tokens", "input_audio_tokens", "output_audio_tokens", "cost"),
    *("illustrative_calls", "illustrative_cost", "reported_calls", "reported_cost"),
)
"""What is added up over spans; `traces.figures` says what each means."""

DIMENSIONS = ("model", "provider", "agent", "operation", "role", "status")
"""What rollups tell apart; '' is unknown."""
CHARGED = ("in_run", "illustrative", "price_source", "rates_id", "fits")
"""What they tell apart so that sums can be opened to their arithmetic."""
ENTITIES = ("run_id", "thread_id", "user_id")


def _sums() -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger, nullable=False) for name in SUMS]


def _dimensions(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text, primary_key=True) for name in names]


def _charged() -> list[sa.Column[Any]]:
    return [
        sa.Column("in_run", sa.Boolean, primary_key=True),
        sa.Column("illustrative", sa.Boolean, primary_key=True),
        *_dimensions("price_source", "rates_id"),
        sa.Column("fits", sa.Integer, primary_key=True, autoincrement=False),
    ]


def _start() -> sa.Column[int]:
    return sa.Column("at", sa.BigInteger, primary_key=True, autoincrement=False)


def _partial_index(name: str, where: str, *columns: str) -> sa.Index:
    """An index over the rows that a condition names, since most spans belong to no run and do no such work."""
    return sa.Index(name, *columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


HEAD = "0002"
"""The newest revision of `traces.migrations`."""
VERSION_TABLE = "spans_alembic_version"

spans = sa.Table(
    "spans",
    metadata,
    sa.Column("project", sa.Text, primary_key=True),
    sa.Column("trace_id", sa.Text, primary_key=True),
    sa.Column("span_id", sa.Text, primary_key=True),
    sa.Column("parent_span_id", sa.Text),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("operation", sa.Text),
    sa.Column("provider", sa.Text),
    sa.Column("model", sa.Text),
    sa.Column("request_model", sa.Text),
    sa.Column("response_model", sa.Text),
    sa.Column("service_tier", sa.Text),
    sa.Column("tool", sa.Text),
    sa.Column("agent", sa.Text),
    sa.Column("thread_id", sa.Text),
    sa.Column("run_id", sa.Text),
    sa.Column("step_id", sa.Text),
    sa.Column("attempt", sa.Integer),
    sa.Column("role", sa.Text),
    sa.Column("user_id", sa.Text),
    sa.Column("scope", sa.Text, nullable=False),
    sa.Column("scope_version", sa.Text, nullable=False),
    sa.Column("started_at", sa.BigInteger, nullable=False),
    sa.Column("ended_at", sa.BigInteger),
    sa.Column("duration", sa.BigInteger),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("error", sa.Text),
    sa.Column("input_tokens", sa.BigInteger),
    sa.Column("output_tokens", sa.BigInteger),
    sa.Column("cache_read_tokens", sa.BigInteger),
    sa.Column("cache_write_tokens", sa.BigInteger),
    sa.Column("cache_write_1h_tokens", sa.BigInteger),
    sa.Column("reasoning_tokens", sa.BigInteger),
    sa.Column("input_audio_tokens", sa.BigInteger),
    sa.Column("output_audio_tokens", sa.BigInteger),
    sa.Column("usage_state", sa.Text, nullable=False),
    sa.Column("cost", sa.BigInteger),
    sa.Column("price_source", sa.Text),
    sa.Column("rates_id", sa.Text),
    sa.Column("illustrative", sa.Boolean, nullable=False),
    sa.Column("model_call", sa.Boolean, nullable=False),
    # The next four are decided per trace, in the transaction that writes any span of it.
    sa.Column("is_call", sa.Boolean, nullable=False),
    sa.Column("counted", sa.Boolean, nullable=False),
    sa.Column("covered", sa.Boolean, nullable=False),
    sa.Column("not_itemised", sa.BigInteger),
    sa.Column("flags", sa.JSON, nullable=False),
    sa.Column("attributes", sa.JSON, nullable=False),
    sa.Index("spans_by_time", "project", "started_at"),
    _partial_index("spans_by_run", "run_id IS NOT NULL", "project", "run_id"),
    _partial_index("spans_by_thread", "thread_id IS NOT NULL", "project", "thread_id", "started_at"),
    _partial_index("working_spans", "kind IN ('plan', 'step', 'answer')", "project", "started_at"),
)

span_bodies = sa.Table(
    "span_bodies",
    metadata,
    sa.Column("project", sa.Text, primary_key=True),
    sa.Column("trace_id", sa.Text, primary_key=True),
    sa.Column("span_id", sa.Text, primary_key=True),
    sa.Column("body", sa.JSON, nullable=False),
)

rates = sa.Table(
    "rates",
    metadata,
    sa.Column("project", sa.Text, primary_key=True),
    sa.Column("rates_id", sa.Text, primary_key=True),
    sa.Column("entry", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("since", sa.Text),
    sa.Column("service_tier", sa.Text),
    sa.Column("illustrative", sa.Boolean, nullable=False),
    sa.Column("per_million", sa.JSON, nullable=False),
)

traces = sa.Table(
    "traces",
    metadata,
    sa.Column("project", sa.Text, primary_key=True),
    sa.Column("trace_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("started_at", sa.BigInteger, nullable=False),
    sa.Column("ended_at", sa.BigInteger),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("incomplete", sa.Boolean, nullable=False),
    sa.Column("agent", sa.Text),
    sa.Column("thread_id", sa.Text),
    sa.Column("run_id", sa.Text),
    sa.Column("user_id", sa.Text),
    sa.Column("duration", sa.BigInteger),
    *_sums(),
    sa.Index("traces_by_time", "project", "started_at", "trace_id"),
    _partial_index("traces_by_thread", "thread_id IS NOT NULL", "project", "thread_id", "started_at"),
)

rollups = sa.Table(
    "rollups",
    metadata,
    sa.Column("project", sa.Text, primary_key=True),
    # `hour` or `day`; a day is one in UTC.
    sa.Column("grain", sa.Text, primary_key=True),
    _start(),
    *_dimensions(*DIMENSIONS),
    *_charged(),
    *_sums(),
    sqlite_with_rowid=False,
)

entity_rollups = sa.Table(
    "entity_rollups",
    metadata,
    sa.Column("project", sa.Text, primary_key=True),
    _start(),
    *_dimensions(*ENTITIES, *DIMENSIONS),
    *_charged(),
    *_sums(),
    sa.Index("entity_rollups_by_user", "project", "user_id", "at"),
    sqlite_with_rowid=False,
)

latencies = sa.Table(
    "latencies",
    metadata,
    sa.Column("project", sa.Text, primary_key=True),
    sa.Column("grain", sa.Text, primary_key=True),
    _start(),
    *_dimensions(*DIMENSIONS),
    sa.Column("in_run", sa.Boolean, primary_key=True),
    # A bucket of `traces.histogram`.
    sa.Column("bucket", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("calls", sa.BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
