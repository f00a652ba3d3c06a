"""Small spans for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from traces.ingest import Ingest
from traces.prices import PriceBook
from traces.records import SpanRecord
from traces.store import SpanStore
from traces.values import storable

CASES = Path(__file__).parents[1] / "cases"
NOON = 1_767_258_000_000_000_000
"""2026-01-01T09:00:00Z in nanoseconds."""
SECOND = 1_000_000_000
TRACE = "ab" * 16

DEMO: dict[str, object] = {"id": "demo", "input": "3", "output": "15", "cache_read": "0.3", "cache_write_5m": "3.75"}


def span_id(number: int) -> str:
    return f"{number:016x}"


def span(
    number: int,
    *,
    parent: int | None = None,
    trace: str = TRACE,
    name: str = "part",
    at: int = 0,
    seconds: float | None = 1,
    failed: bool = False,
    **attributes: Any,
) -> SpanRecord:
    """A span that starts `at` seconds after NOON; `__` in an attribute's name stands for a dot."""
    started_at = NOON + at * SECOND
    return SpanRecord(
        trace_id=trace,
        span_id=span_id(number),
        parent_span_id=None if parent is None else span_id(parent),
        name=name,
        started_at=started_at,
        ended_at=None if seconds is None else started_at + int(seconds * SECOND),
        # As every edge does before it makes a record.
        attributes=storable({key.replace("__", "."): value for key, value in attributes.items()}),
        failed=failed,
    )


def chat(
    number: int, tokens_in: Any = None, tokens_out: Any = None, *, model: str | None = "demo", **more: Any
) -> SpanRecord:
    """A model call; tokens that are None are not reported."""
    given = {
        "gen_ai__operation__name": "chat",
        "gen_ai__response__model": model,
        "gen_ai__usage__input_tokens": tokens_in,
        "gen_ai__usage__output_tokens": tokens_out,
    }
    return span(number, **{key: value for key, value in given.items() if value is not None}, **more)


def ingest(store: SpanStore, *spans: SpanRecord, project: str = "p", prices: PriceBook | None = None) -> None:
    Ingest(store, prices or PriceBook(extra=[DEMO])).ingest(project, spans)
