"""`run`, `resume`, `cancel`, `runs`, `show`: tasks given to the agent."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from dashboard.cli.opening import open_agent, open_stores
from dashboard.cli.options import Json, Limit, Project
from dashboard.cli.output import print_json, print_table
from dashboard.cli.progress import progress
from dashboard.cli.texts import print_run, print_waiting

if TYPE_CHECKING:
    from agent.records import Run, RunStatus
    from agent.run.usecases import Plandeck
    from dashboard.cli.opening import Stores
    from dashboard.cli.output import JsonObject

POLL_SECONDS = 0.2


def run(
    task: Annotated[str, typer.Argument(help="What the agent should find out or do, in a sentence.")],
    agent: Annotated[str, typer.Option("--agent", help="Which agent takes it; see plandeck agents.")] = "analyst",
    thread: Annotated[str | None, typer.Option("--thread", help="Id of the new thread; made up otherwise.")] = None,
    mode: Annotated[
        str | None,
        typer.Option("--mode", help="direct, react, plan_execute or auto; as the agent's manifest says otherwise."),
    ] = None,
    approve_as: Annotated[
        str | None,
        typer.Option("--approve-as", help="Approve the run's own plans and tool calls in this person's name."),
    ] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Only queue it; a server or worker takes it.")] = False,
    project: Project = None,
    json: Json = False,
) -> None:
    """Give the agent a task; returns when the run ends or waits for a person.

    Exits with 0 if it succeeded, waits or is queued, and with 1 if it failed or was cancelled.
    """
    from agent.run.usecases import start_run
    from dashboard.services import current_user

    with open_agent(project) as app:
        started = start_run(app, task, by=current_user(), agent=agent, mode=mode, thread_id=thread)
        if not detach:
            with progress(app, started.run_id, quiet=json):
                started = _follow(app, started.run_id, approve_as)
        answer_run(app, started, json)
    _exit_as(started)


def resume(
    thread_id: Annotated[str, typer.Argument(metavar="THREAD_ID")], project: Project = None, json: Json = False
) -> None:
    """Go on with a thread's run where its last checkpoint left it.

    Says what that saved: the completed steps that did not run again, and what they had cost. Exits with 0 if it
    succeeded or waits, and with 1 if it failed or was cancelled.
    """
    from agent.run.advance import may_go_on
    from agent.run.savings import saved_before
    from agent.run.usecases import resume_thread
    from agent.shapes import savings_json

    with open_agent(project) as app:
        found = app.records.run_of_thread(app.project, thread_id)
        began = app.now()
        with progress(app, found.run_id if found else "", quiet=json or found is None):
            resumed = resume_thread(app, thread_id)
            if not resumed.status.ended:
                resumed = settle(app, resumed.run_id)
        goes_on = found is not None and may_go_on(found, revive=True)
        saved = saved_before(app, resumed.run_id, began) if goes_on else None
        answer_run(app, resumed, json, saved=savings_json(saved) if saved else None)
        if saved and not json:
            sys.stdout.write(f"\nResumed, {saved}.\n")
    _exit_as(resumed)


def cancel(
    run_id: Annotated[str, typer.Argument(metavar="RUN_ID")], project: Project = None, json: Json = False
) -> None:
    """Stop a run at its next safe point; what was done is kept."""
    from agent.run.usecases import advance, cancel_run
    from dashboard.services import current_user

    with open_agent(project, calls_models=False) as app:
        cancel_run(app, run_id, by=current_user())
        answer_run(app, advance(app, run_id), json)


def runs(
    status: Annotated[str | None, typer.Option("--status", help="Only runs with this status.")] = None,
    limit: Limit = 50,
    before: Annotated[str | None, typer.Option("--before", help="Cursor of the next page.")] = None,
    project: Project = None,
    json: Json = False,
) -> None:
    """List runs, newest first."""
    from agent.shapes import page_json
    from dashboard.cli.gathering import run_document

    with open_stores(project) as stores:
        found = stores.records.runs(stores.project, status=_status(status), limit=limit + 1, before=before)
        shown = found[:limit]
        if json:
            documents = [run_document(stores, item) for item in shown]
            print_json(page_json("runs", documents, shown[-1].run_id if len(found) > limit else None))
            return
        print_table(
            ("run", "status", "who", "asked", "task"),
            [
                (item.run_id, item.status, item.requested_by, f"{item.created_at:%d %b %H:%M}", item.task)
                for item in shown
            ],
            empty='No runs yet. Start one with: plandeck run "your task"',
        )


def show(run_id: Annotated[str, typer.Argument(metavar="RUN_ID")], project: Project = None, json: Json = False) -> None:
    """Show one run: plan, progress, tokens, cost, answer."""
    with open_stores(project) as stores:
        answer_run(stores, stores.records.run(stores.project, run_id), json)


def _status(word: str | None) -> RunStatus | None:
    from agent.records import RunStatus

    if word is None:
        return None
    if word not in list(RunStatus):
        raise typer.BadParameter(f"{word!r} is no status; choose from {', '.join(RunStatus)}.", param_hint="--status")
    return RunStatus(word)


def _follow(app: Plandeck, run_id: str, approve_as: str | None) -> Run:
    """Advance a run until it ends or waits for somebody else.

    Plans and tool calls are approved; a question, a budget and a call of which nobody knows whether it happened need a
    person who looks.
    """
    from agent.records import Decision
    from agent.run.usecases import decide, pending_request
    from agent.store.errors import AlreadyDecidedError
    from dashboard.approvals.kinds import Asked, asked_for

    while True:
        current = settle(app, run_id)
        request = pending_request(app, run_id)
        if current.status.ended or not approve_as or request is None:
            return current
        if asked_for(request) not in (Asked.PLAN, Asked.CALL):
            return current
        # Who decided first counts; the run goes on with that.
        with suppress(AlreadyDecidedError):
            decide(app, request.request_id, Decision.APPROVE, hash=request.hash, by=approve_as)


def settle(app: Plandeck, run_id: str) -> Run:
    """Advance a run until it ended or waits: here, or by looking on while another process has it."""
    from agent.run.usecases import advance

    while True:
        current = advance(app, run_id)
        if current.status.ended or _waits(app, current):
            return current
        time.sleep(POLL_SECONDS)


def _waits(app: Plandeck, current: Run) -> bool:
    """Whether a run waits for a person, and not only for the process that has its decision still to apply."""
    from agent.records import RunStatus

    if current.status is not RunStatus.WAITING_HUMAN:
        return False
    asked = app.records.requests(app.project, run_id=current.run_id)
    return not any(request.decision and request.applied_at is None for request in asked)


def _exit_as(ended: Run) -> None:
    """Exit with 1 for a run that ended without success, after it was printed."""
    from agent.records import RunStatus

    if ended.status in (RunStatus.FAILED, RunStatus.CANCELLED):
        raise typer.Exit(1)


def answer_run(stores: Stores | Plandeck, run: Run, as_json: bool, **more: JsonObject | None) -> None:
    """Print one run; `more` stands in its JSON only."""
    from agent.records import RequestStatus
    from dashboard.cli.gathering import run_document

    document = run_document(stores, run)
    if as_json:
        print_json({**document, **more})
        return
    print_run(document, stores.records.ledger.calls(stores.project, run.run_id))
    for request in stores.records.requests(stores.project, run_id=run.run_id, status=RequestStatus.PENDING):
        print_waiting(request)
