import pytest

from agent.planning.fallback import fallback_plan
from agent.planning.parsing import parse_plan
from agent.records import Effect, PlanSource

TOOLS = {
    "sql_query_database": (Effect.READ, {"type": "object", "properties": {"sql": {"type": "string"}}}),
    "policy_search": (Effect.READ, {"type": "object", "properties": {"query": {"type": "string"}}}),
    "report_file": (Effect.DRAFT, {"type": "object", "properties": {"text": {"type": "string"}}}),
    "mail": (Effect.SEND_EXTERNAL, {}),
    "ledger_write": (Effect.WRITE_SYSTEM, {}),
}


def tools_of(task: str) -> list[str | None]:
    result = parse_plan(fallback_plan(task, TOOLS), TOOLS, source=PlanSource.FALLBACK)
    assert (result.outcome, result.repairs) == ("ok", ())
    assert result.plan is not None
    assert result.plan.source is PlanSource.FALLBACK
    return [step.tool for step in result.plan.steps]


def test_it_fits_the_kind_of_task() -> None:
    assert tools_of("How many orders were there in May?") == ["sql_query_database", None]
    assert tools_of("Does the travel policy allow taxis?") == ["policy_search", None]
    assert tools_of("Write a memo on the total spend") == ["sql_query_database", "report_file", None]
    assert set(tools_of("What is the total, and what do the rules allow?")) == {
        "sql_query_database",
        "policy_search",
        None,
    }


@pytest.mark.parametrize("task", ["", "hi", "Mail everybody and write to the ledger", "x" * 20_000, "\n\n"])
def test_it_is_a_valid_plan_for_any_task_and_never_uses_grave_tools(task: str) -> None:
    assert not {"mail", "ledger_write"} & set(tools_of(task))


def test_without_any_tool_it_says_what_it_cannot_know() -> None:
    plan = parse_plan(fallback_plan("How many?", {}), {}).plan
    assert plan is not None
    assert [step.tool for step in plan.steps] == [None]


def test_the_answer_rests_on_every_look() -> None:
    plan = parse_plan(fallback_plan("What is the total, and what do the rules allow?", TOOLS), TOOLS).plan
    assert plan is not None
    assert plan.steps[-1].dependencies == ("s1", "s2")
