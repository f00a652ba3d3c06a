"""What the address selects on the costs page: a period, filters, a run. Pure."""

from __future__ import annotations

import calendar
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from traces.store import UsageQuery

PERIODS = ("today", "7d", "30d", "month", "custom")
DEFAULT_PERIOD = "30d"
FILTER_NAMES = ("model", "agent", "user", "role", "status")
LONGEST_DAYS = 3 * 366
_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Period:
    """Whole UTC days, and the time before that they are compared with."""

    key: str
    since: datetime
    until: datetime
    """Exclusive; the end of a day, which may not be over."""
    previous: tuple[datetime, datetime]
    """As long as what has passed of the period."""
    words: str
    """`today`, `in the last 7 days`, `in November`, `from 3 to 9 Nov`."""
    compared: str
    """`the same hours of yesterday`, …"""

    @property
    def bucket(self) -> Literal["hour", "day"]:
        """What a bar of its charts is."""
        return "hour" if self.until - self.since <= _DAY else "day"

    @property
    def starts(self) -> tuple[datetime, ...]:
        """The start of every bar, also of those without anything."""
        step = timedelta(hours=1) if self.bucket == "hour" else _DAY
        return tuple(self.since + step * number for number in range(round((self.until - self.since) / step)))


@dataclass(frozen=True, slots=True)
class Selection:
    """Everything that the address says."""

    period: Period
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    run_id: str | None = None

    def query(self, project: str, by: tuple[str, ...] = ()) -> UsageQuery:
        """The spans of the period that pass the filters."""
        return UsageQuery(
            project, by, nanoseconds(self.period.since), nanoseconds(self.period.until), dict(self.filters)
        )

    def query_before(self, project: str) -> UsageQuery:
        """The same filters over the time that the period is compared with."""
        since, until = self.period.previous
        return UsageQuery(project, (), nanoseconds(since), nanoseconds(until), dict(self.filters))


def nanoseconds(at: datetime) -> int:
    """Nanoseconds since 1970."""
    delta = at - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000_000 + delta.microseconds * 1_000


def read_selection(params: Mapping[str, Sequence[str]], now: datetime) -> Selection:
    """What the parameters of the address select; what they say wrongly is as if it were not there."""
    key = (params.get("period") or [""])[-1]
    filters = {name: tuple(dict.fromkeys(params[name])) for name in FILTER_NAMES if params.get(name)}
    return Selection(
        period=_period(key if key in PERIODS else DEFAULT_PERIOD, params, now),
        filters=filters,
        run_id=(params.get("run") or [""])[-1] or None,
    )


def _period(key: str, params: Mapping[str, Sequence[str]], now: datetime) -> Period:
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    tomorrow = today + _DAY
    if key == "today":
        before = _shifted(today, tomorrow, now, _DAY)
        return Period(key, today, tomorrow, before, "today", "the same hours of yesterday")
    if key == "month":
        return _month(today, now)
    if key == "custom":
        return _custom(params, today, now)
    days = int(key.removesuffix("d"))
    since = tomorrow - days * _DAY
    before = _shifted(since, tomorrow, now, days * _DAY)
    return Period(key, since, tomorrow, before, f"in the last {days} days", f"the {days} days before")


def _shifted(since: datetime, until: datetime, now: datetime, shift: timedelta) -> tuple[datetime, datetime]:
    """What has passed of a period, that much earlier."""
    return since - shift, max(since, min(now, until)) - shift


def _month(today: datetime, now: datetime) -> Period:
    first = today.replace(day=1)
    next_first = first + timedelta(days=calendar.monthrange(first.year, first.month)[1])
    before = (first - _DAY).replace(day=1)
    same_time = min(before + (now - first), first)
    words = f"in {first:%B}"
    compared = f"the same days of {before:%B}"
    return Period("month", first, next_first, (before, same_time), words, compared)


def _custom(params: Mapping[str, Sequence[str]], today: datetime, now: datetime) -> Period:
    first = _day(params, "since") or (today - 6 * _DAY).date()
    last = max(first, _day(params, "until") or today.date())
    last = min(last, first + timedelta(days=LONGEST_DAYS))
    since = datetime(first.year, first.month, first.day, tzinfo=UTC)
    until = datetime(last.year, last.month, last.day, tzinfo=UTC) + _DAY
    words = f"on {day_words(first, now)}" if first == last else f"from {_range_words(first, last, now)}"
    before = _shifted(since, until, now, until - since)
    return Period("custom", since, until, before, words, "as many days before")


def _day(params: Mapping[str, Sequence[str]], name: str) -> date | None:
    try:
        day = date.fromisoformat((params.get(name) or [""])[-1])
    except ValueError:
        return None
    # Nothing was traced before there were traces, and comparing must not leave the calendar.
    return day if date(2000, 1, 1) <= day <= date(2999, 12, 31) else None


def day_words(day: date, now: datetime) -> str:
    """`18 Nov`, with the year in another year."""
    return f"{day.day} {day:%b}" + ("" if day.year == now.year else f" {day.year}")


def _range_words(first: date, last: date, now: datetime) -> str:
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day} to {day_words(last, now)}"
    return f"{day_words(first, now)} to {day_words(last, now)}"
