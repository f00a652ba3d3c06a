"""What is different from the version before, as rows. Pure; texts are plain, the view escapes them."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import takewhile

from agent.planning.changes import ChangeKind, StepChange, plan_changes
from agent.planning.hashing import canonical_json
from agent.records import JsonObject, JsonValue, Plan
from dashboard.look.formats import plural

SIGNS = {ChangeKind.ADDED: "+", ChangeKind.CHANGED: "~", ChangeKind.REMOVED: "−", ChangeKind.KEPT: "="}
FIELDS = {
    "description": "what it does",
    "tool": "tool",
    "args": "arguments",
    "dependencies": "after",
    "acceptance_criteria": "done when",
    "effect": "effect",
}
VALUE_CHARACTERS = 200
LEAD_CHARACTERS = 40
"""How much of what both sides share is shown before their first difference."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One field before and after; None where there is nothing on that side."""

    field: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One step, or all kept ones together."""

    kind: ChangeKind
    sign: str
    step: str
    title: str
    differences: tuple[Difference, ...] = ()


def change_rows(old: Plan, new: Plan, done: Collection[str] = ()) -> list[ChangeRow]:
    """Added, changed and removed steps, then the kept ones in one row, or two if some of them are done."""
    changes = plan_changes(old, new)
    rows = [_row(change, old, new) for change in changes if change.kind is not ChangeKind.KEPT]
    kept = [change.step_id for change in changes if change.kind is ChangeKind.KEPT]
    for steps, words in (
        ([step for step in kept if step in done], "done, and not run again"),
        ([step for step in kept if step not in done], "word for word"),
    ):
        if steps:
            rows.append(ChangeRow(ChangeKind.KEPT, SIGNS[ChangeKind.KEPT], ", ".join(steps), words))
    return rows


def _row(change: StepChange, old: Plan, new: Plan) -> ChangeRow:
    plan = old if change.kind is ChangeKind.REMOVED else new
    changed = change.kind is ChangeKind.CHANGED
    title = "" if changed else plan.step(change.step_id).description
    differences = [part for field in change.fields for part in _differences(*field)] if changed else []
    return ChangeRow(change.kind, SIGNS[change.kind], change.step_id, title, tuple(differences))


def _differences(name: str, before: JsonValue, after: JsonValue) -> list[Difference]:
    if name != "args":
        return [_difference(FIELDS.get(name, name), before, after)]
    return [replace(part, field=f"argument {part.field}") for part in argument_differences(before or {}, after or {})]


def argument_differences(before: JsonObject, after: JsonObject) -> list[Difference]:
    """Each argument that is not on both sides, or not the same; `1` and `true` are told apart."""
    return [
        _difference(key, before.get(key), after.get(key))
        for key in dict.fromkeys([*before, *after])
        if (key in before) != (key in after) or canonical_json(before.get(key)) != canonical_json(after.get(key))
    ]


def _difference(name: str, before: JsonValue, after: JsonValue) -> Difference:
    """Both sides from shortly before where they part: two long texts never look alike here."""
    old, new = _windows(_words(before), _words(after))
    if old and new and old.split() == new.split():
        # A page shows line breaks, indentation and quotation marks alike; JSON tells them apart.
        old, new = _windows(_exactly(before), _exactly(after))
    return Difference(name, old, new)


def _exactly(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False).replace("  ", "␠␠")


def _windows(old: str | None, new: str | None) -> tuple[str | None, str | None]:
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old or "", new or "", strict=False)))
    longest = max(len(old or ""), len(new or ""))
    start = max(0, shared - LEAD_CHARACTERS) if longest > VALUE_CHARACTERS else 0
    return _window(old, start), _window(new, start)


def _window(words: str | None, start: int) -> str | None:
    if words is None:
        return None
    end = start + VALUE_CHARACTERS
    before = f"({plural(start, 'character')} alike) …" if start else ""
    after = f"… ({plural(len(words) - end, 'more character')})" if len(words) > end else ""
    return " ".join(filter(None, [before, words[start:end], after]))


def _words(value: JsonValue) -> str | None:
    if value is None or value in ("", []):
        return None
    if isinstance(value, str):
        return value.replace("_", " ") if value in _EFFECTS else value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)


_EFFECTS = ("publish_internal", "send_external", "write_system")
