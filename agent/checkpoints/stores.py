"""The reader: threads, history and states of any checkpoint store. It never writes, and imports nothing from data."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from agent.checkpoints.ids import time_of
from agent.checkpoints.postgres import PostgresGateway
from agent.checkpoints.records import CheckpointState, CheckpointSummary, Page, ThreadSummary
from agent.checkpoints.rows import CheckpointRow, Gateway, Session
from agent.checkpoints.sqlite import SqliteGateway
from agent.checkpoints.states import build_state
from agent.checkpoints.telling import Step, steps
from agent.errors import AgentError, ConfigurationError, NotFoundError

_POSTGRESQL = ("postgresql://", "postgres://", "postgresql+psycopg://")
_WEIGHED_CHECKPOINTS = 1_000
"""Threads with more checkpoints are not weighed for a list, since weighing visits every row."""
_LINE_BEFORE = 2
"""Who ran, and what is next, is told by the writes of the parent and the parent's parent."""


def check_location(location: str) -> None:
    """ConfigurationError for a URL of something else than PostgreSQL; it names the kind, never the address."""
    kind, url, _ = location.partition("://")
    if url and not location.startswith(_POSTGRESQL):
        raise ConfigurationError(f"{kind}:// is no checkpoint store; use the path of a SQLite file or postgresql://.")


def open_store(location: str, name: str) -> CheckpointStore:
    """A store at a path of a SQLite file or a `postgresql://` URL. Nothing is opened before the first question."""
    check_location(location)
    if location.startswith(_POSTGRESQL):
        return CheckpointStore(PostgresGateway(location.replace("+psycopg", "", 1), name), name)
    return CheckpointStore(SqliteGateway(Path(location), name), name)


class CheckpointStore:
    """A database of checkpoints, ours or a stranger's; safe to use from several threads.

    Every method raises StorageError when the store cannot be read, and NotFoundError when the file, the thread or the
    checkpoint does not exist.
    """

    def __init__(self, gateway: Gateway, name: str) -> None:
        self._gateway = gateway
        self.name = name

    @property
    def note(self) -> str | None:
        """What a reader has to know about the last answer, e.g. that the newest changes could not be seen."""
        return self._gateway.note

    def threads(self, *, limit: int = 50, before: str | None = None, search: str | None = None) -> Page[ThreadSummary]:
        """Threads by last activity, newest first; `search` is a part of the thread id, whatever its case."""
        after = None if before is None else _read_cursor(before)
        with self._gateway.session() as session:
            heads = session.heads(limit + 1, after, search)
            shown = heads[:limit]
            items = tuple(self._thread(session, thread, head) for _, thread, head in shown)
        cursor = _write_cursor(shown[-1][:2]) if len(heads) > limit else None
        return Page(items, cursor)

    def thread(self, thread_id: str) -> ThreadSummary:
        """One thread, with its size worked out."""
        with self._gateway.session() as session:
            head = self._latest(session, thread_id, "")
            return self._thread(session, thread_id, head, weigh=True)

    def history(
        self, thread_id: str, *, ns: str = "", limit: int = 50, before: str | None = None
    ) -> Page[CheckpointSummary]:
        """Checkpoints of one namespace, newest first; no checkpoint is decoded. `before` is a checkpoint id."""
        with self._gateway.session() as session:
            rows = self._rows(session, thread_id, ns, limit + 1, before)
            if not rows and before is None:
                raise self._no_thread(thread_id, ns)
            shown = rows[:limit]
            told = _steps(session, thread_id, ns, shown)
        items = tuple(told[row.checkpoint_id].summary() for row in shown)
        return Page(items, shown[-1].checkpoint_id if len(rows) > limit else None)

    def state(self, thread_id: str, checkpoint_id: str | None = None, ns: str = "") -> CheckpointState:
        """The values, pending writes and interrupts of one checkpoint, the latest without an id."""
        with self._gateway.session() as session:
            if checkpoint_id is None:
                checkpoint_id = self._latest(session, thread_id, ns)
            stored = session.stored(thread_id, ns, checkpoint_id)
            if stored is None:
                raise NotFoundError(f"Thread {thread_id} of store {self.name} has no checkpoint {checkpoint_id!r}.")
            told = _steps(session, thread_id, ns, [stored.row])[checkpoint_id]
            ids = [checkpoint_id, *([stored.row.parent_id] if stored.row.parent_id else [])]
            writes = session.writes(thread_id, ns, ids, bodies=True)
        return build_state(thread_id, stored, told, writes)

    def _thread(self, session: Session, thread_id: str, head: str, *, weigh: bool = False) -> ThreadSummary:
        facts = session.facts(thread_id, weigh=False)
        if weigh or facts.checkpoints <= _WEIGHED_CHECKPOINTS:
            facts = session.facts(thread_id, weigh=True)
        ns = "" if "" in facts.namespaces else facts.namespaces[0]
        if session.odd_ids(thread_id, ns):
            head = self._latest(session, thread_id, ns)
        rows = session.checkpoints_named(thread_id, ns, [head])
        summary = _steps(session, thread_id, ns, rows)[head].summary()
        return ThreadSummary(
            thread_id=thread_id,
            store=self.name,
            last_checkpoint_id=head,
            last_at=time_of(head) or summary.at,
            checkpoints=facts.checkpoints,
            namespaces=facts.namespaces,
            bytes=facts.bytes,
            status=summary.status,
            next=summary.next,
            waiting=summary.waiting,
        )

    def _latest(self, session: Session, thread_id: str, ns: str) -> str:
        head = session.head(thread_id, ns)
        if head is None:
            raise self._no_thread(thread_id, ns)
        return _by_step(session, thread_id, ns)[0] if session.odd_ids(thread_id, ns) else head

    def _rows(self, session: Session, thread_id: str, ns: str, limit: int, before: str | None) -> list[CheckpointRow]:
        if not session.odd_ids(thread_id, ns):
            return session.checkpoints(thread_id, ns, limit, before)
        order = _by_step(session, thread_id, ns)
        start = 0 if before is None else order.index(before) + 1 if before in order else len(order)
        wanted = order[start : start + limit]
        found = {row.checkpoint_id: row for row in session.checkpoints_named(thread_id, ns, wanted)}
        return [found[checkpoint_id] for checkpoint_id in wanted]

    def _no_thread(self, thread_id: str, ns: str) -> NotFoundError:
        where = f" in namespace {ns}" if ns else ""
        return NotFoundError(f"Store {self.name} has no thread {thread_id}{where}.")


def _by_step(session: Session, thread_id: str, ns: str) -> list[str]:
    """Checkpoint ids newest first, for stores whose ids are not ordered by time."""
    found = session.all_ids(thread_id, ns)
    order = [
        (step if isinstance(step := metadata.get("step"), int) else -2, position, checkpoint_id)
        for position, (checkpoint_id, metadata) in enumerate(found)
    ]
    return [checkpoint_id for _, _, checkpoint_id in sorted(order, reverse=True)]


def _steps(session: Session, thread_id: str, ns: str, rows: Sequence[CheckpointRow]) -> dict[str, Step]:
    """Steps of these rows with all that tells about them: their line before, their children, the writes of all."""
    known = {row.checkpoint_id: row for row in rows}
    edge: Iterable[CheckpointRow] = rows
    for _ in range(_LINE_BEFORE):
        missing = {row.parent_id for row in edge if row.parent_id} - known.keys()
        edge = session.checkpoints_named(thread_id, ns, missing) if missing else ()
        known.update((row.checkpoint_id, row) for row in edge)
    writes = session.writes(thread_id, ns, known, bodies=False)
    return steps(known.values(), writes, session.children(thread_id, ns, known))


def _write_cursor(parts: Iterable[str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(list(parts)).encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> list[str]:
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error):
        parts = None
    if not (isinstance(parts, list) and len(parts) == 2 and all(isinstance(part, str) for part in parts)):
        raise AgentError("The cursor is not one that this list gave.", code="bad_cursor")
    return list(islice(parts, 2))
