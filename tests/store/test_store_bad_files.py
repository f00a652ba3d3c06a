import os
import shutil
import socket
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, event
from store_records import a_plan, a_request, a_run, at

from agent.errors import StorageError
from agent.records import Decision, RequestStatus
from agent.store import engine
from agent.store.gateway import open_record_store
from agent.store.migrate import VERSION_TABLE

P = "default"
NOBODY = 65534


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def refusal(url: str) -> str:
    """The sentence with which a database is refused; nothing in it tells of a library or a secret."""
    with pytest.raises(StorageError) as caught:
        open_record_store(url)
    message = caught.value.message
    assert message.endswith(".")
    assert "sqlalche" not in message
    assert "\n" not in message
    return message


@pytest.fixture
def file(tmp_path: Path, migrated_sqlite: Path) -> Path:
    """A good database file, to be spoiled."""
    return Path(shutil.copy(migrated_sqlite, tmp_path / "records.db"))


@pytest.mark.parametrize(
    "content", [b"this is no database, but a letter " * 200, b"SQLite format 3\x00" + b"\xff" * 5000]
)
def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "records.db").write_bytes(content)
    message = refusal(f"sqlite:///{tmp_path / 'records.db'}")
    assert f"{tmp_path / 'records.db'} is not a database" in message
    assert "PLANDECK_HOME" in message
    assert contents(tmp_path) == {"records.db": content}


def test_a_damaged_database_is_named_and_left_alone(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    before = contents(file.parent)
    assert f"{file} is damaged; put a backup" in refusal(f"sqlite:///{file}")
    assert contents(file.parent) == before


def test_damage_that_shows_only_later_is_told_the_same_way(file: Path) -> None:
    with open_record_store(f"sqlite:///{file}") as store:
        for n in range(300):
            store.add_run(a_run(f"r-{n}"))
    with sqlite3.connect(file) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'runs'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    with file.open("r+b") as stream:
        stream.seek((page - 1) * size)
        stream.write(b"\xff" * size)
    damaged = pytest.raises(StorageError, match=r"records\.db is damaged; put a backup")
    with open_record_store(f"sqlite:///{file}") as store, damaged:
        store.runs(P)


def test_a_database_of_another_program_is_named_and_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "records.db") as connection:
        connection.execute("CREATE TABLE songs (title)")
    connection.close()
    before = contents(tmp_path)
    assert "records.db is a database of another program" in refusal(f"sqlite:///{tmp_path / 'records.db'}")
    assert contents(tmp_path) == before


def test_a_newer_sqlite_database_is_refused_and_left_alone(file: Path) -> None:
    with sqlite3.connect(file) as connection:
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    connection.close()
    before = contents(file.parent)
    message = refusal(f"sqlite:///{file}")
    assert f"{file} was written by a newer Plandeck (schema 9999" in message
    assert contents(file.parent) == before


def test_a_newer_postgresql_database_is_refused(postgresql_url: str) -> None:
    open_record_store(postgresql_url).close()
    with psycopg.connect(postgresql_url) as connection:
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '9999'".encode())
    assert "was written by a newer Plandeck (schema 9999" in refusal(postgresql_url)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    message = refusal(f"sqlite:///{tmp_path / 'no' / 'records.db'}")
    assert (
        f"{tmp_path / 'no' / 'records.db'} cannot be opened; check that the folder {tmp_path / 'no'} exists" in message
    )


@contextmanager
def without_rights() -> Iterator[None]:
    """As a user to whom permissions apply: they do not to root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def readable_folder() -> Iterator[Path]:
    """A folder that everybody may read and nobody may write."""
    folder = Path(tempfile.mkdtemp())
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize("existing", [False, True])
def test_a_folder_that_may_not_be_written_is_named(
    readable_folder: Path, migrated_sqlite: Path, existing: bool
) -> None:
    file = readable_folder / "records.db"
    if existing:
        shutil.copy(migrated_sqlite, file)
        file.chmod(0o444)
    before = contents(readable_folder)
    readable_folder.chmod(0o555)
    with without_rights():
        message = refusal(f"sqlite:///{file}")
    assert str(file) in message
    assert f"folder {readable_folder}" in message
    assert contents(readable_folder) == before


@contextmanager
def full_disk(pages: int) -> Iterator[None]:
    """SQLite files grow to so many pages and no further."""

    def limit(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")

    event.listen(Engine, "connect", limit)
    try:
        yield
    finally:
        event.remove(Engine, "connect", limit)


def test_a_full_disk_is_told_and_loses_nothing_that_was_acknowledged(file: Path) -> None:
    url = f"sqlite:///{file}"
    with open_record_store(url) as store:
        store.add_run(a_run())
        store.put_request(a_request())
    with full_disk(pages=1), open_record_store(url) as store:
        with pytest.raises(StorageError, match=r"records\.db cannot grow, the disk is full\. Plandeck needs 200 MB"):
            store.decide(
                P,
                "q-1",
                decision=Decision.APPROVE,
                hash=a_plan().hash,
                by="li",
                system_user="root",
                at=at(1),
                note="x" * 100_000,
            )
        assert store.request(P, "q-1").status is RequestStatus.PENDING
    with open_record_store(url) as store:
        assert store.request(P, "q-1") == a_request()
        assert store.add_run(a_run("r-2")) == a_run("r-2")


def test_a_disk_that_is_full_at_the_first_start_leaves_a_home_that_the_next_start_completes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'records.db'}"
    with full_disk(pages=10):
        assert "disk is full" in refusal(url)
    with open_record_store(url) as store:
        assert store.runs(P) == []


def test_a_file_that_another_program_keeps_locked_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BUSY_SECONDS", 0.01)
    other = sqlite3.connect(file, isolation_level=None)
    with open_record_store(f"sqlite:///{file}") as store:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match=r"records\.db is locked by another program"):
            store.add_run(a_run())
        other.execute("ROLLBACK")
        assert store.add_run(a_run()) == a_run()
    other.close()


def test_a_postgresql_server_that_is_not_there_is_named_without_its_password() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        message = refusal(f"postgresql://me:sesame@127.0.0.1:{port}/plandeck")
    assert f"PostgreSQL database 'plandeck' at 127.0.0.1:{port} does not answer; start the server" in message
    assert "PLANDECK_DATABASE_URL" in message
    assert "sesame" not in message


def test_a_wrong_password_is_told_without_saying_it(postgresql_url: str, postgresql_guarded_user: str) -> None:
    good = postgresql_url.replace("postgres@", f"{postgresql_guarded_user}:right@")
    bad = good.replace(":right@", ":sesame@")
    message = refusal(bad)
    assert "refuses user or password; correct them in PLANDECK_DATABASE_URL" in message
    assert "sesame" not in message
    with psycopg.connect(good) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert "wants a password" in refusal(good.replace(":right@", "@"))


def test_a_postgresql_database_that_is_not_there_is_named(postgresql_url: str) -> None:
    assert "database 'missing' at 127.0.0.1" in refusal(postgresql_url.rpartition("/")[0] + "/missing")


def test_a_postgresql_user_who_may_not_make_tables_is_told(postgresql_url: str, postgresql_guarded_user: str) -> None:
    message = refusal(postgresql_url.replace("postgres@", f"{postgresql_guarded_user}:right@"))
    assert "does not let this user do that" in message


@pytest.mark.parametrize("url", ["mysql://x/y", "not a url", "oracle://x"])
def test_an_address_of_something_else_is_refused(url: str) -> None:
    assert "postgresql://" in refusal(url)


def test_a_server_that_restarted_is_used_again(postgresql_url: str) -> None:
    with open_record_store(postgresql_url) as store:
        store.add_run(a_run())
        with psycopg.connect(postgresql_url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plandeck'"
            )
        assert store.run(P, "r-1") == a_run()
