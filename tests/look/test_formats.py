from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from dashboard.look import formats

NOW = datetime(2026, 12, 1, 9, 42, 0, tzinfo=UTC)


def shown(text: str) -> str:
    return text.replace(formats.NBSP, " ").replace(formats.JOINER, "")


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (None, "unknown"),
        (Decimal(0), "$0"),
        (0, "$0"),
        (Decimal("0.0119"), "$0.0119"),
        (11_900_000_000, "$0.0119"),
        (Decimal("0.00001"), "< $0.0001"),
        (1, "< $0.0001"),
        (Decimal("0.00995"), "$0.0100"),
        (Decimal("0.99994"), "$0.9999"),
        (Decimal("0.99996"), "$1.00"),
        (Decimal("199.664"), "$199.66"),
        (Decimal("999.994"), "$999.99"),
        (Decimal("999.996"), "$1,000"),
        (Decimal("6411.7"), "$6,412"),
        (Decimal("-0.61"), "−$0.6100"),
    ],
)
def test_money(amount: Decimal | int | None, words: str) -> None:
    assert shown(formats.money(amount)) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [(None, "unknown"), (0, "0"), (31_678, "31,678"), (999_999, "999,999"), (263_600_000, "263.6 M")],
)
def test_tokens(count: int | None, words: str) -> None:
    assert shown(formats.tokens(count)) == words


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (None, "unknown"),
        (0, "0 %"),
        (0.009, "0.9 %"),
        (0.0949, "9.5 %"),
        (0.0996, "10 %"),
        (0.67, "67 %"),
        (12.0, "1,200 %"),
    ],
)
def test_percent(share: float | None, words: str) -> None:
    assert shown(formats.percent(share)) == words


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (None, "–"),
        (0, "0 ms"),
        (0.0124, "12 ms"),
        (0.4, "0.4 s"),
        (11.84, "11.8 s"),
        (59.96, "1 m 00 s"),
        (400, "6 m 40 s"),
        (3_599.6, "1 h 00 m"),
        (7_500, "2 h 05 m"),
        (timedelta(days=3, hours=4), "3 d 04 h"),
        (-5, "0 ms"),
    ],
)
def test_duration(length: float | timedelta | None, words: str) -> None:
    assert shown(formats.duration(length)) == words


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (11 * 60, "11 min"),
        (7_200, "2 h"),
        (86_400, "1 day"),
        (200_000, "2 days"),
    ],
)
def test_age(ago: float, words: str) -> None:
    assert shown(formats.age(NOW - timedelta(seconds=ago), NOW)) == words


def test_an_age_from_a_clock_that_is_ahead_is_zero() -> None:
    assert shown(formats.age(NOW + timedelta(seconds=3), NOW)) == "0 s"
    assert formats.age(None, NOW) == "–"


def test_moments_are_times_today_and_days_otherwise() -> None:
    assert formats.moment(NOW, NOW) == "09:42:00"
    assert formats.moment(datetime(2026, 11, 18, 9, 31, tzinfo=UTC), NOW) == "18 Nov, 09:31"
    assert formats.moment(datetime(2025, 11, 18, 9, 31, tzinfo=UTC), NOW) == "18 Nov 2025, 09:31"
    assert formats.moment(None, NOW) == "–"
    assert formats.at_moment(NOW, NOW) == "at 09:42:00"
    assert formats.at_moment(datetime(2026, 11, 18, 9, 31, tzinfo=UTC), NOW) == "on 18 Nov, 09:31"


def test_the_day_is_that_of_the_zone() -> None:
    east = timezone(timedelta(hours=15))
    assert formats.moment(NOW, NOW, east) == "00:42:00"
    assert formats.moment(NOW - timedelta(hours=1), NOW, east) == "1 Dec, 23:42"


def test_stamps_say_everything() -> None:
    assert formats.stamp(NOW + timedelta(milliseconds=204)) == "2026-12-01 09:42:00.204 UTC"


def test_hashes_and_ids_are_cut() -> None:
    assert shown(formats.groups("9f3c51d0a1b2" * 4)) == "9f3c 51d0 a1"
    assert formats.short_id("1ef0d2aaaaaaaaaaaa9a4172") == "1ef0d2…9a4172"
    assert formats.short_id("r-0471") == "r-0471"
    assert formats.groups(None) == formats.short_id(None) == "–"


@pytest.mark.parametrize(
    ("count", "words"),
    [(None, "unknown"), (0, "0 B"), (640, "640 B"), (999, "999 B"), (2_130, "2.1 KB"), (212_000_000, "212 MB")],
)
def test_size(count: int | None, words: str) -> None:
    assert shown(formats.size(count)) == words


def test_ranges_never_break() -> None:
    assert formats.span("0.0011", "0.0024") == "0.0011\u2060–\u20600.0024"
    assert formats.span("1", "1") == "1"


def test_plurals() -> None:
    assert [shown(formats.plural(count, "step")) for count in (0, 1, 1_204)] == ["0 steps", "1 step", "1,204 steps"]
    assert shown(formats.plural(2, "try", "tries")) == "2 tries"


@pytest.mark.parametrize(
    ("text", "words"),
    [("short", "short"), ("a  b\nc", "a b c"), ("one two three four", "one two…"), ("x" * 30, "x" * 11 + "…")],
)
def test_cut_shortens_at_a_word(text: str, words: str) -> None:
    assert formats.cut(text, 12) == words
