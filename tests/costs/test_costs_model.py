import csv
import io
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from agent.records import Limits, Run, RunStatus
from dashboard.costs import charts, model
from dashboard.costs.model import Bar, Seen, Series
from dashboard.costs.selection import read_selection
from dashboard.look.colours import palette_of
from traces.records import PICO, Arithmetic, ArithmeticRow, LatencyRow, Rates, UnpricedModel, UsageRow

NOW = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)
WEEK = read_selection({"period": ["7d"]}, NOW)
TODAY = read_selection({"period": ["today"]}, NOW)


def dollars(amount: float | str) -> int:
    return int(Decimal(str(amount)) * PICO)


def row(cost: float | None = 0, tokens: int | None = 0, *, calls: int = 1, **more: object) -> UsageRow:
    figures = {name: more.pop(name) for name in list(more) if name in UsageRow.__slots__}
    given = {
        "group": dict(more),
        "calls": calls,
        "errors": 0,
        "input_tokens": tokens,
        "output_tokens": None if tokens is None else 0,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "reasoning_tokens": 0,
        "cost": None if cost is None else dollars(cost),
        "unpriced_calls": 0,
        "calls_without_usage": 0,
        "calls_with_invalid_usage": 0,
        "illustrative_calls": 0,
        "reported_calls": 0,
    }
    return UsageRow(**{**given, **figures})


DEMO = Rates("demo", "price book", {"input": Decimal(3)}, since="2025-08-07")
OPENED = Arithmetic(
    rows=(
        ArithmeticRow("input", 1000, DEMO, Decimal(3), Decimal("0.003")),
        ArithmeticRow("output", 100, DEMO, Decimal("0.0125"), Decimal("0.00000125")),
        ArithmeticRow("input", 50, None, None, None),
    ),
    reported=Decimal(0),
    reported_calls=0,
    rounding=Decimal(0),
    cost=dollars("0.00300125"),
    calls=3,
    priced_spans=2,
    not_counted=0,
)


def seen(**more: object) -> Seen:
    given = {
        "total": row(10, 1000, calls=20),
        "before": row(8, calls=10),
        "by_model": [],
        "by_role": [],
        "roles_of_buckets": [],
        "roles_of_runs": [],
        "dearest": [],
        "models_of_runs": [],
        "runs": {},
        "computing": {},
        "times_of_runs": [],
        "times_of_calls": [],
        "unpriced": [],
        "arithmetic": OPENED,
        "choices": [],
        "anything_ever": True,
    }
    return Seen(**{**given, **more})  # type: ignore[arg-type]  # a test's words


@pytest.mark.parametrize(
    ("total", "said"),
    [
        (row(199.66), "$199.66 in the last 7 days"),
        (row(0, calls=0), "Nothing spent in the last 7 days"),
        (row(None, unpriced_calls=1), "Cost unknown in the last 7 days"),
        (row(0.0119, calls=3, illustrative_calls=3), "$0.0119 in the last 7 days, at made-up rates"),
        (
            row(0.5, calls=4, illustrative_calls=3, calls_without_usage=1),
            "$0.5000 in the last 7 days, at made-up rates",
        ),
        (row(0.5, calls=4, illustrative_calls=3), "$0.5000 in the last 7 days"),
    ],
)
def test_the_headline_is_the_answer(total: UsageRow, said: str) -> None:
    assert model.headline(seen(total=total), WEEK) == said


def contexts(**more: object) -> dict[str, tuple[str, str]]:
    return {item.label: (item.value, item.context) for item in model.metrics(seen(**more))}


@pytest.mark.parametrize(
    ("now", "before", "said"),
    [
        (10, 8, "25\u00a0% more"),
        (6, 8, "25\u00a0% less"),
        (8, 8, "as before"),
        (10, 0, "nothing before"),
        (100, 2, "50 times as much"),
        (None, 8, ""),
        (10, None, ""),
        (0, 0, ""),
    ],
)
def test_the_cost_is_compared_with_the_time_before(now: float | None, before: float | None, said: str) -> None:
    assert contexts(total=row(now), before=row(before))["Cost"][1] == said


def test_the_strip_says_what_stands_behind_its_figures() -> None:
    shown = contexts(
        total=row(10, 2_000_000, calls=31_204, errors=280, cache_read_tokens=1_140_000),
        roles_of_runs=[
            row(1, 50, run="r-1", role="planning"),
            row(3, 50, run="r-1", role="execution"),
            row(2, 10, run="r-2", role="planning"),
            row(2, 90, run="r-2", role="execution"),
        ],
    )
    assert shown["Tokens"] == ("2.0\u00a0M", "57\u00a0% cached input")
    assert shown["Model calls"] == ("31,204", "0.9\u00a0% failed")
    assert shown["Planning share"] == ("30\u00a0%", "1\u00a0run above 40\u00a0%")
    assert shown["A run costs"] == ("$4.00", "mean of 2\u00a0runs")


def test_what_is_unknown_says_so_and_why() -> None:
    total = row(None, None, calls=3, unpriced_calls=1, calls_without_usage=2)
    cost, tokens, *_ = model.metrics(seen(total=total))
    assert (cost.value, tokens.value) == ("unknown", "unknown")
    assert cost.help == "Not in this figure: 1\u00a0call without a price, 2\u00a0calls without token counts."
    assert model.metrics(seen())[0].help is None


def test_no_runs_leave_run_figures_empty() -> None:
    shown = contexts()
    assert shown["Planning share"] == ("unknown", "no runs")
    assert shown["A run costs"] == ("–", "mean of 0\u00a0runs")


@pytest.mark.parametrize("value", model.metrics(seen(total=row(10, 10_000, calls=99_999, errors=9_999))))
def test_contexts_fit_their_pills(value: object) -> None:
    assert len(value.context) <= 18  # type: ignore[attr-defined]  # a metric


def test_calls_without_a_price_are_named() -> None:
    assert model.unpriced_notice(seen()) is None
    one = model.unpriced_notice(seen(unpriced=[UnpricedModel("qwen3-local", None, 1, 10)]))
    assert one is not None
    assert one.title == "1\u00a0call of qwen3-local has no price."
    assert "PLANDECK_PRICES" in one.body
    several = [UnpricedModel(name, None, 2, 1_000_000) for name in ("a", None, "c")]
    three = model.unpriced_notice(seen(unpriced=several))
    assert three is not None
    assert three.title == "6\u00a0calls of a and 2 other models have no price."
    assert three.body.startswith("Their 3.0\u00a0M tokens")


def test_made_up_prices_are_told() -> None:
    assert model.illustrative_notice(seen()) is None
    some = model.illustrative_notice(seen(total=row(1, calls=4, illustrative_calls=3)))
    every = model.illustrative_notice(seen(total=row(1, calls=3, illustrative_calls=3)))
    assert some is not None
    assert some.startswith("The prices of 3\u00a0calls are made up")
    assert every is not None
    assert every.startswith("All prices here are made up")


def test_bars_stand_on_every_day_with_the_dearest_model_first() -> None:
    rows = [
        row(1, day="2026-11-12", model="a"),
        row(5, day="2026-11-14", model="b"),
        row(2, day="2026-11-14", model="a"),
        row(None, day="2026-11-14", model="c"),
        row(9, day="2026-11-01", model="a"),
    ]
    bars = model.cost_bars(seen(by_model=rows), WEEK.period, NOW)
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
    bars = model.cost_bars(seen(by_model=rows), TODAY.period, NOW)
    assert [series.name for series in bars.series] == ["g", "f", "e", "d", "other"]
    assert bars.labels[9] == "09:00"
    assert [series.values[9] for series in bars.series] == [7, 6, 5, 4, 6]
    assert bars.peak is None


def test_calls_whose_model_is_not_named_have_a_bar_of_their_own() -> None:
    bars = model.cost_bars(seen(by_model=[row(1, day="2026-11-12", model=None)]), WEEK.period, NOW)
    assert bars.series[0].name == "model not named"


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, ()),
        (1, (0,)),
        (5, (0, 1, 2, 3, 4)),
        (7, (0, 2, 4, 6)),
        (30, (0, 6, 12, 18, 24)),
        (24, (0, 4, 8, 12, 16, 20)),
    ],
)
def test_axes_are_labelled_evenly(count: int, shown: tuple[int, ...]) -> None:
    assert model.ticks(count) == shown


def test_even_years_of_days_have_few_labels() -> None:
    assert all(len(model.ticks(count)) <= 6 for count in range(1, 1100))


@pytest.mark.parametrize(
    ("highest", "steps"),
    [
        (0, (0.0,)),
        (17.86, (0.0, 5.0, 10.0, 15.0)),
        (12, (0.0, 5.0, 10.0)),
        (0.0445, (0.0, 0.02, 0.04)),
        (3, (0.0, 1.0, 2.0, 3.0)),
    ],
)
def test_steps_of_an_axis_are_round(highest: float, steps: tuple[float, ...]) -> None:
    assert model.nice_steps(highest) == steps


@pytest.mark.parametrize(
    ("value", "said"), [(0, "$0"), (0.02, "$0.02"), (10, "$10"), (1500, "$1,500"), (2e-05, "$0.00002")]
)
def test_money_beside_an_axis_has_no_more_digits_than_needed(value: float, said: str) -> None:
    assert model.axis_money(value) == said


def test_token_classes_are_bars_with_cost_and_tokens() -> None:
    assert model.class_bars(OPENED) == [
        Bar("input", 0.003, "$0.0030", "1,050"),
        Bar("output", 0.00000125, "<\u00a0$0.0001", "100"),
    ]
    reported = replace(OPENED, rows=OPENED.rows[2:], reported=Decimal("0.5"), reported_calls=2)
    assert model.class_bars(reported) == [
        Bar("input", 0, "unknown", "50"),
        Bar("as reported", 0.5, "$0.5000", "by the sender"),
    ]


def test_purposes_come_in_the_order_of_a_run() -> None:
    rows = [row(1, role="execution", calls=2), row(2, role=None), row(3, role="planning"), row(1, role="judging")]
    bars = model.role_bars(seen(by_role=rows))
    assert [bar.label for bar in bars] == ["planning", "execution", "judging", "outside runs"]
    assert bars[1].second == "2\u00a0calls"
    assert [bar.label for bar in model.role_bars(seen(by_role=[row(2, role=None)]))] == ["not in a run"]


def test_times_are_those_of_runs_and_else_of_calls() -> None:
    runs = [LatencyRow("2026-11-14", 3, 10 * 10**9, 20 * 10**9, 30 * 10**9)]
    lines = model.time_lines(seen(times_of_runs=runs), WEEK.period, NOW)
    assert lines.title == "Run time, computing only"
    assert lines.p95 == (None, None, 20.0, None, None, None, None)
    assert (lines.last("p99"), lines.highest) == ((2, 30.0), 30.0)
    calls = model.time_lines(seen(times_of_calls=runs), WEEK.period, NOW)
    assert calls.title == "Time of a model call"
    nothing = model.time_lines(seen(), WEEK.period, NOW)
    assert (nothing.highest, nothing.last("p50")) == (0.0, None)


def test_words_at_the_ends_of_lines_keep_apart_and_below_the_top() -> None:
    assert model.spread([10, 50, 90], 15, 200) == [10, 50, 90]
    assert model.spread([50, 50, 50], 15, 200) == [50, 65, 80]
    assert model.spread([90, 92, 88], 15, 100) == [85, 100, 70]


def test_planning_shares_are_by_day_and_unknown_without_tokens() -> None:
    rows = [row(1, 30, day="2026-11-14", role="planning"), row(1, 70, day="2026-11-14", role="execution")]
    bars = model.share_bars(seen(roles_of_buckets=rows), WEEK.period, NOW)
    assert bars.shares[2] == pytest.approx(0.3)
    assert bars.shares[0] is None
    assert not bars.empty
    assert model.share_bars(seen(), WEEK.period, NOW).empty


def a_run(run_id: str) -> Run:
    return Run(
        project="p",
        run_id=run_id,
        thread_id="t",
        agent="analyst",
        agent_version="1",
        task="Compare invoices",
        mode="plan_execute",
        provider="openai",
        model="demo",
        status=RunStatus.SUCCEEDED,
        requested_by="ana",
        created_at=NOW,
        limits=Limits(),
        tools={},
        trace_id="0" * 32,
        root_span_id="0" * 16,
    )


def test_the_dearest_runs_are_told_with_what_is_known_of_them() -> None:
    rows = model.run_rows(
        seen(
            dearest=[row(2.8, 4_420_981, run="r-1"), row(None, 5, run="r-2")],
            runs={"r-1": a_run("r-1")},
            computing={"r-1": 288 * 10**9},
            models_of_runs=[row(2, run="r-1", model="demo"), row(1, run="r-1", model="mini")],
            roles_of_runs=[row(1, 30, run="r-1", role="planning"), row(1, 70, run="r-1", role="execution")],
        )
    )
    ours, other = rows
    assert (ours.task, ours.user, ours.model, ours.status) == (
        "Compare invoices",
        "ana",
        "demo +1",
        RunStatus.SUCCEEDED,
    )
    assert (ours.cost, ours.cost_words, ours.tokens) == (2.8, "$2.80", "4.4\u00a0M")
    assert (ours.planning, ours.computing) == ("30\u00a0%", "4\u00a0m\u00a048\u00a0s")
    assert (other.task, other.status, other.model, other.cost, other.cost_words) == (
        "run r-2, not one of ours",
        None,
        "–",
        0,
        "unknown",
    )
    assert (other.planning, other.computing) == ("unknown", "–")


def test_arithmetic_shows_the_digits_that_it_needs_to_add_up() -> None:
    first, second, unknown = model.arithmetic_lines(OPENED)
    assert (first.token_class, first.tokens, first.rate, first.cost, first.book) == (
        "input,\u00a0uncached",
        "1,000",
        "$3.000",
        "$0.00300000",
        "demo, since 2025-08-07",
    )
    assert (second.rate, second.cost) == ("$0.0125", "$0.00000125")
    assert (unknown.rate, unknown.cost, unknown.book) == ("no price", "unknown", "in no price book")
    total = model.total_line(OPENED)
    assert (total.token_class, total.tokens, total.cost) == ("3\u00a0calls", "1,150", "$0.00300125")
    assert total.book == "parts add up, without the unknown"


def test_shown_parts_add_up_to_the_shown_total() -> None:
    lines = model.arithmetic_lines(OPENED)
    parts = [Decimal(line.cost.removeprefix("$")) for line in lines if line.cost.startswith("$")]
    assert sum(parts) == Decimal(model.total_line(OPENED).cost.removeprefix("$"))


def test_reported_costs_and_rounding_are_lines_of_their_own() -> None:
    opened = replace(OPENED, reported=Decimal("0.25"), reported_calls=1, rounding=Decimal("0.0000000000005"))
    *_, reported, rounding = model.arithmetic_lines(opened)
    assert (reported.token_class, reported.cost) == ("reported, 1\u00a0call", "$0.25000000")
    assert rounding.cost == "$0.0000000000005"


def test_the_verdict_is_honest() -> None:
    wrong = replace(OPENED, rounding=Decimal("0.001"))
    assert model.total_line(wrong).book == "parts do not add up, without the unknown"
    assert "error" in model.verdict_sign(wrong)
    unknown = replace(OPENED, rows=OPENED.rows[2:], cost=None)
    assert (model.total_line(unknown).cost, model.total_line(unknown).book) == ("unknown", "nothing has a price")
    assert model.arithmetic_title(unknown, "of r-1") == "The cost of r-1 is unknown"
    assert model.arithmetic_title(OPENED, "of r-1") == "How the $0.0030 of r-1 are made"


def test_an_entry_of_a_price_book_is_told_with_its_source() -> None:
    assert model.book_words(Rates("m", "own", {}, service_tier="flex")) == "m, tier flex, own price"
    assert model.book_words(Rates("offline", "illustrative", {}, illustrative=True)) == "offline, made up"


def test_spans_that_repeat_others_are_told() -> None:
    assert "not counted" not in model.arithmetic_note(OPENED)
    assert "1\u00a0span that repeats what others say is not" in model.arithmetic_note(replace(OPENED, not_counted=1))
    assert "24\u00a0spans that repeat what others say are not" in model.arithmetic_note(replace(OPENED, not_counted=24))


def test_filters_say_what_they_are_set_to_and_offer_what_there_is() -> None:
    assert model.filter_label("model", ()) == "All models"
    assert model.filter_label("model", ("gpt-5",)) == "gpt-5"
    assert model.filter_label("agent", ("a", "b")) == "2 agents"
    assert model.filter_label("status", ("error",)) == "failed"
    shown = seen(choices=[row(model="b", user="x"), row(model="a", user=None), row(model=None, user="x")])
    assert model.choices_of("model", shown, ("gone",)) == ["a", "b", "gone"]
    assert model.choices_of("user", shown, ()) == ["x"]
    assert model.choices_of("status", shown, ()) == ["ok", "error"]


def test_the_export_is_exact_and_harmless_in_a_spreadsheet() -> None:
    rows = [
        row("0.000000000001", 5, day="2026-11-18", model="=HYPERLINK(1)"),
        row(None, None, day="2026-11-18", model=None, unpriced_calls=1),
    ]
    first, second = csv.DictReader(io.StringIO(model.csv_text(rows, ("day", "model"))))
    assert (first["day"], first["model"], first["cost_usd"], first["input_tokens"]) == (
        "2026-11-18",
        "'=HYPERLINK(1)",
        "0.000000000001",
        "5",
    )
    assert (second["model"], second["cost_usd"], second["input_tokens"], second["unpriced_calls"]) == ("", "", "", "1")


@pytest.mark.parametrize("kind", ["light", "dark"])
def test_charts_take_their_colours_from_the_theme_and_names_literally(kind: str) -> None:
    colours = palette_of(kind)
    rows = [row(1, day="2026-11-12", model="<b>x</b>"), row(5, day="2026-11-14", model="b")]
    bars = model.cost_bars(seen(by_model=rows), WEEK.period, NOW)
    drawn = charts.cost_figure(bars, colours)
    assert [trace.marker.color for trace in drawn.data] == list(colours.series[:2])
    assert [trace.name for trace in drawn.data] == ["b", "&lt;b&gt;x&lt;/b&gt;"]
    assert drawn.layout.annotations[0].text == "14 Nov · $5.00"
    assert charts.cost_alt(bars) == "Cost by time and model: b $5.00, <b>x</b> $1.00. The most is $5.00, 14 Nov."


def test_a_day_above_the_line_is_darker() -> None:
    colours = palette_of("light")
    bars = model.ShareBars(("a", "b", "c"), (0.2, 0.5, None))
    drawn = charts.share_figure(bars, colours)
    assert list(drawn.data[0].marker.color) == [colours.series[1], colours.series[0], colours.series[1]]
    assert charts.share_alt(bars) == "Planning share of tokens: at most 50\u00a0%, 1\u00a0bar above 40\u00a0%."


def test_lines_are_named_at_their_ends() -> None:
    lines = model.TimeLines("Run time", ("a", "b"), (1.0, 2.0), (3.0, None), (30.0, 65.0))
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
