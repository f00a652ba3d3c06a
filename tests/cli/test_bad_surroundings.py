import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import CommandLine

READING = (["runs"], ["approvals"], ["usage"], ["traces"], ["show", "r-1"])


@pytest.mark.parametrize("words", READING, ids=" ".join)
@pytest.mark.parametrize("file", ["records.db", "spans.db"])
def test_a_file_that_is_no_database_is_named(tmp_path: Path, words: list[str], file: str) -> None:
    (tmp_path / file).write_bytes(b"this is no database, whatever its name says" * 100)
    answer = CommandLine(tmp_path)(*words, "--json")
    assert (answer.code, answer.error) == (1, "storage")
    assert file in answer.out


def test_a_checkpoint_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "checkpoints.db").write_bytes(b"this is no database" * 1_000)
    for words in (["threads"], ["history", "t"], ["state", "t"], ["run", "Which region sold most in 2026?"]):
        answer = CommandLine(tmp_path)(*words)
        assert answer.code == 1
        assert "checkpoints.db" in answer.err
        assert len(answer.err.strip().splitlines()) == 1


def test_a_home_that_is_a_file_is_named_with_the_variable(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("a file")
    for words in (["runs"], ["run", "Which region sold most?"]):
        answer = CommandLine(home)(*words)
        assert answer.code == 1
        assert "PLANDECK_HOME" in answer.err


def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    plandeck = CommandLine(tmp_path)
    plandeck.json("runs", "runs")
    connection = sqlite3.connect(tmp_path / "records.db")
    connection.execute("UPDATE records_alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    before = (tmp_path / "records.db").read_bytes()
    answer = plandeck("runs", "--json")
    assert (answer.code, answer.error) == (1, "storage")
    assert (tmp_path / "records.db").read_bytes() == before


@pytest.mark.parametrize(
    ("settings", "words", "told"),
    [
        ({"PLANDECK_PROVIDER": "opnai"}, ["run", "x"], "openai"),
        ({"PLANDECK_PROVIDER": "openai", "OPENAI_API_KEY": ""}, ["run", "x"], "OPENAI_API_KEY"),
        ({"PLANDECK_PORT": "many"}, ["runs"], "PLANDECK_PORT"),
        ({"PLANDECK_DATABASE_URL": "mysql://x"}, ["runs"], "PLANDECK_DATABASE_URL"),
        ({"PLANDECK_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}, ["runs"], "PLANDECK_DATABASE_URL"),
        ({"PLANDECK_STORES": "broken"}, ["threads"], "PLANDECK_STORES"),
        ({"PLANDECK_PRICES": "/nowhere/prices.toml"}, ["run", "x"], "prices.toml"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, dict) else None,
)
def test_a_wrong_setting_is_named(tmp_path: Path, settings: dict[str, str], words: list[str], told: str) -> None:
    plandeck = CommandLine(tmp_path / "home").with_settings(**settings)
    answer = plandeck(*words)
    assert answer.code == 1
    assert told in answer.err
    assert len(answer.err.strip().splitlines()) == 1


def test_a_wrong_price_file_stops_what_would_price_and_nothing_else(tmp_path: Path) -> None:
    plandeck = CommandLine(tmp_path)
    run = plandeck.json("run", "run", "Which region sold most in 2026?", "--detach")
    (tmp_path / "prices.toml").write_text("models = 1")
    spans = tmp_path / "spans.json"
    spans.write_text("{}")
    for words in (["run", "x"], ["resume", run["thread_id"]], ["ingest", str(spans)], ["worker"]):
        answer = plandeck(*words)
        assert answer.code == 1
        assert "prices.toml is wrong" in answer.err
    assert plandeck.json("usage", "usage")["total"]["calls"] == 0
    assert plandeck.json("run", "cancel", run["run_id"])["status"] == "cancelled"


def test_a_wrong_provider_does_not_keep_anybody_from_reading(tmp_path: Path) -> None:
    plandeck = CommandLine(tmp_path / "home").with_settings(PLANDECK_PROVIDER="opnai")
    assert plandeck.json("runs", "runs")["runs"] == []
    assert plandeck.json("threads", "threads")["threads"] == []


def test_a_broken_settings_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plandeck.toml").write_text("port = = 1")
    answer = CommandLine(tmp_path / "home")("runs", "--json")
    assert (answer.code, answer.error) == (1, "configuration")
    assert "plandeck.toml" in answer.out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_stdout_is_one_sentence(tmp_path: Path) -> None:
    environment = {**os.environ, "PLANDECK_HOME": str(tmp_path / "home")}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dashboard.cli", "runs", "--json"],
            env=environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_help_imports_neither_pages_nor_agent_nor_databases() -> None:
    heavy = ("streamlit", "langgraph", "langchain_core", "pandas", "sqlalchemy", "pydantic", "genai_prices", "plotly")
    script = (
        "import sys\nfrom dashboard.cli.main import app\n"
        "try:\n    app(prog_name='plandeck', args=['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "parse-plan" in done.stdout
    assert done.stderr.strip() == "[]"


def test_reading_runs_imports_neither_pages_nor_agent(tmp_path: Path) -> None:
    heavy = ("streamlit", "langgraph", "langchain_core", "pandas", "plotly", "httpx")
    script = (
        "import sys\nfrom dashboard.cli.main import app\n"
        "try:\n    app(prog_name='plandeck', args=['runs'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    environment = {**os.environ, "PLANDECK_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    assert done.stderr.strip() == "[]"
