"""What the page of threads shows, from what was read. Pure; strings are Markdown, with all that is not ours escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from agent.checkpoints.diff import diff_states
from agent.checkpoints.records import (
    Change,
    ChangeKind,
    CheckpointState,
    CheckpointStatus,
    CheckpointSummary,
    PendingWrite,
    ThreadSummary,
)
from agent.records import AttemptStatus, Effect, EventKind, JsonObject, JsonValue, Run, StepAttempt
from dashboard.look.formats import NBSP, NONE, cut, duration, moment, plural, size
from dashboard.look.status import FORK, Look, Slot, look_of
from dashboard.look.text import code, escape
from dashboard.threads_page.timeline import Place, Point, Timeline

SHOWN_CHANGES = 100
VALUE_CHARACTERS = 90
TITLE_CHARACTERS, ID_CHARACTERS = 56, 18
"""What the cells of the list show whole; they would cut a longer text in the middle of a letter."""
TREE_TEXT = 400
TREE_ITEMS = 50
TREE_DEPTH = 12
_OWN_CHANNELS = ("branch:", "join:", "start:", "__pregel_tasks", "__no_writes__")
_START = Look(Slot.GRAY, "login", "input")
_SIGNS = {ChangeKind.ADDED: "+", ChangeKind.CHANGED: "~", ChangeKind.REMOVED: "−"}


@dataclass(frozen=True, slots=True)
class OwnRun:
    """What is known of a thread beyond its checkpoints, because one of our runs wrote it."""

    run: Run
    attempts: Sequence[StepAttempt] = ()
    effects: Mapping[str, Effect] = field(default_factory=dict)
    """By step id, of the current plan version."""
    tools: Mapping[str, str | None] = field(default_factory=dict)
    deciders: Mapping[str, str] = field(default_factory=dict)
    """Plan hash to who approved it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How a checkpoint stands on the timeline."""

    label: str
    """Plain text, a few words."""
    look: Look | None
    """A ring with this icon; None for a plain dot."""
    hover: str
    """Plain text."""
    ahead: str = ""
    """What is still to run from a tip, plain text; it is drawn dotted, and has the ring in the tip's place."""


def headline(threads: Sequence[ThreadSummary], more: bool, search: str) -> str:
    """The list's answer: how many there are, and whether some wait."""
    if not threads:
        return "No thread here yet" if not search else f"No thread has “{search}” in its id"
    count = f"{len(threads)}+ threads" if more else plural(len(threads), "thread")
    if search:
        return f"{count} with “{search}” in {'its id' if len(threads) == 1 else 'their ids'}"
    waiting = sum(1 for thread in threads if thread.status is CheckpointStatus.WAITING)
    if waiting:
        return f"{count}, {waiting} {'waits' if waiting == 1 else 'wait'} for a person"
    return count


def thread_row(thread: ThreadSummary, run: Run | None, now: datetime) -> dict[str, str | Look]:
    """One line of the list; plain text, for a table that renders no Markdown.

    What a run of ours says of itself counts: its last checkpoint looks the same whether it failed or succeeded.
    """
    return {
        "Status": look_of(run.status if run else thread.status),
        "Thread": cut(run.task if run else thread.thread_id, TITLE_CHARACTERS),
        "Id": cut(thread.thread_id, ID_CHARACTERS) if run else NONE,
        "Last activity": moment(thread.last_at, now),
        "Checkpoints": f"{thread.checkpoints:,}",
        "Size": size(thread.bytes) if thread.bytes is not None else NONE,
    }


def label_of(point: Point, before: Point | None, own: OwnRun | None) -> str:
    """What ran to make a checkpoint, short: `execute s4`."""
    checkpoint = point.checkpoint
    if checkpoint.source == "input":
        return "input"
    if checkpoint.source == "fork":
        return "fork"
    names = [_node(name) for name in checkpoint.nodes]
    if checkpoint.source == "update":
        return f"edit as {names[0]}" if names else "edit"
    if not names:
        return f"step {checkpoint.step}" if checkpoint.step is not None else "?"
    steps = steps_of(point, before, own)
    return " ".join([_names(checkpoint.nodes), *steps])


def steps_of(point: Point, before: Point | None, own: OwnRun | None) -> list[str]:
    """The plan's steps whose attempts ended while a checkpoint was made."""
    end, start = point.checkpoint.at, before.checkpoint.at if before else None
    if own is None or "execute" not in point.checkpoint.nodes or end is None or start is None:
        return []
    return list(
        dict.fromkeys(
            attempt.step_id
            for attempt in own.attempts
            if attempt.finished_at is not None and start < attempt.finished_at <= end
        )
    )


def mark_of(point: Point, timeline: Timeline, own: OwnRun | None, tips: frozenset[str], now: datetime) -> Mark:
    """Label, ring and tooltip of a checkpoint."""
    before = timeline.points[point.parent_id] if point.parent_id is not None else None
    label = label_of(point, before, own)
    look = _ring(point, before, own, tips)
    step = "" if point.checkpoint.step is None else f", step {point.checkpoint.step}"
    ahead = _names(timeline.open_ends.get(point.id, ()))
    lines = [label, f"{exact(point.checkpoint.at, now)} · {point.checkpoint.source or 'unknown'}{step}"]
    if look:
        lines.append(f"{ahead}: {look.word}" if ahead else look.word)
    if point.checkpoint.error:
        lines.append(cut(point.checkpoint.error, 80))
    return Mark(label, look, "\n".join(lines), ahead)


def _ring(point: Point, before: Point | None, own: OwnRun | None, tips: frozenset[str]) -> Look | None:
    checkpoint = point.checkpoint
    if checkpoint.status is CheckpointStatus.FAILED or point.id in tips:
        return look_of(checkpoint.status)
    if checkpoint.source in ("update", "fork"):
        return FORK
    if checkpoint.source == "input":
        return _START
    if before and checkpoint.source == "loop":
        return _ring_of_step(point, before, own)
    return None


def _ring_of_step(point: Point, before: Point, own: OwnRun | None) -> Look | None:
    steps = steps_of(point, before, own)
    if before.checkpoint.raised:
        return look_of(EventKind.STEP_FAILED)
    if before.checkpoint.asked:
        return Look(Slot.YELLOW, "front_hand", "a person answered")
    if own and any(
        attempt.step_id in steps and attempt.status is AttemptStatus.FAILED and _ended_in(attempt, before, point)
        for attempt in own.attempts
    ):
        return look_of(EventKind.STEP_FAILED)
    grave = [effect for step in steps if own and (effect := own.effects.get(step)) and effect.gravity > 1]
    return look_of(max(grave, key=lambda effect: effect.gravity)) if grave else None


def _ended_in(attempt: StepAttempt, before: Point, point: Point) -> bool:
    start, end = before.checkpoint.at, point.checkpoint.at
    return bool(start and end and attempt.finished_at and start < attempt.finished_at <= end)


def facts(
    place: Place, state: CheckpointState, timeline: Timeline, own: OwnRun | None, now: datetime
) -> dict[str, str]:
    """The list beside a checkpoint: what ran, when, what comes next."""
    point, summary = place.point, state.summary
    before = timeline.points[place.before] if place.before is not None else None
    told = {
        "Ran": _ran(point, before, own),
        "At": _at(point, before, place, now),
        "Source": _source(summary),
        "Next": _next(summary),
        **({"Raised": f":red[{escape(cut(summary.error, 200))}]"} if summary.error else {}),
        "Interrupts": _interrupts(state),
        "Writes": _channels(state.made_by) or ":gray[none]",
        "Size": f"{size(summary.bytes)}, {len(state.unreadable)} unreadable",
        "Id": code(summary.checkpoint_id) or ":gray[empty]",
    }
    if before is None and summary.parent_checkpoint_id is not None:
        told["Before"] = ":gray[earlier history was removed]"
    return told


def _ran(point: Point, before: Point | None, own: OwnRun | None) -> str:
    checkpoint = point.checkpoint
    if checkpoint.source == "input":
        return "**input** taken in"
    if checkpoint.source == "fork":
        return "**fork**, a copy to go on from"
    if not checkpoint.nodes:
        return "**edit of the state**" if checkpoint.source == "update" else ":gray[not known]"
    names = "**" + escape(", ".join(_node(name) for name in checkpoint.nodes)) + "**"
    steps = steps_of(point, before, own)
    tools = [tool for step in steps if own and (tool := own.tools.get(step))]
    edited = " :gray[as an edit of the state]" if checkpoint.source == "update" else ""
    return names + (" " + escape(" ".join(steps)) if steps else "") + "".join(f" · {escape(t)}" for t in tools) + edited


def _at(point: Point, before: Point | None, place: Place, now: datetime) -> str:
    at = point.checkpoint.at
    if at is None:
        return ":gray[unknown]"
    words = escape(exact(at, now))
    if before is None or before.checkpoint.at is None:
        return words
    return f"{words} · {duration(at - before.checkpoint.at)} after {place.index}"


def _source(summary: CheckpointSummary) -> str:
    step = "" if summary.step is None else f", step {summary.step}"
    return escape(f"{summary.source or 'unknown'}{step}")


def _next(summary: CheckpointSummary) -> str:
    if summary.next is None:
        return ":gray[not known without the graph]"
    if not summary.next:
        return ":gray[nothing, it ended here]"
    counted = {name: summary.next.count(name) for name in dict.fromkeys(summary.next)}
    return ", ".join(f"**{escape(_node(name))}**" + (f" × {n}" if n > 1 else "") for name, n in counted.items())


def _interrupts(state: CheckpointState) -> str:
    if not state.interrupts:
        return ":gray[none pending]"
    return "  \n".join(
        f":yellow[:material/front_hand:] {escape(interrupt.node or '')} {escape(worded(interrupt.value, 60))}"
        for interrupt in state.interrupts
    )


def _channels(writes: Iterable[PendingWrite]) -> str:
    names = dict.fromkeys(write.channel for write in writes if not _calls_next(write))
    return " · ".join(escape(name) for name in names)


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference to the checkpoint before, as rows."""

    rows: list[dict[str, str]]
    left_out: int
    """How many more there are than are shown."""
    kept: tuple[str, ...]
    """Channels without a change."""


def changes_since(before: CheckpointState | None, state: CheckpointState) -> Changes:
    """What is new in a state; a channel that either side cannot show is not compared."""
    hidden = {
        entry.where.removeprefix("values.") for side in (before, state) if side is not None for entry in side.unreadable
    }
    old = _shown(before.values, hidden) if before else {}
    new = _shown(state.values, hidden)
    found = diff_states(old, new)
    changed = {_channel_of(change.path) for change in found}
    return Changes(
        rows=[_change_row(change) for change in found[:SHOWN_CHANGES]],
        left_out=max(0, len(found) - SHOWN_CHANGES),
        kept=tuple(name for name in new if name in old and name not in changed),
    )


def _shown(values: JsonObject, hidden: set[str]) -> JsonObject:
    return {name: value for name, value in values.items() if name not in hidden}


def _channel_of(path: str) -> str:
    if path.startswith('["'):
        name: str = json.JSONDecoder().raw_decode(path[1:])[0]
        return name
    return path.split(".", 1)[0].split("[", 1)[0]


def _change_row(change: Change) -> dict[str, str]:
    return {
        "": f"**{_SIGNS[change.kind]}**{NBSP}{change.kind}",
        "Where": escape(cut(change.path, 60)),
        "Before": _before(change),
        "Now": _now(change),
    }


def _before(change: Change) -> str:
    if change.kind is ChangeKind.ADDED:
        return NONE
    words = escape(worded(change.before))
    return f"~~{words}~~" if change.kind is ChangeKind.REMOVED else f":gray[{words}]"


def _now(change: Change) -> str:
    if change.kind is ChangeKind.REMOVED:
        return NONE
    words = escape(worded(change.after))
    if change.kind is ChangeKind.ADDED or isinstance(change.after, dict | list):
        return words
    if _is_number(change.before) and _is_number(change.after):
        step = change.after - change.before
        return f"**{words}** :gray[{'+' if step > 0 else '−'}{escape(worded(abs(step)))}]"
    return f"**{words}**" if len(words) < 40 else words


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def worded(value: JsonValue, characters: int = VALUE_CHARACTERS) -> str:  # noqa: PLR0911  # a table of kinds
    """A value in few words, plain text: `“spend.md”`, `24,508`, `3 entries: a, b, c`."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.6g}"
        case str():
            return f"“{cut(value, characters)}”"
        case {"$type": type_, "$value": inner}:
            return cut(f"{str(type_).rsplit('.', 1)[-1]} {_inside(inner, characters)}", characters)
        case _:
            return cut(_inside(value, characters), characters)


def _inside(value: JsonValue, characters: int) -> str:
    if isinstance(value, list):
        items = ", ".join(worded(item, characters) for item in value[:3])
        return plural(len(value), "entry", "entries") + (f": {items}" if items else "") + ("…" if value[3:] else "")
    if isinstance(value, dict):
        return ", ".join(f"{key}: {worded(item, 30)}" for key, item in list(value.items())[:4]) or "empty"
    return worded(value, characters)


def exact(at: datetime | None, now: datetime) -> str:
    """A time with milliseconds, with the day unless it is today."""
    if at is None:
        return "unknown"
    utc = at.astimezone(UTC)
    day = "" if utc.date() == now.astimezone(UTC).date() else f"{moment(at, now).rsplit(',', 1)[0]}, "
    return f"{day}{utc:%H:%M:%S}.{utc.microsecond // 1_000:03d}"


def tree(value: JsonValue, depth: int = 0) -> JsonValue:
    """A state small enough for a page: long texts and lists are cut and say so."""
    if isinstance(value, str) and len(value) > TREE_TEXT:
        return f"{value[:TREE_TEXT]}… ({len(value):,} characters)"
    if isinstance(value, list | dict) and depth >= TREE_DEPTH:
        return f"… ({len(value):,} entries deeper)"
    if isinstance(value, list):
        rest = [f"… ({len(value) - TREE_ITEMS:,} more)"] if len(value) > TREE_ITEMS else []
        return [tree(item, depth + 1) for item in value[:TREE_ITEMS]] + rest
    if isinstance(value, dict):
        rest_of = {"…": f"{len(value) - TREE_ITEMS:,} more"} if len(value) > TREE_ITEMS else {}
        return {key: tree(item, depth + 1) for key, item in list(value.items())[:TREE_ITEMS]} | rest_of
    return value


def cut_channels(values: JsonObject) -> list[str]:
    """The channels that `tree` does not show whole."""
    return [name for name, value in values.items() if tree(value, 1) != value]


def write_rows(writes: Iterable[PendingWrite]) -> list[dict[str, str]]:
    """What each node wrote, without the channels by which LangGraph calls the next node."""
    return [
        {
            "Node": escape(_node(write.node)) if write.node else NONE,
            "Wrote to": _channel_words(write.channel),
            "Value": escape(worded(_asked(write.value) if write.channel == "__interrupt__" else write.value, 160)),
        }
        for write in writes
        if not _calls_next(write)
    ]


def _asked(value: JsonValue) -> JsonValue:
    """What the interrupts of a write ask, without the record around it."""
    items = value if isinstance(value, list) else [value]
    asked = [item["$value"].get("value") if _is_interrupt(item) else item for item in items]
    return asked[0] if len(asked) == 1 else asked


def _is_interrupt(item: JsonValue) -> bool:
    return isinstance(item, dict) and isinstance(item.get("$value"), dict)


def _calls_next(write: PendingWrite) -> bool:
    """Whether a write only calls the next node; early versions wrote a node's name into a channel of that name."""
    own_name = write.value == write.channel and write.node in (None, write.channel)
    return own_name or write.channel.startswith(_OWN_CHANNELS)


def _channel_words(channel: str) -> str:
    told = {
        "__interrupt__": ":yellow[:material/front_hand:] asks",
        "__resume__": ":gray[:material/person:] was answered",
        "__error__": ":red[:material/error:] raised",
    }
    return told.get(channel) or escape(channel)


def _names(nodes: Sequence[str]) -> str:
    """The first node and how many more: `left +1`."""
    more = f" +{len(nodes) - 1}" if len(nodes) > 1 else ""
    return _node(nodes[0]) + more if nodes else ""


def _node(name: str) -> str:
    return "start" if name == "__start__" else name
