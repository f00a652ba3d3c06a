"""`threads`, `history`, `state`, `diff`: any LangGraph checkpoint store, read and never written."""

from __future__ import annotations

import json as jsonlib
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from dashboard.cli.opening import open_checkpoints
from dashboard.cli.options import Json, Limit, Namespace, Project, Store
from dashboard.cli.output import plain, print_facts, print_json, print_table

if TYPE_CHECKING:
    from agent.checkpoints.records import CheckpointState

Thread = Annotated[str, typer.Argument(metavar="THREAD_ID")]
SHOWN_CHARACTERS = 60


def threads(
    store: Store = None,
    search: Annotated[str | None, typer.Option("--search", help="Only threads whose id contains this.")] = None,
    limit: Limit = 50,
    before: Annotated[str | None, typer.Option("--before", help="Cursor of the next page.")] = None,
    project: Project = None,
    json: Json = False,
) -> None:
    """List the threads of a checkpoint store."""
    from agent.checkpoints.records import Page
    from agent.errors import NotFoundError

    try:
        page = open_checkpoints(store, project).threads(limit=limit, before=before, search=search)
    except NotFoundError:
        if store is not None:
            raise
        # The own store is made by the first run.
        page = Page((), None)
    if json:
        print_json(page.to_json("threads", lambda item: item.to_json()))
        return
    print_table(
        ("thread", "last activity", "checkpoints", "bytes", "status", "next"),
        [
            (
                item.thread_id,
                f"{item.last_at:%d %b %Y %H:%M:%S}" if item.last_at else None,
                item.checkpoints,
                item.bytes,
                item.status,
                " ".join(item.next or ()),
            )
            for item in page.items
        ],
        empty=f"No thread {'matches' if search else 'is in this store'}.",
    )


def history(
    thread_id: Thread,
    store: Store = None,
    ns: Namespace = "",
    limit: Limit = 50,
    before: Annotated[
        str | None, typer.Option("--before", help="Only checkpoints older than this one.", metavar="CHECKPOINT_ID")
    ] = None,
    project: Project = None,
    json: Json = False,
) -> None:
    """List a thread's checkpoints, newest first."""
    page = open_checkpoints(store, project).history(thread_id, ns=ns, limit=limit, before=before)
    if json:
        print_json({"thread_id": thread_id, **page.to_json("checkpoints", lambda item: item.to_json())})
        return
    print_table(
        ("checkpoint", "at", "step", "source", "ran", "status", "next"),
        [
            (
                item.checkpoint_id,
                f"{item.at:%d %b %H:%M:%S}" if item.at else None,
                item.step,
                item.source,
                " ".join(item.nodes),
                item.status,
                None if item.next is None else " ".join(item.next),
            )
            for item in page.items
        ],
        empty="This thread has no checkpoint here.",
    )


def state(
    thread_id: Thread,
    checkpoint_id: Annotated[str | None, typer.Argument(metavar="CHECKPOINT_ID", help="The newest otherwise.")] = None,
    store: Store = None,
    ns: Namespace = "",
    project: Project = None,
    json: Json = False,
) -> None:
    """Show what a checkpoint holds, decoded without running any of it."""
    found = open_checkpoints(store, project).state(thread_id, checkpoint_id, ns=ns)
    if json:
        print_json(found.to_json())
    else:
        _print_state(found)


def diff(
    thread_id: Thread,
    checkpoint_a: Annotated[str, typer.Argument(metavar="CHECKPOINT_A")],
    checkpoint_b: Annotated[str, typer.Argument(metavar="CHECKPOINT_B")],
    store: Store = None,
    ns: Namespace = "",
    project: Project = None,
    json: Json = False,
) -> None:
    """Show what changed between two checkpoints of a thread."""
    from agent.checkpoints.diff import diff_states

    checkpoints = open_checkpoints(store, project)
    before = checkpoints.state(thread_id, checkpoint_a, ns=ns)
    after = checkpoints.state(thread_id, checkpoint_b, ns=ns)
    changes = diff_states(before.values, after.values)
    if json:
        print_json(
            {
                "thread_id": thread_id,
                "checkpoint_a": before.checkpoint_id,
                "checkpoint_b": after.checkpoint_id,
                "changes": [change.to_json() for change in changes],
            }
        )
        return
    marks = {"added": "+", "changed": "~", "removed": "-"}
    print_table(
        ("", "path", "before", "after"),
        [(marks[change.kind], change.path, _short(change.before), _short(change.after)) for change in changes],
        empty="The two states are equal.",
    )


def _print_state(found: CheckpointState) -> None:
    facts: dict[str, object] = {
        "thread": found.thread_id,
        "checkpoint": found.checkpoint_id,
        "status": found.summary.status,
        "next": None if found.summary.next is None else " ".join(found.summary.next) or "nothing",
    }
    print_facts(facts)
    sys.stdout.write(plain(jsonlib.dumps(found.values, ensure_ascii=False, indent=2)) + "\n")
    for interrupt in found.interrupts:
        sys.stdout.write(f"waits: {interrupt.id} {plain(_short(interrupt.value))}\n")
    for entry in found.unreadable:
        sys.stdout.write(f"unreadable: {entry.where}: {plain(entry.reason)}\n")


def _short(value: object) -> str:
    text = jsonlib.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"
