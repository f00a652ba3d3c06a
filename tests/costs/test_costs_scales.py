import pytest

from dashboard.costs.scales import axis_money, nice_steps, spread, ticks


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
    assert ticks(count) == shown


def test_even_years_of_days_have_few_labels() -> None:
    assert all(len(ticks(count)) <= 6 for count in range(1, 1100))


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
    assert nice_steps(highest) == steps


@pytest.mark.parametrize(
    ("value", "said"), [(0, "$0"), (0.02, "$0.02"), (10, "$10"), (1500, "$1,500"), (2e-05, "$0.00002")]
)
def test_money_beside_an_axis_has_no_more_digits_than_needed(value: float, said: str) -> None:
    assert axis_money(value) == said


def test_words_at_the_ends_of_lines_keep_apart_and_below_the_top() -> None:
    assert spread([10, 50, 90], 15, 200) == [10, 50, 90]
    assert spread([50, 50, 50], 15, 200) == [50, 65, 80]
    assert spread([90, 92, 88], 15, 100) == [85, 100, 70]
