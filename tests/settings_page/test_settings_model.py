from dataclasses import fields
from pathlib import Path

import pytest
from pydantic import BaseModel

from agent.records import Effect, Limits
from agent.settings import load_settings
from agent.tools.registry import Observation, Tool, ToolRegistry
from dashboard.settings_page.model import (
    LIMIT_WORDS,
    addresses,
    database_size,
    headline,
    limit_facts,
    model_facts,
    places,
    server_facts,
    size_of,
    tool_facts,
    tool_rows,
    versions,
    without_secrets,
)


class Nothing(BaseModel):
    pass


def tool(name: str, effect: Effect, missing: str | None = None) -> Tool:
    return Tool(name, 1, f"Does {name}.", Nothing, effect, lambda *_: Observation("done"), missing=missing)


def test_the_headline_counts_the_tools() -> None:
    assert headline("offline", 5) == "Runs use the offline model and 5 tools"
    assert headline("openai", 1) == "Runs use openai and one tool"


def test_tools_are_listed_from_harmless_to_grave() -> None:
    rows = tool_rows(ToolRegistry([tool("mail", Effect.SEND_EXTERNAL), tool("web", Effect.READ, missing="WEB_KEY")]))
    assert [(row.name, row.effect, row.ready) for row in rows] == [
        ("web", Effect.READ, False),
        ("mail", Effect.SEND_EXTERNAL, True),
    ]


def test_every_limit_has_words_and_its_value() -> None:
    assert set(LIMIT_WORDS) == {item.name for item in fields(Limits)}
    assert limit_facts(Limits(max_steps=3))[0].value == "3"


def test_no_secret_is_among_the_facts(tmp_path: Path) -> None:
    settings = load_settings(
        home=tmp_path,
        otlp_token="s3cret",
        database_url="postgresql://li:s3cret@db.internal:5432/plandeck?sslpassword=s3cret",
        base_url="https://u:s3cret@models.internal/v1?key=s3cret",
        stores="theirs=postgresql://u:s3cret@h/db",
        tavily_api_key="s3cret",
        smtp_url="smtp://ana:s3cret@mail.internal:25",
        notify_webhook="https://hooks.internal/s3cret?key=s3cret",
    )
    shown = [*model_facts(settings, "vllm", "m", None), *server_facts(settings), *tool_facts(settings)]
    text = " ".join([*(fact.value for fact in shown), *(fact.value for fact in addresses(settings))])
    assert "s3cret" not in text
    assert "postgresql://li@db.internal:5432/plandeck" in text
    assert "theirs" in text
    assert {fact.name: fact.value for fact in tool_facts(settings)} == {
        "Web search": "key set",
        "HTTP GET": "not set",
        "Mail server": "mail.internal:25",
        "Webhook": "hooks.internal",
    }
    assert "s3cret" not in repr(settings).replace(repr(settings.base_url), "")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("inside Plandeck", "inside Plandeck"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("https://:pw@h/x", "https://h/x"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert without_secrets(url) == shown


def test_sizes_count_the_log_of_a_database_and_nothing_is_unknown(tmp_path: Path) -> None:
    assert size_of(tmp_path / "none") is None
    assert database_size(tmp_path / "none.db") is None
    (tmp_path / "a.db").write_bytes(b"123")
    (tmp_path / "a.db-wal").write_bytes(b"4567")
    assert database_size(tmp_path / "a.db") == 7
    assert size_of(tmp_path) == 7


def test_places_of_an_embedded_home_are_three_databases_and_two_folders(tmp_path: Path) -> None:
    found = {place.name: (place.file, place.bytes) for place in places(load_settings(home=tmp_path))}
    assert found == {
        "Runs and approvals": ("records.db", None),
        "Checkpoints": ("checkpoints.db", None),
        "Spans": ("spans.db", None),
        "Artifacts": ("artifacts", None),
        "Outbox": ("outbox", None),
    }


def test_with_postgresql_only_artifacts_and_outbox_are_files(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path, database_url="postgresql://li@db.internal/plandeck")
    assert [(place.name, place.file) for place in places(settings)] == [
        ("Database", None),
        ("Artifacts", "artifacts"),
        ("Outbox", "outbox"),
    ]
    assert [fact.value for fact in addresses(settings)] == [str(tmp_path), "postgresql://li@db.internal/plandeck"]


def test_versions_begin_with_our_own() -> None:
    assert versions()[0].name == "Plandeck"
    assert all(fact.value for fact in versions())
