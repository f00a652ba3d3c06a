"""One stored checkpoint to the state that people see. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent.checkpoints.decoding import DecodedCheckpoint, UndecodableError, decode, decode_checkpoint
from agent.checkpoints.records import CheckpointState, CheckpointStatus, CheckpointSummary, PendingWrite, Unreadable
from agent.checkpoints.rows import StoredCheckpoint, WriteRow
from agent.checkpoints.telling import Step, Task
from agent.records import JsonObject, JsonValue

_OWN_PREFIXES = ("branch:", "start:", "join:")
_OWN_CHANNELS = frozenset(
    {
        "__start__",
        "__input__",
        "__interrupt__",
        "__resume__",
        "__error__",
        "__error_source_node__",
        "__no_writes__",
        "__scheduled__",
        "__pregel_tasks",
        "__return__",
        "__snapshot_bumps__",
    }
)


def build_state(thread_id: str, stored: StoredCheckpoint, step: Step, writes: Sequence[WriteRow]) -> CheckpointState:
    """Decodes everything that can be decoded and lists the rest as unreadable."""
    row = stored.row
    unreadable: list[Unreadable] = []
    decoded = _decoded(stored, unreadable)
    values = _values(stored, decoded, unreadable)
    unreadable.extend(_unbuilt(step, values))
    return CheckpointState(
        thread_id=thread_id,
        checkpoint_id=row.checkpoint_id,
        ns=row.ns,
        values=values,
        pending_writes=_writes(step, step.tasks, _of(writes, row.checkpoint_id), unreadable),
        interrupts=step.interrupts,
        unreadable=tuple(unreadable),
        summary=_completed(step, decoded),
        made_by=_made_by(step, writes),
    )


def _made_by(step: Step, writes: Sequence[WriteRow]) -> tuple[PendingWrite, ...]:
    before = step.parent
    if before is None or step.source != "loop":
        return ()
    finished = tuple(task for task in before.tasks if task.finished)
    ids = {task.task_id for task in finished}
    rows = [write for write in _of(writes, before.row.checkpoint_id) if write.task_id in ids and write.idx >= 0]
    return _writes(before, finished, rows, [])


def _of(writes: Iterable[WriteRow], checkpoint_id: str) -> list[WriteRow]:
    return [write for write in writes if write.checkpoint_id == checkpoint_id]


def _writes(
    step: Step, tasks: Iterable[Task], rows: Iterable[WriteRow], unreadable: list[Unreadable]
) -> tuple[PendingWrite, ...]:
    names = {task.task_id: step.name(task) for task in tasks}
    return tuple(_write(row, names.get(row.task_id), unreadable) for row in rows)


def _write(row: WriteRow, node: str | None, unreadable: list[Unreadable]) -> PendingWrite:
    try:
        value = decode(row.format, row.body or b"")
    except UndecodableError as error:
        value = None
        unreadable.append(Unreadable(f"writes.{row.channel}", row.format, row.size, str(error)))
    return PendingWrite(row.task_id, node, row.channel, value)


def _decoded(stored: StoredCheckpoint, unreadable: list[Unreadable]) -> DecodedCheckpoint:
    try:
        return decode_checkpoint("json" if stored.row.format == "jsonb" else stored.row.format, stored.body)
    except UndecodableError as error:
        unreadable.append(Unreadable("checkpoint", stored.row.format, len(stored.body), str(error)))
        return DecodedCheckpoint({}, {}, {})


def _values(stored: StoredCheckpoint, decoded: DecodedCheckpoint, unreadable: list[Unreadable]) -> JsonObject:
    nodes = _nodes(decoded)
    values = {name: value for name, value in decoded.values.items() if not _is_own(name, value, nodes)}
    for name, reason in decoded.failures.items():
        if not _is_own(name, None, nodes):
            unreadable.append(Unreadable(f"values.{name}", stored.row.format, len(stored.body), reason))
    for name, (format_, body) in stored.blobs.items():
        if format_ == "empty" or _is_own(name, None, nodes):
            continue
        try:
            value = decode(format_, body)
        except UndecodableError as error:
            unreadable.append(Unreadable(f"values.{name}", format_, len(body), str(error)))
        else:
            if not _is_own(name, value, nodes):
                values[name] = value
    return values


def _nodes(decoded: DecodedCheckpoint) -> frozenset[str]:
    seen = decoded.fields.get("versions_seen")
    return frozenset(seen if isinstance(seen, dict) else ())


def _is_own(name: str, value: JsonValue, nodes: frozenset[str]) -> bool:
    """Whether LangGraph keeps a channel for itself; early versions had one of each node's name, holding that name."""
    return name in _OWN_CHANNELS or name.startswith(_OWN_PREFIXES) or (name in nodes and value == name)


def _unbuilt(step: Step, values: JsonObject) -> list[Unreadable]:
    """Delta channels hold their value only now and then; in between it exists as the writes since, nowhere else."""
    counters = step.row.metadata.get("counters_since_delta_snapshot")
    names = counters if isinstance(counters, dict) else {}
    reason = "it is a delta channel, whose value is spread over the writes of earlier checkpoints"
    return [Unreadable(f"values.{name}", "delta", 0, reason) for name in names if name not in values]


def _completed(step: Step, decoded: DecodedCheckpoint) -> CheckpointSummary:
    """The summary, with what is next read from the channels where the rows did not tell it."""
    summary = step.summary()
    versions = decoded.fields.get("channel_versions")
    if summary.next is not None or not isinstance(versions, dict):
        return summary
    if not any(name.startswith("branch:to:") for name in versions):
        return summary
    told = tuple(_triggered(decoded.values))
    if summary.status is not CheckpointStatus.UNKNOWN:
        return replace(summary, next=told)
    status = CheckpointStatus.BREAKPOINT if told else CheckpointStatus.FINISHED
    return replace(summary, next=told, status=status)


def _triggered(channels: JsonObject) -> Iterable[str]:
    """A trigger is in a checkpoint only until its node has run."""
    for send in channels.get("__pregel_tasks") or ():
        fields = send.get("$value") if isinstance(send, dict) else None
        if isinstance(fields, dict) and "node" in fields:
            yield str(fields["node"])
    for name in sorted(channels):
        if name.startswith("branch:to:"):
            yield name.removeprefix("branch:to:")
        elif name.startswith("join:"):
            waited_for, _, target = name.removeprefix("join:").rpartition(":")
            arrived = channels[name]
            arrived = arrived.get("$value") if isinstance(arrived, dict) else arrived
            if isinstance(arrived, list) and {str(edge) for edge in arrived} == set(waited_for.split("+")):
                yield target
