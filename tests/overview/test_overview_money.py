from dataclasses import replace

import pytest
from cost_rows import NOW, a_run, dollars, row

from dashboard.overview.model import Observed, finished_row
from dashboard.overview.side_model import SideSeen, cost_by_hour, cost_month, cost_today, made_up_today

SEEN = SideSeen(
    now=NOW,
    today=row(9, made_up=0.008),
    yesterday=row(4, made_up=70),
    month=row(None, made_up=0.02),
    hours=[row(4, hour="2026-11-18T07:00:00Z", made_up=1), row(5, hour="2026-11-18T09:00:00Z")],
    runs={},
    oldest=None,
    pending=0,
    workers=1,
    unpriced=[],
    stores=2,
    bytes=None,
)


def test_real_money_of_today_stands_alone_and_made_up_money_beside_it() -> None:
    today = cost_today(SEEN)
    assert (today.label, today.value, today.context) == ("Cost today", "$9.00", "$5.00 more")
    assert str(today.help).startswith("Not in it: $0.0080\u00a0made-up.")
    assert made_up_today(SEEN) == "+ $0.0080\u00a0made-up, offline model"
    assert cost_by_hour(SEEN)[-2:] == [4.0, 9.0]


def test_where_all_money_is_made_up_the_figure_says_so() -> None:
    offline = replace(SEEN, today=row(None, made_up=0.5), yesterday=row(3, made_up=0.25))
    today = cost_today(offline)
    assert (today.label, today.value, today.context) == ("Made-up cost today", "$0.5000", "$0.2500 more")
    assert made_up_today(offline) == ""
    assert cost_by_hour(offline)[-1] == 1.0
    month = cost_month(SEEN)
    assert (month.label, month.value) == ("Made-up, Nov", "$0.0200")


def test_made_up_money_does_not_hide_that_the_real_cost_is_unknown() -> None:
    seen = replace(SEEN, today=row(None, made_up=0.5, unpriced_calls=1))
    assert (cost_today(seen).label, cost_today(seen).value) == ("Cost today", "unknown")
    assert made_up_today(seen) == "+ $0.5000\u00a0made-up, offline model"


@pytest.mark.parametrize(
    ("real", "made_up", "said"),
    [
        (9, None, "$9.00"),
        (None, 0.008, "$0.0080\u00a0made-up"),
        (9, 0.008, "$9.00 + $0.0080\u00a0made-up"),
        (None, None, "unknown"),
    ],
)
def test_the_cost_of_a_run_tells_both_kinds_apart(real: float | None, made_up: float | None, said: str) -> None:
    seen = Observed(
        NOW,
        costs={"r-1": None if real is None else dollars(real)},
        made_up={} if made_up is None else {"r-1": dollars(made_up)},
    )
    assert finished_row(a_run("r-1"), seen).cost == said
