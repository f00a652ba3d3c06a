"""Money and health beside the overview. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from agent.records import ApprovalRequest, RunStatus
from dashboard.look.formats import NBSP, age, made_up_money, money, plural, size, tokens
from traces.records import UnpricedModel, UsageRow


@dataclass(frozen=True, slots=True)
class SideSeen:
    """What was asked from the stores for the right column."""

    now: datetime
    today: UsageRow
    yesterday: UsageRow
    """Up to the same time of day."""
    month: UsageRow
    hours: Sequence[UsageRow]
    """Of today, by hour, those with calls."""
    runs: Mapping[RunStatus, int]
    """Asked for today."""
    oldest: ApprovalRequest | None
    pending: int
    workers: int
    unpriced: Sequence[UnpricedModel]
    """Of today."""
    stores: int
    bytes: int | None
    """None where the databases are not files of ours."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with what puts it in proportion; plain text."""

    label: str
    value: str
    context: str
    help: str | None = None


@dataclass(frozen=True, slots=True)
class HealthRow:
    """One line of the health list."""

    name: str
    ok: bool
    words: str


def cost_today(seen: SideSeen) -> Figure:
    """Money of today against yesterday up to now, and what it leaves out; made-up money only where none is real."""
    today, made_up = seen.today, seen.today.all_illustrative
    return Figure(
        "Made-up cost today" if made_up else "Cost today",
        money(_amount(today, made_up)),
        _against(_amount(today, made_up), _amount(seen.yesterday, made_up)),
        _notes(today),
    )


def cost_month(seen: SideSeen) -> Figure:
    """Money since the first of the month; made-up money only where none is real."""
    made_up = seen.month.all_illustrative
    label = f"Made-up, {seen.now:%b}" if made_up else f"{seen.now:%B}"
    return Figure(label, money(_amount(seen.month, made_up)), f"since 1{NBSP}{seen.now:%b}", _notes(seen.month))


def made_up_today(seen: SideSeen) -> str:
    """What the offline model made up beside real money; empty where nothing is beside it."""
    made_up = seen.today.illustrative_cost
    if made_up is None or seen.today.all_illustrative:
        return ""
    return f"+ {made_up_money(made_up)}, offline model"


def _amount(row: UsageRow, made_up: bool) -> int | None:
    return row.illustrative_cost if made_up else row.real_cost


def _against(now: int | None, before: int | None) -> str:
    if now is None or before is None:
        return ""
    if not before:
        return "none yesterday by now" if now else ""
    if now == before:
        return "as yesterday by now"
    return f"{money(abs(now - before))} {'more' if now > before else 'less'}"


def tokens_today(seen: SideSeen) -> Figure:
    """Tokens in and out of today's model calls."""
    return Figure("Tokens today", tokens(seen.today.tokens), plural(seen.today.calls, "call"))


def _notes(row: UsageRow) -> str | None:
    """What a reader of a sum has to know."""
    notes = []
    missing = row.unpriced_calls + row.calls_without_usage + row.calls_with_invalid_usage
    if missing:
        notes.append(f"{plural(missing, 'call')} without a known price or usage are not in it.")
    if row.illustrative_cost is not None:
        made_up = "It" if row.all_illustrative else f"Not in it: {made_up_money(row.illustrative_cost)}. That"
        notes.append(f"{made_up} is what the offline model, which costs nothing, would cost at illustrative rates.")
    return " ".join(notes) or None


def runs_today(seen: SideSeen) -> Figure:
    """Runs that were asked for today."""
    return Figure("Runs today", f"{sum(seen.runs.values()):,}", f"{seen.runs.get(RunStatus.SUCCEEDED, 0):,} succeeded")


def oldest_request(seen: SideSeen) -> Figure:
    """How long the oldest request waits."""
    if seen.oldest is None:
        return Figure("Oldest request", "–", "none waits")
    waits = "1 waits" if seen.pending == 1 else f"{seen.pending:,} wait"
    return Figure("Oldest request", age(seen.oldest.requested_at, seen.now), waits)


def cost_by_hour(seen: SideSeen) -> list[float]:
    """Dollars of today's figure added up, one value for each hour that has begun and one for the start of the day."""
    made_up = seen.today.all_illustrative
    spent = {int((row.group["hour"] or "")[11:13]): _amount(row, made_up) or 0 for row in seen.hours}
    total, line = 0, [0.0]
    for hour in range(seen.now.hour + 1):
        total += spent.get(hour, 0)
        line.append(total / 1e12)
    return line


def health(seen: SideSeen) -> list[HealthRow]:
    """Whether what has to work works."""
    stores = f"{seen.stores} open" + (f", {size(seen.bytes)}" if seen.bytes is not None else "")
    models = len(seen.unpriced)
    return [
        HealthRow("Worker", seen.workers > 0, f"{seen.workers} at work" if seen.workers else "none, runs do not move"),
        HealthRow("Stores", True, stores),
        HealthRow("Spans", True, f"{plural(seen.today.calls, 'model call')} today"),
        HealthRow("Prices", not models, f"{plural(models, 'model')} without a price" if models else "all known today"),
    ]


def today_words(now: datetime) -> str:
    """The line at the head's right: `Tue 1 Dec, 09:42 UTC`."""
    return f"{now:%a}{NBSP}{now.day}{NBSP}{now:%b}, {now:%H:%M}{NBSP}UTC"
