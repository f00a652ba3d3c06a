"""The F cases: what planners of this kind have really answered, and what has to come out."""

import json
from pathlib import Path

import pytest

from agent.planning.ordering import topological_order
from agent.planning.parsing import ParsedPlan, parse_plan
from agent.records import Effect

CASES = Path(__file__).parents[1] / "cases"


def parsed(folder: str, file: str = "planner_output.txt") -> ParsedPlan:
    tools = json.loads((CASES / folder / "tools.json").read_text())
    return parse_plan((CASES / folder / file).read_text(), {name: (Effect.READ, {}) for name in tools})


def as_in_cases(result: ParsedPlan) -> list[dict]:
    assert result.plan is not None, result.errors
    return [
        {
            "id": step.id,
            "title": step.description,
            "tool": step.tool,
            "args": step.args,
            "depends_on": list(step.dependencies),
        }
        for step in result.plan.steps
    ]


@pytest.mark.parametrize(
    ("folder", "file", "expected", "repair"),
    [
        ("F01_fence_and_prose", "planner_output.txt", "expected.json", "code_fence"),
        ("F03_trailing_commas_comments", "planner_output.txt", "expected.json", "trailing_commas"),
        ("F05_think_with_decoy", "planner_output.txt", "expected.json", "thinking_removed"),
        ("F07_other_key_names", "planner_output.txt", "expected.json", "key_names"),
        ("F09_string_steps", "planner_output.txt", "expected.json", "text_steps"),
        ("F21_integer_ids", "planner_output.txt", "expected.json", "ids_as_text"),
        ("F24_array_and_several_objects", "planner_output.txt", "expected.json", "key_names"),
        ("F24_array_and_several_objects", "jsonl.txt", "jsonl_expected.json", "several_objects"),
    ],
)
def test_readable_answers_become_the_plan_that_was_meant(folder: str, file: str, expected: str, repair: str) -> None:
    result = parsed(folder, file)
    wanted = json.loads((CASES / folder / expected).read_text())
    assert as_in_cases(result) == wanted["plan"]["steps"]
    assert result.outcome == "repaired"
    assert any(code.split(":")[0] == repair for code in result.repairs)
    assert result.plan is not None
    assert result.plan.repairs == result.repairs


@pytest.mark.parametrize(
    ("folder", "step"),
    [
        ("F11_cycle", "a"),
        ("F13_unknown_dependency", "s2"),
        ("F15_tool_not_in_list", "s2"),
        ("F19_zero_steps", None),
        ("F23_duplicate_ids", "s1"),
    ],
)
def test_plans_that_cannot_run_are_refused_with_the_ids(folder: str, step: str | None) -> None:
    result = parsed(folder)
    wanted = json.loads((CASES / folder / "expected.json").read_text())["errors"]
    assert result.plan is None
    assert result.outcome == "invalid"
    assert [error.step for error in result.errors] == [step]
    said = [f"{error.code}: {error.message}" for error in result.errors]
    assert all(any(line.startswith(start) for line in said) for start in wanted), said


def test_an_unknown_tool_is_named_together_with_the_allowed_ones() -> None:
    (error,) = parsed("F15_tool_not_in_list").errors
    assert "lookup, convert, report, mail" in error.message


def test_a_question_instead_of_a_plan_goes_to_the_user() -> None:
    result = parsed("F25_not_a_plan")
    assert [error.code for error in result.errors] == ["not_a_plan"]
    assert result.question == (CASES / "F25_not_a_plan/planner_output.txt").read_text().strip()


def test_six_hundred_steps_are_cut_so_that_every_kept_step_has_what_it_needs() -> None:
    result = parsed("F26_hundreds_of_steps")
    assert result.plan is not None
    assert [step.id for step in result.plan.steps] == [f"s{number}" for number in range(8)]
    assert "truncated: 592 steps" in result.repairs


def test_a_chain_of_six_hundred_steps_can_be_ordered_whole() -> None:
    text = (CASES / "F26_hundreds_of_steps/planner_output.txt").read_text()
    plan = parse_plan(text, {"lookup": (Effect.READ, {}), "report": (Effect.READ, {})}, max_steps=600).plan
    assert plan is not None
    assert len(topological_order(plan.steps)) == 600


def test_a_replanned_plan_is_read_like_any_other() -> None:
    result = parsed("F17_replan_returns_done_steps")
    assert [(step["id"], step["args"]) for step in as_in_cases(result)] == [
        ("s1", {"sku": "B-7"}),
        ("s2", {"unit": "pallet"}),
        ("s3", {}),
    ]


def test_a_plan_that_leans_on_a_step_it_does_not_hold_is_refused() -> None:
    assert [error.code for error in parsed("F27_replan_loop").errors] == ["unknown_dependency"]
