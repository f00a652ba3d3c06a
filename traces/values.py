"""Reading attribute values of strangers: numbers in any notation, words, and text that holds JSON or a Python dict."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from traces.conventions import Source

MOST_TOKENS = 10**9
"""More than this in one call is not believed."""
MOST_DOLLARS = Decimal(100_000)
"""A span that claims to have cost more is not believed."""
LONGEST_PYTHON_TEXT = 10_000
LONGEST_WORD = 500
"""Characters of a name or id that are kept; PostgreSQL takes no longer keys into its indexes."""
DEEPEST = 40
"""Levels of nested attribute values; deeper ones are cut."""
INT64 = range(-(2**63), 2**63)


class InvalidValueError(ValueError):
    """A number is there and cannot be one of its kind: negative, NaN, a fraction, not a number."""


def found(attributes: Mapping[str, Any], source: Source) -> Any:
    """The value at a source, or None."""
    value = attributes.get(source.attribute)
    if value is None or source.encoding is None:
        return value
    value = _decoded(value, source)
    for key in source.path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def _decoded(value: Any, source: Source) -> Any:
    if not isinstance(value, str):
        return value
    try:
        if source.encoding == "json":
            return json.loads(value)
        return ast.literal_eval(value) if len(value) <= LONGEST_PYTHON_TEXT else None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None if source.path else value


def tokens(attributes: Mapping[str, Any], sources: Iterable[Source]) -> int | None:
    """The first usable count; None if none is there; InvalidValueError if only unusable ones are."""
    invalid: InvalidValueError | None = None
    for source in sources:
        value = found(attributes, source)
        if value is None:
            continue
        try:
            return count(value)
        except InvalidValueError as error:
            invalid = invalid or error
    if invalid:
        raise invalid
    return None


def count(value: Any) -> int:
    """A count from an int, an integral double, or the text of one."""
    if type(value) is int and 0 <= value <= MOST_TOKENS:
        return value
    number = _number(value)
    if not number.is_finite() or number < 0 or number != number.to_integral_value() or number > MOST_TOKENS:
        raise InvalidValueError(f"{number} is no count")
    return int(number)


def amount(attributes: Mapping[str, Any], sources: Iterable[Source]) -> Decimal | None:
    """The first reported amount of dollars; None if there is none; InvalidValueError if it is none."""
    for source in sources:
        value = found(attributes, source)
        if value is None:
            continue
        number = _number(value)
        if not number.is_finite() or not 0 <= number <= MOST_DOLLARS:
            raise InvalidValueError(f"{number} is no amount")
        return number
    return None


def _number(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise InvalidValueError(f"A {type(value).__name__} is no number")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidValueError(f"{value!r} is no number")
    try:
        return Decimal(repr(value) if isinstance(value, float) else value)
    except InvalidOperation as error:
        raise InvalidValueError(f"{value!r} is no number") from error


def word(attributes: Mapping[str, Any], sources: Iterable[Source]) -> str | None:
    """The first non-empty word; numbers and booleans are written out."""
    for source in sources:
        value = found(attributes, source)
        if isinstance(value, str | int | float) and str(value).strip():
            return clean(str(value)).strip()[:LONGEST_WORD]
    return None


def storable(value: Any, depth: int = 0) -> Any:
    """A value that JSON and every database have: what they lack is written out as text, what is too deep is None."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int):
        # Through Decimal, because Python writes out no integer of many thousand digits.
        return value if value in INT64 else str(Decimal(value))
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, list | Mapping):
        return None if depth > DEEPEST else _storable_items(value, depth + 1)
    return value


def is_too_deep(value: Any) -> bool:
    """Whether lists and objects are nested more deeply than `storable` keeps."""
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [item for nest in level for item in _items(nest)]
        if not level:
            return False
    return True


def _items(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else []


def _storable_items(value: list[Any] | Mapping[str, Any], depth: int) -> Any:
    if isinstance(value, list):
        return [storable(item, depth) for item in value]
    return {clean(name): storable(item, depth) for name, item in value.items()}


def clean(text: str) -> str:
    """Text that every database stores: without NUL and lone surrogates."""
    if "\x00" in text:
        text = text.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text
