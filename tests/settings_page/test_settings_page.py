from pathlib import Path

import pytest
from pages import open_pages, page, plain, title

SETTINGS = "settings_page/view.py"


def test_the_page_shows_what_is_in_force_and_how_to_change_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANDECK_OTLP_TOKEN", "s3cret-token")
    with open_pages(tmp_path / "home") as (app, _):
        test = page(SETTINGS)
        names = app.registry.names
    assert title(test) == f"Runs use the offline model and {len(names)} tools"
    shown = "\n".join(table.value.to_string() for table in test.table)
    assert all(name in shown.replace("\\", "") for name in names)
    for variable in ("PLANDECK_PROVIDER", "PLANDECK_MODEL", "PLANDECK_PORT", "PLANDECK_STORES", "PLANDECK_PRICES"):
        assert variable in shown
    assert "s3cret-token" not in shown
    assert "records.db" in shown


def test_prices_and_stores_that_are_not_in_force_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANDECK_STORES", "nothing")
    with open_pages(tmp_path / "home"):
        (tmp_path / "home" / "prices.toml").write_text("models = 1")
        warnings = [plain(str(warning.value)) for warning in page(SETTINGS).warning]
    assert len(warnings) == 2
    assert "The built-in prices are in force" in warnings[0]
    assert "nothing" in warnings[1]
