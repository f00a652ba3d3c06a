"""SQLite files of `SqliteSaver`, of every generation, opened so that not one byte of them changes."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from agent.checkpoints.decoding import UndecodableError, decode_json
from agent.checkpoints.headers import uses_log
from agent.checkpoints.rows import (
    SHORT_BYTES,
    TOLD_BYTES,
    TOLD_CHANNELS,
    CheckpointRow,
    StoredCheckpoint,
    ThreadFacts,
    WriteRow,
)
from agent.errors import NotFoundError, StorageError
from agent.records import JsonObject

BUSY_SECONDS = 3.0
QUERY_SECONDS = 30.0
_STEPS_BETWEEN_LOOKS = 100_000
_METADATA_BYTES = 8 * 1024 * 1024
_TIME_ORDERED = "????????-????-[67]???-????-????????????"


class SqliteGateway:
    """One SQLite file."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._name = name
        self.note: str | None = None

    @contextmanager
    def session(self) -> Iterator[SqliteSession]:
        """See `Gateway.session`."""
        if not self._path.is_file():
            raise NotFoundError(f"Store {self._name}: there is no file {self._path}.")
        try:
            with closing(self._connect()) as connection:
                yield SqliteSession(connection, self._name)
        except sqlite3.Error as error:
            raise self._translated(error) from error

    def _connect(self) -> sqlite3.Connection:
        """A connection that cannot write; a file that nobody has open is opened so that no log appears beside it."""
        log, index = (self._path.with_name(self._path.name + suffix) for suffix in ("-wal", "-shm"))
        alone = self._uses_log() and not index.exists() and not (log.is_file() and log.stat().st_size)
        self.note = None
        connection = self._opened(immutable=alone)
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            connection.close()
            if not _cannot_open(error) or not self._uses_log():
                raise
            self.note = f"The folder of {self._path.name} cannot be written, so its newest changes are not seen."
            connection = self._opened(immutable=True)
        return connection

    def _opened(self, *, immutable: bool) -> sqlite3.Connection:
        uri = f"file:{quote(str(self._path.resolve()))}?mode=ro{'&immutable=1' if immutable else ''}"
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        connection.text_factory = lambda raw: raw.decode("utf-8", "backslashreplace")
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA query_only = ON")
        # A stranger's schema must not be able to run functions or to keep us busy for ever.
        connection.execute("PRAGMA trusted_schema = OFF")
        deadline = time.monotonic() + QUERY_SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS_BETWEEN_LOOKS)
        return connection

    def _uses_log(self) -> bool:
        try:
            return uses_log(self._path)
        except OSError as error:
            raise StorageError(f"Store {self._name}: {self._path} cannot be read ({error.strerror}).") from error

    def _translated(self, error: sqlite3.Error) -> StorageError:
        text = str(error)
        if "locked" in text or "busy" in text:
            return StorageError(
                f"Store {self._name} is busy: another process writes to {self._path}. Try again in a moment.",
                code="busy",
            )
        if "not a database" in text:
            return StorageError(f"Store {self._name}: {self._path} is not a SQLite database.")
        if "interrupted" in text:
            return StorageError(f"Store {self._name} took more than {QUERY_SECONDS:.0f} s to answer.", code="slow")
        return StorageError(f"Store {self._name}: {self._path} cannot be read ({text}).")


class SqliteSession:
    """See `agent.checkpoints.rows.Session`."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        connection.execute("BEGIN")
        tables = self._tables()
        columns = tables.get("checkpoints", frozenset())
        if not {"thread_id", "checkpoint", "metadata"} <= columns:
            raise StorageError(f"Store {name} holds no LangGraph checkpoints: it has no such table.")
        self._sql = _Sql(columns, tables.get("writes", frozenset()), name)

    def heads(self, limit: int, after: Sequence[str] | None, search: str | None) -> list[tuple[str, str, str]]:
        """See `Session`."""
        key, thread = after or ("", "")
        return [
            (row["sort_key"], row["thread_id"], row["head"])
            for row in self._all(
                self._sql.heads,
                search=search or "",
                key=key,
                thread=thread,
                first=after is None,
                limit=limit,
                ordered=_TIME_ORDERED,
            )
        ]

    def head(self, thread: str, ns: str) -> str | None:
        """See `Session`."""
        head: str | None = self._one(self._sql.head, thread=thread, ns=ns)
        return head

    def facts(self, thread: str, *, weigh: bool) -> ThreadFacts:
        """See `Session`."""
        namespaces = tuple(row[0] for row in self._all(self._sql.namespaces, thread=thread))
        checkpoints = self._one(self._sql.count, thread=thread, ns="")
        weight = self._one(self._sql.weight, thread=thread) if weigh else None
        return ThreadFacts(checkpoints, namespaces, weight)

    def odd_ids(self, thread: str, ns: str) -> bool:
        """See `Session`."""
        return bool(self._one(self._sql.odd_ids, thread=thread, ns=ns, ordered=_TIME_ORDERED))

    def checkpoints(self, thread: str, ns: str, limit: int, before: str | None) -> list[CheckpointRow]:
        """See `Session`."""
        rows = self._all(self._sql.page, thread=thread, ns=ns, limit=limit, before=before)
        return [_checkpoint_row(row) for row in rows]

    def all_ids(self, thread: str, ns: str) -> list[tuple[str, JsonObject]]:
        """See `Session`."""
        rows = self._all(self._sql.all_ids, thread=thread, ns=ns)
        return [(row["checkpoint_id"], _metadata(row["metadata"])) for row in rows]

    def checkpoints_named(self, thread: str, ns: str, ids: Iterable[str]) -> list[CheckpointRow]:
        """See `Session`."""
        rows = self._all(self._sql.named, thread=thread, ns=ns, ids=json.dumps(list(ids)))
        return [_checkpoint_row(row) for row in rows]

    def children(self, thread: str, ns: str, ids: Iterable[str]) -> dict[str, list[JsonObject]]:
        """See `Session`."""
        found: dict[str, list[JsonObject]] = {}
        for row in self._all(self._sql.children, thread=thread, ns=ns, ids=json.dumps(list(ids))):
            found.setdefault(row["parent_id"], []).append(_metadata(row["metadata"]))
        return found

    def writes(self, thread: str, ns: str, ids: Iterable[str], *, bodies: bool) -> list[WriteRow]:
        """See `Session`."""
        if not self._sql.writes:
            return []
        rows = self._all(self._sql.writes, thread=thread, ns=ns, ids=json.dumps(list(ids)), bodies=bodies)
        return [_write_row(row) for row in rows]

    def stored(self, thread: str, ns: str, checkpoint_id: str) -> StoredCheckpoint | None:
        """See `Session`."""
        for row in self._all(self._sql.stored, thread=thread, ns=ns, checkpoint=checkpoint_id):
            return StoredCheckpoint(_checkpoint_row(row), _bytes(row["checkpoint"]))
        return None

    def _tables(self) -> dict[str, frozenset[str]]:
        # Only real tables: a view could do anything.
        names = self._connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('checkpoints', 'writes')"
        ).fetchall()
        return {
            name: frozenset(
                row[0] for row in self._connection.execute("SELECT name FROM pragma_table_info(?)", (name,))
            )
            for (name,) in names
        }

    def _all(self, sql: str, **values: Any) -> list[sqlite3.Row]:
        return self._connection.execute(sql, values).fetchall()

    def _one(self, sql: str, **values: Any) -> Any:
        row = self._connection.execute(sql, values).fetchone()
        return row[0] if row else None


class _Sql:
    """The statements for the columns that a file has; identifiers come from this module only."""

    def __init__(self, columns: frozenset[str], write_columns: frozenset[str], name: str) -> None:
        if "checkpoint_id" in columns:
            checkpoint, parent = "checkpoint_id", "parent_checkpoint_id"
        elif "thread_ts" in columns:
            checkpoint, parent = "thread_ts", "parent_ts"
        else:
            raise StorageError(f"Store {name} holds checkpoints of a generation that is not known.")
        spaced = "checkpoint_ns" in columns
        ns = "checkpoint_ns" if spaced else "''"
        here = "thread_id = :thread" + (" AND checkpoint_ns = :ns" if spaced else " AND :ns = ''")
        type_ = "coalesce(type, 'json')" if "type" in columns else "'json'"
        row = (
            f"{checkpoint} AS checkpoint_id, {parent} AS parent_id, {ns} AS ns, {type_} AS format, metadata,"
            " length(checkpoint) + coalesce(length(metadata), 0) AS size"
        )
        listed = "IN (SELECT value FROM json_each(:ids))"
        self.heads = _heads(checkpoint, spaced=spaced)
        self.head = f"SELECT max({checkpoint}) FROM checkpoints WHERE {here}"
        self.count = f"SELECT count(*) FROM checkpoints WHERE {here}"
        self.namespaces = _NAMESPACES if spaced else "SELECT '' WHERE :thread IS NOT NULL"
        self.weight = _weight(write_columns)
        self.odd_ids = f"SELECT EXISTS (SELECT 1 FROM checkpoints WHERE {here} AND {checkpoint} NOT GLOB :ordered)"
        self.page = (
            f"SELECT {row} FROM checkpoints WHERE {here} AND (:before IS NULL OR {checkpoint} < :before)"
            f" ORDER BY {checkpoint} DESC LIMIT :limit"
        )
        self.all_ids = f"SELECT {checkpoint} AS checkpoint_id, metadata FROM checkpoints WHERE {here} ORDER BY rowid"
        self.named = f"SELECT {row} FROM checkpoints WHERE {here} AND {checkpoint} {listed}"
        self.children = f"SELECT {parent} AS parent_id, metadata FROM checkpoints WHERE {here} AND {parent} {listed}"
        self.stored = f"SELECT {row}, checkpoint FROM checkpoints WHERE {here} AND {checkpoint} = :checkpoint"
        self.writes = _writes(write_columns, checkpoint, here, listed)


def _heads(checkpoint: str, *, spaced: bool) -> str:
    """Two index look-ups for each thread, whatever the number of its checkpoints."""
    root = " AND c.checkpoint_ns = ''" if spaced else ""
    return f"""
        WITH RECURSIVE walk(thread_id) AS (
            SELECT min(thread_id) FROM checkpoints
            UNION ALL
            SELECT (SELECT min(c.thread_id) FROM checkpoints c WHERE c.thread_id > walk.thread_id)
            FROM walk WHERE walk.thread_id IS NOT NULL
        ), found AS MATERIALIZED (
            SELECT thread_id, coalesce(
                (SELECT max(c.{checkpoint}) FROM checkpoints c WHERE c.thread_id = walk.thread_id{root}),
                (SELECT max(c.{checkpoint}) FROM checkpoints c WHERE c.thread_id = walk.thread_id)
            ) AS head
            FROM walk
            WHERE thread_id IS NOT NULL AND (:search = '' OR instr(lower(thread_id), lower(:search)) > 0)
        ), keyed AS (
            SELECT CASE WHEN head GLOB :ordered THEN head ELSE '' END AS sort_key, thread_id, head FROM found
        )
        SELECT sort_key, thread_id, head FROM keyed
        WHERE :first OR (sort_key, thread_id) < (:key, :thread)
        ORDER BY sort_key DESC, thread_id DESC LIMIT :limit
    """


_NAMESPACES = """
    WITH RECURSIVE walk(ns) AS (
        SELECT min(checkpoint_ns) FROM checkpoints WHERE thread_id = :thread
        UNION ALL
        SELECT (
            SELECT min(c.checkpoint_ns) FROM checkpoints c
            WHERE c.thread_id = :thread AND c.checkpoint_ns > walk.ns
        ) FROM walk WHERE walk.ns IS NOT NULL
    )
    SELECT ns FROM walk WHERE ns IS NOT NULL
"""


def _weight(write_columns: frozenset[str]) -> str:
    # `length` of an uncast blob is read from the row's header: no overflow page is visited.
    own = "(SELECT coalesce(sum(length(checkpoint) + coalesce(length(metadata), 0)), 0) FROM checkpoints"
    written = "(SELECT coalesce(sum(length(value)), 0) FROM writes WHERE thread_id = :thread)"
    return f"SELECT {own} WHERE thread_id = :thread){f' + {written}' if write_columns else ''}"


def _writes(columns: frozenset[str], checkpoint: str, here: str, listed: str) -> str:
    if not columns:
        return ""
    told = ", ".join(f"'{channel}'" for channel in TOLD_CHANNELS)
    path = "task_path" if "task_path" in columns else "''"
    type_ = "coalesce(type, 'null')" if "type" in columns else "'json'"
    return f"""
        SELECT {checkpoint} AS checkpoint_id, task_id, {path} AS path, idx, channel, {type_} AS format,
            coalesce(length(value), 0) AS size,
            CASE WHEN :bodies OR length(value) <= {SHORT_BYTES} OR (channel IN ({told})
                AND length(value) <= {TOLD_BYTES}) THEN coalesce(value, x'') END AS body
        FROM writes WHERE {here} AND {checkpoint} {listed}
        ORDER BY path, task_id, idx
    """


def _checkpoint_row(row: sqlite3.Row) -> CheckpointRow:
    return CheckpointRow(
        checkpoint_id=str(row["checkpoint_id"]),
        parent_id=row["parent_id"] or None,
        ns=row["ns"],
        format=row["format"],
        size=row["size"],
        metadata=_metadata(row["metadata"]),
    )


def _write_row(row: sqlite3.Row) -> WriteRow:
    return WriteRow(
        checkpoint_id=str(row["checkpoint_id"]),
        task_id=str(row["task_id"]),
        path=row["path"],
        idx=row["idx"],
        channel=row["channel"],
        format=row["format"],
        size=row["size"],
        body=None if row["body"] is None else _bytes(row["body"]),
    )


def _metadata(stored: Any) -> JsonObject:
    """The metadata of a row; empty when it is missing, too large or no JSON object."""
    body = _bytes(stored)
    if not body or len(body) > _METADATA_BYTES:
        return {}
    try:
        metadata = decode_json(body)
    except UndecodableError:
        return {}
    return metadata if isinstance(metadata, dict) else {}


def _bytes(stored: Any) -> bytes:
    """A column as bytes: a stranger's file may have text, or a number, where a blob belongs."""
    if isinstance(stored, bytes):
        return stored
    return b"" if stored is None else str(stored).encode("utf-8", "surrogatepass")


def _cannot_open(error: sqlite3.OperationalError) -> bool:
    return "unable to open" in str(error) or "readonly" in str(error)
