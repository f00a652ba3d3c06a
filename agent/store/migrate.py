"""Brings a database to the newest schema. Quick where nothing is to be done: alembic is imported only to migrate."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, column, func, inspect, select, table

from agent.errors import StorageError
from agent.store.engine import Database
from agent.store.schema import HEAD

VERSION_TABLE = "records_alembic_version"
MIGRATIONS = Path(__file__).parent / "migrations"
# Any number that no other program uses on the same PostgreSQL database.
ADVISORY_LOCK = 0x706C616E_7265636F


def migrate(database: Database) -> None:
    """Leave the newest schema behind; a strange or a newer database is refused with StorageError and left as it is."""
    if _version_of(database) == HEAD:
        return
    with _alone(database):
        version = _version_of(database)
        if version == HEAD:
            return
        _refuse_newer(database, version)
        if database.is_sqlite:
            with database.outside_transactions() as connection:
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")
        with database.write() as connection:
            _upgrade(connection)


def _version_of(database: Database) -> str | None:
    """The newest migration that the database has seen; None for an empty one."""
    with database.read() as connection:
        tables = inspect(connection).get_table_names()
        if VERSION_TABLE not in tables:
            if tables and database.is_sqlite:
                raise StorageError(
                    f"{database.place} is a database of another program; move it away, or choose another folder with "
                    "PLANDECK_HOME."
                )
            return None
        return connection.scalar(select(column("version_num")).select_from(table(VERSION_TABLE)))


def _refuse_newer(database: Database, version: str | None) -> None:
    known = {file.name.partition("_")[0].removeprefix("v") for file in (MIGRATIONS / "versions").glob("v*.py")}
    if version is not None and version not in known:
        raise StorageError(
            f"{database.place} was written by a newer Plandeck (schema {version}, this one knows {HEAD}); "
            "install the newer version."
        )


@contextmanager
def _alone(database: Database) -> Iterator[None]:
    """Nobody else migrates this database meanwhile, on this machine or on any other that uses the same server."""
    if database.is_sqlite:
        with _folder_locked(database.file.parent):
            yield
        return
    with database.outside_transactions() as connection:
        connection.execute(select(func.pg_advisory_lock(ADVISORY_LOCK)))
        try:
            yield
        finally:
            connection.execute(select(func.pg_advisory_unlock(ADVISORY_LOCK)))


@contextmanager
def _folder_locked(folder: Path) -> Iterator[None]:
    # The folder itself is locked, so that no lock file stays behind.
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _upgrade(connection: Connection) -> None:
    from alembic import command  # noqa: PLC0415 - costs start-up time, and is needed only here
    from alembic.config import Config  # noqa: PLC0415 - as above

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
