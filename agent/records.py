"""The nouns of the `agent` package as frozen records. No logic that needs a database, no Streamlit, no LangGraph.

Times are timezone-aware UTC datetimes. Money is in pico-dollars, as in `traces`, which knows what runs really cost.
JSON values (`JsonValue`) hold only dict, list, str, int, float, bool and None.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias

JsonValue: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]


class RunStatus(StrEnum):
    """Where a run stands."""

    QUEUED = "queued"
    PLANNING = "planning"
    EXECUTING = "executing"
    WAITING_HUMAN = "waiting_human"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def ended(self) -> bool:
        """Whether nothing will happen to the run any more."""
        return self in (RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.CANCELLED)


class StepStatus(StrEnum):
    """Where a step of a plan stands."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    BLOCKED = "blocked"
    SKIPPED = "skipped"

    @property
    def ended(self) -> bool:
        """Whether the step will not run again in this plan version."""
        return self not in (StepStatus.PENDING, StepStatus.RUNNING)


class AttemptStatus(StrEnum):
    """How one try of a step ended. `interrupted`: its process died or lost the run; `paused`: it waits for a person."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    PAUSED = "paused"


class Effect(StrEnum):
    """What a tool does to the world, from harmless to grave. The registry says it, never a model."""

    READ = "read"
    DRAFT = "draft"
    PUBLISH_INTERNAL = "publish_internal"
    SEND_EXTERNAL = "send_external"
    WRITE_SYSTEM = "write_system"

    @property
    def gravity(self) -> int:
        """0 for the most harmless."""
        return list(Effect).index(self)


class RequestKind(StrEnum):
    """What a person is asked for."""

    PLAN = "plan"
    TOOL_CALL = "tool_call"
    QUESTION = "question"
    INTERRUPT = "interrupt"


class RequestStatus(StrEnum):
    """Where an approval request stands; everything but `pending` is final."""

    PENDING = "pending"
    APPROVED = "approved"
    EDITED = "edited"
    REJECTED = "rejected"
    RESPONDED = "responded"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"


class Decision(StrEnum):
    """What a person may say to an approval request."""

    APPROVE = "approve"
    EDIT = "edit"
    REJECT = "reject"
    RESPOND = "respond"

    @property
    def status(self) -> RequestStatus:
        """The status that a request has after this decision."""
        return {
            Decision.APPROVE: RequestStatus.APPROVED,
            Decision.EDIT: RequestStatus.EDITED,
            Decision.REJECT: RequestStatus.REJECTED,
            Decision.RESPOND: RequestStatus.RESPONDED,
        }[self]


class PlanSource(StrEnum):
    """Who wrote a plan version."""

    MODEL = "model"
    FALLBACK = "fallback"
    PERSON = "person"


class StopReason(StrEnum):
    """Why a run ended, or which limit it hit."""

    COMPLETED = "completed"
    MAX_STEPS = "max_steps"
    STEP_BLOCKED = "step_blocked"
    EMPTY_PLAN = "empty_plan"
    INVALID_PLAN = "invalid_plan"
    MAX_REPLANS = "max_replans"
    MAX_ITERATIONS = "max_iterations"
    MAX_TOOL_CALLS = "max_tool_calls"
    MAX_LLM_CALLS = "max_llm_calls"
    LOOP = "loop"
    TIMEOUT = "timeout"
    BUDGET = "budget"
    NO_PROGRESS = "no_progress"
    POLICY_DENIED = "policy_denied"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    ERROR = "error"


class CallState(StrEnum):
    """What is known of a tool call: `unknown` means that nobody knows whether its effect happened."""

    INTENDED = "intended"
    COMMITTED = "committed"
    UNKNOWN = "unknown"
    SIMULATED = "simulated"
    CANCELLED = "cancelled"
    COMPENSATED = "compensated"


class Mode(StrEnum):
    """How a run goes about its task; `auto` is one of the others, chosen when the run begins."""

    DIRECT = "direct"
    REACT = "react"
    PLAN_EXECUTE = "plan_execute"
    AUTO = "auto"


class EventKind(StrEnum):
    """What a line of a run's history tells."""

    ASKED = "asked"
    MODE_CHOSEN = "mode_chosen"
    PLAN_PROPOSED = "plan_proposed"
    PLAN_WAITS = "plan_waits"
    APPROVED = "approved"
    EDITED = "edited"
    REJECTED = "rejected"
    SENT_BACK = "sent_back"
    ANSWERED = "answered"
    STEP_STARTED = "step_started"
    STEP_COMPLETED = "step_completed"
    STEP_FAILED = "step_failed"
    STEP_RETRIED = "step_retried"
    STEP_BLOCKED = "step_blocked"
    STEP_SKIPPED = "step_skipped"
    INTERRUPTED = "interrupted"
    RESUMED = "resumed"
    ARTIFACT_WRITTEN = "artifact_written"
    RUN_SUCCEEDED = "run_succeeded"
    RUN_FAILED = "run_failed"
    RUN_CANCELLED = "run_cancelled"
    LIMIT_HIT = "limit_hit"
    DEGRADED = "degraded"


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One entry of a plan, as proposed. Progress lives in `StepProgress`, not here."""

    id: str
    description: str
    tool: str | None
    """Name of a registered tool, or None for a step that the model does in words."""
    args: JsonObject = field(default_factory=dict)
    """Arguments that the plan fixes; arguments not named here are open and filled in when the step runs."""
    dependencies: tuple[str, ...] = ()
    acceptance_criteria: str = ""
    effect: Effect = Effect.READ

    def to_json(self) -> JsonObject:
        """The step as it stands in a hash, a checkpoint and on the wire."""
        return {
            "id": self.id,
            "description": self.description,
            "tool": self.tool,
            "args": self.args,
            "dependencies": list(self.dependencies),
            "acceptance_criteria": self.acceptance_criteria,
            "effect": str(self.effect),
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> PlanStep:
        """The inverse of `to_json`; expects a valid step."""
        return cls(
            id=value["id"],
            description=value["description"],
            tool=value["tool"],
            args=dict(value["args"]),
            dependencies=tuple(value["dependencies"]),
            acceptance_criteria=value["acceptance_criteria"],
            effect=Effect(value["effect"]),
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """One frozen version of a plan. `hash` is what a decision names."""

    goal: str
    rationale: str
    steps: tuple[PlanStep, ...]
    version: int
    hash: str
    """SHA-256, 64 lower-case hex digits, of the RFC 8785 JSON of goal and steps."""
    parent_hash: str | None = None
    trigger: str | None = None
    """Why this version came to be: None for the first, else `feedback`, `edit`, …"""
    repairs: tuple[str, ...] = ()
    """What tolerant reading mended, as codes such as `code_fence` or `truncated: 3 steps`."""
    source: PlanSource = PlanSource.MODEL
    estimate: JsonObject | None = None

    def step(self, step_id: str) -> PlanStep:
        """The step of that id; KeyError if there is none."""
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(step_id)

    def to_json(self) -> JsonObject:
        """The plan as it stands in a checkpoint and on the wire (without progress)."""
        return {
            "goal": self.goal,
            "rationale": self.rationale,
            "version": self.version,
            "hash": self.hash,
            "parent_hash": self.parent_hash,
            "trigger": self.trigger,
            "repairs": list(self.repairs),
            "source": str(self.source),
            "estimate": self.estimate,
            "steps": [step.to_json() for step in self.steps],
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> Plan:
        """The inverse of `to_json`; expects a valid plan."""
        return cls(
            goal=value["goal"],
            rationale=value["rationale"],
            steps=tuple(PlanStep.from_json(step) for step in value["steps"]),
            version=value["version"],
            hash=value["hash"],
            parent_hash=value.get("parent_hash"),
            trigger=value.get("trigger"),
            repairs=tuple(value.get("repairs", ())),
            source=PlanSource(value["source"]),
            estimate=value.get("estimate"),
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that a run started with; the defaults are those of the requirements' table."""

    max_steps: int = 8
    tries_per_step: int = 3
    max_replans: int = 2
    max_iterations: int = 6
    """Rounds of planning and executing."""
    same_calls: int = 3
    """How often one tool may be called with the same normalised arguments."""
    max_tool_calls: int = 40
    max_llm_calls: int = 60
    wall_seconds: int = 900
    """Without the time that people take."""
    max_tokens: int = 200_000
    max_cost_usd: str = "2.00"
    """Decimal string. A person may raise it, and that of tokens, when the run asks."""


@dataclass(frozen=True, slots=True)
class Source:
    """An observation that an answer cites as `[n]`."""

    n: int
    step_id: str
    tool: str | None
    text: str
    """The observation in words, at most a few hundred characters."""


@dataclass(frozen=True, slots=True)
class Run:
    """One task given to the agent, and how far it came."""

    project: str
    run_id: str
    thread_id: str
    agent: str
    agent_version: str
    task: str
    mode: str
    provider: str
    model: str
    status: RunStatus
    requested_by: str
    created_at: datetime
    limits: Limits
    tools: dict[str, int]
    """The tools that its models are shown, with the versions that the run started with."""
    trace_id: str
    """32 lower-case hex digits; the same over every pause and restart."""
    root_span_id: str
    """16 lower-case hex digits of the run's own span, which is written when the run ends."""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    stop_reason: str | None = None
    error: str | None = None
    """One sentence for a person; None unless something failed."""
    plan_version: int | None = None
    answer: str | None = None
    sources: tuple[Source, ...] = ()
    degraded: bool = False
    """Whether it works without LangGraph."""
    engine: str | None = None
    """What drives its nodes, `langgraph` or `loop`; None before it begins."""
    cancel_requested: bool = False
    cancelled_by: str | None = None
    """Who asked for the cancellation; None when nobody did."""
    manifest: JsonObject | None = None
    """What the agent's manifest said when the run began, its models filled in; None for a run from before there was
    one."""


@dataclass(frozen=True, slots=True)
class StepAttempt:
    """One try of one step."""

    run_id: str
    plan_version: int
    step_id: str
    attempt: int
    """1 for the first."""
    status: AttemptStatus
    started_at: datetime
    finished_at: datetime | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class StepProgress:
    """How far a step of the current plan version came."""

    run_id: str
    plan_version: int
    step_id: str
    status: StepStatus
    attempts: int = 0
    started_at: datetime | None = None
    finished_at: datetime | None = None
    result: JsonObject | None = None
    """`StepResult` of the graph's state as JSON: key_result, criterion_met, reason, observation, artifacts."""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A pause of a run that waits for a person, and what that person decided."""

    project: str
    request_id: str
    kind: RequestKind
    run_id: str
    thread_id: str
    checkpoint_id: str
    interrupt_id: str
    hash: str
    """What a decision has to name: the plan's hash, or the hash of the payload for other kinds."""
    status: RequestStatus
    requested_at: datetime
    requested_by: str
    payload: JsonObject
    """For a plan: `{"plan": Plan.to_json(), "task": …}`."""
    expires_at: datetime | None = None
    decided_at: datetime | None = None
    decided_by: str | None = None
    decided_by_system_user: str | None = None
    """The account of the operating system beside the claimed name; None when nobody decided."""
    decision: Decision | None = None
    note: str | None = None
    value: JsonValue = None
    """What the graph is resumed with besides the decision, e.g. the edited plan."""
    applied_at: datetime | None = None
    """When a checkpoint after the pause was seen, i.e. the decision reached the graph."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, written down before it is made."""

    run_id: str
    number: int
    """1 for the run's first call."""
    key: str
    """Idempotency key, 64 hex digits: the same for every try of the same call."""
    step_id: str
    tool: str
    version: int
    effect: Effect
    arguments: JsonObject
    arguments_hash: str
    """SHA-256 of tool and normalised arguments, by which loops are found."""
    state: CallState
    started_at: datetime
    finished_at: datetime | None = None
    error: str | None = None
    observation: JsonObject | None = None
    """What a committed call showed; given again instead of calling again."""

    @property
    def has_acted(self) -> bool:
        """Whether it is done and its effect cannot be taken back by not using what it showed."""
        return self.state is CallState.COMMITTED and self.effect.gravity > Effect.DRAFT.gravity


@dataclass(frozen=True, slots=True)
class Meter:
    """What a run has used up so far, pauses excluded."""

    llm_calls: int = 0
    tool_calls: int = 0
    tokens: int = 0
    """Input and output, as reported by the models; estimated for a call that reported none."""
    cost: int = 0
    """Pico-dollars of the calls whose price is known."""
    unpriced_calls: int = 0
    active_ms: int = 0


@dataclass(frozen=True, slots=True)
class RunEvent:
    """Something worth a line in the run's history. `seq` grows within a run."""

    run_id: str
    seq: int
    at: datetime
    kind: EventKind
    step_id: str | None
    text: str
    """One short phrase, plain text."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that a run made, below `<home>/artifacts/<run_id>/`."""

    run_id: str
    name: str
    step_id: str | None
    media_type: str
    bytes: int
    sha256: str
    created_at: datetime
