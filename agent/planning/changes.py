"""What is different between two versions of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agent.planning.hashing import canonical_json
from agent.records import JsonValue, Plan, PlanStep


class ChangeKind(StrEnum):
    """What became of a step."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class StepChange:
    """One step of either version."""

    kind: ChangeKind
    step_id: str
    fields: tuple[tuple[str, JsonValue, JsonValue], ...] = ()
    """(name, before, after) of every part that differs; before is None for an added step, after for a removed one."""


def plan_changes(old: Plan, new: Plan) -> list[StepChange]:
    """Every step of the new version in its order, then the removed ones in their old order.

    Steps are told apart by id. Values are equal if the hash cannot tell them apart: `1` and `1.0` are, `1` and `true`
    are not. The order of the steps and the goal are not compared.
    """
    before = {step.id: step for step in old.steps}
    after = {step.id for step in new.steps}
    changes = [_change(before.get(step.id), step) for step in new.steps]
    removed = [
        StepChange(ChangeKind.REMOVED, step.id, _fields(step, None)) for step in old.steps if step.id not in after
    ]
    return [*changes, *removed]


def _change(old: PlanStep | None, new: PlanStep) -> StepChange:
    fields = _fields(old, new)
    if old is None:
        return StepChange(ChangeKind.ADDED, new.id, fields)
    return StepChange(ChangeKind.CHANGED if fields else ChangeKind.KEPT, new.id, fields)


def _fields(old: PlanStep | None, new: PlanStep | None) -> tuple[tuple[str, JsonValue, JsonValue], ...]:
    before = old.to_json() if old else {}
    after = new.to_json() if new else {}
    names = [name for name in (before or after) if name != "id"]
    both = ((name, before.get(name), after.get(name)) for name in names)
    return tuple(entry for entry in both if canonical_json(entry[1]) != canonical_json(entry[2]))
