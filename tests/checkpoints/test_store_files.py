import hashlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from checkpoint_graphs import chain, thread
from langgraph.checkpoint.sqlite import SqliteSaver

from agent.checkpoints import sqlite as gateway
from agent.checkpoints.stores import CheckpointStore, open_store
from agent.errors import NotFoundError, StorageError


def look_at_everything(store: CheckpointStore) -> int:
    seen = 0
    for summary in store.threads().items:
        for ns in summary.namespaces:
            for checkpoint in store.history(summary.thread_id, ns=ns).items:
                store.state(summary.thread_id, checkpoint.checkpoint_id, ns)
                seen += 1
    return seen


def folder(path: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in path.iterdir()}


@pytest.mark.parametrize("name", ["B01", "B10", "B28", "B33", "B34"])
def test_looking_changes_no_byte_and_adds_no_file(
    case: Callable[..., CheckpointStore], tmp_path: Path, name: str
) -> None:
    store = case(name)
    before = folder(tmp_path)
    assert look_at_everything(store) >= 3
    assert folder(tmp_path) == before


def test_a_closed_file_in_wal_mode_gets_no_log_beside_it(tmp_path: Path, saver: SqliteSaver) -> None:
    chain(saver, "a").invoke({"topic": "x"}, thread("t"))
    saver.conn.close()
    before = folder(tmp_path)
    assert list(before) == ["own.db"]
    assert look_at_everything(open_store(str(tmp_path / "own.db"), "own")) == 3
    assert folder(tmp_path) == before


def test_what_a_live_writer_has_committed_is_seen(store: CheckpointStore, saver: SqliteSaver) -> None:
    chain(saver, "a").invoke({"topic": "x"}, thread("t"))
    assert store.threads().items[0].checkpoints == 3
    chain(saver, "a").invoke({"topic": "x"}, thread("t"))
    assert store.threads().items[0].checkpoints == 6
    assert store.note is None


@pytest.fixture
def closed_folder() -> Iterator[Path]:
    """A folder that another user can reach, which the one of pytest is not."""
    path = Path(tempfile.mkdtemp())
    yield path
    path.chmod(0o700)
    shutil.rmtree(path)


def test_a_log_in_a_folder_that_cannot_be_written_is_said(
    closed_folder: Path, tmp_path: Path, saver: SqliteSaver
) -> None:
    chain(saver, "a").invoke({"topic": "x"}, thread("t"))
    for name in ("own.db", "own.db-wal"):
        shutil.copy(tmp_path / name, closed_folder / name)
    with (
        closing(sqlite3.connect(tmp_path / "own.db")) as connection,
        closing(sqlite3.connect(closed_folder / "own.db")) as copy,
    ):
        connection.backup(copy)
    (closed_folder / "own.db-wal").write_bytes((tmp_path / "own.db-wal").read_bytes())
    (closed_folder / "own.db-shm").unlink(missing_ok=True)
    closed_folder.chmod(0o555)
    store = open_store(str(closed_folder / "own.db"), "closed")
    said = as_nobody(lambda: f"{len(store.threads().items)} {store.note}")
    assert said == "1 The folder of own.db cannot be written, so its newest changes are not seen."


def as_nobody(question: Callable[[], str]) -> str:
    """The answer of a child process for which permissions hold, as they do not for root."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            os.write(writing, question().encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return said


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"Store lost: there is no file .*lost\.db"):
        open_store(str(tmp_path / "lost.db"), "lost").threads()
    assert not list(tmp_path.iterdir())


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"no database at all, but long enough to be looked at" * 40)
    with pytest.raises(StorageError, match="not a SQLite database"):
        open_store(str(tmp_path / "a.db"), "a").threads()


def test_a_database_without_checkpoints_is_named(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("CREATE TABLE songs (title)")
    with pytest.raises(StorageError, match="holds no LangGraph checkpoints"):
        open_store(str(tmp_path / "a.db"), "a").threads()


def test_a_view_in_place_of_the_table_is_not_asked(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute(
            "CREATE VIEW checkpoints AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
            " SELECT i AS thread_id, '' AS checkpoint_ns, i AS checkpoint_id, NULL AS parent_checkpoint_id,"
            " 'json' AS type, '' AS checkpoint, '' AS metadata FROM n"
        )
    with pytest.raises(StorageError, match="holds no LangGraph checkpoints"):
        open_store(str(tmp_path / "a.db"), "a").threads()


def test_a_locked_file_is_busy_and_heals_by_itself(
    case: Callable[[str], CheckpointStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "BUSY_SECONDS", 0.05)
    store = case("B28")
    with closing(sqlite3.connect(tmp_path / "B28.db", isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = DELETE")
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError, match="B28 is busy: another process writes") as caught:
            store.threads()
        assert caught.value.code == "busy"
        writer.execute("COMMIT")
    assert len(store.threads().items) == 1


def test_no_answer_in_time_is_said(case: Callable[[str], CheckpointStore], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "QUERY_SECONDS", -1.0)
    monkeypatch.setattr(gateway, "_STEPS_BETWEEN_LOOKS", 1)
    with pytest.raises(StorageError, match="to answer"):
        case("B28").threads()


def test_a_database_of_an_old_saver_is_read_without_a_change(loaded_dump: str) -> None:
    store = open_store(loaded_dump, "old")
    assert {t.thread_id: (t.checkpoints, str(t.status), t.next) for t in store.threads().items} == {
        "pg-wait": (3, "waiting", ("gate",)),
        "pg-done": (5, "unknown", None),
        "pg-fan": (4, "breakpoint", ("work", "work")),
    }
    assert store.state("pg-done").values["done"] == ["gate:ok", "s1", "s2"]
    (interrupt,) = store.state("pg-wait").interrupts
    assert [step["id"] for step in interrupt.value["plan"]] == ["s1", "s2"]
    assert look_at_everything(store) == 12
    with psycopg.connect(loaded_dump) as connection:
        (last,) = connection.execute("SELECT max(v) FROM checkpoint_migrations").fetchone() or (None,)
        assert last == 4


def test_postgresql_that_is_not_there_is_named_without_its_password() -> None:
    with pytest.raises(StorageError, match="Store far: PostgreSQL cannot be read") as caught:
        open_store("postgresql://someone:hunter2@127.0.0.1:1/none", "far").threads()
    assert "hunter2" not in str(caught.value)


def test_postgresql_without_the_tables_is_named(postgresql_url: str) -> None:
    with pytest.raises(StorageError, match="holds no LangGraph checkpoints"):
        open_store(postgresql_url, "empty").threads()
