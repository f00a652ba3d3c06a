"""The free mode: the looks of a plan one after the other, then what they showed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agent.models.offline import planning
from agent.models.offline.request import ChatRequest


def next_look(request: ChatRequest) -> dict[str, Any] | None:
    """The step of the plan whose call comes next, with its `tool` and `args`; None when none is left."""
    looks = _looks(request, planning.propose(_with_tools_listed(request)))
    made = len(request.observations)
    return looks[made] if made < len(looks) else None


def answer(request: ChatRequest) -> str:
    """What the looks showed, each with its number; or why there were none."""
    plan = planning.propose(_with_tools_listed(request))
    looks = _looks(request, plan)
    if not looks:
        return str(plan.get("message") or f"I am the offline model and find nothing to look at. {planning.REMEDY}")
    found = zip(looks, request.observations, strict=False)
    return "\n\n".join(_told(look["description"], text) for look, text in found)


def _told(description: str, observation: str) -> str:
    """What was looked for, the number of the observation, and what it showed, rows as a table."""
    number, _, text = observation.partition(" ")
    if not number.startswith("["):
        return f"{description}: {observation}"
    rows = [line.split(" | ") for line in text.splitlines()[1:]]
    if not rows:
        return f"{description}: {text} {number}"
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join([f"{description} {number}:", "", *(f"| {' | '.join(line)} |" for line in lines)])


def _looks(request: ChatRequest, plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps that only need their own arguments."""
    return [
        step
        for step in plan.get("steps") or []
        if step["tool"] in request.functions
        and set(request.functions[step["tool"]].get("required", [])) <= set(step["args"])
    ]


def _with_tools_listed(request: ChatRequest) -> ChatRequest:
    """The request as a planner would be asked: with the offered functions as its list of tools."""
    return replace(request, listed={name: request.offered(name) for name in request.functions})
