"""What a run uses up, and the limits that it may not pass. Asked before every call, written down before it is made.

"Used" survives a crash: a model call counts from the moment before it is made.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal

from agent.records import Limits, Meter, RequestKind, Run, StopReason
from agent.run.failing import AskError, LimitError
from agent.store.ledger import Ledger
from traces.records import dollars, pico

CHARACTERS_PER_TOKEN = 3.5
"""Low, so that the tokens of a call that is still to be made are rather guessed too high."""
EXPECTED_OUTPUT_TOKENS = 500
RESERVED_FOR_ANSWER = 1
FEW_CALLS = 4
"""A limit below this leaves no call aside for the answer."""

CENT = Decimal("0.01")

Price = Callable[[int, int], int | None]
"""Input and output tokens to pico-dollars; None where the model has no price."""


@dataclass
class RunMeter:
    """One run's meter in this process; its steps may ask at the same time."""

    ledger: Ledger
    run: Run
    fence: int
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._used = self.ledger.meter(self.run.project, self.run.run_id)
        self._began = self.clock() - self._used.active_ms / 1000
        self._pending = [0, 0]

    @property
    def limits(self) -> Limits:
        """The limits that hold."""
        return self.run.limits

    def used(self) -> Meter:
        """What is used up by now, time included."""
        with self._lock:
            return self._now()

    def _now(self) -> Meter:
        return replace(self._used, active_ms=max(self._used.active_ms, int((self.clock() - self._began) * 1000)))

    def before_model_call(self, characters: int, price: Price, *, for_answer: bool) -> tuple[int, int]:
        """Count a model call of so many characters, and keep aside what it may use up: (tokens, pico-dollars).

        LimitError when no call is left or the time is up; AskError when tokens or money would pass their limit.
        """
        tokens = int(characters / CHARACTERS_PER_TOKEN) + 1
        cost = price(tokens, EXPECTED_OUTPUT_TOKENS) or 0
        expected = (tokens + EXPECTED_OUTPUT_TOKENS, cost)
        with self._lock:
            now = self._now()
            self._check_time(now)
            self._check_calls(now, for_answer=for_answer)
            self._check_budget(now, expected)
            self._pending = [self._pending[0] + expected[0], self._pending[1] + expected[1]]
            self._put(replace(now, llm_calls=now.llm_calls + 1))
        return expected

    def after_model_call(self, expected: tuple[int, int], used: tuple[int, int] | None, price: Price) -> None:
        """Replace what was kept aside by what a call used: (input, output) tokens; None if it did not say."""
        with self._lock:
            self._pending = [self._pending[0] - expected[0], self._pending[1] - expected[1]]
            tokens, cost = expected if used is None else (sum(used), price(*used))
            priced = cost is not None
            self._used = replace(
                self._used,
                tokens=self._used.tokens + tokens,
                cost=self._used.cost + (cost or 0),
                unpriced_calls=self._used.unpriced_calls + (0 if priced else 1),
            )

    def before_tool_call(self, tool: str, arguments_hash: str) -> None:
        """LimitError when no tool call is left, the time is up, or the same call was made too often."""
        with self._lock:
            self._check_time(self._now())
            counts = self.ledger.count_calls(self.run.project, self.run.run_id)
            if sum(counts.values()) >= self.limits.max_tool_calls:
                raise LimitError(
                    StopReason.MAX_TOOL_CALLS, f"The run made {self.limits.max_tool_calls} tool calls, its limit."
                )
            if self.ledger.repeats(self.run.project, self.run.run_id, arguments_hash) >= self.limits.same_calls:
                raise LimitError(
                    StopReason.LOOP,
                    f"{tool} was called {self.limits.same_calls} times with the same arguments; once more is a loop.",
                )

    def flush(self) -> None:
        """Write down what was used up since the last call began."""
        with self._lock:
            self._put(self._now())

    def _put(self, used: Meter) -> None:
        self.ledger.put_meter(self.run.project, self.run.run_id, used, fence=self.fence)
        self._used = used

    def _check_time(self, now: Meter) -> None:
        if now.active_ms > self.limits.wall_seconds * 1000:
            raise LimitError(StopReason.TIMEOUT, f"The run worked for {self.limits.wall_seconds} s, its limit.")

    def _check_calls(self, now: Meter, *, for_answer: bool) -> None:
        most = self.limits.max_llm_calls
        if not for_answer and most >= FEW_CALLS:
            most -= RESERVED_FOR_ANSWER
        if now.llm_calls >= most:
            raise LimitError(
                StopReason.MAX_LLM_CALLS, f"The run made {now.llm_calls} of {self.limits.max_llm_calls} model calls."
            )

    def _check_budget(self, now: Meter, expected: tuple[int, int]) -> None:
        tokens = now.tokens + self._pending[0] + expected[0]
        cost = now.cost + self._pending[1] + expected[1]
        if tokens > self.limits.max_tokens:
            raise _ask(f"{now.tokens:,} of {self.limits.max_tokens:,} tokens are used", self.limits, now, expected)
        if cost > pico(Decimal(self.limits.max_cost_usd)):
            raise _ask(f"${dollars(now.cost):.4f} of ${self.limits.max_cost_usd} are used", self.limits, now, expected)


def _ask(used: str, limits: Limits, now: Meter, expected: tuple[int, int]) -> AskError:
    """Ask for as much again as the run was given, and for more where that would not do for the next call."""
    raised = raised_limits(limits, now.tokens + expected[0], now.cost + expected[1])
    more = f"{raised.max_tokens:,} tokens and ${raised.max_cost_usd}"
    return AskError(
        {
            "kind": str(RequestKind.QUESTION),
            "about": "budget",
            "question": f"{used}, and the next model call would pass the limit. Approve to raise the limits to {more}.",
            "limits": {"max_tokens": limits.max_tokens, "max_cost_usd": limits.max_cost_usd},
            "used": {"tokens": now.tokens, "cost_usd": str(dollars(now.cost)), "llm_calls": now.llm_calls},
            "raise_to": {"max_tokens": raised.max_tokens, "max_cost_usd": raised.max_cost_usd},
        }
    )


def raised_limits(limits: Limits, tokens: int, cost: int) -> Limits:
    """The limits with twice the tokens and money, as often as it takes to allow this many tokens and pico-dollars."""
    most_tokens, most_cost = limits.max_tokens * 2, Decimal(limits.max_cost_usd) * 2
    while most_tokens < tokens:
        most_tokens = max(1, most_tokens) * 2
    while pico(most_cost) < cost:
        most_cost = max(CENT, most_cost * 2)
    return replace(limits, max_tokens=most_tokens, max_cost_usd=f"{most_cost:f}")
