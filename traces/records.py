"""The nouns of the `traces` package as frozen records.

Times are integer nanoseconds since 1970 in UTC, money is integer pico-dollars (10⁻¹² US dollars), rates are `Decimal`
dollars per million tokens. Unknown is None, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Literal, TypeAlias

JsonObject: TypeAlias = dict[str, Any]

PICO = Decimal(10) ** 12
"""Pico-dollars in a dollar."""

UsageState: TypeAlias = Literal["known", "unknown", "invalid"]
SpanStatus: TypeAlias = Literal["ok", "error", "running"]
PriceSource: TypeAlias = Literal["own", "price book", "reported", "illustrative"]

TOKEN_CLASSES = (
    "input",
    "input_audio",
    "cache_read",
    "cache_write_5m",
    "cache_write_1h",
    "output",
    "reasoning",
    "output_audio",
)
"""The classes that tokens are charged in; each token is in exactly one. `input` is what is neither cached nor audio,
`output` what is neither reasoning nor audio."""


def pico(dollars: Decimal) -> int:
    """Dollars in pico-dollars, rounded half-even."""
    return int((dollars * PICO).to_integral_value(ROUND_HALF_EVEN))


def dollars(amount: int) -> Decimal:
    """Pico-dollars in dollars, exactly."""
    return Decimal(amount).scaleb(-12)


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that a span noted at a moment."""

    name: str
    at: int
    attributes: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SpanRecord:
    """A span as it was received: ids in lower-case hex, attributes as plain JSON values.

    Its texts and values are those that every database takes; whoever makes one sees to it (`traces.values`).
    """

    trace_id: str
    span_id: str
    parent_span_id: str | None
    name: str
    started_at: int
    ended_at: int | None
    """None while it runs."""
    attributes: JsonObject = field(default_factory=dict)
    failed: bool = False
    status_message: str = ""
    events: tuple[SpanEvent, ...] = ()
    resource: JsonObject = field(default_factory=dict)
    scope: str = ""
    scope_version: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `input` includes cached and audio tokens, `output` includes reasoning and audio tokens."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    """All tokens written to a cache, those kept for an hour included."""
    cache_write_1h: int | None = None
    reasoning: int | None = None
    input_audio: int | None = None
    output_audio: int | None = None

    @property
    def weight(self) -> int | None:
        """Input and output together, by which parents and children are compared; None if neither is known."""
        if self.input is None and self.output is None:
            return None
        return (self.input or 0) + (self.output or 0)

    def classes(self) -> dict[str, int]:
        """The tokens by charged class, each once; classes without tokens are left out.

        A detail that does not fit into its whole (more reasoning than output) stays in the whole.
        """
        write_1h = self.cache_write_1h or 0
        write_5m = (self.cache_write or 0) - write_1h
        cached = {"cache_read": self.cache_read or 0, "cache_write_5m": write_5m, "cache_write_1h": write_1h}
        inside = {**_split(self.input or 0, cached, "input")}
        inside |= _split(inside["input"], {"input_audio": self.input_audio or 0}, "input")
        output = _split(self.output or 0, {"reasoning": self.reasoning or 0}, "output")
        output |= _split(output["output"], {"output_audio": self.output_audio or 0}, "output")
        every = inside | output
        return {name: every[name] for name in TOKEN_CLASSES if every.get(name)}


def _split(whole: int, details: dict[str, int], rest: str) -> dict[str, int]:
    left = whole - sum(details.values())
    if left < 0 or min(details.values()) < 0:
        return {rest: whole}
    return {**details, rest: left}


@dataclass(frozen=True, slots=True)
class NormalisedSpan:
    """A span in the words of this package, whatever convention it came in."""

    trace_id: str
    span_id: str
    parent_span_id: str | None
    name: str
    kind: str
    """`model`, `tool`, `agent`, `chain`, `retrieval`, a part of a run (`run`, `plan`, `step`, …), or `span`."""
    operation: str | None
    """`chat`, `embeddings`, `execute_tool`, `invoke_agent`, …"""
    provider: str | None
    model: str | None
    """The model that answered, else the one that was asked."""
    request_model: str | None
    response_model: str | None
    service_tier: str | None
    tool: str | None
    agent: str | None
    thread_id: str | None
    run_id: str | None
    step_id: str | None
    attempt: int | None
    role: str | None
    user: str | None
    scope: str
    scope_version: str
    started_at: int
    ended_at: int | None
    status: SpanStatus
    error: str | None
    usage: Usage
    usage_state: UsageState
    model_call: bool
    """Whether it is a chat, generation or embeddings operation."""
    reported_cost: Decimal | None
    """Dollars that the span itself claims."""
    flags: tuple[str, ...]
    attributes: JsonObject
    """Without message bodies."""
    body: JsonObject
    """Message contents, events and resource, which are stored apart; may be empty."""

    @property
    def duration(self) -> int | None:
        """Nanoseconds from start to end, never negative; None while it runs."""
        return None if self.ended_at is None else max(0, self.ended_at - self.started_at)


@dataclass(frozen=True, slots=True)
class Rates:
    """One entry of a price book, resolved for a call: what a million tokens of each class cost."""

    entry: str
    """The model as the price book names it."""
    source: PriceSource
    per_million: Mapping[str, Decimal]
    """Dollars by token class; a class that is missing is not charged for on its own and never asked for."""
    since: str | None = None
    """ISO date from which the entry is valid, if it has one."""
    service_tier: str | None = None
    illustrative: bool = False


@dataclass(frozen=True, slots=True)
class PricePart:
    """One line of the arithmetic of a cost: tokens × rate."""

    token_class: str
    tokens: int
    rate: Decimal
    """Dollars per million tokens."""

    @property
    def cost(self) -> Decimal:
        """Dollars, exactly."""
        return (self.rate * self.tokens).scaleb(-6)


@dataclass(frozen=True, slots=True)
class Priced:
    """What a call cost, and why."""

    cost: int | None
    """Pico-dollars; None when unknown."""
    price_source: PriceSource | None
    rates: Rates | None = None
    """None when the cost was reported or is unknown."""
    parts: tuple[PricePart, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def illustrative(self) -> bool:
        """Whether the price is made up, to show how prices look."""
        return self.rates is not None and self.rates.illustrative


@dataclass(frozen=True, slots=True)
class PricedSpan:
    """What is written."""

    span: NormalisedSpan
    priced: Priced


@dataclass(frozen=True, slots=True)
class StoredSpan:
    """A span as it stands in the store."""

    project: str
    trace_id: str
    span_id: str
    parent_span_id: str | None
    name: str
    kind: str
    operation: str | None
    provider: str | None
    model: str | None
    request_model: str | None
    response_model: str | None
    service_tier: str | None
    tool: str | None
    agent: str | None
    thread_id: str | None
    run_id: str | None
    step_id: str | None
    attempt: int | None
    role: str | None
    user: str | None
    scope: str
    scope_version: str
    started_at: int
    ended_at: int | None
    duration: int | None
    """Nanoseconds; None while it runs."""
    status: SpanStatus
    error: str | None
    usage: Usage
    usage_state: UsageState
    cost: int | None
    """Pico-dollars; None when unknown."""
    price_source: PriceSource | None
    illustrative: bool
    is_call: bool
    """Whether it counts as a model call: no other model call is inside it."""
    counted: bool
    """Whether its tokens and cost are in the totals."""
    flags: tuple[str, ...]
    attributes: JsonObject


@dataclass(frozen=True, slots=True)
class SpanBody:
    """Message contents of a span."""

    attributes: JsonObject
    events: tuple[SpanEvent, ...]
    resource: JsonObject


@dataclass(frozen=True, slots=True)
class UsageRow:
    """Calls, tokens and cost of a group of spans; `group` is empty for a total."""

    group: dict[str, str | None]
    calls: int
    errors: int
    """Calls that failed."""
    input_tokens: int | None
    """Cached ones included; None when calls were made and nothing is known."""
    output_tokens: int | None
    """Reasoning ones included."""
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None
    cost: int | None
    """Pico-dollars over the priced calls, made-up ones included; None when calls were made and none is priced."""
    unpriced_calls: int
    """Calls whose tokens are known and whose price is not."""
    calls_without_usage: int
    calls_with_invalid_usage: int
    illustrative_calls: int
    """Calls that were charged at made-up rates."""
    reported_calls: int
    """Calls whose cost is what the span claimed."""
    illustrative_cost: int | None = None
    """Pico-dollars of `cost` that are made up; None where no call was charged at made-up rates."""

    @property
    def real_cost(self) -> int | None:
        """Pico-dollars without the made-up ones; None where nothing else has a price."""
        if self.cost is None or self.illustrative_cost is None:
            return self.cost
        return (self.cost - self.illustrative_cost) or None

    @property
    def all_illustrative(self) -> bool:
        """Whether all money is made up and no call that used tokens is of unknown cost."""
        unknown = self.unpriced_calls or self.calls_with_invalid_usage
        return self.illustrative_cost is not None and self.real_cost is None and not unknown

    @property
    def tokens(self) -> int | None:
        """Input and output together."""
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return (self.input_tokens or 0) + (self.output_tokens or 0)

    @property
    def incomplete(self) -> bool:
        """Whether the cost leaves calls out."""
        return bool(self.unpriced_calls or self.calls_without_usage or self.calls_with_invalid_usage)


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """One trace in a list."""

    trace_id: str
    name: str
    started_at: int
    duration: int | None
    """Nanoseconds from the first start to the last end; None while nothing has ended."""
    status: SpanStatus
    incomplete: bool
    """Whether a span still runs or its parent has not come yet."""
    agent: str | None
    thread_id: str | None
    run_id: str | None
    spans: int
    usage: UsageRow

    @property
    def cursor(self) -> str:
        """What `before` takes to go on after this trace."""
        return f"{self.started_at}.{self.trace_id}"


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """Percentiles of durations, nearest rank, in nanoseconds."""

    group: str | None
    """Day or hour in UTC as in `UsageRow.group`; None for the whole period."""
    count: int
    p50: int
    p95: int
    p99: int


@dataclass(frozen=True, slots=True)
class UnpricedModel:
    """A model without a price, and what is therefore missing from every sum."""

    model: str | None
    provider: str | None
    calls: int
    tokens: int


@dataclass(frozen=True, slots=True)
class ArithmeticRow:
    """One line of an opened figure: tokens of a class at one rate."""

    token_class: str
    tokens: int
    rates: Rates | None
    """None where no price is known."""
    rate: Decimal | None
    """Dollars per million tokens."""
    cost: Decimal | None
    """Dollars, exactly tokens × rate; None where no price is known."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """A figure opened to its parts: the rows, what spans reported and the rounding make `cost`."""

    rows: tuple[ArithmeticRow, ...]
    reported: Decimal
    """Dollars that spans without a price of ours claimed."""
    reported_calls: int
    rounding: Decimal
    """Dollars between the parts and `cost`: each call is rounded to a pico-dollar; mostly exactly 0."""
    cost: int | None
    calls: int
    priced_spans: int
    not_counted: int
    """Spans with usage that repeat what other spans say, and are therefore left out."""

    @property
    def adds_up(self) -> bool:
        """Whether nothing but rounding, at most half a pico-dollar a span, lies between the parts and the cost."""
        return abs(self.rounding) * 2 <= dollars(self.priced_spans)
