"""Making sure that a value is JSON that a database, a checkpoint and a hash can hold."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agent.errors import AgentError
from agent.records import JsonValue

DEEPEST = 40
"""Levels of lists and objects within each other; a plan needs about five."""

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class NotPlainError(AgentError):
    """A value is not JSON, is nested too deeply, or holds characters that cannot be stored."""

    code = "bad_shape"


def plain(value: object, *, mend: bool = False, depth: int = 0) -> JsonValue:
    """The same value in dict, list, str, int, float, bool and None only; NotPlainError if that cannot be.

    With `mend`, NUL and lone surrogates (no database takes them) become U+FFFD; without, they are refused.
    """
    if depth > DEEPEST:
        raise NotPlainError(f"The value is nested more than {DEEPEST} levels deep; make it flatter.")
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return _text(value, mend=mend)
    if isinstance(value, Mapping):
        return {_key(key, mend=mend): plain(item, mend=mend, depth=depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, mend=mend, depth=depth + 1) for item in value]
    raise NotPlainError(f"The value holds a {type(value).__name__}, which is not JSON.")


def _key(key: object, *, mend: bool) -> str:
    if not isinstance(key, str) and not mend:
        raise NotPlainError("The value has a key that is not a text, which is not JSON.")
    return _text(str(key), mend=mend)


def _text(text: str, *, mend: bool) -> str:
    if not UNSTORABLE.search(text):
        return str(text)
    if not mend:
        raise NotPlainError("The value holds characters that cannot be stored (NUL or half of a pair).")
    return UNSTORABLE.sub("\ufffd", text)
