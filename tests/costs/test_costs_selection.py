from datetime import UTC, datetime

import pytest

from dashboard.costs.selection import nanoseconds, read_selection

NOW = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def period(now: datetime = NOW, **params: str):
    return read_selection({name: [value] for name, value in params.items()}, now).period


def test_without_an_address_it_is_thirty_days_up_to_now() -> None:
    chosen = period()
    assert (chosen.since, chosen.until) == (at("2026-10-20"), at("2026-11-19"))
    assert chosen.previous == (at("2026-09-20"), at("2026-10-19T09:30"))
    assert (chosen.words, chosen.compared, chosen.bucket) == ("in the last 30 days", "the 30 days before", "day")
    assert len(chosen.starts) == 30


def test_today_is_compared_with_the_same_hours_of_yesterday_and_drawn_by_hour() -> None:
    chosen = period(period="today")
    assert (chosen.since, chosen.until) == (at("2026-11-18"), at("2026-11-19"))
    assert chosen.previous == (at("2026-11-17"), at("2026-11-17T09:30"))
    assert (chosen.bucket, len(chosen.starts)) == ("hour", 24)


def test_a_month_is_compared_with_the_same_days_of_the_one_before() -> None:
    chosen = period(period="month")
    assert (chosen.since, chosen.until, chosen.words) == (at("2026-11-01"), at("2026-12-01"), "in November")
    assert chosen.previous == (at("2026-10-01"), at("2026-10-18T09:30"))
    assert chosen.compared == "the same days of October"


def test_the_end_of_a_long_month_is_compared_with_all_of_a_short_one() -> None:
    chosen = period(at("2026-03-31T12:00"), period="month")
    assert chosen.previous == (at("2026-02-01"), at("2026-03-01"))


def test_a_custom_period_holds_both_its_days() -> None:
    chosen = period(period="custom", since="2026-11-03", until="2026-11-09")
    assert (chosen.since, chosen.until) == (at("2026-11-03"), at("2026-11-10"))
    assert chosen.previous == (at("2026-10-27"), at("2026-11-03"))
    assert chosen.words == "from 3 to 9 Nov"
    assert period(period="custom", since="2025-12-30", until="2026-01-02").words == "from 30 Dec 2025 to 2 Jan"
    one = period(period="custom", since="2026-11-03", until="2026-11-03")
    assert (one.words, one.bucket) == ("on 3 Nov", "hour")


@pytest.mark.parametrize(
    "params",
    [
        {"period": "week"},
        {"period": ""},
        {"period": "custom", "since": "soon", "until": "2026-99-99"},
        {"period": "custom", "since": "0001-01-01", "until": "9999-12-31"},
        {"period": "custom", "since": "2026-11-09", "until": "2026-11-03"},
    ],
)
def test_nonsense_in_the_address_still_selects_a_period(params: dict[str, str]) -> None:
    chosen = period(**params)
    assert chosen.since < chosen.until
    assert chosen.previous[0] <= chosen.previous[1] <= chosen.since
    assert len(chosen.starts) <= 1200


def test_filters_and_a_run_are_read_from_the_address() -> None:
    chosen = read_selection({"model": ["a", "b", "a"], "status": ["error"], "colour": ["red"], "run": ["r-1"]}, NOW)
    assert chosen.filters == {"model": ("a", "b"), "status": ("error",)}
    assert chosen.run_id == "r-1"
    query = chosen.query("p", ("day",))
    assert (query.project, query.by, query.filters) == ("p", ("day",), {"model": ("a", "b"), "status": ("error",)})
    assert query.since == nanoseconds(at("2026-10-20"))
    assert chosen.query_before("p").until == nanoseconds(at("2026-10-19T09:30"))


def test_nanoseconds_keep_microseconds() -> None:
    assert nanoseconds(datetime(1970, 1, 2, 0, 0, 1, 5, tzinfo=UTC)) == 86_401_000_005_000
