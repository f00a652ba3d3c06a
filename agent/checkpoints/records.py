"""What the reader answers: threads, checkpoints, states. Every value in them is plain JSON.

A value of a class that JSON does not know is an inert record `{"$type": "module.Class", "$value": …}`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Generic, TypeVar

from agent.records import JsonObject, JsonValue

T = TypeVar("T")


class CheckpointStatus(StrEnum):
    """What became of the work that starts at a checkpoint, as far as the rows tell."""

    FINISHED = "finished"
    """Nothing is left to run from here, or another checkpoint followed."""
    WAITING = "waiting"
    """A node asked with `interrupt(…)` and has no answer yet."""
    BREAKPOINT = "breakpoint"
    """Something is next and nothing of it has begun: a static breakpoint, or a process that only just went on."""
    FAILED = "failed"
    RUNNING = "running"
    """Some of what is next is done, some is not."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list."""

    items: tuple[T, ...]
    next_cursor: str | None
    """What to pass as `before` for the next page; None on the last."""

    def to_json(self, name: str, item: Callable[[T], JsonObject]) -> JsonObject:
        """The page as the list called `name`."""
        return {name: [item(each) for each in self.items], "next_cursor": self.next_cursor}


@dataclass(frozen=True, slots=True)
class ThreadSummary:
    """One thread of a store."""

    thread_id: str
    store: str
    last_checkpoint_id: str
    last_at: datetime | None
    """Decoded from the checkpoint's id; None when that id carries no time."""
    checkpoints: int
    """How many checkpoints the root graph has; those of subgraphs are not among them."""
    namespaces: tuple[str, ...]
    """The root graph is the empty one."""
    bytes: int | None
    """Everything stored for the thread; None where it was not worked out."""
    status: CheckpointStatus
    next: tuple[str, ...] | None
    waiting: tuple[str, ...]
    """Ids of the interrupts that wait for an answer."""

    def to_json(self) -> JsonObject:
        """The shape of INTERFACES."""
        return {
            "thread_id": self.thread_id,
            "store": self.store,
            "last_checkpoint_id": self.last_checkpoint_id,
            "last_at": rfc3339(self.last_at),
            "checkpoints": self.checkpoints,
            "namespaces": list(self.namespaces),
            "bytes": self.bytes,
            "status": str(self.status),
            "next": None if self.next is None else list(self.next),
            "waiting": list(self.waiting),
        }


@dataclass(frozen=True, slots=True)
class CheckpointSummary:
    """One checkpoint of a thread, told from ids, metadata and writes alone."""

    checkpoint_id: str
    parent_checkpoint_id: str | None
    ns: str
    at: datetime | None
    source: str | None
    """`input`, `loop`, `update` or `fork`."""
    step: int | None
    nodes: tuple[str, ...]
    """Which nodes ran to make this checkpoint; `__start__` for the one that took the input in."""
    status: CheckpointStatus
    next: tuple[str, ...] | None
    """Nodes that run next, one entry per task; None where it was not worked out."""
    waiting: tuple[str, ...]
    bytes: int | None
    format: str
    """How the checkpoint is serialised: `msgpack`, `json`, `jsonb`, `pickle` …"""
    error: str | None = None
    """What a node raised, when the status is `failed`."""
    asked: bool = False
    """Whether a node asked with `interrupt(…)` from here, answered or not."""
    raised: bool = False
    """Whether a node raised from here, also when it was tried again with success."""

    def to_json(self) -> JsonObject:
        """The shape of INTERFACES."""
        return {
            "checkpoint_id": self.checkpoint_id,
            "parent_checkpoint_id": self.parent_checkpoint_id,
            "ns": self.ns,
            "at": rfc3339(self.at),
            "source": self.source,
            "step": self.step,
            "nodes": list(self.nodes),
            "status": str(self.status),
            "next": None if self.next is None else list(self.next),
            "waiting": list(self.waiting),
            "bytes": self.bytes,
            "format": self.format,
            "error": self.error,
        }


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A stored value that is not shown."""

    where: str
    """`values.NAME`, `writes.NAME` or `checkpoint`."""
    format: str
    bytes: int
    reason: str
    """One clause, e.g. that pickle is not opened."""

    def to_json(self) -> JsonObject:
        """As in the list `unreadable`."""
        return {"where": self.where, "format": self.format, "bytes": self.bytes, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """What a task wrote to one channel."""

    task_id: str
    node: str | None
    channel: str
    value: JsonValue
    """None also for what could not be decoded; that is listed in `unreadable`."""

    def to_json(self) -> JsonObject:
        """As in the list `pending_writes`."""
        return {"task_id": self.task_id, "node": self.node, "channel": self.channel, "value": self.value}


@dataclass(frozen=True, slots=True)
class Interrupt:
    """A question that a node asked with `interrupt(…)`."""

    id: str
    value: JsonValue
    node: str | None
    ns: str
    """Namespace of the checkpoint that waits."""

    def to_json(self) -> JsonObject:
        """As in the list `interrupts`."""
        return {"id": self.id, "value": self.value, "node": self.node, "ns": self.ns}


@dataclass(frozen=True, slots=True)
class CheckpointState:
    """Everything that one checkpoint holds."""

    thread_id: str
    checkpoint_id: str
    ns: str
    values: JsonObject
    """The state's channels; those that LangGraph keeps for itself are left out."""
    pending_writes: tuple[PendingWrite, ...]
    """What tasks wrote after this checkpoint."""
    interrupts: tuple[Interrupt, ...]
    unreadable: tuple[Unreadable, ...]
    summary: CheckpointSummary
    made_by: tuple[PendingWrite, ...]
    """The writes of the super-step that this checkpoint is the result of."""

    def to_json(self) -> JsonObject:
        """The shape of INTERFACES."""
        return {
            "thread_id": self.thread_id,
            "checkpoint_id": self.checkpoint_id,
            "ns": self.ns,
            "values": self.values,
            "pending_writes": [write.to_json() for write in self.pending_writes],
            "interrupts": [interrupt.to_json() for interrupt in self.interrupts],
            "unreadable": [entry.to_json() for entry in self.unreadable],
            "status": str(self.summary.status),
            "next": None if self.summary.next is None else list(self.summary.next),
            "made_by": [write.to_json() for write in self.made_by],
        }


class ChangeKind(StrEnum):
    """What happened to a place of the state between two checkpoints."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two states."""

    kind: ChangeKind
    path: str
    """E.g. `results.s4` or `messages[2].content`."""
    before: JsonValue
    """None for what was added."""
    after: JsonValue
    """None for what was removed."""

    def to_json(self) -> JsonObject:
        """As in the list `changes`."""
        return {"kind": str(self.kind), "path": self.path, "before": self.before, "after": self.after}


def rfc3339(at: datetime | None) -> str | None:
    """A time as the command line and HTTP write it."""
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")
