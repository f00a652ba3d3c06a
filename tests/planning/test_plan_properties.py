"""What holds for any answer whatever."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.planning.hashing import payload_hash, plan_hash
from agent.planning.ordering import layers, topological_order
from agent.planning.parsing import ParsedPlan, check_plan, parse_plan
from agent.planning.validation import KnownTool, validate_plan
from agent.records import Effect, Plan

LOOKUP = {"type": "object", "properties": {"sku": {"type": "string"}}, "required": ["sku"]}
TOOLS = {"lookup": (Effect.READ, LOOKUP), "mail": (Effect.SEND_EXTERNAL, {})}
KNOWN = {name: KnownTool(*tool) for name, tool in TOOLS.items()}

ANYTHING = settings(database=None, deadline=None)
"""No files left behind, and no failure because the machine is busy."""

PIECES = st.sampled_from(
    """{ } [ ] " ' : , \n \\ \\" ``` ```json\n <think> </think> [THINK] // /* */ # null None True NaN 1 -2.5 ? sorry \
plan steps: - 1. 2) Step|3: (tool:|lookup) lookup(sku='x') {{s1.out}} | |---|---| “ ” &quot; é ؟ \x00 \ud800 ** $ \
"steps" "id" "s1" "title" "tool" "lookup" "args" "dependencies" "plan" "arguments" "kind" "question\"""".split(" ")  # noqa: SIM905
)
TEXTS = st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=200)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12) | st.sampled_from(
    ["lookup", "mail", "s1", "s2", "1", "s1, s2", '{"sku": "x"}', "1. Look\n2. Say", "none"]
)  # fmt: skip
KEYS = st.text(max_size=6) | st.sampled_from(
    ["steps", "tasks", "plan", "id", "step", "title", "description", "tool", "action", "args", "input", "sku", "kind",
     "dependencies", "after", "acceptance_criteria", "goal", "name", "arguments", "message", "question"]
)  # fmt: skip
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=25
)
STEP_IDS = st.sampled_from(["s1", "s2", "s3", "s4", "s5"])
STEPS = st.lists(
    st.fixed_dictionaries(
        {
            "id": STEP_IDS,
            "description": st.text(min_size=1, max_size=10),
            "tool": st.sampled_from([None, "lookup", "mail"]),
            "args": st.dictionaries(st.just("sku"), st.text(max_size=5), max_size=1),
            "dependencies": st.lists(STEP_IDS, max_size=2),
            "acceptance_criteria": st.text(max_size=5),
        }
    ),
    max_size=6,
)


def right(result: ParsedPlan) -> None:
    """A valid plan, or reasons why there is none."""
    assert (result.plan is None) == (result.outcome == "invalid") == bool(result.errors)
    assert all(error.message and error.code for error in result.errors)
    if result.plan is None:
        return
    plan = result.plan
    assert 1 <= len(plan.steps) <= 8
    assert validate_plan({**plan.to_json()}, KNOWN, max_steps=8) == []
    assert plan.hash == plan_hash(plan.goal, plan.steps)
    assert {step.id for step in topological_order(plan.steps)} == set(layers(plan.steps))
    assert Plan.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@ANYTHING
@given(TEXTS)
def test_any_text_is_read_or_refused(text: str) -> None:
    right(parse_plan(text, TOOLS))


@ANYTHING
@given(VALUES)
def test_any_value_is_read_or_refused(value: Any) -> None:
    right(parse_plan(value, TOOLS))
    right(parse_plan(json.dumps(value), TOOLS))


@ANYTHING
@given(STEPS)
def test_any_steps_are_checked(steps: list[dict[str, Any]]) -> None:
    right(check_plan("g", "r", steps, TOOLS))
    right(parse_plan({"goal": "g", "rationale": "r", "steps": steps}, TOOLS))


@ANYTHING
@given(VALUES, VALUES)
def test_any_edit_is_checked(goal: Any, step: Any) -> None:
    right(check_plan(goal, "r", [step], TOOLS))


@ANYTHING
@given(STEPS, st.integers(0, 400))
def test_any_cut_or_garbled_plan_is_read_or_refused(steps: list[dict[str, Any]], place: int) -> None:
    text = json.dumps({"goal": "g", "steps": steps})
    right(parse_plan(text[:place], TOOLS))
    right(parse_plan(text[:place] + text[place + 1 :], TOOLS))


@ANYTHING
@given(STEPS)
def test_reading_what_was_read_changes_nothing(steps: list[dict[str, Any]]) -> None:
    plan = parse_plan({"goal": "g", "rationale": "r", "steps": steps}, TOOLS).plan
    if plan is not None:
        again = parse_plan(
            {"goal": plan.goal, "rationale": plan.rationale, "steps": plan.to_json()["steps"]}, TOOLS
        ).plan
        assert again is not None
        assert again.hash == plan.hash


@ANYTHING
@given(
    st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), st.integers(-99, 99)), st.randoms()
)
def test_the_order_of_keys_does_not_count(value: dict[str, int], random: Any) -> None:
    entries = list(value.items())
    random.shuffle(entries)
    assert payload_hash(dict(entries)) == payload_hash(value)
