"""What a decision names: the hash of a plan or of any payload."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import rfc8785

from agent.errors import AgentError
from agent.records import JsonValue, PlanStep


class NotHashableError(AgentError):
    """A value has no canonical JSON, so nobody could approve exactly it."""

    code = "not_hashable"


def canonical_json(value: JsonValue) -> bytes:
    """RFC 8785 JSON; NotHashableError for what it has no form for (NaN, integers beyond 2^53, lone surrogates)."""
    try:
        return rfc8785.dumps(value)
    except RecursionError as error:
        raise NotHashableError("The value is nested too deeply to be hashed; make it flatter.") from error
    except ValueError as error:
        # Also a lone surrogate in a key (UnicodeEncodeError) and an integer too long to print are plain ValueErrors.
        raise NotHashableError(
            f"The value cannot be hashed ({_short(error)}); use finite numbers up to 2^53, texts, lists and objects."
        ) from error


def payload_hash(value: JsonValue) -> str:
    """SHA-256, 64 lower-case hex digits, of the value's RFC 8785 JSON; NotHashableError if it has none."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def plan_hash(goal: str, steps: Sequence[PlanStep]) -> str:
    """The hash of goal and steps, and of nothing else: what a person approves."""
    return payload_hash({"goal": goal, "steps": [step.to_json() for step in steps]})


def _short(error: Exception) -> str:
    words = str(error).encode("ascii", "replace").decode()
    return words if len(words) <= 120 else words[:117] + "…"
