"""What the costs page read, in a test's words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

from agent.records import Limits, Run, RunStatus
from dashboard.costs.observed import Opened, Seen
from dashboard.costs.selection import read_selection
from traces.records import PICO, Arithmetic, ArithmeticRow, Rates, UsageRow

NOW = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)
WEEK = read_selection({"period": ["7d"]}, NOW)
TODAY = read_selection({"period": ["today"]}, NOW)


def dollars(amount: float | str) -> int:
    return int(Decimal(str(amount)) * PICO)


def row(
    real: float | None = 0,
    tokens: int | None = 0,
    *,
    calls: int = 1,
    made_up: float | None = None,
    **more: object,
) -> UsageRow:
    """Its money in dollars; what is not a figure is a group."""
    money = [dollars(amount) for amount in (real, made_up) if amount is not None]
    figures = {name: more.pop(name) for name in list(more) if name in UsageRow.__slots__}
    given = {
        "group": dict(more),
        "calls": calls,
        "errors": 0,
        "input_tokens": tokens,
        "output_tokens": None if tokens is None else 0,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "reasoning_tokens": 0,
        "cost": sum(money) if money else None,
        "unpriced_calls": 0,
        "calls_without_usage": 0,
        "calls_with_invalid_usage": 0,
        "illustrative_calls": 0 if made_up is None else calls,
        "illustrative_cost": None if made_up is None else dollars(made_up),
        "reported_calls": 0,
    }
    return UsageRow(**{**given, **figures})


DEMO = Rates("demo", "price book", {"input": Decimal(3)}, since="2025-08-07")
OPENED = Arithmetic(
    rows=(
        ArithmeticRow("input", 1000, DEMO, Decimal(3), Decimal("0.003")),
        ArithmeticRow("output", 100, DEMO, Decimal("0.0125"), Decimal("0.00000125")),
        ArithmeticRow("input", 50, None, None, None),
    ),
    reported=Decimal(0),
    reported_calls=0,
    rounding=Decimal(0),
    cost=dollars("0.00300125"),
    calls=3,
    priced_spans=2,
    not_counted=0,
)
NOTHING = replace(OPENED, rows=(), cost=None, calls=0, priced_spans=0)
MADE_UP = replace(
    OPENED,
    rows=(
        ArithmeticRow(
            "input", 8, Rates("offline", "illustrative", {}, illustrative=True), Decimal(1), Decimal("0.000008")
        ),
    ),
    cost=dollars("0.000008"),
    calls=1,
    priced_spans=1,
)


def seen(**more: object) -> Seen:
    given = {
        "total": row(10, 1000, calls=20),
        "before": row(8, calls=10),
        "by_model": [],
        "by_role": [],
        "roles_of_buckets": [],
        "roles_of_runs": [],
        "dearest": [],
        "models_of_runs": [],
        "runs": {},
        "computing": {},
        "times_of_runs": [],
        "times_of_calls": [],
        "unpriced": [],
        "arithmetic": Opened(OPENED, NOTHING),
        "choices": [],
        "anything_ever": True,
    }
    return Seen(**{**given, **more})  # type: ignore[arg-type]  # a test's words


def a_run(run_id: str, task: str = "Compare invoices") -> Run:
    return Run(
        project="p",
        run_id=run_id,
        thread_id="t",
        agent="analyst",
        agent_version="1",
        task=task,
        mode="plan_execute",
        provider="openai",
        model="demo",
        status=RunStatus.SUCCEEDED,
        requested_by="ana",
        created_at=NOW,
        limits=Limits(),
        tools={},
        trace_id="0" * 32,
        root_span_id="0" * 16,
    )
