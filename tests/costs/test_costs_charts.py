import pytest
from cost_rows import NOW, WEEK, row, seen

from dashboard.costs import charts
from dashboard.costs.bars import Bar
from dashboard.costs.over_time import ShareBars, TimeLines, cost_bars
from dashboard.look.colours import palette_of


@pytest.mark.parametrize("kind", ["light", "dark"])
def test_charts_take_their_colours_from_the_theme_and_names_literally(kind: str) -> None:
    colours = palette_of(kind)
    rows = [row(1, day="2026-11-12", model="<b>x</b>"), row(5, day="2026-11-14", model="b")]
    bars = cost_bars(seen(by_model=rows), WEEK.period, NOW)
    drawn = charts.cost_figure(bars, colours)
    assert [trace.marker.color for trace in drawn.data] == list(colours.series[:2])
    assert [trace.name for trace in drawn.data] == ["b", "&lt;b&gt;x&lt;/b&gt;"]
    assert drawn.layout.annotations[0].text == "14 Nov · $5.00"
    assert charts.cost_alt(bars) == "Cost by day and model: b $5.00, <b>x</b> $1.00. The most is $5.00, 14 Nov."


def test_a_day_above_the_line_is_darker() -> None:
    colours = palette_of("light")
    bars = ShareBars(("a", "b", "c"), (0.2, 0.5, None))
    drawn = charts.share_figure(bars, colours)
    assert list(drawn.data[0].marker.color) == [colours.series[1], colours.series[0], colours.series[1]]
    assert charts.share_alt(bars) == "Planning share: at most 50\u00a0%, 1\u00a0bar above 40\u00a0%."


def test_lines_are_named_at_their_ends() -> None:
    lines = TimeLines("Run time", ("a", "b"), (1.0, 2.0), (3.0, None), (30.0, 65.0))
    drawn = charts.time_figure(lines, palette_of("light"))
    assert [item.text for item in drawn.layout.annotations] == [
        "p50 2\u00a0s",
        "p95 3\u00a0s",
        "p99 1\u00a0m\u00a005\u00a0s",
    ]
    assert charts.time_alt(lines) == "Run time, at last: p50 2.0\u00a0s, p95 3.0\u00a0s, p99 1\u00a0m\u00a005\u00a0s."


def test_horizontal_bars_are_told_in_words_too() -> None:
    bars = [Bar("input", 3.0, "$3.00", "12"), Bar("output", 0, "unknown")]
    drawn = charts.bars_figure(bars, palette_of("light"), height=100)
    assert [item.text for item in drawn.layout.annotations] == ["<b>$3.00</b><br>12", "<b>unknown</b>"]
    assert charts.bars_alt("Cost", bars) == "Cost: input $3.00 12, output unknown."
