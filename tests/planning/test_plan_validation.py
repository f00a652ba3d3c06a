import json
from typing import Any

import pytest
from pydantic import BaseModel

from agent.planning.parsing import ParsedPlan, check_plan, parse_plan
from agent.records import Effect, PlanSource
from agent.tools.registry import Observation, Tool, ToolRegistry

SCHEMA = {
    "type": "object",
    "properties": {"sku": {"type": "string"}, "n": {"type": "integer", "minimum": 1}, "how": {"$ref": "#/$defs/How"}},
    "required": ["sku"],
    "$defs": {"How": {"enum": ["fast", "slow"]}},
}
TOOLS = {"lookup": (Effect.READ, SCHEMA), "mail": (Effect.SEND_EXTERNAL, {}), "free": (Effect.READ, {})}


def step(step_id: str = "s1", **parts: Any) -> dict[str, Any]:
    whole = {
        "id": step_id,
        "description": "Look",
        "tool": "lookup",
        "args": {},
        "dependencies": [],
        "acceptance_criteria": "A number",
    }
    return {**whole, **parts}


def check(*steps: Any, **options: Any) -> ParsedPlan:
    return check_plan("Know it", "Because", steps, TOOLS, **options)


def codes(result: ParsedPlan) -> list[tuple[str, str | None]]:
    return [(error.code, error.step) for error in result.errors]


def test_an_edit_that_is_right_becomes_a_version_by_a_person() -> None:
    result = check(step(args={"sku": "B-7", "n": 5}), version=3, parent_hash="f" * 64, trigger="edit")
    assert (result.outcome, result.repairs, result.errors) == ("ok", (), ())
    assert result.plan is not None
    assert result.plan.source is PlanSource.PERSON
    assert (result.plan.version, result.plan.parent_hash, result.plan.trigger) == (3, "f" * 64, "edit")
    assert type(result.plan.steps[0].args["n"]) is int


def test_an_edit_is_trimmed_and_nothing_else() -> None:
    result = check(step(" s1 ", description=" Look ", args={"sku": " B-7 "}), step("s2", dependencies=[" s1"]))
    assert result.plan is not None
    first, second = result.plan.steps
    assert (first.id, first.description, first.args) == ("s1", "Look", {"sku": " B-7 "})
    assert second.dependencies == ("s1",)


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"tool": "Lookup"}, ("unknown_tool", "s1")),
        ({"tool": ""}, ("unknown_tool", "s1")),
        ({"tool": 5}, ("bad_shape", "s1")),
        ({"description": "  "}, ("bad_shape", "s1")),
        ({"description": None}, ("bad_shape", "s1")),
        ({"id": ""}, ("bad_shape", "steps[0]")),
        ({"id": 1}, ("bad_shape", "steps[0]")),
        ({"args": '{"sku": "B-7"}'}, ("bad_shape", "s1")),
        ({"args": None}, ("bad_shape", "s1")),
        ({"dependencies": "s0"}, ("bad_shape", "s1")),
        ({"dependencies": [1]}, ("bad_shape", "s1")),
        ({"dependencies": ["1"]}, ("unknown_dependency", "s1")),
        ({"dependencies": ["s1"]}, ("self_dependency", "s1")),
        ({"description": "a\x00b"}, ("bad_shape", None)),
        ({"description": "a\ud800b"}, ("bad_shape", None)),
        ({"args": {"sku": object()}}, ("bad_shape", None)),
        ({"description": "x" * 5_000}, ("too_long", "s1")),
        ({"args": {"sku": "x" * 60_000}}, ("too_long", "s1")),
        ({"args": {"sku": 5}}, ("bad_arguments", "s1")),
        ({"args": {"n": "5"}}, ("bad_arguments", "s1")),
        ({"args": {"n": True}}, ("bad_arguments", "s1")),
        ({"args": {"n": 0}}, ("bad_arguments", "s1")),
        ({"args": {"how": "never"}}, ("bad_arguments", "s1")),
        ({"args": {"colour": "red"}}, ("bad_arguments", "s1")),
        ({"tool": "free", "args": {"x": float("nan")}}, ("bad_arguments", "s1")),
        ({"tool": "free", "args": {"x": 2**53}}, ("bad_arguments", "s1")),
        ({"tool": "free", "args": {"x": 10**5000}}, ("bad_arguments", "s1")),
    ],
)
def test_each_fault_has_its_code_and_names_its_step(wrong: dict[str, Any], expected: tuple[str, str | None]) -> None:
    result = check(step(**wrong))
    assert codes(result) == [expected]
    assert (result.plan, result.outcome) == (None, "invalid")


@pytest.mark.parametrize("args", [{}, {"n": 5}, {"sku": "B-7", "how": "slow"}])
def test_arguments_that_are_still_open_are_fine(args: dict[str, Any]) -> None:
    assert check(step(args=args)).outcome == "ok"


def test_every_part_is_asked_of_a_person() -> None:
    for part in ("id", "description", "tool", "args", "dependencies", "acceptance_criteria"):
        whole = step()
        del whole[part]
        (error,) = check(whole).errors
        assert error.code == "bad_shape"
        assert f"misses {part}" in error.message


@pytest.mark.parametrize("odd", ["Look", None, 5, ["s1"]])
def test_entries_that_are_no_steps_are_refused(odd: Any) -> None:
    assert codes(check(step(), odd)) == [("bad_shape", "steps[1]")]


def test_all_faults_are_told_at_once() -> None:
    result = check(
        step(tool="x", dependencies=["s9"]), step("s2", dependencies=["s3"]), step("s3", dependencies=["s2"])
    )
    assert codes(result) == [("unknown_tool", "s1"), ("unknown_dependency", "s1"), ("cycle", "s2")]


def test_many_faults_are_counted_instead_of_listed() -> None:
    errors = check(*(step(f"s{n}", tool="x") for n in range(30)), max_steps=50).errors
    assert len(errors) == 21
    assert "10 further" in errors[-1].message


def test_too_many_steps_of_a_person_are_an_error_and_not_cut() -> None:
    result = check(*(step(f"s{n}") for n in range(9)))
    assert codes(result) == [("max_steps", None)]
    assert "9 steps" in result.errors[0].message


def test_no_steps_left_is_an_empty_plan() -> None:
    assert codes(check()) == [("empty_plan", None)]


def test_the_effect_of_an_edit_is_the_registrys() -> None:
    result = check(step(tool="mail", effect="read", status="pending"))
    assert result.plan is not None
    assert result.plan.steps[0].effect is Effect.SEND_EXTERNAL


def test_a_step_in_words_reads() -> None:
    result = check(step(tool=None))
    assert result.plan is not None
    assert result.plan.steps[0].effect is Effect.READ


def test_a_registry_serves_as_well_as_names() -> None:
    class Arguments(BaseModel):
        sku: str

    tool = Tool("lookup", 1, "Looks up.", Arguments, Effect.DRAFT, lambda arguments, context: Observation(""))
    given = json.dumps({"steps": [step(args={"sku": "B"})]})
    plan = parse_plan(given, ToolRegistry([tool])).plan
    assert plan is not None
    assert plan.steps[0].effect is Effect.DRAFT
    wrong = {"steps": [step(args={"colour": "red"})]}
    assert codes(parse_plan(wrong, ToolRegistry([tool]))) == [("bad_arguments", "s1")]


def test_cutting_keeps_what_the_kept_steps_need_and_their_order() -> None:
    late = [step("a", dependencies=["z"]), step("b"), step("c"), step("z")]
    result = parse_plan({"goal": "g", "rationale": "r", "steps": late}, TOOLS, max_steps=3)
    assert result.plan is not None
    assert [kept.id for kept in result.plan.steps] == ["b", "c", "z"]
    assert result.repairs == ("truncated: 1 steps",)


def test_a_plan_that_fits_stays_in_the_order_it_was_given() -> None:
    result = parse_plan({"goal": "g", "rationale": "r", "steps": [step("a", dependencies=["z"]), step("z")]}, TOOLS)
    assert result.plan is not None
    assert [kept.id for kept in result.plan.steps] == ["a", "z"]
    assert result.outcome == "ok"
