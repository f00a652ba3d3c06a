"""PostgreSQL databases of `PostgresSaver`, of every migration, read in transactions that cannot write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row

from agent.checkpoints.decoding import UndecodableError, decode_json
from agent.checkpoints.rows import (
    SHORT_BYTES,
    TOLD_BYTES,
    TOLD_CHANNELS,
    CheckpointRow,
    StoredCheckpoint,
    ThreadFacts,
    WriteRow,
)
from agent.errors import StorageError
from agent.records import JsonObject

CONNECT_SECONDS = 5
QUERY_SECONDS = 30
_TIME_ORDERED = "^[0-9a-f]{8}-[0-9a-f]{4}-[67][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$"
_OPTIONS = f"-c default_transaction_read_only=on -c statement_timeout={QUERY_SECONDS}s -c idle_session_timeout=60s"


class PostgresGateway:
    """One PostgreSQL database."""

    note: str | None = None

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._name = name

    @contextmanager
    def session(self) -> Iterator[PostgresSession]:
        """See `Gateway.session`."""
        try:
            with psycopg.connect(
                self._url, row_factory=dict_row, connect_timeout=CONNECT_SECONDS, options=_OPTIONS
            ) as connection:
                connection.read_only = True
                connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
                yield PostgresSession(connection, self._name)
        except psycopg.errors.QueryCanceled as error:
            raise StorageError(
                f"Store {self._name} took more than {QUERY_SECONDS} s to answer.", code="slow"
            ) from error
        except psycopg.Error as error:
            # The driver's text may repeat the address with its password.
            reason = error.diag.message_primary or "no connection"
            raise StorageError(f"Store {self._name}: PostgreSQL cannot be read ({reason}).") from error


class PostgresSession:
    """See `agent.checkpoints.rows.Session`."""

    def __init__(self, connection: psycopg.Connection[DictRow], name: str) -> None:
        self._connection = connection
        columns = self._columns()
        if not {"checkpoints", "checkpoint_blobs", "checkpoint_writes"} <= columns.keys():
            raise StorageError(f"Store {name} holds no LangGraph checkpoints: it has no such tables.")
        self._path = "task_path" if "task_path" in columns["checkpoint_writes"] else "''"

    def heads(self, limit: int, after: Sequence[str] | None, search: str | None) -> list[tuple[str, str, str]]:
        """See `Session`."""
        key, thread = after or ("", "")
        rows = self._all(
            _HEADS, search=search or "", key=key, thread=thread, first=after is None, limit=limit, ordered=_TIME_ORDERED
        )
        return [(row["sort_key"], row["thread_id"], row["head"]) for row in rows]

    def head(self, thread: str, ns: str) -> str | None:
        """See `Session`."""
        head: str | None = self._one(f"SELECT max(checkpoint_id) AS head FROM checkpoints WHERE {_HERE}", thread, ns)
        return head

    def facts(self, thread: str, *, weigh: bool) -> ThreadFacts:
        """See `Session`."""
        namespaces = tuple(row["ns"] for row in self._all(_NAMESPACES, thread=thread))
        count = self._one(f"SELECT count(*) AS n FROM checkpoints WHERE {_HERE}", thread, "")
        weight = self._one(_WEIGHT, thread, "") if weigh else None
        return ThreadFacts(count, namespaces, None if weight is None else int(weight))

    def odd_ids(self, thread: str, ns: str) -> bool:
        """See `Session`."""
        sql = f"SELECT 1 AS odd FROM checkpoints WHERE {_HERE} AND checkpoint_id !~ '{_TIME_ORDERED}' LIMIT 1"
        return self._one(sql, thread, ns) is not None

    def checkpoints(self, thread: str, ns: str, limit: int, before: str | None) -> list[CheckpointRow]:
        """See `Session`."""
        sql = (
            f"SELECT {_ROW} FROM checkpoints c WHERE {_HERE}"
            " AND (%(before)s::text IS NULL OR checkpoint_id < %(before)s) ORDER BY checkpoint_id DESC LIMIT %(limit)s"
        )
        return [_checkpoint_row(row) for row in self._all(sql, thread=thread, ns=ns, before=before, limit=limit)]

    def all_ids(self, thread: str, ns: str) -> list[tuple[str, JsonObject]]:
        """See `Session`."""
        sql = f"SELECT checkpoint_id, metadata::text AS metadata FROM checkpoints WHERE {_HERE} ORDER BY ctid"
        return [(row["checkpoint_id"], _object(row["metadata"])) for row in self._all(sql, thread=thread, ns=ns)]

    def checkpoints_named(self, thread: str, ns: str, ids: Iterable[str]) -> list[CheckpointRow]:
        """See `Session`."""
        sql = f"SELECT {_ROW} FROM checkpoints c WHERE {_HERE} AND checkpoint_id = ANY(%(ids)s)"
        return [_checkpoint_row(row) for row in self._all(sql, thread=thread, ns=ns, ids=list(ids))]

    def children(self, thread: str, ns: str, ids: Iterable[str]) -> dict[str, list[JsonObject]]:
        """See `Session`."""
        sql = (
            "SELECT parent_checkpoint_id AS parent_id, metadata::text AS metadata FROM checkpoints"
            f" WHERE {_HERE} AND parent_checkpoint_id = ANY(%(ids)s)"
        )
        found: dict[str, list[JsonObject]] = {}
        for row in self._all(sql, thread=thread, ns=ns, ids=list(ids)):
            found.setdefault(row["parent_id"], []).append(_object(row["metadata"]))
        return found

    def writes(self, thread: str, ns: str, ids: Iterable[str], *, bodies: bool) -> list[WriteRow]:
        """See `Session`."""
        sql = f"""
            SELECT checkpoint_id, task_id, {self._path} AS path, idx, channel, coalesce(type, 'null') AS format,
                octet_length(blob) AS size,
                CASE WHEN %(bodies)s OR octet_length(blob) <= {SHORT_BYTES} OR (channel = ANY(%(told)s)
                    AND octet_length(blob) <= {TOLD_BYTES}) THEN blob END AS body
            FROM checkpoint_writes WHERE {_HERE} AND checkpoint_id = ANY(%(ids)s)
            ORDER BY path, task_id, idx
        """
        rows = self._all(sql, thread=thread, ns=ns, ids=list(ids), bodies=bodies, told=list(TOLD_CHANNELS))
        return [
            WriteRow(
                checkpoint_id=row["checkpoint_id"],
                task_id=row["task_id"],
                path=row["path"],
                idx=row["idx"],
                channel=row["channel"],
                format=row["format"],
                size=row["size"],
                body=row["body"],
            )
            for row in rows
        ]

    def stored(self, thread: str, ns: str, checkpoint_id: str) -> StoredCheckpoint | None:
        """See `Session`."""
        sql = f"SELECT {_ROW}, checkpoint::text AS body FROM checkpoints c WHERE {_HERE} AND checkpoint_id = %(id)s"
        for row in self._all(sql, thread=thread, ns=ns, id=checkpoint_id):
            blobs = {
                blob["channel"]: (blob["type"], blob["blob"] or b"")
                for blob in self._all(_BLOBS, thread=thread, ns=ns, id=checkpoint_id)
            }
            return StoredCheckpoint(_checkpoint_row(row), row["body"].encode(), blobs)
        return None

    def _columns(self) -> dict[str, set[str]]:
        """Columns by table, for those of the saver's tables that an unqualified name would find."""
        found: dict[str, set[str]] = {}
        for row in self._all(_COLUMNS):
            found.setdefault(row["name"], set()).add(row["attname"])
        return found

    def _all(self, sql: str, **values: Any) -> list[DictRow]:
        return self._connection.execute(sql.encode(), values).fetchall()

    def _one(self, sql: str, thread: str, ns: str) -> Any:
        rows = self._all(sql, thread=thread, ns=ns)
        return next(iter(rows[0].values())) if rows else None


_HERE = "thread_id = %(thread)s AND checkpoint_ns = %(ns)s"

_COLUMNS = """
    SELECT t.name, a.attname
    FROM (VALUES ('checkpoints'), ('checkpoint_blobs'), ('checkpoint_writes')) AS t(name)
    JOIN pg_class k ON k.oid = to_regclass(t.name) AND k.relkind IN ('r', 'p')
    JOIN pg_attribute a ON a.attrelid = k.oid AND a.attnum > 0 AND NOT a.attisdropped
"""

# A checkpoint weighs its own row and the channel values that it refers to.
_ROW = """
    c.checkpoint_id, c.parent_checkpoint_id AS parent_id, c.checkpoint_ns AS ns, c.metadata::text AS metadata,
    c.checkpoint ->> 'ts' AS written_at,
    pg_column_size(c.checkpoint) + pg_column_size(c.metadata) + (
        SELECT coalesce(sum(octet_length(b.blob)), 0)
        FROM jsonb_each_text(c.checkpoint -> 'channel_versions') AS v
        JOIN checkpoint_blobs b ON b.thread_id = c.thread_id AND b.checkpoint_ns = c.checkpoint_ns
            AND b.channel = v.key AND b.version = v.value
    ) AS size
"""

_BLOBS = """
    SELECT b.channel, b.type, b.blob
    FROM checkpoints c
    CROSS JOIN LATERAL jsonb_each_text(c.checkpoint -> 'channel_versions') AS v
    JOIN checkpoint_blobs b ON b.thread_id = c.thread_id AND b.checkpoint_ns = c.checkpoint_ns
        AND b.channel = v.key AND b.version = v.value
    WHERE c.thread_id = %(thread)s AND c.checkpoint_ns = %(ns)s AND c.checkpoint_id = %(id)s
"""

# Two index look-ups for each thread, whatever the number of its checkpoints.
_HEADS = """
    WITH RECURSIVE walk(thread_id) AS (
        SELECT min(thread_id) FROM checkpoints
        UNION ALL
        SELECT (SELECT min(c.thread_id) FROM checkpoints c WHERE c.thread_id > walk.thread_id)
        FROM walk WHERE walk.thread_id IS NOT NULL
    ), found AS MATERIALIZED (
        SELECT thread_id, coalesce(
            (SELECT max(c.checkpoint_id) FROM checkpoints c
             WHERE c.thread_id = walk.thread_id AND c.checkpoint_ns = ''),
            (SELECT max(c.checkpoint_id) FROM checkpoints c WHERE c.thread_id = walk.thread_id)
        ) AS head
        FROM walk
        WHERE thread_id IS NOT NULL AND (%(search)s = '' OR strpos(lower(thread_id), lower(%(search)s)) > 0)
    ), keyed AS (
        SELECT CASE WHEN head ~ %(ordered)s THEN head ELSE '' END AS sort_key, thread_id, head FROM found
    )
    SELECT sort_key, thread_id, head FROM keyed
    WHERE %(first)s OR (sort_key, thread_id) < (%(key)s, %(thread)s)
    ORDER BY sort_key DESC, thread_id DESC LIMIT %(limit)s
"""

_NAMESPACES = """
    WITH RECURSIVE walk(ns) AS (
        SELECT min(checkpoint_ns) FROM checkpoints WHERE thread_id = %(thread)s
        UNION ALL
        SELECT (
            SELECT min(c.checkpoint_ns) FROM checkpoints c
            WHERE c.thread_id = %(thread)s AND c.checkpoint_ns > walk.ns
        ) FROM walk WHERE walk.ns IS NOT NULL
    )
    SELECT ns FROM walk WHERE ns IS NOT NULL
"""

_WEIGHT = """
    SELECT
        (SELECT coalesce(sum(pg_column_size(checkpoint) + pg_column_size(metadata)), 0)
         FROM checkpoints WHERE thread_id = %(thread)s)
        + (SELECT coalesce(sum(octet_length(blob)), 0) FROM checkpoint_blobs WHERE thread_id = %(thread)s)
        + (SELECT coalesce(sum(octet_length(blob)), 0) FROM checkpoint_writes WHERE thread_id = %(thread)s) AS size
"""


def _checkpoint_row(row: DictRow) -> CheckpointRow:
    return CheckpointRow(
        checkpoint_id=row["checkpoint_id"],
        parent_id=row["parent_id"] or None,
        ns=row["ns"],
        format="jsonb",
        size=int(row["size"]),
        metadata=_object(row["metadata"]),
        written_at=row["written_at"],
    )


def _object(text: str) -> JsonObject:
    """A JSON column's object; empty when it is none or beyond the limits."""
    try:
        value = decode_json(text)
    except UndecodableError:
        return {}
    return value if isinstance(value, dict) else {}
