"""Opening the database of spans: SQLite or PostgreSQL, brought to the newest schema. Errors become one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from traces.errors import SpanStorageError
from traces.rawsql import json_text
from traces.room import room_wanted
from traces.schema import HEAD, VERSION_TABLE

BUSY_MILLISECONDS = 15_000
MIGRATION_LOCK = 7_203_110_001
"""A number that nothing else locks in PostgreSQL."""

_JSON: Mapping[str, Any] = {"json_serializer": json_text, "json_deserializer": orjson.loads}

_WRONG_URL = "The database of spans must be sqlite:///PATH or postgresql://…"
_ROOM = "The disk is full or reports an error. {room}"
_REMEDIES = {
    "file is not a database": "It is not a database; move it away, or name another.",
    "malformed": "It is damaged; restore a backup, or move it away to start with an empty one.",
    "readonly": "It cannot be written; check the permissions of the file and its folder.",
    "read-only": "It cannot be written; check the permissions of the file and its folder.",
    "unable to open": "It cannot be opened; check that the folder exists and may be written.",
    "disk is full": _ROOM,
    "disk i/o error": _ROOM,
    "no space left": _ROOM,
    "locked": "Another process holds it; try again.",
}


class Database:
    """An open database with the newest schema."""

    def __init__(self, url: str) -> None:
        """Connect and migrate; SpanStorageError with one sentence if that cannot be done."""
        self.url = _parsed(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.place = str(self.url.database) if self.is_sqlite else self.url.render_as_string(hide_password=True)
        self._engine = self._make_engine()
        try:
            with self._translated():
                self._migrate()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of every connection."""
        self._engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that reads one state."""
        with self._translated(), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that writes; durable when the block is left."""
        with self._translated(), self._engine.connect() as connection:
            connection = connection.execution_options(plandeck_writes=True)  # noqa: PLW2901 - the same, marked
            with connection.begin():
                yield connection

    def _make_engine(self) -> sa.Engine:
        if not self.is_sqlite:
            # Placeholders by position, as in SQLite, so that rows can be given as they are.
            return sa.create_engine(self.url, pool_pre_ping=True, paramstyle="format", **_JSON)
        engine = sa.create_engine(self.url, connect_args={"timeout": BUSY_MILLISECONDS / 1000}, **_JSON)
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine

    def _migrate(self) -> None:
        with self.reading() as connection:
            if _revision(connection) == HEAD:
                return
        with self.writing() as connection:
            if not self.is_sqlite:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK)))
            # Another process may have been faster.
            if _revision(connection) != HEAD:
                self._upgrade(connection)

    def _upgrade(self, connection: sa.Connection) -> None:
        # Imported here: opening a store that is up to date should not pay for it.
        from alembic import command  # noqa: PLC0415
        from alembic.config import Config  # noqa: PLC0415
        from alembic.util import CommandError  # noqa: PLC0415

        with as_file(files("traces.migrations")) as folder:
            config = Config()
            config.set_main_option("script_location", str(folder).replace("%", "%%"))
            config.attributes["connection"] = connection
            try:
                command.upgrade(config, "head")
            except CommandError as error:
                raise SpanStorageError(
                    f"The spans in {self.place} were written by a newer version (schema {_revision(connection)}); "
                    "install that version or name another database."
                ) from error

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise SpanStorageError(self._sentence(str(error.orig))) from error
        except SQLAlchemyError as error:
            raise SpanStorageError(self._sentence(str(error))) from error

    def _sentence(self, reason: str) -> str:
        said = reason.strip().splitlines()[0] if reason.strip() else "no reason given"
        for words, remedy in _REMEDIES.items():
            if words in reason.lower():
                room = room_wanted(Path(self.place).parent) if self.is_sqlite else "Make room there."
                return f"The database of spans {self.place} cannot be used ({said}). {remedy.format(room=room)}"
        return f"The database of spans {self.place} cannot be used: {said}"


def _parsed(url: str) -> sa.URL:
    try:
        parsed = sa.make_url(url)
        if parsed.drivername in ("postgresql", "postgres"):
            parsed = parsed.set(drivername="postgresql+psycopg")
    except ArgumentError as error:
        raise SpanStorageError(_WRONG_URL) from error
    if parsed.drivername not in ("sqlite", "postgresql+psycopg"):
        raise SpanStorageError(_WRONG_URL)
    return parsed


def _revision(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return None
    revision = connection.execute(sa.text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    return None if revision is None else str(revision)


def _set_up_sqlite(connection: Any, _record: object) -> None:
    # The driver's own transactions begin too late to be exclusive; `_begin_sqlite` begins them.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_MILLISECONDS}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = NORMAL")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("plandeck_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
