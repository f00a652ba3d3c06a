"""What a run used of its limits. Pure; texts are plain."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from agent.records import Limits, Meter
from dashboard.look.formats import duration, made_up_money, money, percent, plural, tokens
from traces.records import pico

NEAR = 0.8
"""From this share on, a limit is pointed out."""


@dataclass(frozen=True, slots=True)
class Gauge:
    """A limit as a bar."""

    share: float
    sentence: str
    over: str
    """The amber note when it is near or reached; empty below."""


@dataclass(frozen=True, slots=True)
class Count:
    """A limit as a few words."""

    words: str
    near: bool


def gauges(meter: Meter, limits: Limits, *, made_up: bool) -> tuple[Gauge, Gauge]:
    """Cost and tokens; `made_up` is whether the cost is at made-up rates."""
    most = pico(Decimal(limits.max_cost_usd))
    cost = made_up_money(meter.cost) if made_up and meter.cost else money(meter.cost)
    unknown = f" · {plural(meter.unpriced_calls, 'call')} without a price" if meter.unpriced_calls else ""
    return (
        _gauge(meter.cost, most, f"{cost} of the {money(Decimal(limits.max_cost_usd))} budget", unknown),
        _gauge(meter.tokens, limits.max_tokens, f"{tokens(meter.tokens)} of {tokens(limits.max_tokens)} tokens", ""),
    )


def _gauge(used: int, most: int, words: str, more: str) -> Gauge:
    share = used / most if most else 1.0
    left = "The limit is reached." if share >= 1 else f"{percent(1 - share)} are left; then the run asks."
    return Gauge(share, f"{words}, {percent(share)}{more}", left if share >= NEAR else "")


def counts(meter: Meter, limits: Limits) -> list[Count]:
    """Model calls, tool calls and working time."""
    seconds = meter.active_ms / 1000
    model = f"{meter.llm_calls:,} of {plural(limits.max_llm_calls, 'model call')}"
    tool = f"{meter.tool_calls:,} of {plural(limits.max_tool_calls, 'tool call')}"
    time = f"{duration(seconds)} of {duration(timedelta(seconds=limits.wall_seconds))} at work"
    return [
        _count(model, meter.llm_calls, limits.max_llm_calls),
        _count(tool, meter.tool_calls, limits.max_tool_calls),
        _count(time, seconds, limits.wall_seconds),
    ]


def _count(words: str, used: float, most: float) -> Count:
    return Count(words, used >= NEAR * most)
