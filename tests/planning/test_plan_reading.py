"""Odd answers of planners, one kind each, and what is read out of them."""

import json
from typing import Any

import pytest

from agent.planning.parsing import ParsedPlan, parse_plan
from agent.records import Effect

LOOKUP = {
    "type": "object",
    "properties": {"sku": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["sku"],
    "additionalProperties": False,
}
SQL = {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}
TOOLS = {
    "lookup": (Effect.READ, LOOKUP),
    "sql_query": (Effect.READ, SQL),
    "convert": (Effect.READ, {}),
    "report": (Effect.DRAFT, {}),
    "mail": (Effect.SEND_EXTERNAL, {}),
}
WHOLE: dict[str, Any] = {
    "kind": "plan",
    "goal": "Know the stock",
    "rationale": "It is asked for.",
    "steps": [
        {
            "id": "s1",
            "description": "Look up the stock",
            "tool": "lookup",
            "args": {"sku": "B-7", "n": 5},
            "dependencies": [],
            "acceptance_criteria": "A number is shown",
        },
        {
            "id": "s2",
            "description": "Say it",
            "tool": None,
            "args": {},
            "dependencies": ["s1"],
            "acceptance_criteria": "It is said",
        },
    ],
}
ONE = '{"id": "s1", "title": "Look", "tool": "lookup"}'
DECOY = '{"steps": [{"id": "x", "title": "Mail everyone", "tool": "mail"}]}'


def read(source: Any, **options: Any) -> ParsedPlan:
    return parse_plan(source, TOOLS, **options)


def brief(result: ParsedPlan) -> list[tuple[str, str, str | None, tuple[str, ...]]]:
    """(id, description, tool, dependencies) of each step."""
    assert result.plan is not None, result.errors
    return [(step.id, step.description, step.tool, step.dependencies) for step in result.plan.steps]


def codes(result: ParsedPlan) -> set[str]:
    return {code.split(":")[0] for code in result.repairs}


@pytest.mark.parametrize("source", [WHOLE, json.dumps(WHOLE), json.dumps(WHOLE, indent=2) + "\n"])
def test_a_right_answer_needs_no_repair_and_keeps_its_types(source: Any) -> None:
    result = read(source)
    assert (result.outcome, result.repairs, result.errors) == ("ok", (), ())
    assert result.plan is not None
    assert result.plan.steps[0].args == {"sku": "B-7", "n": 5}
    assert type(result.plan.steps[0].args["n"]) is int
    assert result.plan.goal == "Know the stock"


LISTS_IN_WORDS = {
    "numbers": "1. Look (tool: lookup)\n2. Turn (tool: convert)",
    "brackets": "1) Look [tool: lookup]\n2) Turn [tool: convert]",
    "in one line": "Plan: 1. Look (tool: lookup) 2. Turn (tool: convert)",
    "step words": "Step 1: Look (lookup)\nStep 2: Turn (using convert)",
    "headings": "### Step 1: Look\nTool: lookup\n\n### Step 2: Turn\n**Tool:** `convert`\n**Depends on:** Step 1",
    "bold": "**1. Look** (tool: lookup)\n**2. Turn** (tool: convert)",
    "tool in front": "1. lookup: Look\n2. convert - Turn",
    "arrow": "1. Look -> lookup\n2. Turn → convert",
    "lines below": "1. Look\n   - Tool: lookup\n2. Turn\n   Tool: convert\n   Depends on: 1\n\nShall I begin?",
    "fenced": "Here it is:\n```\n1. Look (tool: lookup)\n2. Turn (tool: convert; depends on 1)\n```\nDone.",
    "table": "| # | Task | Tool | After |\n|---|---|---|---|\n| 1 | Look | lookup | - |\n| 2 | Turn | `convert` | 1 |",
}


@pytest.mark.parametrize("text", LISTS_IN_WORDS.values(), ids=LISTS_IN_WORDS)
def test_lists_in_words_are_plans(text: str) -> None:
    assert brief(read(text)) == [("1", "Look", "lookup", ()), ("2", "Turn", "convert", ("1",))]


def test_details_below_an_item_are_its_parts() -> None:
    text = (
        'Goal: know the stock\n\n1. Look\n   - Tool: lookup\n   - Args: {"sku": "B-7", "n": 5}\n'
        '   - Acceptance criteria: a number\n2. Say it (args: {"to": "li"}, tool: report)'
    )
    plan = read(text).plan
    assert plan is not None
    assert plan.goal == "know the stock"
    assert plan.steps[0].args == {"sku": "B-7", "n": 5}
    assert plan.steps[0].acceptance_criteria == "a number"
    assert (plan.steps[1].tool, plan.steps[1].args) == ("report", {"to": "li"})


def test_bullets_are_a_plan_only_where_a_plan_is_spoken_of() -> None:
    assert [step[1] for step in brief(read("My plan:\n* Look up\n* Convert\n"))] == ["Look up", "Convert"]
    assert read("About your company:\n- founded 1990\n- five people").plan is None


def test_the_last_of_two_lists_is_the_plan() -> None:
    text = "What I know:\n1. It is late\n2. It rains\n\nPlan:\n1. Look (tool: lookup)\n2. Turn (tool: convert)"
    assert [step[1] for step in brief(read(text))] == ["Look", "Turn"]


SAME_AS_ONE_LOOK = {
    "python": "{'steps': [{'id': 's1', 'title': 'Look', 'tool': 'lookup', 'note': None, 'sure': True}]}",
    "bare keys": 'plan = {steps: [{id: "s1", title: "Look", tool: "lookup"}]};',
    "typographic quotes": "{“steps”: [{“id”: “s1”, “title”: “Look”, “tool”: “lookup”}]}",
    "missing comma": '{"steps": [{"id": "s1" "title": "Look", "tool": "lookup"}]}',
    "missing bracket": '{"steps": [{"id": "s1", "title": "Look", "tool": "lookup"}',
    "one bracket too many": '{"steps": [{"id": "s1", "title": "Look", "tool": "lookup"}]}}',
    "ellipsis": '{"steps": [{"id": "s1", "title": "Look", "tool": "lookup"}, ...]}',
    "hash comments": '{"steps": [ # first\n {"id": "s1", "title": "Look", "tool": "lookup"}\n]}',
    "byte order mark": "\ufeff" + f'{{"steps": [{ONE}]}}',
    "windows lines": f'```json\r\n{{"steps": [{ONE}]}}\r\n```\r\n',
    "fence in one line": f'```json {{"steps": [{ONE}]}} ```',
    "fence never closed": f'```json\n{{"steps": [{ONE}]}}',
    "tilde fence": f'~~~\n{{"steps": [{ONE}]}}\n~~~',
    "braces in prose": f'I {{use: the tools, then\n```json\n{{"steps": [{ONE}]}}\n```',
    "tool list before": f'Tools: ["lookup", "convert"]\nPlan: {{"steps": [{ONE}]}}',
    "escaped": f'{{"steps": [{ONE}]}}'.replace('"', '\\"'),
    "json in json": json.dumps(f'{{"steps": [{ONE}]}}'),
    "html": f'{{"steps": [{ONE}]}}'.replace('"', "&quot;"),
    "steps as text": json.dumps({"steps": f"[{ONE}]"}),
    "in an envelope": f'{{"plan": {{"steps": [{ONE}]}}}}',
    "in an unknown envelope": f'{{"stock_plan": {{"steps": [{ONE}]}}}}',
    "in a list": f'[{{"steps": [{ONE}]}}]',
    "tool call": json.dumps({"name": "propose_plan", "arguments": f'{{"steps": [{ONE}]}}'}),
    "tool call tags": f'<tool_call>\n{{"name": "propose_plan", "arguments": {{"steps": [{ONE}]}}}}\n</tool_call>',
    "tool calls": json.dumps({"tool_calls": [{"function": {"name": "p", "arguments": f'{{"steps": [{ONE}]}}'}}]}),
    "whole response": json.dumps({"choices": [{"message": {"content": f'{{"steps": [{ONE}]}}'}}]}),
    "function tag": f'<function=propose_plan>{{"steps": [{ONE}]}}</function>',
    "steps by id": '{"steps": {"s1": {"title": "Look", "tool": "lookup"}}}',
    "step object": f'{{"steps": {ONE}}}',
    "lone step": ONE,
    "list of lists": f'{{"steps": [[{ONE}]]}}',
    "nulls in the list": f'{{"steps": [null, {ONE}, ""]}}',
    "a group": f'{{"phases": [{{"name": "Preparation", "steps": [{ONE}]}}]}}',
    "tool as object": '{"steps": [{"id": "s1", "title": "Look", "tool": {"name": "lookup"}}]}',
    "tool in a list": '{"steps": [{"id": "s1", "title": "Look", "tools": ["lookup"]}]}',
    "tool in other words": '{"steps": [{"id": "s1", "title": "Look", "tool": "functions.Lookup()"}]}',
    "spaces": '{"steps": [{"id": " s1 ", "title": " Look ", "tool": " lookup "}]}',
    "keys with spaces": '{"Steps": [{"Step ID": "s1", "Title": "Look", "Tool Name": "lookup"}]}',
    "yaml": "```yaml\nsteps:\n  - id: s1\n    title: Look\n    tool: lookup\n```",
    "yaml after prose": "Here is it.\n\nsteps:\n- id: s1\n  title: Look\n  tool: lookup\n\nGood luck!",
    "closing thought only": f'Perhaps {DECOY}?\n</think>\n{{"steps": [{ONE}]}}',
    "nested thoughts": f'<think>a <think>{DECOY}</think> b</think>{{"steps": [{ONE}]}}',
    "other thought tag": f'<reasoning>{DECOY}</reasoning>\n{{"steps": [{ONE}]}}',
    "bracket thought": f'[THINK]{DECOY}[/THINK]{{"steps": [{ONE}]}}',
    "thought never closed": f'<think>Perhaps {DECOY}, no.\n\n{{"steps": [{ONE}]}}',
    "channels": f'<|channel|>analysis<|message|>{DECOY}<|channel|>final<|message|>{{"steps": [{ONE}]}}<|return|>',
    "corrected itself": f'{DECOY}\nNo, better:\n{{"steps": [{ONE}]}}',
    "cut in the second step": f'{{"steps": [{ONE}, {{"id": "s2", "title": "Conv',
    "first step twice": f'{{"steps": [{ONE}]}}\n{{"steps": [{ONE}]}}',
}


@pytest.mark.parametrize("text", SAME_AS_ONE_LOOK.values(), ids=SAME_AS_ONE_LOOK)
def test_odd_forms_of_one_step(text: str) -> None:
    result = read(text)
    assert brief(result) == [("s1", "Look", "lookup", ())]
    assert result.outcome == "repaired"


def steps_json(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"steps": list(steps)}


A = {"id": "s1", "title": "A", "tool": "convert"}


@pytest.mark.parametrize(
    "said", ["s1", "1", 1, 1.0, "step 1", "Step #1", "S1", "A", "s1.output", ["s1", "s1"], [{"id": "s1"}], '["s1"]',
             "s1, ", "previous step", {"s1": "its number"}]
)  # fmt: skip
def test_many_ways_to_name_the_first_step(said: Any) -> None:
    result = read(steps_json({**A, "after": []}, {"id": "s2", "title": "B", "tool": "convert", "depends_on": said}))
    assert brief(result)[1][3] == ("s1",)


@pytest.mark.parametrize("said", [None, "", "none", "N/A", [], "-", [None], False])
def test_many_ways_to_name_no_step(said: Any) -> None:
    result = read(steps_json({**A, "after": []}, {"id": "s2", "title": "B", "tool": "convert", "depends_on": said}))
    assert brief(result)[1][3] == ()


def test_several_dependencies_in_one_text() -> None:
    steps = [{**A, "id": f"s{number}", "deps": []} for number in (1, 2, 3)]
    result = read(steps_json(*steps, {"id": "s4", "title": "B", "deps": "s1, s2 and s3"}))
    assert brief(result)[3][3] == ("s1", "s2", "s3")


def test_ids_with_a_dot_are_not_taken_for_their_first_number() -> None:
    steps = [{"id": "1", "title": "A", "deps": []}, {"id": "1.1", "title": "B", "deps": ["1"]}]
    assert [error.code for error in read(steps_json(*steps, {"id": "2", "title": "C", "deps": ["1.2"]})).errors] == [
        "unknown_dependency"
    ]
    assert brief(read(steps_json(*steps, {"id": "2", "title": "C", "deps": ["1.1"]})))[2][3] == ("1.1",)


def test_steps_without_dependencies_run_in_the_order_given() -> None:
    result = read('[{"title": "A"}, {"title": "B"}, {"title": "C"}]')
    assert [(step[0], step[3]) for step in brief(result)] == [("1", ()), ("2", ("1",)), ("3", ("2",))]
    assert "dependencies_in_order" in codes(result)


def test_positions_counted_from_zero() -> None:
    result = read(steps_json({"title": "A", "deps": []}, {"title": "B", "deps": [0]}))
    assert [(step[0], step[3]) for step in brief(result)] == [("0", ()), ("1", ("0",))]


def test_given_ids_are_never_given_again() -> None:
    result = read(steps_json({"title": "A", "deps": []}, {"id": 1, "title": "B", "deps": []}))
    assert [step[0] for step in brief(result)] == ["3", "1"]


def test_dependencies_beside_the_steps() -> None:
    plan = {"steps": [{"id": "a", "title": "A"}, {"id": "b", "title": "B"}], "dependencies": {"a": ["b"]}}
    assert [(step[0], step[3]) for step in brief(read(plan))] == [("a", ("b",)), ("b", ())]


def test_a_dependency_on_a_group_is_one_on_its_steps() -> None:
    plan = {
        "phases": [
            {
                "id": "P1",
                "name": "Prepare",
                "steps": [{"id": "a", "title": "A", "deps": []}, {"id": "b", "title": "B"}],
            },
            {"id": "c", "title": "C", "deps": ["P1"]},
        ]
    }
    assert brief(read(plan))[2][3] == ("a", "b")


def test_steps_of_a_group_wait_for_what_the_group_waits_for() -> None:
    plan = {
        "stages": [
            {"id": "a", "title": "A", "deps": []},
            {"id": "g", "title": "G", "deps": ["a"], "steps": [{"id": "b", "title": "B"}, {"id": "c", "title": "C"}]},
        ]
    }
    assert [(step[0], step[3]) for step in brief(read(plan))] == [("a", ()), ("b", ("a",)), ("c", ("a",))]


def test_a_step_told_in_more_detail_stays_one_step() -> None:
    result = read(steps_json({"id": "s1", "title": "Prepare", "subtasks": ["open it", "read it"]}))
    assert brief(result) == [("s1", "Prepare: open it; read it", None, ())]


ARGUMENTS = {
    "json text": ({"tool": "lookup", "args": '{"sku": "B-7"}'}, {"sku": "B-7"}),
    "python text": ({"tool": "lookup", "args": "{'sku': 'B-7'}"}, {"sku": "B-7"}),
    "keywords": ({"tool": "lookup", "args": "sku='B-7', n=5"}, {"sku": "B-7", "n": 5}),
    "call": ({"tool": "lookup(sku='B-7')"}, {"sku": "B-7"}),
    "call with json": ({"tool": 'lookup({"sku": "B-7"})'}, {"sku": "B-7"}),
    "inside the tool": ({"tool": {"name": "lookup", "arguments": {"sku": "B-7"}}}, {"sku": "B-7"}),
    "inside a function": ({"function": {"name": "lookup", "arguments": '{"sku": "B-7"}'}}, {"sku": "B-7"}),
    "only argument": ({"tool": "sql_query", "input": "SELECT 1"}, {"sql": "SELECT 1"}),
    "pairs": ({"tool": "lookup", "args": [{"name": "sku", "value": "B-7"}]}, {"sku": "B-7"}),
    "list of one": ({"tool": "lookup", "args": [{"sku": "B-7"}]}, {"sku": "B-7"}),
    "beside the tool": ({"tool": "lookup", "sku": "B-7", "n": 5, "priority": "high"}, {"sku": "B-7", "n": 5}),
    "placeholder": ({"tool": "lookup", "args": {"sku": "{{s1.output}}", "n": 5}}, {"n": 5}),
    "placeholder in words": ({"tool": "lookup", "args": {"sku": "<result of step 1>"}}, {}),
    "null": ({"tool": "lookup", "args": {"sku": "B-7", "n": None}}, {"sku": "B-7"}),
    "nothing": ({"tool": "lookup", "args": None}, {}),
    "words for no tool": ({"tool": "none", "input": "what s1 found"}, {}),
    "react": ({"action": "lookup", "action_input": {"sku": "B-7"}}, {"sku": "B-7"}),
}


@pytest.mark.parametrize(("parts", "args"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_ways_to_give_arguments(parts: dict[str, Any], args: dict[str, Any]) -> None:
    plan = read(steps_json({"id": "s1", "description": "Look", **parts})).plan
    assert plan is not None
    assert plan.steps[0].args == args


def test_values_that_only_look_like_placeholders_stay() -> None:
    sql = "SELECT '{{x}}' FROM t WHERE a < 5 AND b > 3"
    plan = read(steps_json({**A, "tool": "sql_query", "args": {"sql": sql}})).plan
    assert plan is not None
    assert plan.steps[0].args == {"sql": sql}


@pytest.mark.parametrize("key", ["action", "function", "tool_name", "command"])
def test_an_unknown_tool_is_refused_under_every_name(key: str) -> None:
    result = read(steps_json({"id": "s1", "description": "Clean up", key: "delete_rows", "args": {"table": "orders"}}))
    assert [error.code for error in result.errors] == ["unknown_tool"]


def test_action_in_words_is_what_to_do() -> None:
    assert brief(read(steps_json({"step": 1, "action": "Look at the stock", "tool": "lookup"}))) == [
        ("1", "Look at the stock", "lookup", ())
    ]


def test_the_effect_is_the_registrys_whatever_the_model_says() -> None:
    result = read(steps_json({**A, "tool": "mail", "effect": "read"}))
    assert result.plan is not None
    assert result.plan.steps[0].effect is Effect.SEND_EXTERNAL
    assert "effect_from_registry: s1" in result.repairs


def test_criteria_as_a_list_are_one_text() -> None:
    plan = read(steps_json({**A, "success_criteria": ["one", "two"]})).plan
    assert plan is not None
    assert plan.steps[0].acceptance_criteria == "one; two"


def test_what_is_missing_is_noted_and_not_made_up() -> None:
    result = read(steps_json(A))
    assert {"no_goal", "no_rationale", "no_acceptance_criteria: s1"} <= set(result.repairs)
    assert result.plan is not None
    assert (result.plan.goal, result.plan.steps[0].acceptance_criteria) == ("", "")


def test_the_task_stands_in_for_a_goal() -> None:
    result = read(steps_json(A), goal="Know the stock")
    assert result.plan is not None
    assert result.plan.goal == "Know the stock"


def test_goal_in_a_line_of_its_own_before_the_steps() -> None:
    plan = read('{"goal": "Know the stock"}\n{"id": "s1", "title": "A"}\n{"id": "s2", "title": "B"}').plan
    assert plan is not None
    assert (plan.goal, len(plan.steps)) == ("Know the stock", 2)


NO_PLANS = {
    "prose": "First look up the stock, then convert it, and finally write a report.",
    "apology": "I'm sorry, I cannot help with that.",
    "braces in prose": "Use {this} and [that], see {\"a\": 1} and [4].",
    "nothing": "",
    "blank": " \n\t ",
    "null": "null",
    "number": "42",
    "object": "{}",
    "an answer": '{"answer": "It is 42."}',
    "data": '[{"name": "Bo", "age": 3}, {"name": "Li", "age": 4}]',
    "tool list": 'I have ["lookup", "convert"].',
    "only a thought": f"<think>Perhaps {DECOY}",
    "thought that goes on": f"<think>Perhaps\n{DECOY}\nor rather not, because",
    "refusal with a list": "I cannot do that. Options:\n1. Give me the file\n2. Try again later",
    "cannot": '{"kind": "cannot", "message": "There is no tool for mail."}',
    "one item": "1. I am not sure.",
    "a call": "lookup(sku='B-7')",
    "code": "```python\nfor step in steps:\n    run(step)\n```",
}  # fmt: skip


@pytest.mark.parametrize("text", NO_PLANS.values(), ids=NO_PLANS)
def test_no_plan_is_made_of_what_is_none(text: str) -> None:
    result = read(text)
    assert [error.code for error in result.errors] == ["not_a_plan"]
    assert (result.outcome, result.plan, result.question) == ("invalid", None, None)


QUESTIONS = {
    "prose": "Which SKU do you mean?",
    "after a thought": f"<think>{DECOY}</think>Which SKU do you mean?",
    "kind": '{"kind": "question", "message": "Which SKU do you mean?"}',
    "kind with leftovers": '{"kind": "question", "message": "Which SKU do you mean?", "steps": []}',
    "key": '```json\n{"question": "Which SKU do you mean?"}\n```',
    "key beside no steps": '{"steps": [], "clarification": "Which SKU do you mean?"}',
    "in a tool call": '{"name": "propose_plan", "arguments": {"message": "Which SKU do you mean?"}}',
}


@pytest.mark.parametrize("text", QUESTIONS.values(), ids=QUESTIONS)
def test_questions_reach_the_user_in_their_own_words(text: str) -> None:
    result = read(text)
    assert result.plan is None
    assert result.question == "Which SKU do you mean?"


@pytest.mark.parametrize(
    "text",
    [
        "Please tell me which SKU you mean.",
        "Before I plan I have to know:\n1. Which SKU?\n2. Which month?",
        "Could you share the stock file first. It is missing.\n- stock.csv\n- orders.csv\nWhat do you prefer?",
    ],
)
def test_words_that_ask_are_a_question_even_as_a_list(text: str) -> None:
    assert read(text).question == text


@pytest.mark.parametrize("text", ["[]", '{"steps": []}', '{"steps": null}', '{"plan": {"goal": "x", "steps": []}}'])
def test_a_plan_without_steps_says_so(text: str) -> None:
    assert [error.code for error in read(text).errors] == ["empty_plan"]


def test_an_answer_cut_in_its_first_step_is_no_empty_plan() -> None:
    (error,) = read('{"goal": "g", "steps": [{"id": "s1", "ti').errors
    assert error.code == "bad_shape"
    assert "ends in the middle" in error.message


def test_a_cut_answer_says_that_it_was_cut() -> None:
    assert {"cut_off", "torn_step_dropped"} <= codes(read(SAME_AS_ONE_LOOK["cut in the second step"]))


def test_fences_in_arguments_do_not_end_the_plan() -> None:
    body = "```\nx = {1}\n```"
    plan = read(f"Here:\n```json\n{json.dumps(steps_json({**A, 'args': {'text': body}}))}\n```\nBye.").plan
    assert plan is not None
    assert plan.steps[0].args == {"text": body}


def test_think_tags_inside_a_plan_are_words() -> None:
    plan = read(json.dumps(steps_json({**A, "title": "Explain <think> and </think>"}))).plan
    assert plan is not None
    assert plan.steps[0].description == "Explain <think> and </think>"


def test_characters_that_no_database_takes_are_replaced() -> None:
    result = read('{"steps": [{"id": "s1", "title": "A\\ud800\\u0000B", "tool": "convert"}]}')
    assert brief(result)[0][1] == "A\ufffd\ufffdB"
    assert "odd_characters" in codes(result)


def test_a_repeated_key_is_noted() -> None:
    result = read('{"steps": [{"id": "s1", "title": "A", "title": "B"}]}')
    assert brief(result)[0][1] == "B"
    assert "repeated_key: title" in result.repairs


def test_steps_under_one_repeated_key_are_all_kept() -> None:
    result = read('{"step": {"id": "s1", "title": "A"}, "step": {"id": "s2", "title": "B"}}')
    assert [step[1] for step in brief(result)] == ["A", "B"]


def test_yaml_keeps_types_and_takes_no_aliases() -> None:
    plan = read("steps:\n- id: s1\n  title: Look\n  tool: lookup\n  args:\n    sku: no\n    n: 5\n").plan
    assert plan is not None
    assert plan.steps[0].args == {"sku": "no", "n": 5}
    assert read("goal: &x [a]\nsteps:\n- id: *x\n  title: Look\n").plan is None


@pytest.mark.parametrize("odd", [object(), {1, 2}, b"{}", 4.5, {"steps": [{"id": object()}]}, {"steps": 3}, [[[]]]])
def test_things_that_are_no_json_are_refused(odd: Any) -> None:
    result = read(odd)
    assert result.plan is None
    assert result.errors


def test_too_long_answers_are_not_read() -> None:
    assert [error.code for error in read("x" * 200_001).errors] == ["too_long"]
    assert [error.code for error in read({"steps": ["a"] * 2_001}).errors] == ["too_long"]


def test_deep_nesting_is_refused() -> None:
    deep: Any = "x"
    for _ in range(3_000):
        deep = [deep]
    assert read({"steps": [{**A, "args": {"a": deep}}]}).plan is None
    assert read("[" * 100_000).plan is None
    assert read('{"steps": ' * 5_000).plan is None
