"""Text for models and people: on one line where it has to be, and never longer than an observation may be."""

from __future__ import annotations

from agent.tools.registry import OBSERVATION_CHARACTERS


def one_line(text: str, characters: int | None = None) -> str:
    """The text on one line: what does not print, line breaks and direction marks too, is shown as an escape.

    Cut to `characters` with "…" at its end if it is longer.
    """
    shown = text if characters is None else text[:characters]
    line = "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in shown)
    return f"{line}…" if len(shown) < len(text) else line


def fitted(text: str, characters: int = OBSERVATION_CHARACTERS) -> str:
    """The text, cut to fit an observation, saying so at its end where it was cut."""
    if len(text) <= characters:
        return text
    end = f"\n… cut here, {len(text):,} characters in all"
    return text[: characters - len(end)] + end
