"""A whole Plandeck in a temporary home, with a scripted model and small tools."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from scripted_model import ScriptedTransport, scripted_chat

from agent.records import Decision, Effect, Limits, Run, RunStatus
from agent.run.policy import Behaviour
from agent.run.usecases import Plandeck, advance, decide, open_plandeck, pending_request, start_run
from agent.settings import load_settings
from agent.tools.registry import Observation, Tool, ToolContext, ToolError, ToolRegistry


class LookupArguments(BaseModel):
    """What `lookup` takes."""

    sku: str


class NoteArguments(BaseModel):
    """What `note` takes."""

    text: str


STOCK = {"B-7": 12, "C-9": 0}


class Calls(list[tuple[str, str]]):
    """(tool, argument) of every call that really ran."""


def small_registry(calls: Calls) -> ToolRegistry:
    def lookup(arguments: LookupArguments, context: ToolContext) -> Observation:
        calls.append(("lookup", arguments.sku))
        if arguments.sku not in STOCK:
            raise ToolError(f"There is no SKU {arguments.sku}; there are {', '.join(STOCK)}.")
        return Observation(
            text=f"{arguments.sku}: {STOCK[arguments.sku]} in stock", data={"stock": STOCK[arguments.sku]}
        )

    def note(arguments: NoteArguments, context: ToolContext) -> Observation:
        calls.append(("note", arguments.text))
        (context.artifacts / "note.txt").write_text(arguments.text)
        return Observation(text="note.txt written", artifacts=("note.txt",))

    return ToolRegistry(
        [
            Tool("lookup", 1, "Looks up the stock of a SKU.", LookupArguments, Effect.READ, lookup),
            Tool("note", 2, "Writes a note.", NoteArguments, Effect.DRAFT, note),
        ]
    )


def step(step_id: str, tool: str | None = "lookup", after: tuple[str, ...] = (), **args: Any) -> dict[str, Any]:
    return {
        "id": step_id,
        "description": f"Do {step_id}",
        "tool": tool,
        "args": args,
        "dependencies": list(after),
        "acceptance_criteria": "A number is shown",
    }


def plan(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "plan", "goal": "Know the stock", "rationale": "It is asked for.", "steps": list(steps)}


def write_agent(home: Path, name: str, **fields: Any) -> Path:
    """An own manifest in the home; JSON is YAML."""
    (home / "agents").mkdir(parents=True, exist_ok=True)
    file = home / "agents" / f"{name}.yaml"
    file.write_text(json.dumps({"name": name, **fields}, indent=1))
    return file


def manifest_fields(behaviour: Behaviour, limits: Limits) -> dict[str, Any]:
    """The fields of a manifest that say this."""
    review = behaviour.review_below
    return {
        "replan": {"policy": behaviour.replan},
        "degrade": behaviour.degrade,
        "refusal": behaviour.refusal,
        "reflect": behaviour.reflect,
        **({"reviewer": {"threshold": review}} if review is not None else {}),
        "approval": behaviour.leaves,
        "limits": asdict(limits),
    }


@contextmanager
def small_plandeck(
    home: Path,
    answers: dict[str, list[Any]],
    *,
    database_url: str | None = None,
    tools: Sequence[Tool] = (),
    behaviour: Behaviour | None = None,
    limits: Limits | None = None,
    **changed: Any,
) -> Iterator[tuple[Plandeck, ScriptedTransport, Calls]]:
    if behaviour or limits:
        write_agent(home, "analyst", **manifest_fields(behaviour or Behaviour(), limits or Limits()))
    transport = ScriptedTransport(answers)
    calls = Calls()
    with open_plandeck(load_settings(home=home, database_url=database_url)) as app:
        registry = ToolRegistry([*small_registry(calls), *tools])
        yield replace(app, model=scripted_chat(transport), registry=registry, **changed), transport, calls


def run_to_pause(app: Plandeck, task: str = "How much of B-7 is there?") -> Run:
    return advance(app, start_run(app, task, by="ana").run_id)


def approve(app: Plandeck, run: Run, by: str = "li") -> Run:
    assert run.status is RunStatus.WAITING_HUMAN, (run.status, run.error)
    request = pending_request(app, run.run_id)
    assert request is not None
    decide(app, request.request_id, Decision.APPROVE, hash=request.hash, by=by)
    return advance(app, run.run_id)
