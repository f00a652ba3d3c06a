"""Which kind of answer a request wants, and the answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from agent.models.offline import executing, free, judging, planning, writing
from agent.models.offline.request import ChatRequest
from agent.models.offline.signals import NotUnderstoodError


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an offered function."""

    name: str
    arguments: dict[str, Any]


Answer = str | Call

WITHOUT_THOUGHT: dict[str, dict[str, Any]] = {
    "choose_mode": {
        "mode": "plan_execute",
        "reason": "The offline model reads figures from tables by a plan that a person approves.",
    },
    "revise_plan": {"kind": "cannot", "message": "the offline model knows one way only"},
    "reflect": {"enough": True},
}
"""What it answers whatever is asked: its plans hold all that it knows of a task."""


def answer(request: ChatRequest) -> Answer:
    """The answer to a request, from the request alone."""
    if "propose_plan" in request.functions:
        return Call("propose_plan", planning.propose(request))
    if "judge_step" in request.functions:
        return Call("judge_step", judging.judge(request))
    for name, fixed in WITHOUT_THOUGHT.items():
        if name in request.functions:
            return Call(name, fixed)
    if request.json_wanted:
        return json.dumps(_as_json(request), ensure_ascii=False)
    if len(request.functions) > 1:
        look = free.next_look(request)
        return Call(look["tool"], look["args"]) if look else free.answer(request)
    return _execute(request) if request.functions else _words(request)


def _words(request: ChatRequest) -> str:
    if "Observations" in request.sections:
        return writing.final_answer(request)
    if "Step" in request.sections:
        return writing.step_words(request)
    return f"I am the offline model. {planning.KNOWN}, when asked to plan. {planning.REMEDY}"


def _as_json(request: ChatRequest) -> dict[str, Any]:
    """The same arguments for a client that asks for JSON instead of a call: the sections say which are meant."""
    return judging.judge(request) if "Observation" in request.sections else planning.propose(request)


def _execute(request: ChatRequest) -> Answer:
    """Call the step's tool, or say why not."""
    step = request.json_section("Step", {})
    name = step.get("tool") if isinstance(step, dict) else None
    if name not in request.functions:
        return f"I am the offline model and cannot do this: the step wants {name}, which is not offered."
    if request.last_observation is not None:
        after = executing.after_call(request, name, request.functions[name])
        return after if isinstance(after, str) else Call(name, after)
    try:
        return Call(name, executing.arguments_for(request, name, request.functions[name]))
    except NotUnderstoodError as why:
        return f"I am the offline model and cannot do this step: {why}. {planning.REMEDY}"
