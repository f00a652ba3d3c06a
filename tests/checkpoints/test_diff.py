from typing import Any

import pytest

from agent.checkpoints.diff import diff_states


def changes(a: dict[str, Any], b: dict[str, Any]) -> list[tuple[str, str, Any, Any]]:
    return [(str(change.kind), change.path, change.before, change.after) for change in diff_states(a, b)]


def test_added_changed_removed_in_order_of_place() -> None:
    before = {"results": {"s1": 1}, "usage": {"in": 5, "out": 2}, "note": "old", "same": [1]}
    after = {"results": {"s1": 1, "s4": "x"}, "usage": {"in": 9, "out": 2}, "answer": "42", "same": [1]}
    assert changes(before, after) == [
        ("added", "answer", None, "42"),
        ("added", "results.s4", None, "x"),
        ("changed", "usage.in", 5, 9),
        ("removed", "note", "old", None),
    ]


def test_lists_are_compared_by_position() -> None:
    assert changes({"l": [1, 2, 3]}, {"l": [1, 9, 3, 4]}) == [("added", "l[3]", None, 4), ("changed", "l[1]", 2, 9)]
    assert changes({"l": [1, 2]}, {"l": [2]}) == [("changed", "l[0]", 1, 2), ("removed", "l[1]", 2, None)]
    assert [path for _, path, *_ in changes({"l": [0] * 12}, {"l": [1] * 12})] == [f"l[{i}]" for i in range(12)]


def test_fields_of_a_class_are_named_without_its_record() -> None:
    def message(content: str) -> dict[str, Any]:
        return {"$type": "langchain_core.messages.ai.AIMessage", "$value": {"content": content}}

    assert changes({"m": [message("a")]}, {"m": [message("b")]}) == [("changed", "m[0].content", "a", "b")]


@pytest.mark.parametrize(
    ("before", "after"), [(1, "1"), (None, 0), ([1], {"a": 1}), (True, "true"), (1, True), ("", None)]
)
def test_a_change_of_kind_is_a_change(before: Any, after: Any) -> None:
    assert changes({"x": before}, {"x": after}) == [("changed", "x", before, after)]


def test_odd_keys_are_quoted() -> None:
    assert changes({"a": {"b.c": 1, "é": 1}}, {"a": {"b.c": 2, "é": 2}}) == [
        ("changed", 'a["b.c"]', 1, 2),
        ("changed", "a.é", 1, 2),
    ]
    assert changes({"x": {"root['a']": 1}}, {"x": {}}) == [("removed", "x[\"root['a']\"]", 1, None)]


def test_equal_states_have_no_difference() -> None:
    state = {"a": [1, {"b": None}], "c": "text\nof lines"}
    assert diff_states(state, dict(state)) == []


def test_a_large_text_changes_as_a_whole() -> None:
    before, after = ("\n".join(str(n * k) for n in range(40_000)) for k in (3, 7))
    assert changes({"t": before}, {"t": after}) == [("changed", "t", before, after)]
    assert changes({"t": [{"x": before}]}, {"t": [{"x": after}]}) == [("changed", "t[0].x", before, after)]


def test_a_large_text_does_not_hide_what_lies_beside_it() -> None:
    assert [c.path for c in diff_states({"a": "x" * 9, "b": {"c": 1}}, {"a": "y" * 9, "b": {"c": 2}})] == ["a", "b.c"]
