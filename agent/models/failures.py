"""What a model call failed with: one typed error, whatever the client library raised."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

import httpx
import openai

from agent.errors import AgentError
from agent.models.providers import NO_KEY, Provider
from agent.records import JsonValue

WORDS = 200
"""At most this many characters of the provider's own words are told."""
LOOKS_LIKE_A_KEY = re.compile(r"(?i)\b(?:bearer\s+\S+|(?:sk|pk|ak|gsk|key|api[-_]?key)[-_=:][\w.*\-/+]{6,})")


class FailureKind(StrEnum):
    """Why there is no usable answer."""

    AUTH = "auth"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    OUT_OF_CREDIT = "out_of_credit"
    BAD_REQUEST = "bad_request"
    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    CUT = "cut"
    EMPTY_ANSWER = "empty_answer"
    TOO_LONG = "too_long"
    FILTERED = "filtered"
    UNREADABLE = "unreadable"


K = FailureKind
RETRYABLE = frozenset({K.RATE_LIMITED, K.UNAVAILABLE, K.TIMEOUT, K.CUT, K.EMPTY_ANSWER})
REFUSALS = frozenset({K.AUTH, K.FORBIDDEN, K.NOT_FOUND, K.OUT_OF_CREDIT, K.BAD_REQUEST})

SENTENCES: dict[FailureKind, str] = {
    K.AUTH: "{provider} does not accept the key{said}; put a valid one into {key}.",
    K.FORBIDDEN: "{provider} refuses this to the key in {key}{said}; give the key that right, or use another.",
    K.NOT_FOUND: "{provider} has no model {model!r} at this address{said}; set PLANDECK_MODEL, or correct {address}.",
    K.OUT_OF_CREDIT: "The account of {key} at {provider} has no credit left{said}; top it up, or use another key.",
    K.BAD_REQUEST: "{provider} cannot take this request{said}; choose another model with PLANDECK_MODEL.",
    K.RATE_LIMITED: "{provider} takes no more requests for now{said}; wait {wait}, or raise the limit of {key}.",
    K.UNAVAILABLE: "{provider} cannot answer now{said}; try again later, and check {address} if that stays so.",
    K.TIMEOUT: "{provider} said nothing for {timeout:g} seconds; try again, or set PLANDECK_MODEL to a faster model.",
    K.CUT: "The answer of {provider} was cut off{said}; nothing of it counts, try again.",
    K.EMPTY_ANSWER: "{provider} answered with nothing; try again, or choose another model with PLANDECK_MODEL.",
    K.TOO_LONG: "The answer of {provider} hit its length limit and is not whole; ask for less, or set PLANDECK_MODEL "
    "to a model that may write more.",
    K.FILTERED: "{provider} withheld the answer{said}; word the task differently, or choose another model with "
    "PLANDECK_MODEL.",
    K.UNREADABLE: "{provider} sent no chat completion{said}; check that {address} is the address of an "
    "OpenAI-compatible API.",
}

FINISHES: dict[str, FailureKind] = {
    "length": K.TOO_LONG,
    "max_tokens": K.TOO_LONG,
    "model_context_window_exceeded": K.TOO_LONG,
    "content_filter": K.FILTERED,
    "sensitive": K.FILTERED,
    "network_error": K.CUT,
    "error": K.CUT,
    "insufficient_system_resource": K.UNAVAILABLE,
}
"""What a provider says about how its answer ended, where that is no good end."""

STATUSES: dict[int, FailureKind] = {
    401: K.AUTH,
    402: K.OUT_OF_CREDIT,
    403: K.FORBIDDEN,
    404: K.NOT_FOUND,
    408: K.TIMEOUT,
    409: K.UNAVAILABLE,
    425: K.UNAVAILABLE,
    429: K.RATE_LIMITED,
    529: K.UNAVAILABLE,
}
CODES: dict[str, FailureKind] = {
    "insufficient_quota": K.OUT_OF_CREDIT,
    "insufficient_balance": K.OUT_OF_CREDIT,
    "content_filter": K.FILTERED,
    "content_policy_violation": K.FILTERED,
    "invalid_api_key": K.AUTH,
    "model_not_found": K.NOT_FOUND,
    "rate_limit_exceeded": K.RATE_LIMITED,
    "server_error": K.UNAVAILABLE,
}
"""What a provider's own code says more exactly than the status."""

CLIENT_ERRORS = (openai.OpenAIError, httpx.HTTPError, ValueError, TypeError, KeyError, IndexError, AttributeError)
"""All that the client raises for a call: its own errors, and Python's for a body that is no completion."""


BREAKING_OFF = ("RemoteProtocolError", "ReadError")
"""Errors of a connection that was there. By name: the client brings a transport library of its own."""


class ModelError(AgentError):
    """A model call that gave no usable answer. The message names the provider, the variable and the remedy."""

    def __init__(
        self, message: str, kind: FailureKind, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message, code=f"model_{kind}")
        self.kind = kind
        self.status = status
        """The HTTP status; None where none was received."""
        self.retry_after = retry_after
        """Seconds that the provider asks to wait, at least 0; None where it does not say."""

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self.kind in RETRYABLE


def is_transient(error: BaseException) -> bool:
    """Whether asking again later may help."""
    return isinstance(error, ModelError) and error.retryable


def is_refusal(error: BaseException) -> bool:
    """Whether the provider refuses for good: a wrong key, no right, an unknown model, a request it cannot read."""
    return isinstance(error, ModelError) and error.kind in REFUSALS


def is_useless_answer(error: BaseException) -> bool:
    """Whether provider and model did answer, but with nothing that can be used: like prose where JSON was wanted."""
    return isinstance(error, ModelError) and error.kind in (K.EMPTY_ANSWER, K.TOO_LONG)


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom a call went to."""

    provider: Provider
    model: str

    def failed(
        self, kind: FailureKind, *, said: str = "", status: int | None = None, retry_after: float | None = None
    ) -> ModelError:
        """The error of a failed call. `said` are the provider's own words."""
        sentence = SENTENCES[kind].format(
            provider=self.provider.title,
            model=self.model,
            key=self.provider.key_variable or "PLANDECK_PROVIDER",
            address=_address_variables(self.provider),
            timeout=self.provider.timeout_seconds,
            wait="a while" if retry_after is None else f"{retry_after:.0f} seconds",
            said=self._said(status, said),
        )
        return ModelError(sentence, kind, status=status, retry_after=retry_after)

    def _said(self, status: int | None, said: str) -> str:
        number = "" if status is None else f"HTTP {status}"
        words = self._without_secrets(" ".join(said.split()))[:WORDS].strip(" .;")
        told = ": ".join(part for part in (number, words) if part)
        return f" ({told})" if told else ""

    def _without_secrets(self, words: str) -> str:
        key = self.provider.key()
        hidden = words if key == NO_KEY else words.replace(key, "…")
        return LOOKS_LIKE_A_KEY.sub("…", hidden)

    @contextmanager
    def translating(self, *, begun: bool = False) -> Iterator[None]:
        """Turn what the client raises into a ModelError. `begun`: an answer was already coming in."""
        try:
            yield
        except CLIENT_ERRORS as error:
            # Without the cause: it may quote the key, and logs would print it.
            raise self._translated(error, begun) from None

    def _translated(self, error: Exception, begun: bool) -> ModelError:
        if isinstance(error, openai.APIStatusError):
            return self._refused(error.status_code, error.body, error.response.headers)
        body = _error_within(error)
        if body is not None:
            return self._refused(None, body, {})
        kind, said = _broken(error, begun)
        return self.failed(kind, said=said)

    def _refused(self, status: int | None, body: object, headers: Mapping[str, str] | httpx.Headers) -> ModelError:
        """An error that the provider sent itself, as a status or within an answer."""
        code, words = _told(body)
        number = status if status is not None else (int(code) if code.isdecimal() and len(code) == 3 else None)
        kind = CODES.get(code) or STATUSES.get(number or 0)
        if kind is None:
            kind = K.UNAVAILABLE if number is None or number >= 500 else K.BAD_REQUEST
        return self.failed(kind, said=words, status=number, retry_after=retry_after_of(headers, datetime.now(UTC)))


def _error_within(error: Exception) -> object:
    """The error that a provider sent as a part of an answer with status 200; None if it is none."""
    if isinstance(error, openai.APIError):
        return error.body
    told = error.args[0] if isinstance(error, ValueError) and error.args else None
    return told if isinstance(told, dict) else None


def _broken(error: Exception, begun: bool) -> tuple[FailureKind, str]:
    """What kept an answer from arriving, with the transport's own words."""
    causes = list(_causes(error))
    if any(isinstance(cause, openai.APITimeoutError | httpx.TimeoutException) for cause in causes):
        return K.TIMEOUT, ""
    if isinstance(error, openai.APIConnectionError | httpx.TransportError):
        broke_off = begun or any(type(cause).__name__ in BREAKING_OFF for cause in causes)
        return (K.CUT if broke_off else K.UNAVAILABLE), str(causes[-1])
    if begun:
        return K.CUT, ""
    # An answer without a choice has no first one.
    return (K.EMPTY_ANSWER if isinstance(error, IndexError) else K.UNREADABLE), ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it came from; the last one knows best."""
    while error is not None:
        yield error
        error = error.__cause__


def _address_variables(provider: Provider) -> str:
    own = provider.base_url_variable
    return own if own == "PLANDECK_BASE_URL" else f"{own} or PLANDECK_BASE_URL"


def _told(body: object) -> tuple[str, str]:
    """The code and the words of an error body: `{"error": {…}}`, its inside, or a text."""
    inner: object = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(inner, dict):
        # A page of a proxy says nothing that belongs into a sentence.
        return "", inner if isinstance(inner, str) and not inner.lstrip().startswith("<") else ""
    code: JsonValue = inner.get("code") or inner.get("type") or ""
    return str(code), str(inner.get("message") or inner.get("detail") or "")


def retry_after_of(headers: Mapping[str, str] | httpx.Headers, now: datetime) -> float | None:
    """Seconds to wait by `retry-after-ms` or `Retry-After` (seconds or a date); None where it says nothing usable."""
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    told = headers.get("retry-after")
    seconds = _seconds(told)
    if seconds is not None or not told:
        return seconds
    try:
        at = parsedate_to_datetime(told)
    except ValueError:
        return None
    return max(0.0, ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds())


def _seconds(text: str | None) -> float | None:
    """A number that is not negative; None for anything else."""
    return float(text) if text and re.fullmatch(r"\s*\d{1,9}(\.\d*)?\s*", text, re.ASCII) else None
