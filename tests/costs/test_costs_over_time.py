import pytest
from cost_rows import NOW, TODAY, WEEK, row, seen

from dashboard.costs.over_time import Series, cost_bars, share_bars, time_lines
from traces.records import LatencyRow


def test_bars_stand_on_every_day_with_the_dearest_model_first() -> None:
    rows = [
        row(1, day="2026-11-12", model="a"),
        row(5, day="2026-11-14", model="b"),
        row(2, day="2026-11-14", model="a"),
        row(None, day="2026-11-14", model="c"),
        row(9, day="2026-11-01", model="a"),
    ]
    bars = cost_bars(seen(by_model=rows), WEEK.period, NOW)
    assert bars.labels == ("12 Nov", "13 Nov", "14 Nov", "15 Nov", "16 Nov", "17 Nov", "18 Nov")
    assert bars.series == (
        Series("b", (0, 0, 5.0, 0, 0, 0, 0)),
        Series("a", (1.0, 0, 2.0, 0, 0, 0, 0)),
    )
    assert bars.totals[2] == 7
    assert bars.peak == 2


def test_more_than_five_models_become_four_and_the_rest() -> None:
    rows = [
        row(cost, hour="2026-11-18T09:00:00Z", model=name) for cost, name in zip(range(1, 8), "abcdefg", strict=True)
    ]
    bars = cost_bars(seen(by_model=rows), TODAY.period, NOW)
    assert [series.name for series in bars.series] == ["g", "f", "e", "d", "other"]
    assert bars.labels[9] == "09:00"
    assert [series.values[9] for series in bars.series] == [7, 6, 5, 4, 6]
    assert bars.peak is None


def test_calls_whose_model_is_not_named_have_a_bar_of_their_own() -> None:
    bars = cost_bars(seen(by_model=[row(1, day="2026-11-12", model=None)]), WEEK.period, NOW)
    assert bars.series[0].name == "model not named"


def test_times_are_those_of_runs_and_else_of_calls() -> None:
    runs = [LatencyRow("2026-11-14", 3, 10 * 10**9, 20 * 10**9, 30 * 10**9)]
    lines = time_lines(seen(times_of_runs=runs), WEEK.period, NOW)
    assert lines.title == "Run time, computing only"
    assert lines.p95 == (None, None, 20.0, None, None, None, None)
    assert (lines.last("p99"), lines.highest) == ((2, 30.0), 30.0)
    calls = time_lines(seen(times_of_calls=runs), WEEK.period, NOW)
    assert calls.title == "Time of a model call"
    nothing = time_lines(seen(), WEEK.period, NOW)
    assert (nothing.highest, nothing.last("p50")) == (0.0, None)


def test_planning_shares_are_by_day_and_unknown_without_tokens() -> None:
    rows = [row(1, 30, day="2026-11-14", role="planning"), row(1, 70, day="2026-11-14", role="execution")]
    bars = share_bars(seen(roles_of_buckets=rows), WEEK.period, NOW)
    assert bars.shares[2] == pytest.approx(0.3)
    assert bars.shares[0] is None
    assert not bars.empty
    assert share_bars(seen(), WEEK.period, NOW).empty


def test_bars_stack_real_money_and_made_up_money_only_where_all_is() -> None:
    rows = [row(2, day="2026-11-14", model="a", made_up=0.5), row(None, day="2026-11-14", model="offline", made_up=1)]
    real = cost_bars(seen(by_model=rows), WEEK.period, NOW)
    assert real.title == "Cost by day and model"
    assert [(series.name, series.values[2]) for series in real.series] == [("a", 2.0)]
    made_up = cost_bars(seen(by_model=rows[1:], total=row(None, made_up=1)), WEEK.period, NOW)
    assert made_up.title == "Made-up cost by day and model"
    assert [(series.name, series.values[2]) for series in made_up.series] == [("offline", 1.0)]
