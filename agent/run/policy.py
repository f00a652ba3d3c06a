"""How an agent behaves: what it may do without asking, and how it plans. Data, from the agent's manifest."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from agent.records import Effect


class Leave(StrEnum):
    """What a policy says to a tool call that no person has seen."""

    ALLOW = "allow"
    ASK = "ask"
    REFUSE = "refuse"


class ReplanPolicy(StrEnum):
    """What a replan may change: `strict` keeps the remaining steps word for word, `adaptive` may reword and drop."""

    OFF = "off"
    STRICT = "strict"
    ADAPTIVE = "adaptive"


class Degrade(StrEnum):
    """What becomes of a run whose model gave no valid plan twice."""

    FALLBACK_PLAN = "fallback_plan"
    REACT = "react"
    FAIL = "fail"


class Refusal(StrEnum):
    """What a run does when a person refuses one of its calls."""

    GO_ON = "continue"
    END = "end"


LEAVES = {
    Effect.READ: Leave.ALLOW,
    Effect.DRAFT: Leave.ALLOW,
    Effect.PUBLISH_INTERNAL: Leave.ASK,
    Effect.SEND_EXTERNAL: Leave.ASK,
    Effect.WRITE_SYSTEM: Leave.ASK,
}
"""Of an approved plan. Arguments that the plan fixes were seen with it; this is about all others."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One agent's choices."""

    replan: ReplanPolicy = ReplanPolicy.STRICT
    degrade: Degrade = Degrade.FALLBACK_PLAN
    refusal: Refusal = Refusal.GO_ON
    reflect: bool = True
    review_below: float | None = None
    """A reviewer scores each result from 0 to 1 and sends it back below this; None for no reviewer."""
    leaves: dict[Effect, Leave] = field(default_factory=lambda: dict(LEAVES))

    def leave(self, effect: Effect, *, planned: bool) -> Leave:
        """What a call of that effect needs. Without a plan nothing was approved, so only reading needs no yes."""
        said = self.leaves[effect]
        if not planned and effect is not Effect.READ and said is Leave.ALLOW:
            return Leave.ASK
        return said
