from pathlib import Path

import pytest
from pages import open_pages, page, title

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
