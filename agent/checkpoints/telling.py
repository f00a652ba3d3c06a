"""What the rows tell without decoding any checkpoint: who ran, what is next, who waits, what failed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from xxhash import xxh3_128_hexdigest

from agent.checkpoints.decoding import UndecodableError, decode
from agent.checkpoints.ids import time_of
from agent.checkpoints.records import CheckpointStatus, CheckpointSummary, Interrupt
from agent.checkpoints.rows import CheckpointRow, WriteRow
from agent.records import JsonObject, JsonValue

START = "__start__"
_NULL_TASK = "00000000-0000-0000-0000-000000000000"
_PULL, _PUSH = "~__pregel_pull, ", "~__pregel_push, "


@dataclass(frozen=True, slots=True)
class Task:
    """One task of a super-step, as its writes show it."""

    task_id: str
    path: str
    rows: tuple[WriteRow, ...]

    @property
    def finished(self) -> bool:
        """Whether it came to its end: only then its ordinary writes are stored."""
        return any(row.idx >= 0 for row in self.rows)

    def has(self, channel: str) -> bool:
        """Whether it wrote to a channel."""
        return any(row.channel == channel for row in self.rows)

    def told(self, channel: str) -> list[JsonValue]:
        """Decoded values of one of the channels that LangGraph tells by."""
        return [value for row in self.rows if row.channel == channel for value in _decoded(row)]


class Step:
    """One checkpoint with what came before it and what followed."""

    def __init__(
        self,
        row: CheckpointRow,
        *,
        parent: Step | None,
        writes: Sequence[WriteRow],
        children: Sequence[JsonObject] = (),
    ) -> None:
        self.row = row
        self.parent = parent
        self.children = children
        self.tasks = _tasks(writes)

    @property
    def source(self) -> str | None:
        """`input`, `loop`, `update` or `fork`."""
        source = self.row.metadata.get("source")
        return source if isinstance(source, str) else None

    @property
    def followed(self) -> bool:
        """Whether another checkpoint has this one as its parent."""
        return bool(self.children)

    @cached_property
    def sends(self) -> tuple[str, ...]:
        """Nodes that the super-step before called by `Send`, in order."""
        if self.source == "fork":
            return self.parent.sends if self.parent else ()
        if self.source != "loop" or self.parent is None:
            return ()
        return tuple(
            node
            for task in self.parent.tasks
            if task.finished
            for value in task.told("__pregel_tasks")
            if (node := _sent_node(value))
        )

    @cached_property
    def targets(self) -> tuple[str, ...] | None:
        """Every node that runs after this checkpoint, one entry per task; None where the rows don't tell."""
        if self.source == "input":
            return (START,)
        if self.source == "fork":
            return self.parent.targets if self.parent else self._ran_after()
        if self.source != "loop" or self.parent is None:
            return self._ran_after()
        rows = [row for task in self.parent.tasks if task.finished for row in task.rows]
        if not rows or self._first_generation(rows):
            return self._ran_after() or self.sends or None
        joined = self._joined(rows)
        if joined is None:
            return self._ran_after()
        return (*self.sends, *sorted(_branch_targets(rows) | joined))

    def name(self, task: Task) -> str | None:
        """The node that a task of this step belongs to; None where the rows don't tell."""
        if task.path.startswith(_PULL):
            return task.path.removeprefix(_PULL)
        if task.path.startswith(_PUSH):
            position = task.path.removeprefix(_PUSH).split(",")[0]
            if position.isdigit() and int(position) < len(self.sends):
                return self.sends[int(position)]
            return None
        return self._name_without_path(task)

    @cached_property
    def next(self) -> tuple[str, ...] | None:
        """What is still to run from here; of a checkpoint that others followed, what ran."""
        if self.targets is None or self.followed:
            return self.targets
        left = list(self.targets)
        for task in self.tasks:
            if task.finished and (name := self.name(task)) in left:
                left.remove(name)
        return tuple(left)

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """Which nodes made this checkpoint."""
        if self.source in ("input", "fork"):
            return ()
        written = self.row.metadata.get("writes")
        if isinstance(written, dict) and written:
            return tuple(str(name) for name in written)
        if self.source == "update" or self.parent is None:
            return ()
        names = [self.parent.name(task) for task in self.parent.tasks if task.finished]
        return tuple(dict.fromkeys(name for name in names if name))

    @cached_property
    def interrupts(self) -> tuple[Interrupt, ...]:
        """Questions without an answer."""
        if self.followed:
            return ()
        return tuple(
            interrupt
            for task in self.tasks
            if not task.finished
            for value in task.told("__interrupt__")
            if (interrupt := _interrupt(value, task, self.name(task), self.row.ns))
        )

    @cached_property
    def error(self) -> str | None:
        """What the first failed task raised; None when nothing failed, or it was tried again with success."""
        if any(child.get("source") == "loop" for child in self.children):
            return None
        for task in self.tasks:
            if not task.finished and (errors := task.told("__error__")):
                return str(errors[0])
        return None

    @cached_property
    def status(self) -> CheckpointStatus:
        """Where the work that starts here stands."""
        if self.error is not None:
            return CheckpointStatus.FAILED
        if self.followed:
            return CheckpointStatus.FINISHED
        if self.interrupts:
            return CheckpointStatus.WAITING
        if self.next is None:
            return CheckpointStatus.UNKNOWN
        if not self.next:
            return CheckpointStatus.FINISHED
        begun = self.source == "input" or any(task.finished for task in self.tasks)
        return CheckpointStatus.RUNNING if begun else CheckpointStatus.BREAKPOINT

    def summary(self) -> CheckpointSummary:
        """The checkpoint as a list shows it."""
        step = self.row.metadata.get("step")
        return CheckpointSummary(
            checkpoint_id=self.row.checkpoint_id,
            parent_checkpoint_id=self.row.parent_id,
            ns=self.row.ns,
            at=time_of(self.row.checkpoint_id) or _parsed(self.row.written_at),
            source=self.source,
            step=step if isinstance(step, int) else None,
            nodes=self.nodes,
            status=self.status,
            next=self.next,
            waiting=tuple(interrupt.id for interrupt in self.interrupts),
            bytes=self.row.size,
            format=self.row.format,
            error=self.error,
            asked=any(task.has("__interrupt__") for task in self.tasks),
            raised=any(task.has("__error__") for task in self.tasks),
        )

    def _ran_after(self) -> tuple[str, ...] | None:
        """The nodes whose writes show that they ran from here, which is all that is known without the graph."""
        names = [name for task in self.tasks if (name := self.name(task))]
        return tuple(dict.fromkeys(names)) or tuple(sorted(self._written_after)) or None

    @property
    def _written_after(self) -> set[str]:
        """The nodes that the metadata of the checkpoints after this one name, as versions before 0.5 do."""
        written = [child.get("writes") for child in self.children if child.get("source") == "loop"]
        return {str(name) for writes in written if isinstance(writes, dict) for name in writes}

    def _name_without_path(self, task: Task) -> str | None:
        if task.task_id == _NULL_TASK:
            return None
        if self.source == "input":
            return START
        for value in task.told("__interrupt__"):
            if node := _node_of_namespace(value):
                return node
        channels = {row.channel for row in task.rows}
        announced = self._written_after if len(self._written_after) == 1 else self._written_after & channels
        if len(announced) == 1:
            return announced.pop()
        if self.parent is None or self.source != "loop":
            return None
        rows = [row for before in self.parent.tasks if before.finished for row in before.rows]
        targets = {*self.sends, *_branch_targets(rows)}
        return targets.pop() if len(targets) == 1 else None

    def _first_generation(self, rows: Iterable[WriteRow]) -> bool:
        """Whether nodes announce themselves by a channel of their own name, so that edges are not in the rows."""
        return any(
            row.channel.startswith("start:") or (row.channel in self.nodes and _decoded(row) == [row.channel])
            for row in rows
        )

    def _joined(self, rows: Iterable[WriteRow]) -> set[str] | None:
        """Nodes whose barrier of several edges is complete; None when older rows are needed to know."""
        arrived: dict[str, set[str]] = {}
        for channel, name in _arrivals(rows):
            arrived.setdefault(channel, set()).add(name)
        ready: set[str] = set()
        for channel, names in arrived.items():
            waited_for, _, target = channel.removeprefix("join:").rpartition(":")
            missing = self._missing_before(channel, target, set(waited_for.split("+")) - names)
            if missing is None:
                return None
            if not missing:
                ready.add(target)
        return ready

    def _missing_before(self, channel: str, target: str, missing: set[str]) -> set[str] | None:
        """Which of a barrier's edges were not reached earlier either; None when the history ends before that."""
        step, left = self.parent, missing
        while left and step and step.parent:
            before = step.parent
            if any(before.name(task) == target for task in before.tasks):
                return left
            rows = [row for task in before.tasks if task.finished for row in task.rows]
            left = left - {name for found, name in _arrivals(rows) if found == channel}
            step = before
        return left if not left or (step and step.row.parent_id is None) else None


def steps(
    rows: Iterable[CheckpointRow],
    writes: Iterable[WriteRow],
    children: Mapping[str, Sequence[JsonObject]],
) -> dict[str, Step]:
    """Steps by checkpoint id, each knowing its parent where that is among the rows."""
    by_id = {row.checkpoint_id: row for row in rows}
    by_checkpoint: dict[str, list[WriteRow]] = {}
    for write in writes:
        by_checkpoint.setdefault(write.checkpoint_id, []).append(write)
    made: dict[str, Step] = {}
    for start in by_id:
        for checkpoint_id in reversed(_unmade_line(start, by_id, made)):
            row = by_id[checkpoint_id]
            made[checkpoint_id] = Step(
                row,
                parent=made.get(row.parent_id or ""),
                writes=by_checkpoint.get(checkpoint_id, ()),
                children=children.get(checkpoint_id, ()),
            )
    return made


def _unmade_line(start: str, by_id: Mapping[str, CheckpointRow], made: Mapping[str, Step]) -> list[str]:
    """From a checkpoint up to the first ancestor that is made or missing; a circle of parents ends it too."""
    line: list[str] = []
    current: str | None = start
    while current is not None and current in by_id and current not in made and len(line) <= len(by_id):
        line.append(current)
        current = by_id[current].parent_id
    return line


def _tasks(writes: Sequence[WriteRow]) -> tuple[Task, ...]:
    by_task: dict[str, list[WriteRow]] = {}
    for write in writes:
        by_task.setdefault(write.task_id, []).append(write)
    tasks = (
        Task(task_id, max(row.path for row in rows), tuple(rows))
        for task_id, rows in by_task.items()
        if task_id != _NULL_TASK
    )
    return tuple(sorted(tasks, key=lambda task: (task.path, task.task_id)))


def _branch_targets(rows: Iterable[WriteRow]) -> set[str]:
    return {row.channel.removeprefix("branch:to:") for row in rows if row.channel.startswith("branch:to:")}


def _arrivals(rows: Iterable[WriteRow]) -> Iterable[tuple[str, str]]:
    """Channel of a barrier and the edge that reached it; the stored value is that edge's node."""
    for row in rows:
        if row.channel.startswith("join:"):
            for value in _decoded(row):
                yield row.channel, str(value)


def _decoded(row: WriteRow) -> list[JsonValue]:
    """The value in a list; nothing when it was not fetched or can't be decoded."""
    if row.body is None:
        return []
    try:
        return [decode(row.format, row.body)]
    except UndecodableError:
        return []


def _sent_node(value: JsonValue) -> str | None:
    fields = value.get("$value", value) if isinstance(value, dict) else None
    node = fields.get("node") if isinstance(fields, dict) else None
    return node if isinstance(node, str) else None


def _interrupts_in(value: JsonValue) -> list[dict[str, JsonValue]]:
    """The fields of each interrupt in what one task stored: a list since 0.4, one object before."""
    found = [item.get("$value", item) if isinstance(item, dict) else item for item in _listed(value)]
    return [item for item in found if isinstance(item, dict)]


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def _namespace(fields: Mapping[str, JsonValue]) -> list[str] | None:
    ns = fields.get("ns")
    return [str(part) for part in ns] if isinstance(ns, list) and ns else None


def _node_of_namespace(value: JsonValue) -> str | None:
    for fields in _interrupts_in(value):
        if ns := _namespace(fields):
            return ns[0].split(":")[0]
    return None


def _interrupt(value: JsonValue, task: Task, node: str | None, ns: str) -> Interrupt | None:
    """The last interrupt of a task: the one that it waits for."""
    found = _interrupts_in(value)
    if not found:
        return None
    fields = found[-1]
    stored, path = fields.get("id", fields.get("interrupt_id")), _namespace(fields)
    # Before 0.6 the id was not stored; LangGraph derives it from the namespace, and so does every later version.
    derived = xxh3_128_hexdigest("|".join(path).encode()) if path else task.task_id
    return Interrupt(id=str(stored or derived), value=fields.get("value"), node=node, ns=ns)


def _parsed(text: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
