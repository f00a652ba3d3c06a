from pathlib import Path

import pytest
from pages import open_pages, page, plain, title
from runs import write_agent

SETTINGS = "settings_page/view.py"


def test_the_page_shows_what_is_in_force_and_how_to_change_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANDECK_OTLP_TOKEN", "s3cret-token")
    monkeypatch.setenv("PLANDECK_NOTIFY_WEBHOOK", "https://hooks.example/s3cret-token")
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)
    with open_pages(tmp_path / "home") as (app, _):
        test = page(SETTINGS)
        names = app.registry.names
    assert title(test) == f"Runs use the offline model and {len(names) - 2} tools"
    shown = "\n".join(table.value.to_string() for table in test.table)
    assert all(name in shown.replace("\\", "") for name in names)
    assert shown.count("not configured") == 2
    assert "hooks.example" in shown.replace("\\", "")
    for variable in (
        "TAVILY_API_KEY",
        "PLANDECK_HTTP_ALLOW",
        "PLANDECK_SMTP_URL",
        "PLANDECK_PROVIDER",
        "PLANDECK_MODEL",
        "PLANDECK_PORT",
        "PLANDECK_STORES",
        "PLANDECK_PRICES",
    ):
        assert variable in shown
    assert "s3cret-token" not in shown
    assert "records.db" in shown
    assert str(tmp_path / "home") in [block.value for block in test.code]


def test_prices_and_stores_that_are_not_in_force_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANDECK_STORES", "nothing")
    with open_pages(tmp_path / "home"):
        (tmp_path / "home" / "prices.toml").write_text("models = 1")
        warnings = [plain(str(warning.value)) for warning in page(SETTINGS).warning]
    assert len(warnings) == 2
    assert "The built-in prices are in force" in warnings[0]
    assert "nothing" in warnings[1]


def test_agents_are_shown_with_their_version_and_a_wrong_one_with_its_fault(tmp_path: Path) -> None:
    with open_pages(tmp_path / "home") as (app, _):
        write_agent(
            tmp_path / "home", "buyer", mode="react", models={"planner": {"model": "big"}}, tools=["calculator"]
        )
        write_agent(tmp_path / "home", "broken", mode="plan")
        test = page(SETTINGS)
        version = app.agents.agent("buyer").agent_version
    row = next(
        row for table in test.table for row in table.value.to_dict("records") if "buyer" in str(row.get("Agent"))
    )
    assert version in row["Agent"]
    assert [plain(row[name]) for name in ("Mode", "Models", "Tools")] == [
        "react",
        "planning: big, all else: as set above",
        "calculator",
    ]
    assert any("agents/broken.yaml, line 3" in plain(str(warning.value)) for warning in test.warning)


def test_a_value_too_long_for_its_cell_is_shortened_there_and_whole_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = tmp_path / ("a_long_name_without_a_place_to_break" * 2 + ".toml")
    prices.write_text("models = []")
    monkeypatch.setenv("PLANDECK_PRICES", str(prices))
    with open_pages(tmp_path / "home"):
        test = page(SETTINGS)
    assert str(prices) in [block.value for block in test.code]
    cells = [plain(cell) for table in test.table for cell in table.value.get("Value", ())]
    assert any("…" in cell and cell.endswith("break.toml") for cell in cells)
    assert all(len(cell) <= 40 for cell in cells)
