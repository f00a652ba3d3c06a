"""Column types that read back what was written, on SQLite and on PostgreSQL alike."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

from agent.records import JsonValue

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""Characters that PostgreSQL (NUL) or UTF-8 (lone surrogates) cannot hold."""


def storable(value: JsonValue) -> JsonValue:
    """The value with unstorable characters as U+FFFD and non-finite numbers as words.

    Models and tools produce both; a run that cannot be recorded could not even be ended.
    """
    if isinstance(value, str):
        return UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item) for item in value]
    return value


class UtcDateTime(TypeDecorator[datetime]):
    """A timezone-aware datetime to the microsecond, always UTC; a naive one is refused with ValueError."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """UTC; without its zone for SQLite, which sorts times as text."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value!r} has no time zone")
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """UTC again."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Words(TypeDecorator[str]):
    """Text from people, models and tools."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """What both engines can hold."""
        return None if value is None else str(storable(str(value)))


class Json(TypeDecorator[Any]):
    """A JSON value in the order it was given; None is SQL NULL."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: JsonValue, dialect: Dialect) -> JsonValue:
        """What both engines can hold."""
        return storable(value)

    def coerce_compared_value(self, op: Any, value: Any) -> TypeEngine[Any]:
        """Comparisons follow JSON's own rules."""
        return self.impl_instance.coerce_compared_value(op, value)


class ExactJson(TypeDecorator[Any]):
    """A JSON value exactly as it was given: in the text that is stored, what an engine cannot hold is escaped."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: JsonValue, dialect: Dialect) -> str:
        """ASCII text; TypeError for what is no JSON."""
        return json.dumps(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> JsonValue:
        """The value again."""
        return None if value is None else json.loads(value)
