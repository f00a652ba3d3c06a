from dataclasses import replace
from pathlib import Path

import pytest

from agent.errors import ConfigurationError
from agent.records import Effect, JsonObject
from agent.settings import load_settings
from agent.tools.builtin import build_registry
from agent.tools.calling import call_tool
from agent.tools.registry import (
    OBSERVATION_CHARACTERS,
    ErrorKind,
    ToolContext,
    ToolError,
    ToolRegistry,
    idempotency_key,
)
from agent.tools.text import fitted, one_line

EFFECTS = {
    "sql_query": Effect.READ,
    "policy_search": Effect.READ,
    "calculator": Effect.READ,
    "report_file": Effect.DRAFT,
    "chart_file": Effect.DRAFT,
    "web_search": Effect.READ,
    "http_get": Effect.READ,
    "notify": Effect.SEND_EXTERNAL,
}


def test_the_tools_that_need_no_setting_work_over_a_fresh_home(tmp_path: Path, tool_context: ToolContext) -> None:
    registry = build_registry(load_settings(home=tmp_path / "fresh", tavily_api_key=None))
    assert {tool.name: tool.effect for tool in registry} == EFFECTS
    keyed = replace(tool_context, idempotency_key=idempotency_key("r-1", "s1", 1, 1))
    chart = {"kind": "bar", "title": "A", "rows": [{"a": "b", "c": 1}], "x": "a", "y": "c"}
    calls: dict[str, JsonObject] = {
        "sql_query": {"sql": "SELECT name FROM projects LIMIT 1"},
        "policy_search": {"query": "hotel"},
        "calculator": {"expression": "1 + 1"},
        "report_file": {"filename": "a.md", "title": "A", "body": "b"},
        "chart_file": {"filename": "a.plotly.json", **chart},
        "notify": {"to": ["ana"], "subject": "A", "body": "b"},
    }
    assert [tool.name for tool in registry.ready] == list(calls)
    for name, arguments in calls.items():
        assert not call_tool(registry[name], arguments, keyed).empty
    assert len(list((tmp_path / "fresh" / "outbox").iterdir())) == 1


def test_a_tool_that_is_not_configured_stands_in_the_registry_and_is_offered_to_no_planner(
    tmp_path: Path, tool_context: ToolContext
) -> None:
    registry = build_registry(load_settings(home=tmp_path, tavily_api_key=None))
    for name, variable in {"web_search": "TAVILY_API_KEY", "http_get": "PLANDECK_HTTP_ALLOW"}.items():
        assert registry[name].missing == variable
        assert f"### {name}" not in registry.describe()
        with pytest.raises(ToolError, match=f"{name} is not configured: set {variable}") as refused:
            call_tool(registry[name], {}, tool_context)
        assert refused.value.kind is ErrorKind.NOT_CONFIGURED


def test_settings_make_every_tool_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-s3cret")
    monkeypatch.setenv("TAVILY_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("PLANDECK_HTTP_ALLOW", "example.org")
    monkeypatch.setenv("PLANDECK_SMTP_URL", "smtp://ana%40example.org:s3cret@mail.example.org")
    monkeypatch.setenv("PLANDECK_NOTIFY_WEBHOOK", "https://hooks.example.org/s3cret")
    settings = load_settings(home=tmp_path, otlp_token="s3cret", database_url="postgresql://u:s3cret@h/db")
    described = build_registry(settings).describe()
    for told in (*(f"### {name}\nEffect: {effect}\n" for name, effect in EFFECTS.items()), "example.org", "webhook"):
        assert told in described
    assert "s3cret" not in described + repr(settings)


def test_a_plain_file_of_settings_may_hold_the_key_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plandeck.toml").write_text('tavily_api_key = "tvly-1"\nhttp_allow = "example.org"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)
    assert len(build_registry(load_settings(home=tmp_path)).ready) == len(EFFECTS)


def test_every_tool_says_all_that_a_caller_has_to_know(tmp_path: Path) -> None:
    for tool in build_registry(load_settings(home=tmp_path)):
        assert tool.version >= 1
        assert tool.summary
        assert tool.schema["type"] == "object"
        assert 0 < tool.timeout_seconds <= 60
        assert tool.retryable == {ErrorKind.TIMEOUT, ErrorKind.RATE_LIMITED, ErrorKind.UNAVAILABLE}
        assert tool.idempotent is not tool.acts


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
