"""Checkpoint ids: time-ordered UUIDs, from which the time is read without touching a checkpoint."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

_GREGORIAN = datetime(1582, 10, 15, tzinfo=UTC)
_UNIX = datetime(1970, 1, 1, tzinfo=UTC)


def time_of(checkpoint_id: str) -> datetime | None:
    """When a checkpoint of this id was made; None when the id is no time-ordered UUID."""
    try:
        uuid = UUID(checkpoint_id)
    except ValueError:
        return None
    try:
        return _time_of_uuid(uuid)
    except OverflowError:
        return None


def _time_of_uuid(uuid: UUID) -> datetime | None:
    if uuid.version == 6:
        ticks = (uuid.int >> 80) << 12 | (uuid.int >> 64 & 0x0FFF)
        return _GREGORIAN + timedelta(microseconds=ticks // 10)
    if uuid.version == 7:
        return _UNIX + timedelta(milliseconds=uuid.int >> 80)
    return None
