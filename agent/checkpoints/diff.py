"""The difference between two states, both plain JSON. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from deepdiff import DeepDiff
from deepdiff.operator import BaseOperator

from agent.checkpoints.records import Change, ChangeKind
from agent.records import JsonObject, JsonValue

_KINDS = {
    "dictionary_item_added": ChangeKind.ADDED,
    "iterable_item_added": ChangeKind.ADDED,
    "values_changed": ChangeKind.CHANGED,
    "type_changes": ChangeKind.CHANGED,
    "dictionary_item_removed": ChangeKind.REMOVED,
    "iterable_item_removed": ChangeKind.REMOVED,
}
_PLAIN_KEY = re.compile(r"[^\W\d][\w$-]*\Z|\$type\Z")


class _WholeTexts(BaseOperator):
    """Reports a changed text as a whole: deepdiff would work out a line diff, which takes minutes for big ones."""

    def give_up_diffing(self, level: Any, diff_instance: Any) -> bool:
        if level.t1 != level.t2:
            diff_instance.custom_report_result("values_changed", level)
        return True


def diff_states(a: JsonObject, b: JsonObject) -> list[Change]:
    """What changed from `a` to `b`: added, then changed, then removed, each in order of place.

    Lists are compared by position. A class's fields are named without the `$value` of its record.
    """
    changes = [(path, _change(kind, path, a, b)) for kind, path in _differences(a, b)]
    order = list(ChangeKind)
    changes.sort(key=lambda pair: (order.index(pair[1].kind), [_natural(part) for part in pair[0]]))
    return [change for _, change in changes]


def _differences(a: JsonObject, b: JsonObject) -> Iterable[tuple[ChangeKind, list[str | int]]]:
    for name in a.keys() | b.keys():
        if name not in a:
            yield ChangeKind.ADDED, [name]
        elif name not in b:
            yield ChangeKind.REMOVED, [name]
        elif a[name] != b[name] or type(a[name]) is not type(b[name]):
            yield from ((kind, [name, *path]) for kind, path in _deep_differences(a[name], b[name]))


def _deep_differences(a: JsonValue, b: JsonValue) -> Iterable[tuple[ChangeKind, list[str | int]]]:
    found = DeepDiff(
        a,
        b,
        view="tree",
        zip_ordered_iterables=True,
        threshold_to_diff_deeper=0,
        custom_operators=[_WholeTexts(types=[str])],
    )
    for report, levels in found.items():
        for level in levels:
            yield _KINDS[report], level.path(output_format="list")


def _change(kind: ChangeKind, path: list[str | int], a: JsonValue, b: JsonValue) -> Change:
    before = None if kind is ChangeKind.ADDED else _at(a, path)
    after = None if kind is ChangeKind.REMOVED else _at(b, path)
    return Change(kind, _text(path, a, b), before, after)


def _at(value: JsonValue, path: Iterable[str | int]) -> JsonValue:
    for part in path:
        value = value[part]
    return value


def _text(path: list[str | int], a: JsonValue, b: JsonValue) -> str:
    text = ""
    for depth, part in enumerate(path):
        if part == "$value" and depth and _is_record(path[:depth], a, b):
            continue
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_KEY.match(part):
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(part, ensure_ascii=False)}]"
    return text


def _is_record(path: list[str | int], a: JsonValue, b: JsonValue) -> bool:
    for state in (b, a):
        try:
            value = _at(state, path)
        except (KeyError, IndexError, TypeError):
            continue
        return isinstance(value, dict) and "$type" in value
    return False


def _natural(part: str | int) -> tuple[int, int, str]:
    return (0, part, "") if isinstance(part, int) else (1, 0, part)
