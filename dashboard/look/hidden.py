"""Characters that a reader does not see, or that change how what follows is read. Pure."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator

from agent.records import JsonValue

_SEEN = "\n\t"
_BLANK_LETTERS = "\u115f\u1160\u3164\uffa0\u2800"
"""Letters and signs without a shape."""


def is_hidden(character: str) -> bool:
    """Whether a character is a control, of a direction or of no width, or a letter without a shape."""
    if character in _SEEN:
        return False
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") or character in _BLANK_LETTERS


def exact_json(value: JsonValue) -> str:
    """JSON as a person reads it, with hidden characters as escapes; it stands for exactly this value."""
    return written_out(json.dumps(value, ensure_ascii=False, indent=2))


def written_out(text: str) -> str:
    """A text with its hidden characters as escapes."""
    return "".join(json.dumps(sign)[1:-1] if is_hidden(sign) else sign for sign in text)


def hidden_in(value: JsonValue) -> tuple[str, ...]:
    """`U+202E right-to-left override`, …: each hidden character of a value once, in order of appearance."""
    found = (sign for text in _texts(value) for sign in text if is_hidden(sign))
    return tuple(dict.fromkeys(f"U+{ord(sign):04X} {unicodedata.name(sign, 'control').lower()}" for sign in found))


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
