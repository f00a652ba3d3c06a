"""Connections and transactions of either engine; the one place where their errors become ours."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from agent.errors import StorageError
from traces.room import room_wanted

BUSY_SECONDS = 10
CONNECT_SECONDS = 5


class Database:
    """One database of records. Reads and writes are whole transactions; every failure is a StorageError."""

    def __init__(self, url: str) -> None:
        self.url = _parsed(url)
        self.place = _place(self.url)
        with self.errors():
            self._engine = _sqlite(self.url) if self.is_sqlite else _postgresql(self.url)

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file of this machine."""
        return self.url.get_backend_name() == "sqlite"

    @property
    def file(self) -> Path:
        """The SQLite file."""
        return Path(self.url.database or "")

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A look at the data."""
        with self.errors(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction, durable when the block ends, undone if it raises. SQLite has one writer at a time."""
        with self.errors(), self._engine.connect() as connection:
            # Taking the write lock at once: a read lock that grows into one fails when two do it.
            writing = connection.execution_options(sqlite_begin="BEGIN IMMEDIATE")
            with writing.begin():
                yield writing

    @contextmanager
    def outside_transactions(self) -> Iterator[Connection]:
        """A connection on which each statement stands alone."""
        with self.errors(), self._engine.connect() as connection:
            if self.is_sqlite:
                yield connection.execution_options(sqlite_begin=None)
            else:
                yield connection.execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Say a library's error in one sentence that names the database and the remedy."""
        try:
            yield
        except DBAPIError as error:
            raise StorageError(self._sentence(error.orig)) from error
        except PoolTimeoutError as error:
            raise StorageError(f"{self.place} has no free connection; try again when fewer pages are open.") from error

    def _sentence(self, error: BaseException | None) -> str:
        if isinstance(error, sqlite3.Error):
            return _sqlite_sentence(self.file, error)
        return _postgresql_sentence(self.place, error)


def _parsed(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise StorageError("The database address is not a URL; use postgresql://user@host/name.") from error
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise StorageError(f"{parsed.drivername} is no database for records; use postgresql:// or SQLite.")
    return parsed


def _place(url: URL) -> str:
    """The database as a person knows it; never with a password."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    host = url.host or url.query.get("host") or "this machine"
    return f"PostgreSQL database {url.database or ''!r} at {host}" + (f":{url.port}" if url.port else "")


def _sqlite(url: URL) -> Engine:
    # `isolation_level=None` leaves BEGIN to us: the driver's own comes late and is never IMMEDIATE.
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS, "isolation_level": None})

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA foreign_keys = ON")
        # A decision survives power loss.
        connection.execute("PRAGMA synchronous = FULL")

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        begin = connection.get_execution_options().get("sqlite_begin", "BEGIN")
        if begin:
            connection.exec_driver_sql(begin)

    return engine


def _postgresql(url: URL) -> Engine:
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": str(CONNECT_SECONDS)})
    return create_engine(url, pool_pre_ping=True, connect_args={"application_name": "plandeck"})


def _sqlite_sentence(file: Path, error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", None) or ""
    for start, sentence in _SQLITE.items():
        if name.startswith(start):
            return sentence.format(file=file, folder=file.parent, room=room_wanted(file.parent))
    return f"{file} could not be used: {error}."


_SQLITE = {
    "SQLITE_NOTADB": "{file} is not a database; move it away, or choose another folder with PLANDECK_HOME.",
    "SQLITE_CORRUPT": "{file} is damaged; put a backup in its place, or move it away to begin anew.",
    "SQLITE_FULL": "{file} cannot grow, the disk is full. {room}",
    "SQLITE_READONLY": "{file} cannot be written; give yourself write permission to it and to the folder {folder}.",
    "SQLITE_PERM": "{file} cannot be written; give yourself write permission to it and to the folder {folder}.",
    "SQLITE_CANTOPEN": "{file} cannot be opened; check that the folder {folder} exists and that you may write in it.",
    "SQLITE_BUSY": "{file} is locked by another program for more than 10 seconds; close that program and try again.",
    "SQLITE_IOERR": "{file} cannot be read or written, the disk reports an error. {room}",
}


def _postgresql_sentence(place: str, error: BaseException | None) -> str:
    text = " ".join(str(error).split()).rstrip(".")
    for words, sentence in _POSTGRESQL.items():
        if words in text:
            return sentence.format(place=place)
    return f"{place} could not be used: {text}."


_POSTGRESQL = {
    "password authentication failed": "{place} refuses user or password; correct them in PLANDECK_DATABASE_URL.",
    "no password supplied": "{place} wants a password; put it into PLANDECK_DATABASE_URL.",
    "Connection refused": "{place} does not answer; start the server or correct PLANDECK_DATABASE_URL.",
    "timeout expired": "{place} does not answer; start the server or correct PLANDECK_DATABASE_URL.",
    "resolve host": "{place} cannot be found under that host name; correct PLANDECK_DATABASE_URL.",
    "No such file or directory": "{place} does not answer; start the server or correct PLANDECK_DATABASE_URL.",
    "does not exist": "{place} or its user does not exist; create it or correct PLANDECK_DATABASE_URL.",
    "No space left": "{place} has no space left on its disk; free some and try again.",
    "permission denied": "{place} does not let this user do that; grant it or use another user.",
}
