from dataclasses import replace
from decimal import Decimal

from cost_rows import MADE_UP, NOTHING, OPENED, row, seen

from dashboard.costs.bars import Bar, class_bars, class_title, role_bars
from dashboard.costs.observed import Opened


def test_token_classes_are_bars_with_cost_and_tokens() -> None:
    assert class_bars(seen()) == [
        Bar("input", 0.003, "$0.0030", "1,050"),
        Bar("output", 0.00000125, "<\u00a0$0.0001", "100"),
    ]
    reported = replace(OPENED, rows=OPENED.rows[2:], reported=Decimal("0.5"), reported_calls=2)
    assert class_bars(seen(arithmetic=Opened(reported, NOTHING))) == [
        Bar("input", 0, "unknown", "50"),
        Bar("as reported", 0.5, "$0.5000", "by the sender"),
    ]


def test_purposes_come_in_the_order_of_a_run() -> None:
    rows = [row(1, role="execution", calls=2), row(2, role=None), row(3, role="planning"), row(1, role="judging")]
    bars = role_bars(seen(by_role=rows))
    assert [bar.label for bar in bars] == ["planning", "execution", "judging", "outside runs"]
    assert bars[1].second == "2\u00a0calls"
    assert [bar.label for bar in role_bars(seen(by_role=[row(2, role=None)]))] == ["not in a run"]


def test_bars_show_one_kind_of_money_and_name_the_other_beside() -> None:
    roles = [row(2, role="planning", made_up=0.5), row(None, role="check", made_up=1), row(None, role="synthesis")]
    planning, check, synthesis = role_bars(seen(by_role=roles))
    assert (planning.value, planning.first, planning.aside) == (2, "$2.00", "+ $0.5000\u00a0made-up")
    assert (check.value, check.first, check.aside) == (0, "–", "+ $1.00\u00a0made-up")
    assert (synthesis.first, synthesis.aside) == ("unknown", "")
    opened = Opened(OPENED, MADE_UP)
    assert [bar.first for bar in class_bars(seen(arithmetic=opened))] == ["$0.0030", "<\u00a0$0.0001"]
    all_made_up = seen(arithmetic=opened, total=row(None, made_up=1), by_role=roles[1:2])
    assert class_title(all_made_up) == "Made-up cost by token class"
    assert [bar.second for bar in class_bars(all_made_up)] == ["8"]
    assert [(bar.first, bar.aside) for bar in role_bars(all_made_up)] == [("$1.00", "")]
