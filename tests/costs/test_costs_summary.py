import pytest
from cost_rows import WEEK, row, seen

from dashboard.costs.summary import headline, made_up_aside, metrics, unpriced_notice
from traces.records import UnpricedModel, UsageRow


@pytest.mark.parametrize(
    ("total", "said"),
    [
        (row(199.66), "$199.66 in the last 7 days"),
        (row(0, calls=0), "Nothing spent in the last 7 days"),
        (row(None, unpriced_calls=1), "Cost unknown in the last 7 days"),
        (row(None, made_up=0.0119), "$0.0119 in the last 7 days, all made-up (offline model)"),
        (row(None, made_up=0.5, calls_without_usage=1), "$0.5000 in the last 7 days, all made-up (offline model)"),
        (row(9, made_up=0.5), "$9.00 in the last 7 days"),
        (row(None, made_up=0.5, unpriced_calls=1), "Cost unknown in the last 7 days"),
    ],
)
def test_the_headline_is_the_answer(total: UsageRow, said: str) -> None:
    assert headline(seen(total=total), WEEK) == said


def contexts(**more: object) -> dict[str, tuple[str, str]]:
    return {item.label: (item.value, item.context) for item in metrics(seen(**more))}


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
    assert shown["Planning share"] == ("30\u00a0%", "1 above 40\u00a0%")
    assert shown["A run costs"] == ("$4.00", "mean of 2\u00a0runs")


def test_what_is_unknown_says_so_and_why() -> None:
    total = row(None, None, calls=3, unpriced_calls=1, calls_without_usage=2)
    cost, tokens, *_ = metrics(seen(total=total))
    assert (cost.value, tokens.value) == ("unknown", "unknown")
    assert cost.help == "Not in this figure: 1\u00a0call without a price, 2\u00a0calls without token counts."
    assert metrics(seen())[0].help is None


def test_no_runs_leave_run_figures_empty() -> None:
    shown = contexts()
    assert shown["Planning share"] == ("–", "no runs")
    assert shown["A run costs"] == ("–", "no runs")


@pytest.mark.parametrize("value", metrics(seen(total=row(10, 10_000, calls=99_999, errors=9_999, made_up=1))))
def test_contexts_fit_their_pills(value: object) -> None:
    assert len(value.context) <= 18  # type: ignore[attr-defined]  # a metric


def test_calls_without_a_price_are_named() -> None:
    assert unpriced_notice(seen()) is None
    one = unpriced_notice(seen(unpriced=[UnpricedModel("qwen3-local", None, 1, 10)]))
    assert one is not None
    assert one.title == "1\u00a0call of qwen3-local has no price."
    assert "PLANDECK_PRICES" in one.body
    several = [UnpricedModel(name, None, 2, 1_000_000) for name in ("a", None, "c")]
    three = unpriced_notice(seen(unpriced=several))
    assert three is not None
    assert three.title == "6\u00a0calls of a and 2 other models have no price."
    assert three.body.startswith("Their 3.0\u00a0M tokens")


def test_made_up_money_is_beside_the_real_and_never_added_to_it() -> None:
    both = seen(
        total=row(9, made_up=0.008, calls=4),
        before=row(3, made_up=7),
        roles_of_runs=[row(9, run="r-1", role="execution"), row(None, made_up=0.008, run="r-2", role="execution")],
    )
    shown = {item.label: (item.value, item.context) for item in metrics(both)}
    assert shown["Cost"] == ("$9.00", "200\u00a0% more")
    assert shown["Made-up cost"] == ("$0.0080", "offline model")
    assert shown["A run costs"] == ("$9.00", "mean of 1\u00a0run")
    assert made_up_aside(both).startswith("+ $0.0080\u00a0made-up, offline model, 4\u00a0calls; ")
    assert made_up_aside(seen()) == ""


def test_where_all_money_is_made_up_the_figures_are_and_say_so() -> None:
    shown = contexts(
        total=row(None, made_up=0.012),
        before=row(None, made_up=0.008),
        roles_of_runs=[row(None, made_up=0.012, run="r-2", role="execution")],
    )
    assert shown["Made-up cost"] == ("$0.0120", "50\u00a0% more")
    assert shown["A run’s made-up cost"] == ("$0.0120", "mean of 1\u00a0run")
    assert "Cost" not in shown


def test_an_unknown_real_cost_stays_beside_what_is_made_up() -> None:
    total = row(None, made_up=0.012, unpriced_calls=1)
    assert made_up_aside(seen(total=total)).endswith("; the charts show only that.")
    shown = contexts(total=total, before=row(2))
    assert shown["Cost"] == ("unknown", "")
    assert shown["Made-up cost"] == ("$0.0120", "offline model")


def test_a_run_is_over_planned_above_40_percent_of_its_tokens_whatever_they_cost() -> None:
    def planning(tokens: int) -> str:
        roles = [row(9, tokens, run="r-1", role="planning"), row(1, 100 - tokens, run="r-1", role="execution")]
        return contexts(roles_of_runs=roles)["Planning share"][1]

    assert planning(40) == "none above 40\u00a0%"
    assert planning(41) == "1 above 40\u00a0%"
