"""A PostgreSQL server of the tests' own, and a fresh database in it for each test that asks."""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from hypothesis import settings

from agent.store.gateway import RecordStore, open_record_store

# A machine that stalls is no failure, and the same change must get the same answer twice.
settings.register_profile("plandeck", deadline=None, derandomize=True)
settings.load_profile("plandeck")

SKIP = "PLANDECK_TEST_POSTGRESQL"
GUARDED = "guarded"
"""The one user of the tests' server who needs a password."""


def _binaries() -> Path:
    """The folder of initdb and pg_ctl; a test that needs PostgreSQL fails without it, unless told to skip."""
    if os.environ.get(SKIP) == "skip":
        pytest.skip(f"{SKIP}=skip")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    asked = shutil.which("pg_config")
    if asked:
        answer = subprocess.run([asked, "--bindir"], capture_output=True, text=True, check=True)
        folders.append(Path(answer.stdout.strip()))
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
            return folder
    pytest.fail(
        f"This test needs PostgreSQL's initdb and pg_ctl: apt-get install postgresql, or set {SKIP}=skip.",
        pytrace=False,
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """`postgresql://…` of a server without databases of ours; stopped and removed at the end."""
    binaries = _binaries()
    folder = Path(tempfile.mkdtemp(prefix="plandeck-postgresql-"))
    # The server refuses to run as root; then the user that its package made owns it.
    as_user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    if as_user:
        shutil.chown(folder, "postgres")

    def run(*command: str) -> None:
        done = subprocess.run([*as_user, *command], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command[0]} failed: {done.stdout} {done.stderr}"

    def control(*words: str) -> None:
        # Into a file: the server keeps what it inherits open, and a pipe would never end.
        run("sh", "-c", '"$0" "$@" > control.log 2>&1', str(binaries / "pg_ctl"), "-D", f"{folder}/data", "-w", *words)

    run(str(binaries / "initdb"), "-D", f"{folder}/data", "-U", "postgres", "--auth=trust", "-E", "UTF8", "--no-sync")
    rules = folder / "data" / "pg_hba.conf"
    rules.write_text(f"host all {GUARDED} all scram-sha-256\n{rules.read_text()}")
    port = _free_port()
    options = f"-c listen_addresses=127.0.0.1 -p {port} -k {folder} -c max_connections=200 -F"
    control("-l", f"{folder}/log", "-o", options, "start")
    try:
        yield f"postgresql://postgres@127.0.0.1:{port}"
    finally:
        control("-m", "immediate", "stop")
        shutil.rmtree(folder)


def _make_database(server: str, name: str, like: str = "template1") -> None:
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {like}".encode())


def _drop_database(server: str, name: str) -> None:
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture
def postgresql_url(postgresql_server: str) -> Iterator[str]:
    """`postgresql://…` of an empty database of this test's own."""
    name = f"test_{secrets.token_hex(6)}"
    _make_database(postgresql_server, name)
    yield f"{postgresql_server}/{name}"
    _drop_database(postgresql_server, name)


@pytest.fixture
def postgresql_guarded_user(postgresql_server: str) -> Iterator[str]:
    """A user of the server who has to give the password `right`, and may make nothing."""
    with psycopg.connect(f"{postgresql_server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {GUARDED} LOGIN PASSWORD 'right'".encode())
    yield GUARDED
    with psycopg.connect(f"{postgresql_server}/postgres", autocommit=True) as connection:
        connection.execute(f"DROP ROLE {GUARDED}".encode())


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_records_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database of either engine."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'records.db'}"
    url: str = request.getfixturevalue("postgresql_url")
    return url


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the newest schema, to be copied."""
    file = tmp_path_factory.mktemp("migrated") / "records.db"
    open_record_store(f"sqlite:///{file}").close()
    return file


@pytest.fixture(scope="session")
def migrated_postgresql(postgresql_server: str) -> str:
    """The name of a database with the newest schema, to be copied."""
    _make_database(postgresql_server, "migrated")
    open_record_store(f"{postgresql_server}/migrated").close()
    return "migrated"


@pytest.fixture(params=["sqlite", "postgresql"])
def records_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a migrated database of either engine, without records."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("migrated_sqlite"), tmp_path / "records.db")
        yield f"sqlite:///{tmp_path / 'records.db'}"
        return
    server, template = (request.getfixturevalue(name) for name in ("postgresql_server", "migrated_postgresql"))
    name = f"test_{secrets.token_hex(6)}"
    _make_database(server, name, template)
    yield f"{server}/{name}"
    _drop_database(server, name)


@pytest.fixture
def record_store(records_url: str) -> Iterator[RecordStore]:
    """An open store of either engine."""
    with open_record_store(records_url) as store:
        yield store
