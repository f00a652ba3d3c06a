import json
import re
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, event, literal
from store_records import a_plan, a_request, a_run

from agent.records import Decision, RunStatus, Source, StepStatus
from agent.store import schema
from agent.store.columns import UtcDateTime
from agent.store.conditions import runnable_query
from agent.store.engine import Database
from agent.store.gateway import open_record_store
from agent.store.migrate import MIGRATIONS, VERSION_TABLE

HERE = Path(__file__).parent
OPEN_AND_TELL = """
import json, sys
from agent.store.gateway import open_record_store
with open_record_store(sys.argv[1]) as store:
    store.count_pending("default")
print(json.dumps(sorted(name.partition(".")[0] for name in sys.modules)))
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def version_1_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that the first version of the schema left, with a run, two plans, a decision and more."""
    dump = (HERE / f"version_1.{request.param}.sql").read_text()
    if request.param == "sqlite":
        file = tmp_path / "records.db"
        with sqlite3.connect(file) as connection:
            connection.executescript(dump)
        connection.close()
        return f"sqlite:///{file}"
    url: str = request.getfixturevalue("postgresql_url")
    with psycopg.connect(url) as connection:
        connection.execute(dump.encode())
    return url


def test_a_database_of_the_first_version_opens_with_everything_in_it(version_1_url: str) -> None:
    with open_record_store(version_1_url) as store:
        (run,) = store.runs("default")
        assert run == a_run(
            status=RunStatus.WAITING_HUMAN, plan_version=2, sources=(Source(1, "s2", "lookup", "B-7: 12"),)
        )
        assert store.plans("default", "r-1") == [a_plan(), a_plan(2)]
        assert [step.status for step in store.steps("default", "r-1")] == [StepStatus.PENDING] * 2
        assert [attempt.step_id for attempt in store.attempts("default", "r-1")] == ["s2"]
        (request,) = store.requests("default")
        assert (request.decision, request.decided_by, request.value) == (Decision.EDIT, "li", a_plan(2).to_json())
        assert [event.text for event in store.events("default", "r-1")] == [
            "asked by ana",
            "edited by li, plan version 2",
        ]
        assert [artifact.name for artifact in store.artifacts("default", "r-1")] == ["a.txt"]
        assert store.runnable() == [("default", "r-1")]
        store.update_run("default", "r-1", status=RunStatus.EXECUTING)
    assert_schema_is_the_newest(version_1_url)


def test_migrations_lead_to_the_schema_that_the_code_uses(empty_records_url: str) -> None:
    open_record_store(empty_records_url).close()
    assert_schema_is_the_newest(empty_records_url)


def assert_schema_is_the_newest(url: str) -> None:
    database = Database(url)
    with database.read() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "compare_type": True})
        assert context.get_current_revision() == schema.HEAD
        assert compare_metadata(context, schema.metadata) == []
    database.close()


def test_the_newest_migration_is_the_one_that_the_code_expects() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_current_head() == schema.HEAD
    for script in scripts.walk_revisions():
        assert Path(script.path).name.startswith(f"v{script.revision}_")


def test_every_table_has_the_project_in_its_key_but_the_one_of_processes() -> None:
    without = [table.name for table in schema.metadata.sorted_tables if "project" not in table.primary_key.columns]
    assert without == ["workers"]


def test_opening_a_migrated_database_imports_no_alembic(records_url: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OPEN_AND_TELL, records_url],
        capture_output=True,
        text=True,
        check=True,
        cwd=HERE.parents[1],
    )
    modules = set(json.loads(done.stdout))
    assert "sqlalchemy" in modules
    assert modules & {"alembic", "langgraph", "langchain_core", "pandas", "streamlit"} == set()


def test_opening_twice_finds_what_was_written(records_url: str) -> None:
    for n in range(3):
        with open_record_store(records_url) as store:
            assert len(store.runs("default")) == n
            store.add_run(a_run(f"r-{n}"))


def test_tables_of_others_stay_as_they_are_on_a_shared_server(postgresql_url: str) -> None:
    with psycopg.connect(postgresql_url) as connection:
        connection.execute("CREATE TABLE checkpoints (id integer)")
        connection.execute("INSERT INTO checkpoints VALUES (7)")
    with open_record_store(postgresql_url) as store:
        assert store.add_run(a_run()) == a_run()
    with psycopg.connect(postgresql_url) as connection:
        assert connection.execute("SELECT id FROM checkpoints").fetchall() == [(7,)]


def test_a_migration_that_fails_halfway_leaves_nothing_and_can_be_repeated(empty_records_url: str) -> None:
    def fail(connection: object, cursor: object, statement: str, *_: object) -> None:
        if "CREATE TABLE artifacts" in statement:
            raise RuntimeError("the power went")

    event.listen(Engine, "before_cursor_execute", fail)
    try:
        with pytest.raises(RuntimeError, match="the power went"):
            open_record_store(empty_records_url)
    finally:
        event.remove(Engine, "before_cursor_execute", fail)
    with open_record_store(empty_records_url) as store:
        assert store.runs("default") == []


def test_sqlite_is_durable_checks_keys_waits_for_others_and_lets_readers_read(tmp_path: Path) -> None:
    open_record_store(f"sqlite:///{tmp_path / 'records.db'}").close()
    database = Database(f"sqlite:///{tmp_path / 'records.db'}")
    with database.read() as connection:
        pragmas = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        values = [connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() for pragma in pragmas]
    database.close()
    assert values == ["wal", 2, 1, 10_000]


def test_looking_for_runnable_runs_reads_no_ended_run_and_no_applied_request(records_url: str) -> None:
    with open_record_store(records_url) as store:
        store.add_run(a_run("r-0", status=RunStatus.SUCCEEDED))
        store.put_request(a_request("q-0", "r-0"))
    database = Database(records_url)
    with database.write() as connection:
        for table, key in ((schema.runs, "run_id"), (schema.requests, "request_id")):
            (row,) = connection.execute(table.select()).mappings()
            many = [{**row, key: f"{key}-{n}", "checkpoint_id": f"cp-{n}"} for n in range(3_000)]
            rows = [{name: value for name, value in item.items() if name in table.c} for item in many]
            connection.execute(table.insert(), rows)
    plans = [explained(database)] if database.is_sqlite else []
    with database.write() as connection:
        connection.exec_driver_sql("ANALYZE")
    plans.append(explained(database))
    database.close()
    for plan in plans:
        for table in ("runs", "approval_requests"):
            assert f"Seq Scan on {table}" not in plan
            assert not re.search(rf"SCAN {table}(?! USING INDEX ix_runs_moving| USING INDEX \w+_unapplied)", plan), plan
        assert "ix_runs_moving" in plan
        assert "ix_approval_requests_unapplied" in plan


def explained(database: Database) -> str:
    """How the engine goes about `runnable`."""
    query = runnable_query(literal(datetime.now(UTC), UtcDateTime()), None, 10)
    word = "EXPLAIN QUERY PLAN" if database.is_sqlite else "EXPLAIN"
    with database.read() as connection:
        sql = query.compile(connection, compile_kwargs={"literal_binds": True})
        return "\n".join(str(row[-1]) for row in connection.exec_driver_sql(f"{word} {sql}"))
