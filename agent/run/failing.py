"""What ends a try, a node or a run, and what a failure means for the next try. Pure but for the waiting."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from agent.errors import AgentError, StorageError
from agent.models.failures import is_refusal, is_transient
from agent.records import JsonObject, StopReason
from agent.store.errors import StaleLeaseError
from agent.tools.registry import RETRYABLE, ErrorKind, Tool, ToolError
from traces.errors import TracesError

T = TypeVar("T")

FIRST_WAIT_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 30.0


class ContractError(AgentError):
    """The plan that would run is not the plan that a person approved; nothing runs."""

    code = "contract"


class LimitError(AgentError):
    """A limit of the run forbids what comes next; `reason` names it."""

    code = "limit"

    def __init__(self, reason: StopReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class AskError(AgentError):
    """A person has to be asked before this can go on; `payload` is what the request will show."""

    code = "ask"

    def __init__(self, payload: JsonObject) -> None:
        super().__init__("A person has to decide first.")
        self.payload = payload


class StoppedError(AgentError):
    """The run was asked to stop while it waited; nothing was begun."""

    code = "stopped"


class UnmetCriterionError(AgentError):
    """A step ran, and its result does not meet its acceptance criterion."""

    code = "criterion_unmet"


class EmptyObservationError(UnmetCriterionError):
    """A step ran and there was nothing to see, where its criterion wants something."""

    code = "empty_observation"


class RefusedCallError(AgentError):
    """A person or the policy refused the call; it is neither repeated nor planned around."""

    code = "call_refused"


NO_FAILED_TRY = (ContractError, StaleLeaseError, StorageError, TracesError)
"""What says nothing about a step: the run itself must not, or cannot, go on here."""


def trigger_of(error: BaseException) -> str:
    """The named trigger that a step's last failure is for a replan."""
    if isinstance(error, UnmetCriterionError | RefusedCallError):
        return error.code
    return "execution_error"


def is_final(error: BaseException, tool: Tool | None) -> bool:
    """Whether trying again cannot help: a permission that is missing, a provider that refuses, a person's no."""
    if isinstance(error, RefusedCallError | EmptyObservationError):
        return True
    if isinstance(error, ToolError) and tool is not None:
        return error.kind is not ErrorKind.BAD_ARGUMENT and error.kind not in tool.retryable
    return is_refusal(error)


def seconds_before_retry(error: BaseException, tries: int) -> float:
    """How long to leave a failed step alone: as told by the other side, else longer with each try, with jitter."""
    told: float | None = getattr(error, "retry_after", None)  # of ToolError and ModelError
    if told is not None:
        return told
    passing = error.kind in RETRYABLE if isinstance(error, ToolError) else is_transient(error)
    return _backoff(tries) if passing else 0.0


def _backoff(tries: int) -> float:
    longest: float = min(LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** (tries - 1))
    return random.uniform(longest / 2, longest)  # noqa: S311  # jitter is no secret


def patiently(call: Callable[[], T], wait: Callable[[float], bool]) -> T:
    """Make a model call that changes nothing; a passing fault of the provider is waited out twice."""

    def sleep(seconds: float) -> None:
        if not wait(seconds):
            raise StoppedError("The run was stopped while it waited for the model.")

    def how_long(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        return seconds_before_retry(error, state.attempt_number) if error else 0.0

    attempts = Retrying(
        stop=stop_after_attempt(3), wait=how_long, retry=retry_if_exception(is_transient), sleep=sleep, reraise=True
    )
    return attempts(call)


def one_sentence(error: BaseException) -> str:
    """An exception in words for a person, without a traceback and not longer than a line or two."""
    if isinstance(error, AgentError):
        return error.message
    words = " ".join(str(error).split()) or "no further word"
    return f"{type(error).__name__}: {words}"[:400]
