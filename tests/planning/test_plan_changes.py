from typing import Any

from agent.planning.changes import plan_changes
from agent.planning.hashing import plan_hash
from agent.records import Effect, Plan, PlanStep


def plan(*steps: PlanStep) -> Plan:
    return Plan("g", "r", steps, 1, plan_hash("g", steps))


def step(step_id: str, **parts: Any) -> PlanStep:
    return PlanStep(step_id, parts.pop("description", "Do it"), parts.pop("tool", "lookup"), **parts)


def test_every_step_of_both_versions_is_told() -> None:
    old = plan(step("a"), step("b", args={"n": 1}), step("c"))
    new = plan(step("d", tool=None), step("b", args={"n": 2}, effect=Effect.DRAFT), step("a"))
    changes = plan_changes(old, new)
    assert [(change.kind, change.step_id) for change in changes] == [
        ("added", "d"),
        ("changed", "b"),
        ("kept", "a"),
        ("removed", "c"),
    ]
    assert changes[1].fields == (("args", {"n": 1}, {"n": 2}), ("effect", "read", "draft"))
    assert changes[2].fields == ()
    assert ("description", None, "Do it") in changes[0].fields
    assert ("description", "Do it", None) in changes[3].fields


def test_values_that_python_takes_for_equal_are_told_apart() -> None:
    (change,) = plan_changes(plan(step("a", args={"n": 1})), plan(step("a", args={"n": True})))
    assert change.fields == (("args", {"n": 1}, {"n": True}),)
    (same,) = plan_changes(plan(step("a", args={"n": 1})), plan(step("a", args={"n": 1.0})))
    assert same.kind == "kept"
