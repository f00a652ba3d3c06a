"""Numbers, times and ids in words. Pure.

Plain text, not Markdown: `dashboard.look.text.escape` what goes into Markdown, where `$` begins a formula.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from decimal import ROUND_HALF_EVEN, Decimal

UNKNOWN = "unknown"
NONE = "–"
PICO = Decimal(10) ** 12
NBSP = "\u00a0"
JOINER = "\u2060"
MINUTE, HOUR, DAY = 60, 3_600, 86_400
KILOBYTE = 1_000


def dollars(amount: Decimal | int | None) -> Decimal | None:
    """Dollars of an amount in dollars (Decimal) or pico-dollars (int)."""
    return amount if amount is None or isinstance(amount, Decimal) else Decimal(amount) / PICO


def money(amount: Decimal | int | None) -> str:
    """`$6,412` from 1,000, `$199.66` from 1, `$0.0119` below, `$0` for a true zero. Decimal: dollars, int: pico."""
    value = dollars(amount)
    if value is None:
        return UNKNOWN
    sign = "−" if value < 0 else ""
    return sign + _positive_money(abs(value))


def money_apart(real: Decimal | int | None, made_up: Decimal | int | None) -> str:
    """Real money, `$0.0080 made-up` where there is only that, or `$9.00 + $0.0080 made-up`: never their sum."""
    if made_up is None:
        return money(real)
    return made_up_money(made_up) if real is None else f"{money(real)} + {made_up_money(made_up)}"


def made_up_money(amount: Decimal | int) -> str:
    """`$0.0080 made-up`: what the offline model would cost at its illustrative rates."""
    return f"{money(amount)}{NBSP}made-up"


def _positive_money(value: Decimal) -> str:
    if value == 0:
        return "$0"
    fine = value.quantize(Decimal("0.0001"), ROUND_HALF_EVEN)
    if fine == 0:
        return "<" + NBSP + "$0.0001"
    if fine < 1:
        return f"${fine}"
    cents = value.quantize(Decimal("0.01"), ROUND_HALF_EVEN)
    return f"${cents:,}" if cents < 1_000 else f"${value.quantize(Decimal(1), ROUND_HALF_EVEN):,}"


def tokens(count: int | None) -> str:
    """`31,678`; from a million `263.6 M`."""
    if count is None:
        return UNKNOWN
    return f"{count:,}" if count < 1_000_000 else f"{count / 1_000_000:,.1f}{NBSP}M"


def percent(share: float | None) -> str:
    """A share of 1 as `67 %`, below ten with one decimal."""
    if share is None:
        return UNKNOWN
    value = share * 100
    words = f"{value:.1f}" if 0 < abs(value) < 9.95 else f"{value:,.0f}"
    return f"{words}{NBSP}%"


def duration(length: timedelta | float | None) -> str:
    """`12 ms`, `0.4 s`, `11.8 s`, `6 m 40 s`, `2 h 05 m`, `3 d 04 h`; – for None. Never negative."""
    if length is None:
        return NONE
    seconds = max(0.0, length.total_seconds() if isinstance(length, timedelta) else float(length))
    if seconds < 0.0995:
        return f"{seconds * 1_000:.0f}{NBSP}ms"
    if seconds < 59.95:
        return f"{seconds:.1f}{NBSP}s"
    whole = round(seconds)
    if whole < HOUR:
        return f"{whole // MINUTE}{NBSP}m{NBSP}{whole % MINUTE:02d}{NBSP}s"
    if whole < DAY:
        return f"{whole // HOUR}{NBSP}h{NBSP}{whole % HOUR // MINUTE:02d}{NBSP}m"
    return f"{whole // DAY}{NBSP}d{NBSP}{whole % DAY // HOUR:02d}{NBSP}h"


def age(since: datetime | None, now: datetime) -> str:
    """How long ago, coarsely: `40 s`, `11 min`, `3 h`, `2 days`; – for None."""
    if since is None:
        return NONE
    seconds = max(0, int((now - since).total_seconds()))
    if seconds < MINUTE:
        return f"{seconds}{NBSP}s"
    if seconds < HOUR:
        return f"{seconds // MINUTE}{NBSP}min"
    if seconds < DAY:
        return f"{seconds // HOUR}{NBSP}h"
    return plural(seconds // DAY, "day")


def moment(at: datetime | None, now: datetime, zone: tzinfo = UTC) -> str:
    """`09:31:55` today, `18 Nov, 09:31` on another day, with the year in another year; – for None."""
    if at is None:
        return NONE
    local, today = at.astimezone(zone), now.astimezone(zone)
    if local.date() == today.date():
        return f"{local:%H:%M:%S}"
    year = "" if local.year == today.year else f" {local.year}"
    return f"{local.day} {local:%b}{year}, {local:%H:%M}"


def short_moment(at: datetime | None, now: datetime, zone: tzinfo = UTC) -> str:
    """A moment without seconds: `09:31` today, otherwise like `moment`."""
    words = moment(at, now, zone)
    return words[:5] if words[2:3] == ":" else words


def at_moment(at: datetime | None, now: datetime, zone: tzinfo = UTC) -> str:
    """A moment in a sentence: `at 09:31:55` today, else `on 18 Nov, 09:31`."""
    words = moment(at, now, zone)
    return f"at {words}" if words[2:3] == ":" else f"on {words}"


def stamp(at: datetime | None) -> str:
    """The whole time for tooltips: `2026-12-01 09:31:55.204 UTC`."""
    if at is None:
        return NONE
    utc = at.astimezone(UTC)
    return f"{utc:%Y-%m-%d %H:%M:%S}.{utc.microsecond // 1_000:03d} UTC"


def groups(value: str | None, digits: int = 10) -> str:
    """The first digits of a hash in groups of four: `9f3c 51d0 a1`."""
    if not value:
        return NONE
    cut = value[:digits]
    return NBSP.join(cut[start : start + 4] for start in range(0, len(cut), 4))


def short_id(value: str | None, ends: int = 6) -> str:
    """A long id by its two ends, `1ef0d2…9a4172`; short ones whole."""
    if not value:
        return NONE
    return value if len(value) <= 2 * ends + 4 else f"{value[:ends]}…{value[-ends:]}"


def short_name(name: str, characters: int = 24) -> str:
    """A file name with its middle left out where it is long; its end says what kind of file it is."""
    ending = 8
    return name if len(name) <= characters else f"{name[: characters - ending - 1]}…{name[-ending:]}"


def size(count: int | None) -> str:
    """Bytes as `640 B`, `2.1 KB`, `212 MB`."""
    if count is None:
        return UNKNOWN
    value, unit = float(count), "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if value < KILOBYTE - 0.5:
            break
        value, unit = value / KILOBYTE, larger
    words = f"{value:.0f}" if unit == "B" or value >= 99.5 else f"{value:.1f}"
    return f"{words}{NBSP}{unit}"


def span(low: str, high: str) -> str:
    """A range of two worded numbers that never breaks: `0.0011–0.0024`."""
    return low if low == high else f"{low}{JOINER}–{JOINER}{high}"


def plural(count: int, noun: str, several: str | None = None) -> str:
    """`1 step`, `2 steps`, `1,204 steps`."""
    return f"{count:,}{NBSP}{noun if count == 1 else several or noun + 's'}"


def cut(text: str, characters: int) -> str:
    """The text on one line, shortened with … at a word's end where it is longer."""
    flat = " ".join(text.split())
    if len(flat) <= characters:
        return flat
    head = flat[: characters - 1]
    at_word = head.rsplit(" ", 1)[0]
    return (at_word if len(at_word) > characters // 2 else head).rstrip(" ,;:.") + "…"
