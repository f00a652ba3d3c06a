"""What tolerant reading mended, collected while it reads."""

from __future__ import annotations

IDS_TOLD = 10


class Notes:
    """Codes in the order in which they first came up, each with what it was about."""

    def __init__(self) -> None:
        self._about: dict[str, dict[str, None]] = {}

    def add(self, code: str, about: str | None = None) -> None:
        """Note a repair; `about` names the step or key that was mended."""
        entry = self._about.setdefault(code, {})
        if about is not None:
            entry[about[:100]] = None

    def take(self, other: Notes) -> None:
        """Add all that `other` holds."""
        for code, about in other._about.items():
            self._about.setdefault(code, {}).update(about)

    def codes(self) -> tuple[str, ...]:
        """`code`, or `code: what, what`."""
        return tuple(_told(code, list(about)) for code, about in self._about.items())


def _told(code: str, about: list[str]) -> str:
    if not about:
        return code
    more = f" and {len(about) - IDS_TOLD} more" if len(about) > IDS_TOLD else ""
    return f"{code}: {', '.join(about[:IDS_TOLD])}{more}"
