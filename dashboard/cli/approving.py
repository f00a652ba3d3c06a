"""`approvals` and `decide`: what waits for a person, and what that person says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dashboard.cli.opening import open_agent, open_stores
from dashboard.cli.options import Json, Limit, Project
from dashboard.cli.output import print_json, print_table
from dashboard.cli.progress import progress
from dashboard.cli.reading import read_json, read_text
from dashboard.cli.texts import print_request, print_waiting

if TYPE_CHECKING:
    from agent.records import Decision, RequestStatus

WORDS = {"approve": "approve", "accept": "approve", "edit": "edit", "reject": "reject", "ignore": "reject"}
WORDS["respond"] = "respond"


def approvals(
    status: Annotated[
        str | None, typer.Option("--status", help="Only these: pending, approved, edited, rejected, …; or all.")
    ] = "pending",
    limit: Limit = 200,
    before: Annotated[str | None, typer.Option("--before", help="Cursor of the next page.")] = None,
    project: Project = None,
    json: Json = False,
) -> None:
    """List approval requests; those that wait, oldest first, unless told otherwise."""
    from agent.records import RequestStatus
    from agent.shapes import approval_json, page_json
    from dashboard.approvals.kinds import asked_for

    with open_stores(project) as stores:
        found = stores.records.requests(stores.project, status=_status(status), limit=limit + 1, before=before)
    shown = found[:limit]
    if json:
        cursor = shown[-1].request_id if len(found) > limit else None
        print_json(page_json("approvals", [approval_json(item) for item in shown], cursor))
        return
    print_table(
        ("request", "kind", "status", "who asked", "since", "run"),
        [
            (
                item.request_id,
                asked_for(item),
                item.status,
                item.requested_by,
                f"{item.requested_at:%d %b %H:%M}",
                item.run_id,
            )
            for item in shown
        ],
        empty="Nothing waits for you.",
    )
    for item in shown:
        if item.status is RequestStatus.PENDING:
            print_waiting(item)


def decide(
    request_id: Annotated[str, typer.Argument(metavar="REQUEST_ID")],
    decision: Annotated[str, typer.Argument(help="approve, edit, reject or respond.", metavar="DECISION")],
    hash: Annotated[str, typer.Option("--hash", help="The hash of what you decide on, from `approvals`.")],
    by: Annotated[str, typer.Option("--as", help="Who decides.", metavar="USER")],
    plan: Annotated[
        str | None, typer.Option("--plan", help="With edit: JSON file with the edited plan; - reads standard input.")
    ] = None,
    value: Annotated[
        str | None,
        typer.Option("--value", help="With edit: the arguments of the call as JSON; with respond: the answer as JSON."),
    ] = None,
    remark: Annotated[
        str | None, typer.Option("--note", help="The reason, the answer, or what should be done differently, in words.")
    ] = None,
    project: Project = None,
    json: Json = False,
) -> None:
    """Decide on a request, once; then the run goes on here unless a worker has it.

    Exits with 0 once the decision stands, whatever becomes of the run: ask `show`.
    """
    from agent.run import usecases
    from agent.shapes import approval_json

    word = _decision(decision)
    edited = read_json(read_text(plan), "--plan") if plan is not None else None
    answer = read_json(value, "--value") if value is not None else None
    with open_agent(project) as app:
        decided = usecases.decide(
            app, request_id, word, hash=hash, by=by, plan=_as_plan(edited), value=answer, note=remark
        )
        with progress(app, decided.run_id, quiet=json):
            usecases.advance(app, decided.run_id)
        after = app.records.request(app.project, request_id)
    if json:
        print_json(approval_json(after))
    else:
        print_request(after)


def _as_plan(edited: Any) -> dict[str, Any] | None:
    """The plan of a file: the object itself, or what stands under `plan` in a saved run or request."""
    from agent.errors import RefusedError

    if edited is None:
        return None
    if isinstance(edited, dict) and isinstance(edited.get("plan"), dict):
        edited = edited["plan"]
    if not isinstance(edited, dict) or not isinstance(edited.get("steps"), list):
        raise RefusedError("--plan is no plan: it needs an object with goal and a list of steps.", code="invalid_plan")
    return edited


def _decision(word: str) -> Decision:
    from agent.records import Decision

    if word not in WORDS:
        raise typer.BadParameter(f"{word!r} is no decision; say approve, edit, reject or respond.")
    return Decision(WORDS[word])


def _status(word: str | None) -> RequestStatus | None:
    from agent.records import RequestStatus

    if word in (None, "all"):
        return None
    if word not in list(RequestStatus):
        choices = ", ".join(RequestStatus)
        raise typer.BadParameter(f"{word!r} is no status; choose from {choices}, all.", param_hint="--status")
    return RequestStatus(word)
