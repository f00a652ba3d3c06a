"""Runs and requests as text for a person, made from the same documents that scripts get."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dashboard.cli.output import JsonObject, plain, print_facts, print_table

if TYPE_CHECKING:
    from agent.records import ApprovalRequest


def print_run(run: JsonObject) -> None:
    """One run: where it stands, its steps, its answer."""
    usage = run["usage"]
    facts: dict[str, object] = {"run": run["run_id"], "thread": run["thread_id"], "task": run["task"]}
    facts["status"] = run["status"] + (f", {run['stop_reason']}" if run["stop_reason"] else "")
    if run["error"]:
        facts["error"] = run["error"]
    if run["degraded"]:
        facts["degraded"] = "works without LangGraph"
    facts["steps"] = f"{run['steps_done']} of {run['steps_total']}"
    facts["tokens"] = f"{_count(usage['input_tokens'])} in, {_count(usage['output_tokens'])} out"
    facts["cost"] = dollars(run["cost_usd"])
    print_facts(facts)
    if run["plan"]:
        _print_plan(run["plan"])
    if run["answer"]:
        sys.stdout.write(f"\n{plain(run['answer'])}\n")


def _print_plan(plan: JsonObject) -> None:
    print_table(
        ("step", "what", "tool", "status", "tries", "result"),
        [
            (
                step["id"],
                step["description"],
                step["tool"] or "-",
                step["status"],
                step["attempts"],
                step["error"] or (step["result"] or {}).get("key_result", ""),
            )
            for step in plan["steps"]
        ],
        empty="The plan has no steps.",
    )


def print_waiting(request: ApprovalRequest) -> None:
    """What a run waits for, with the command that answers it."""
    word = "respond --note ANSWER" if request.kind == "question" else "approve"
    if request.kind == "question":
        sys.stdout.write(f"\nIt asks: {plain(str(request.payload.get('question', '')))}\n")
    sys.stdout.write(
        f"\n{request.request_id} waits for you. Answer with:\n"
        f"  plandeck decide {request.request_id} {word} --hash {request.hash} --as YOU\n"
    )


def print_request(request: ApprovalRequest) -> None:
    """One approval request and its decision."""
    print_facts(
        {
            "request": request.request_id,
            "status": request.status,
            "decided by": request.decided_by,
            "run": request.run_id,
            "reached the run": "yes" if request.applied_at else "not yet",
        }
    )


def dollars(amount: str | None) -> str:
    """Money for a person; unknown is said."""
    return "unknown" if amount is None else f"${amount}"


def _count(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"
