"""A budget that a run asks to raise: what is used, what the limit is, what it would be. Pure; texts are plain."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from agent.records import ApprovalRequest, Limits
from dashboard.look.formats import money, tokens


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """One limit."""

    used: str
    limit: str
    raised: str
    share: float
    reached: bool
    """Whether this is the limit that the next model call would pass."""

    @property
    def sentence(self) -> str:
        """The line above its bar."""
        return f"{self.used} of {self.limit} used · {self.raised} if you raise it"


def rows(request: ApprovalRequest, limits: Limits) -> tuple[BudgetRow, BudgetRow]:
    """Tokens and money; `limits` are those of the run, for a request that does not say what they were."""
    payload = request.payload
    before = payload.get("limits") or {"max_tokens": limits.max_tokens, "max_cost_usd": limits.max_cost_usd}
    used, raised = payload["used"], payload["raise_to"]
    shares = (
        _share(Decimal(used["tokens"]), Decimal(before["max_tokens"])),
        _share(Decimal(used["cost_usd"]), Decimal(before["max_cost_usd"])),
    )
    return (
        BudgetRow(
            tokens(used["tokens"]),
            f"{tokens(before['max_tokens'])} tokens",
            tokens(raised["max_tokens"]),
            shares[0],
            shares[0] >= shares[1],
        ),
        BudgetRow(
            money(Decimal(used["cost_usd"])),
            money(Decimal(before["max_cost_usd"])),
            money(Decimal(raised["max_cost_usd"])),
            shares[1],
            shares[1] > shares[0],
        ),
    )


def _share(used: Decimal, limit: Decimal) -> float:
    return float(used / limit) if limit else 1.0


def explained() -> tuple[tuple[str, str], ...]:
    """What each button does."""
    return (
        ("Raise the limits", "for this run, which goes on where it stopped"),
        ("Stop here", "ends the run with what was found so far"),
    )
