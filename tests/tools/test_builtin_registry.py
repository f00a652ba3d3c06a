from pathlib import Path

import pytest

from agent.errors import ConfigurationError
from agent.records import Effect
from agent.settings import load_settings
from agent.tools.builtin import build_registry
from agent.tools.calling import call_tool
from agent.tools.registry import OBSERVATION_CHARACTERS, ToolContext, ToolError, ToolRegistry
from agent.tools.text import fitted, one_line


def test_the_four_tools_work_over_a_fresh_home(tmp_path: Path, tool_context: ToolContext) -> None:
    registry = build_registry(load_settings(home=tmp_path / "fresh"))
    assert registry.names == ["sql_query", "policy_search", "calculator", "report_file"]
    assert {tool.name: tool.effect for tool in registry} == {
        "sql_query": Effect.READ,
        "policy_search": Effect.READ,
        "calculator": Effect.READ,
        "report_file": Effect.DRAFT,
    }
    calls = {
        "sql_query": {"sql": "SELECT name FROM projects LIMIT 1"},
        "policy_search": {"query": "hotel"},
        "calculator": {"expression": "1 + 1"},
        "report_file": {"filename": "a.md", "title": "A", "body": "b"},
    }
    for name, arguments in calls.items():
        assert not call_tool(registry[name], arguments, tool_context).empty


def test_the_description_tells_models_what_there_is(tmp_path: Path) -> None:
    described = build_registry(load_settings(home=tmp_path)).describe()
    for told in (
        "### sql_query\nEffect: read\n",
        "Table monthly_costs (808 rows)\n",
        "FIN-07 Budget overruns",
        "### report_file\nEffect: draft\n",
        '"additionalProperties": false',
    ):
        assert told in described


def test_an_argument_that_a_tool_does_not_know_is_refused(tmp_path: Path) -> None:
    for tool in build_registry(load_settings(home=tmp_path)):
        assert tool.schema["additionalProperties"] is False
        with pytest.raises(ToolError, match="surprise"):
            tool.validate({"surprise": 1})


def test_two_tools_of_one_name_are_refused(tmp_path: Path) -> None:
    tools = list(build_registry(load_settings(home=tmp_path)))
    with pytest.raises(ConfigurationError, match="sql_query"):
        ToolRegistry([*tools, tools[0]])


def test_text_is_put_on_one_line_and_cut_where_it_says_so() -> None:
    assert one_line("a\tb\nc\u2028d\u202e é 😀") == "a\\tb\\nc\\u2028d\\u202e é 😀"
    assert one_line("abc", 3) == "abc"
    assert one_line("abcd", 3) == "abc…"
    assert fitted("short") == "short"
    cut = fitted("x" * 10_000)
    assert len(cut) == OBSERVATION_CHARACTERS
    assert cut.endswith("\n… cut here, 10,000 characters in all")
