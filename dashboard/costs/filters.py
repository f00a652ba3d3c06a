"""The words and choices of the filters of the costs page. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.costs.observed import Seen

FILTER_WORDS = {
    "model": ("All models", "models"),
    "agent": ("All agents", "agents"),
    "user": ("All users", "users"),
    "role": ("All purposes", "purposes"),
    "status": ("Every status", "statuses"),
}
STATUSES = {"ok": "succeeded", "error": "failed"}


def filter_label(name: str, accepted: Sequence[str]) -> str:
    """What the button of a filter says."""
    every, several = FILTER_WORDS[name]
    if not accepted:
        return every
    return choice_words(name, accepted[0]) if len(accepted) == 1 else f"{len(accepted)} {several}"


def choice_words(name: str, value: str) -> str:
    """A choice of a filter in words."""
    return STATUSES.get(value, value) if name == "status" else value


def choices_of(name: str, seen: Seen, accepted: Sequence[str]) -> list[str]:
    """What a filter may be set to in this period; what it is set to is among it."""
    if name == "status":
        return list(STATUSES)
    found = {row.group[name] for row in seen.choices}
    return sorted({value for value in found if value is not None} | set(accepted))
