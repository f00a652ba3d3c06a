from dataclasses import replace
from decimal import Decimal

from cost_rows import MADE_UP, NOTHING, OPENED

from dashboard.costs.arithmetic import (
    arithmetic_lines,
    arithmetic_note,
    arithmetic_title,
    book_words,
    total_line,
    verdict_sign,
)
from dashboard.costs.observed import Opened
from traces.records import Rates


def test_arithmetic_shows_the_digits_that_it_needs_to_add_up() -> None:
    first, second, unknown = arithmetic_lines(OPENED)
    assert (first.token_class, first.tokens, first.rate, first.cost, first.book) == (
        "input,\u00a0uncached",
        "1,000",
        "$3.000",
        "$0.00300000",
        "demo, since 2025-08-07",
    )
    assert (second.rate, second.cost) == ("$0.0125", "$0.00000125")
    assert (unknown.rate, unknown.cost, unknown.book) == ("no price", "unknown", "in no price book")
    total = total_line(OPENED)
    assert (total.token_class, total.tokens, total.cost) == ("3\u00a0calls", "1,150", "$0.00300125")
    assert total.book == "parts add up, without the unknown"


def test_shown_parts_add_up_to_the_shown_total() -> None:
    lines = arithmetic_lines(OPENED)
    parts = [Decimal(line.cost.removeprefix("$")) for line in lines if line.cost.startswith("$")]
    assert sum(parts) == Decimal(total_line(OPENED).cost.removeprefix("$"))


def test_reported_costs_and_rounding_are_lines_of_their_own() -> None:
    opened = replace(OPENED, reported=Decimal("0.25"), reported_calls=1, rounding=Decimal("0.0000000000005"))
    *_, reported, rounding = arithmetic_lines(opened)
    assert (reported.token_class, reported.cost) == ("reported, 1\u00a0call", "$0.25000000")
    assert rounding.cost == "$0.0000000000005"


def test_the_verdict_is_honest() -> None:
    wrong = replace(OPENED, rounding=Decimal("0.001"))
    assert total_line(wrong).book == "parts do not add up, without the unknown"
    assert "error" in verdict_sign(wrong)
    unknown = replace(OPENED, rows=OPENED.rows[2:], cost=None)
    assert (total_line(unknown).cost, total_line(unknown).book) == ("unknown", "nothing has a price")
    assert arithmetic_title(unknown, "of r-1") == "The cost of r-1 is unknown"
    assert arithmetic_title(OPENED, "of r-1") == "How the $0.0030 of r-1 are made"


def test_an_entry_of_a_price_book_is_told_with_its_source() -> None:
    assert book_words(Rates("m", "own", {}, service_tier="flex")) == "m, tier flex, own price"
    assert book_words(Rates("offline", "illustrative", {}, illustrative=True)) == "offline, made up"


def test_spans_that_repeat_others_are_told() -> None:
    assert "not counted" not in arithmetic_note(OPENED)
    assert "1\u00a0span that repeats what others say is not" in arithmetic_note(replace(OPENED, not_counted=1))
    assert "24\u00a0spans that repeat what others say are not" in arithmetic_note(replace(OPENED, not_counted=24))


def test_made_up_money_is_opened_on_its_own() -> None:
    assert Opened(OPENED, MADE_UP).parts == (OPENED, MADE_UP)
    assert Opened(OPENED, NOTHING).parts == (OPENED,)
    assert arithmetic_title(MADE_UP, "of r-1") == "How the made-up <\u00a0$0.0001 of r-1 come about"
    assert arithmetic_note(MADE_UP).endswith("The rates are made up.")
