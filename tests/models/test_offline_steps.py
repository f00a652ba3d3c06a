import json
import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_openai import ChatOpenAI
from offline_whole_way import Agent, numbers_not_seen

from agent.models.client import ask_function, build_model
from agent.models.providers import PROVIDERS
from agent.planning.prompts import JUDGE_STEP, answer_messages, execute_messages, judge_messages
from agent.settings import Settings
from agent.tools.calculator import CALCULATOR
from agent.tools.registry import ToolRegistry
from agent.tools.report import REPORT
from agent.tools.sample import ensure_sample
from agent.tools.search import search_tool
from agent.tools.sql import sql_tool

TOP = "Which three projects cost most in the latest month with data, and did any exceed its budget?"


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    home = tmp_path_factory.mktemp("home")
    sample = ensure_sample(home)
    return Agent(
        ToolRegistry([sql_tool(sample.database), search_tool(sample.policies), CALCULATOR, REPORT]),
        home,
        sample.database,
    )


@pytest.fixture(scope="module")
def model() -> ChatOpenAI:
    return build_model(Settings(provider="offline"))


def tools_of(plan: dict[str, Any]) -> list[str | None]:
    return [step["tool"] for step in plan["steps"]]


# --- plans


def test_a_count_of_things_is_of_no_month_unless_one_is_asked_for(agent: Agent) -> None:
    done = agent.run("How many projects are paused?")
    assert done.first_sentence == "For status paused [1], the number of projects was 1 [2]."


def test_a_task_of_several_parts_is_answered_in_one_sentence_and_a_report(agent: Agent) -> None:
    done = agent.run(f"{TOP} Write a short report.")
    assert tools_of(done.plan) == ["sql_query", "sql_query", "sql_query", "sql_query", "report_file"]
    assert done.plan["steps"][-1]["dependencies"] == ["s1", "s2", "s3", "s4"]
    assert "body" not in done.plan["steps"][-1]["args"]
    assert done.first_sentence.startswith("In 2026-08 [1], the projects with the highest total cost were Atlas")
    assert "Atlas (132,190.57 USD) exceeded its budget of 120,000 USD by 12,190.57 USD" in done.first_sentence
    assert numbers_not_seen(done) == []
    body = (agent.folder / done.plan["steps"][-1]["args"]["filename"]).read_text()
    assert "Atlas" in body
    assert "## Sources" in body


def test_policies_are_looked_up_beside_the_figures(agent: Agent) -> None:
    done = agent.run(
        "Which projects exceeded their budget in August 2026, and what does the policy say about overruns?"
    )
    assert "policy_search" in tools_of(done.plan)
    assert "FIN-07" in done.answer
    assert numbers_not_seen(done) == []


def test_a_question_about_policies_alone_asks_nothing_of_the_database(agent: Agent) -> None:
    done = agent.run("What does the policy say about budget overruns?")
    assert tools_of(done.plan) == ["policy_search", "policy_search", None]
    assert done.first_sentence.startswith("The documents say in FIN-07, paragraph")


def test_a_share_and_a_difference_are_left_to_the_calculator(agent: Agent) -> None:
    share = agent.run("What share of the revenue did the North region have in 2026?")
    assert tools_of(share.plan)[-1] == "calculator"
    assert "the share is" in share.first_sentence
    apart = agent.run("What is the difference in revenue between North and South in July 2026?")
    assert "the difference is" in apart.first_sentence
    assert numbers_not_seen(share) == numbers_not_seen(apart) == []


@pytest.mark.parametrize(
    ("said", "tools"),
    [
        ("No report, please.", ["sql_query"] * 4),
        ("Skip the report", ["sql_query"] * 4),
        ("Add the policy on overruns", ["sql_query"] * 4 + ["policy_search", "report_file"]),
    ],
)
def test_feedback_changes_the_steps(agent: Agent, said: str, tools: list[str]) -> None:
    plan = agent.plan(f"{TOP} Write a short report.", feedback=[said])
    assert tools_of(plan) == tools
    assert "Not taken up" not in plan["rationale"]


def test_feedback_changes_count_and_period(agent: Agent) -> None:
    plan = agent.plan(TOP, feedback=["Top 5 instead", "Use July 2026"])
    assert "LIMIT 5" in plan["steps"][1]["args"]["sql"]
    assert "'2026-07'" in plan["steps"][1]["args"]["sql"]
    assert "five projects" in plan["goal"]


def test_feedback_that_is_not_understood_is_owned_up_to(agent: Agent) -> None:
    plan = agent.plan(TOP, feedback=["Please weigh by headcount of the moon"])
    assert "Not taken up" in plan["rationale"]
    assert "moon" in plan["rationale"]


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_the_cap_on_steps_is_kept_and_the_figures_with_it(agent: Agent, most: int) -> None:
    plan = agent.plan(f"{TOP} Write a short report.", max_steps=most)
    assert len(plan["steps"]) == most
    ids = {step["id"] for step in plan["steps"]}
    assert all(set(step["dependencies"]) <= ids for step in plan["steps"])
    assert any("LIMIT 3" in step["args"].get("sql", "") for step in plan["steps"])


@pytest.mark.parametrize(
    "task",
    [
        f"{TOP} Write a short report.",
        "Which project cost least in July 2026?",
        "Which projects exceeded their budget in August 2026?",
        "Total revenue of the North region in 2026",
        "How did the revenue develop in 2026?",
        "What share of the revenue did the North region have in 2026?",
        "What is the difference in revenue between North and South in July 2026?",
    ],
)
def test_a_changed_wording_of_steps_changes_nothing_in_the_answer(agent: Agent, task: str) -> None:
    as_planned = agent.run(task)
    edited = [{**step, "description": "Do as the boss says, in 1999"} for step in as_planned.plan["steps"]]
    changed = agent.run(task, plan={**as_planned.plan, "steps": edited})
    assert changed.answer == as_planned.answer
    assert "boss" not in changed.answer
    assert numbers_not_seen(changed) == []


@pytest.mark.parametrize(
    ("task", "name"),
    [
        (f"{TOP} Write a short report.", "top-projects-by-cost-latest-month.md"),
        ("Top 3 projects by cost in August 2026, as a report", "top-projects-by-cost-2026-08.md"),
        ("Which projects exceeded their budget in August 2026? Write a report.", "projects-over-budget-2026-08.md"),
        (
            "Compare revenue by region from March 2026 to May 2026 in a report",
            "revenue-by-region-2026-03-to-2026-05.md",
        ),
    ],
)
def test_a_report_has_a_short_name_that_says_what_it_is_about(agent: Agent, task: str, name: str) -> None:
    assert agent.plan(task)["steps"][-1]["args"]["filename"] == name
    assert len(name) <= 40


def test_answers_read_like_sentences(agent: Agent) -> None:
    done = agent.run(TOP)
    assert "All 10 projects together have a total cost of 500,294.05 USD; next comes 55,747.11 USD [4]." in done.answer
    assert "; Borealis and Cinder did not [3]." in done.first_sentence
    total = agent.run("Total revenue of the North region in August 2026")
    assert total.first_sentence.startswith("For region North, in 2026-08 [1], total revenue came to ")
    assert re.search(r"That rests on \d+ rows, from [\d,.]+ USD to [\d,.]+ USD each \[3\]\.", total.answer)


# --- execution

CALCULATE = {
    "id": "s2",
    "description": "Work out the difference between the first two rows of s1",
    "tool": "calculator",
    "args": {},
    "dependencies": ["s1"],
    "acceptance_criteria": "",
}


def earlier(rows: list[list[Any]]) -> list[dict[str, Any]]:
    data = {"columns": ["region", "total"], "rows": rows, "row_count": len(rows)}
    return [{"step_id": "s1", "description": "d", "tool": "sql_query", "status": "completed", "key_result": "k",
             "criterion_met": True, "observation": {"text": "t", "data": data}}]  # fmt: skip


def turn(model: ChatOpenAI, step: dict[str, Any], results: list[dict[str, Any]], *more: Any) -> AIMessage:
    tool = CALCULATOR
    offered = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    bound = model.bind_tools([{"type": "function", "function": offered}])
    answer = bound.invoke([*execute_messages("task", "goal", step, results), *more])
    assert isinstance(answer, AIMessage)
    return answer


def test_an_open_expression_is_made_of_earlier_figures(model: ChatOpenAI) -> None:
    answer = turn(model, CALCULATE, earlier([["a", 12.5], ["b", 7]]))
    assert answer.tool_calls[0]["args"] == {"expression": "12.5 - 7"}


def test_an_expression_without_figures_is_refused_in_words(model: ChatOpenAI) -> None:
    answer = turn(model, CALCULATE, earlier([["a", 12.5]]))
    assert answer.tool_calls == []
    assert "cannot" in answer.text


def test_what_the_plan_fixes_stays_as_it_is(model: ChatOpenAI) -> None:
    step = {**CALCULATE, "args": {"expression": "1 +  1"}}
    assert turn(model, step, []).tool_calls[0]["args"] == {"expression": "1 +  1"}


def test_a_refused_call_is_mended_once_and_then_owned_up_to(model: ChatOpenAI) -> None:
    step = {**CALCULATE, "args": {"expression": "1 +"}}
    wrong = AIMessage("", tool_calls=[{"name": "calculator", "args": {"expression": "2"}, "id": "c1"}])
    refused = ToolMessage(json.dumps({"error": "not_covered", "message": "fixes expression"}), tool_call_id="c1")
    mended = turn(model, step, [], wrong, refused)
    assert mended.tool_calls[0]["args"] == {"expression": "1 +"}
    again = turn(model, step, [], mended, ToolMessage('{"error": "x", "message": "no arithmetic"}', tool_call_id="c2"))
    assert again.tool_calls == []
    assert "no arithmetic" in again.text


def test_a_tool_that_answered_is_not_called_again(model: ChatOpenAI) -> None:
    called = AIMessage("", tool_calls=[{"name": "calculator", "args": {"expression": "2"}, "id": "c1"}])
    answer = turn(model, CALCULATE, [], called, ToolMessage("2 = 2", tool_call_id="c1"))
    assert answer.tool_calls == []
    assert answer.text


def test_an_open_query_is_written_from_the_task(agent: Agent) -> None:
    step = {
        "id": "s1",
        "description": "Look",
        "tool": "sql_query",
        "args": {},
        "dependencies": [],
        "acceptance_criteria": "",
    }
    tool = agent.registry["sql_query"]
    offered = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    bound = agent.model.bind_tools([{"type": "function", "function": offered}])
    answer = bound.invoke(execute_messages("Total revenue in 2026 by region", "g", step, []))
    assert "SUM(t.revenue_usd)" in answer.tool_calls[0]["args"]["sql"]
    refused = bound.invoke(execute_messages("Write a poem", "g", step, []))
    assert refused.tool_calls == []


# --- checks


def judged(model: ChatOpenAI, criterion: str, **observation: Any) -> dict[str, Any]:
    step = {"id": "s1", "tool": "sql_query", "acceptance_criteria": criterion}
    seen = {"text": "some text", "data": None, "artifacts": [], "empty": False, **observation}
    answer = ask_function(model, PROVIDERS["offline"], judge_messages(step, seen), JUDGE_STEP)
    assert isinstance(answer, dict)
    return answer


def rows(*figures: float | None) -> dict[str, Any]:
    lines = "\n".join(f"x | {figure}" for figure in figures)
    data = {"columns": ["name", "figure"], "rows": [["x", figure] for figure in figures], "row_count": len(figures)}
    return {"text": f"{len(figures)} rows:\nname | figure\n{lines}", "data": data}


@pytest.mark.parametrize(
    ("criterion", "figures", "met"),
    [
        ("Three rows, each with a name", (1, 2, 3), True),
        ("Three rows, each with a name", (1, 2), False),
        ("Three rows, or fewer if there are fewer", (1, 2), True),
        ("At least one row", (1, 2), True),
        ("At most one row", (1, 2), False),
        ("More than 2 rows", (1, 2), False),
        ("Two rows with a figure above zero", (1, 0), False),
        ("Two rows with a figure above zero", (1, 2), True),
        ("The figures are shown", (1,), True),
    ],
)
def test_what_can_be_counted_is_counted(
    model: ChatOpenAI, criterion: str, figures: tuple[float, ...], met: bool
) -> None:
    assert judged(model, criterion, **rows(*figures))["criterion_met"] is met


@pytest.mark.parametrize(
    ("criterion", "met"),
    [("Rows are shown", False), ("No rows means that there is none", True), ("May be empty", True)],
)
def test_nothing_to_see_is_no_yes_unless_the_criterion_says_so(model: ChatOpenAI, criterion: str, met: bool) -> None:
    empty = {"text": "0 rows (a).", "data": {"columns": ["a"], "rows": [], "row_count": 0}, "empty": True}
    assert judged(model, criterion, **empty)["criterion_met"] is met
    only_null = {"text": "1 row: NULL", "data": {"columns": ["a"], "rows": [[None]], "row_count": 1}}
    assert judged(model, criterion, **only_null)["criterion_met"] is met


@pytest.mark.parametrize("text", ["", "   ", "Error: no such table", '{"error": "timeout", "message": "too slow"}'])
def test_an_error_is_no_result(model: ChatOpenAI, text: str) -> None:
    assert judged(model, "The figures are shown", text=text)["criterion_met"] is False


def test_the_key_result_has_the_figures_word_for_word(model: ChatOpenAI) -> None:
    assert "131420.5" in judged(model, "Rows", **rows(131420.5, 7))["key_result"]


# --- answers


def test_an_answer_says_what_was_not_completed(model: ChatOpenAI) -> None:
    steps = [
        {"id": "s1", "description": "Work out the total units", "status": "completed"},
        {"id": "s2", "description": "Write the report", "status": "blocked"},
    ]
    data = {"columns": ["total_units"], "rows": [[1234]], "row_count": 1, "truncated": False}
    seen = [
        {
            "n": 1,
            "step_id": "s1",
            "tool": "sql_query",
            "key_result": "k",
            "text": "1 row:\ntotal_units\n1234",
            "data": data,
        }
    ]
    answer = str(model.invoke(answer_messages("task", "goal", steps, seen)).text)
    assert answer.splitlines()[0] == "Total units came to 1,234 [1]."
    assert "Not completed: s2" in answer


def test_a_plan_that_a_person_wrote_is_answered_from_what_it_showed(model: ChatOpenAI, tmp_path: Path) -> None:
    steps = [{"id": "a", "description": "Anything", "status": "completed"}]
    data = {"columns": ["who", "why"], "rows": [["Ann", None], ["Bo", "x|y"]], "row_count": 2, "truncated": False}
    seen = [{"n": 1, "step_id": "a", "tool": "sql_query", "key_result": "k", "text": "2 rows", "data": data}]
    answer = str(model.invoke(answer_messages("task", "goal", steps, seen)).text)
    assert "Ann" in answer
    assert "| Bo | x/y | [1] |" in answer
