"""What the horizontal bars of the costs page show: cost by token class and by purpose. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dashboard.costs.observed import Seen
from dashboard.look.formats import made_up_money, money, plural, tokens
from traces.records import TOKEN_CLASSES, UsageRow, dollars

ROLES = ("planning", "execution", "check", "synthesis")
OUTSIDE = "outside runs"

CLASS_WORDS = {
    "input": "input",
    "input_audio": "audio in",
    "cache_read": "cache read",
    "cache_write_5m": "cache write",
    "cache_write_1h": "cache write, 1 h",
    "output": "output",
    "reasoning": "reasoning",
    "output_audio": "audio out",
}
"""Token classes in words."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A horizontal bar with its words."""

    label: str
    value: float
    """Dollars that its length stands for; 0 where they are unknown."""
    first: str
    second: str = ""
    aside: str = ""
    """What is beside its value and never part of it."""


def class_title(seen: Seen) -> str:
    """What the bars of token classes show."""
    return "Made-up cost by token class" if seen.made_up else "Where it went, by token class"


def class_bars(seen: Seen) -> list[Bar]:
    """Cost and tokens by token class, in the order of a call."""
    opened = seen.arithmetic.made_up if seen.made_up else seen.arithmetic.real
    costs: dict[str, Decimal | None] = {}
    counts: dict[str, int] = {}
    for row in opened.rows:
        counts[row.token_class] = counts.get(row.token_class, 0) + row.tokens
        there = costs.get(row.token_class)
        costs[row.token_class] = there if row.cost is None else (there or Decimal(0)) + row.cost
    bars = [
        Bar(CLASS_WORDS[name], float(costs[name] or 0), money(costs[name]), tokens(counts[name]))
        for name in TOKEN_CLASSES
        if name in counts
    ]
    if opened.reported:
        bars.append(Bar("as reported", float(opened.reported), money(opened.reported), "by the sender"))
    return bars


def role_bars(seen: Seen) -> list[Bar]:
    """Cost by what model calls were for."""
    by_role = {row.group["role"]: row for row in seen.by_role}
    known = [name for name in ROLES if name in by_role]
    others = sorted(name for name in by_role if name is not None and name not in ROLES)
    bars = [_role_bar(name, by_role[name], seen) for name in (*known, *others)]
    if None in by_role and by_role[None].calls:
        bars.append(_role_bar(OUTSIDE if bars else "not in a run", by_role[None], seen))
    return bars


def _role_bar(name: str, row: UsageRow, seen: Seen) -> Bar:
    made_up = None if seen.made_up else row.illustrative_cost
    return Bar(
        label=name,
        value=float(dollars(seen.amount(row) or 0)),
        first=seen.amount_words(row),
        second=plural(row.calls, "call"),
        aside="" if made_up is None else f"+ {made_up_money(made_up)}",
    )
