"""The tables. Every key begins with the project; times are nanoseconds, money is pico-dollars, NULL is unknown."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()

HEAD = "0001"
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
    sa.Index("spans_by_run", "project", "run_id"),
    sa.Index("spans_by_thread", "project", "thread_id"),
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
    sa.Column("spans", sa.Integer, nullable=False),
    sa.Index("traces_by_time", "project", "started_at", "trace_id"),
)
