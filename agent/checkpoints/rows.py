"""The rows of a checkpoint store as both kinds of database give them, and the gateway that fetches them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from agent.records import JsonObject

TOLD_CHANNELS = ("__interrupt__", "__error__", "__pregel_tasks")
"""Channels whose values are needed even for a list: they are small and say who waits, failed or was sent."""
SHORT_BYTES = 128
"""Values up to this size are read for a list too: a node's name may be one, by which early versions call the next."""
TOLD_BYTES = 1024 * 1024
"""A larger value of such a channel is not read for a list."""


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """One checkpoint without its body."""

    checkpoint_id: str
    parent_id: str | None
    ns: str
    format: str
    size: int | None
    """In bytes."""
    metadata: JsonObject
    """Empty when it could not be read."""
    written_at: str | None = None
    """RFC 3339, where the store has it outside of the body."""


@dataclass(frozen=True, slots=True)
class WriteRow:
    """What one task wrote to one channel after one checkpoint."""

    checkpoint_id: str
    task_id: str
    path: str
    """The task's place in the graph; empty in stores of older versions."""
    idx: int
    """Negative for the entries by which LangGraph tells of errors, interrupts and resumes."""
    channel: str
    format: str
    size: int
    """In bytes."""
    body: bytes | None
    """None when it was not asked for."""


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    """One checkpoint with its body, still encoded."""

    row: CheckpointRow
    body: bytes
    blobs: Mapping[str, tuple[str, bytes]] = field(default_factory=dict)
    """Channel to format and bytes, for stores that keep channels apart."""


@dataclass(frozen=True, slots=True)
class ThreadFacts:
    """What is counted about a thread."""

    checkpoints: int
    namespaces: tuple[str, ...]
    bytes: int | None


class Session(Protocol):
    """One short read transaction. `thread` and `ns` name the thread and the namespace throughout."""

    def heads(self, limit: int, after: Sequence[str] | None, search: str | None) -> list[tuple[str, str, str]]:
        """Order key, thread and last checkpoint, newest first, walking from thread to thread by the key's index."""
        ...

    def head(self, thread: str, ns: str) -> str | None:
        """The greatest checkpoint id; None when there is no checkpoint."""
        ...

    def facts(self, thread: str, *, weigh: bool) -> ThreadFacts:
        """Counts; `weigh` also adds up the bytes, which visits every row of the thread."""
        ...

    def odd_ids(self, thread: str, ns: str) -> bool:
        """Whether some id is not a time-ordered UUID, so that ids do not sort by time."""
        ...

    def checkpoints(self, thread: str, ns: str, limit: int, before: str | None) -> list[CheckpointRow]:
        """By descending id."""
        ...

    def all_ids(self, thread: str, ns: str) -> list[tuple[str, JsonObject]]:
        """Every id with its metadata, in the order in which the rows were written where the store knows it."""
        ...

    def checkpoints_named(self, thread: str, ns: str, ids: Iterable[str]) -> list[CheckpointRow]:
        """Those of the ids that exist."""
        ...

    def children(self, thread: str, ns: str, ids: Iterable[str]) -> dict[str, list[JsonObject]]:
        """Parent id to the metadata of its children, for those ids that have children."""
        ...

    def writes(self, thread: str, ns: str, ids: Iterable[str], *, bodies: bool) -> list[WriteRow]:
        """Ordered as LangGraph applies them. Without `bodies` only short ones and those of `TOLD_CHANNELS` do."""
        ...

    def stored(self, thread: str, ns: str, checkpoint_id: str) -> StoredCheckpoint | None:
        """One checkpoint with its body."""
        ...


class Gateway(Protocol):
    """A database of checkpoints."""

    @property
    def note(self) -> str | None:
        """Something a reader has to know, e.g. that the newest changes are not seen."""
        ...

    def session(self) -> AbstractContextManager[Session]:
        """Opens a connection that cannot write, for one short transaction; StorageError in one sentence."""
        ...
