from hypothesis import given
from hypothesis import strategies as st

from traces.counting import Count, CountableSpan, count_trace


def one(span_id: str, parent: str | None = None, weight: int | None = None, *, call: bool = True) -> CountableSpan:
    return CountableSpan(span_id, parent, call, weight)


def counted(*spans: CountableSpan) -> set[str]:
    return {span_id for span_id, count in count_trace(spans).items() if count.counted}


def test_a_parent_that_repeats_its_children_is_not_counted() -> None:
    assert counted(one("a", weight=30, call=False), one("b", "a", 10), one("c", "a", 20)) == {"b", "c"}


def test_a_parent_that_knows_more_is_counted_instead_of_its_children() -> None:
    counts = count_trace([one("a", weight=50, call=False), one("b", "a", 10), one("c", "b", None)])
    assert counts["a"] == Count(is_call=False, counted=True, covered=False, not_itemised=40)
    assert counts["b"].covered
    assert counts["c"].covered
    assert not counts["b"].counted


def test_a_parent_over_silent_children_is_fully_itemised_by_itself() -> None:
    counts = count_trace([one("a", weight=50, call=False), one("b", "a", None)])
    assert counts["a"].not_itemised is None
    assert counts["a"].counted


def test_the_rule_holds_over_levels() -> None:
    spans = [one("top", weight=30, call=False), one("mid", "top", 30, call=False), one("low", "mid", 30)]
    assert counted(*spans) == {"low"}


def test_a_call_inside_a_call_is_one_call() -> None:
    counts = count_trace([one("a", weight=8), one("between", "a", call=False), one("b", "between", 8)])
    assert [span_id for span_id, count in counts.items() if count.is_call] == ["b"]


def test_a_missing_parent_makes_a_root_and_order_does_not_matter() -> None:
    spans = [one("c", "b", 5), one("b", "gone", 5, call=False)]
    assert count_trace(spans) == count_trace(spans[::-1])
    assert counted(*spans) == {"c"}


def test_spans_in_a_ring_end_and_count_once() -> None:
    assert len(counted(one("a", "b", 5), one("b", "a", 5))) == 1
    assert counted(one("a", "a", 5)) == {"a"}


def test_a_very_deep_trace_is_no_problem() -> None:
    spans = [one(str(number), str(number - 1) if number else None, 1) for number in range(20_000)]
    assert counted(*spans) == {"19999"}


@st.composite
def traces(draw: st.DrawFn) -> list[CountableSpan]:
    size = draw(st.integers(1, 12))
    return [
        one(
            str(number),
            str(draw(st.integers(0, number - 1))) if number else None,
            draw(st.none() | st.integers(0, 20)),
            call=draw(st.booleans()),
        )
        for number in range(size)
    ]


@given(traces())
def test_nothing_counted_is_below_something_counted_and_nothing_is_lost(spans: list[CountableSpan]) -> None:
    counts = count_trace(spans)
    parents = {span.span_id: span.parent_span_id for span in spans}
    weights = {span.span_id: span.weight for span in spans}
    total = sum(weights[span_id] or 0 for span_id, count in counts.items() if count.counted)
    for span_id, count in counts.items():
        above = parents[span_id]
        over_counted = False
        while above is not None:
            over_counted = over_counted or counts[above].counted
            above = parents[above]
        assert not (count.counted and over_counted)
        assert count.covered == over_counted
        assert total >= (weights[span_id] or 0)
