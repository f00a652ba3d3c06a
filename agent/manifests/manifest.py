"""What a manifest says, and what follows from it. Pure: files are read in `reading`."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from agent.planning.hashing import canonical_json
from agent.records import Effect, JsonObject, Limits, Mode
from agent.run.policy import LEAVES, Behaviour, Degrade, Leave, Refusal, ReplanPolicy
from agent.tools.registry import Tool, ToolRegistry

HASH_DIGITS = 8
NAME_PATTERN = r"^[a-z][a-z0-9_-]*$"
DEFAULTS = Limits()


def _in_cents(amount: Decimal) -> Decimal:
    """The same amount always written the same way, so that 2 and 2.00 make one version."""
    cents = amount.quantize(Decimal("0.01"))
    return cents if cents == amount else amount.normalize()


Line = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f]*$")]
Count = Annotated[int, Field(ge=1, le=100_000_000)]


class Part(BaseModel):
    """A mapping of a manifest: unknown fields are refused, and nothing is taken for something it is not."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ModelChoice(Part):
    """A model; what is left out is as in the settings."""

    provider: Line | None = None
    model: Line | None = None


class Models(Part):
    """The model that plans, and the one that does everything else."""

    planner: ModelChoice = ModelChoice()
    executor: ModelChoice = ModelChoice()


class LimitsPart(Part):
    """The limits that a run starts with."""

    max_steps: Count = DEFAULTS.max_steps
    tries_per_step: Count = DEFAULTS.tries_per_step
    max_replans: Annotated[int, Field(ge=0, le=100)] = DEFAULTS.max_replans
    max_iterations: Count = DEFAULTS.max_iterations
    same_calls: Count = DEFAULTS.same_calls
    max_tool_calls: Count = DEFAULTS.max_tool_calls
    max_llm_calls: Count = DEFAULTS.max_llm_calls
    wall_seconds: Count = DEFAULTS.wall_seconds
    max_tokens: Count = DEFAULTS.max_tokens
    max_cost_usd: Annotated[Decimal, Field(ge=0, le=1_000_000, decimal_places=12), AfterValidator(_in_cents)] = Decimal(
        DEFAULTS.max_cost_usd
    )

    def limits(self) -> Limits:
        """As a run keeps them."""
        counts = {item.name: getattr(self, item.name) for item in fields(Limits) if item.name != "max_cost_usd"}
        return Limits(**counts, max_cost_usd=format(self.max_cost_usd, "f"))


class Replan(Part):
    """What a new plan after a failure may change."""

    policy: ReplanPolicy = ReplanPolicy.STRICT


class Reviewer(Part):
    """Scores each result; below the threshold it is sent back."""

    threshold: float = Field(ge=0, le=1)


class Approval(Part):
    """What a call of each effect needs, where no person has seen it."""

    read: Leave = LEAVES[Effect.READ]
    draft: Leave = LEAVES[Effect.DRAFT]
    publish_internal: Leave = LEAVES[Effect.PUBLISH_INTERNAL]
    send_external: Leave = LEAVES[Effect.SEND_EXTERNAL]
    write_system: Leave = LEAVES[Effect.WRITE_SYSTEM]

    def leaves(self) -> dict[Effect, Leave]:
        """By effect."""
        return {effect: getattr(self, effect) for effect in Effect}


class ToolChoice(Part):
    """A tool that the agent may use; without a version the one that is registered when a run begins."""

    name: Line
    version: int | None = None

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, value: Any) -> Any:
        """`sql_query` and `sql_query: 1` are short for a mapping."""
        if isinstance(value, str):
            return {"name": value}
        if isinstance(value, dict) and len(value) == 1 and "name" not in value:
            ((name, version),) = value.items()
            return {"name": name, "version": version}
        return value


class Manifest(Part):
    """One agent. Two manifests that say the same have the same version, whatever their files look like."""

    name: Annotated[str, Field(max_length=40, pattern=NAME_PATTERN)]
    version: Count = 1
    """The owner's own number; `agent_version` tells apart what he forgot to count."""
    description: Annotated[str, Field(max_length=300)] = ""
    owner: Line | None = None
    mode: Mode = Mode.PLAN_EXECUTE
    models: Models = Models()
    tools: tuple[ToolChoice, ...] | None = None
    """None: every tool that is registered."""
    limits: LimitsPart = LimitsPart()
    replan: Replan = Replan()
    reflect: bool = Behaviour().reflect
    reviewer: Reviewer | None = None
    degrade: Degrade = Behaviour().degrade
    refusal: Refusal = Behaviour().refusal
    approval: Approval = Approval()

    def to_json(self) -> JsonObject:
        """Everything that it says, defaults included, as a run keeps it."""
        return self.model_dump(mode="json")

    @classmethod
    def from_json(cls, value: JsonObject) -> Manifest:
        """The inverse of `to_json`."""
        return cls.model_validate_json(canonical_json(value))

    @property
    def agent_version(self) -> str:
        """The declared version with the hash of the content, such as `1+0f3a9c1e`."""
        digest = hashlib.sha256(canonical_json(self.to_json())).hexdigest()
        return f"{self.version}+{digest[:HASH_DIGITS]}"

    @property
    def behaviour(self) -> Behaviour:
        """How its runs go about things."""
        return Behaviour(
            replan=self.replan.policy,
            degrade=self.degrade,
            refusal=self.refusal,
            reflect=self.reflect,
            review_below=self.reviewer.threshold if self.reviewer else None,
            leaves=self.approval.leaves(),
        )

    def tools_of(self, registry: ToolRegistry) -> list[Tool]:
        """The tools that its models are shown: chosen, ready, and of an effect that the policy does not refuse."""
        chosen = None if self.tools is None else {choice.name for choice in self.tools}
        leaves = self.approval.leaves()
        return [
            tool
            for tool in registry.ready
            if (chosen is None or tool.name in chosen) and leaves[tool.effect] is not Leave.REFUSE
        ]
