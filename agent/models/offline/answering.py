"""Which kind of answer a request wants, and the answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from agent.models.offline import judging, planning, writing
from agent.models.offline.request import ChatRequest


@dataclass(frozen=True, slots=True)
class Call:
    """A call of an offered function."""

    name: str
    arguments: dict[str, Any]


Answer = str | Call


def answer(request: ChatRequest) -> Answer:
    """The answer to a request, from the request alone."""
    if "propose_plan" in request.functions:
        return Call("propose_plan", planning.propose(request))
    if "judge_step" in request.functions:
        return Call("judge_step", judging.judge(request))
    if request.functions:
        return _execute(request)
    return json.dumps(_as_json(request), ensure_ascii=False) if request.json_wanted else _in_words(request)


def _in_words(request: ChatRequest) -> str:
    if "Observations" in request.sections:
        return writing.final_answer(request)
    if "Step" in request.sections:
        return writing.step_words(request)
    return f"I am the offline model. {planning.KNOWN}, when asked to plan. {planning.REMEDY}"


def _as_json(request: ChatRequest) -> dict[str, Any]:
    """The same arguments for a client that asks for JSON instead of a call: the sections say which are meant."""
    return judging.judge(request) if "Observation" in request.sections else planning.propose(request)


def _execute(request: ChatRequest) -> Answer:
    """Call the step's tool with its fixed arguments, and fill in those that are open."""
    if request.last_observation is not None:
        return _after(request.last_observation)
    step = request.json_section("Step", {})
    name = step.get("tool")
    if name not in request.functions:
        return f"I am the offline model and cannot do this: the step wants {name}, which is not offered."
    arguments = dict(step.get("args", {}))
    open_arguments = [key for key in request.functions[name].get("required", []) if key not in arguments]
    results = request.json_section("Earlier results", [])
    for key in open_arguments:
        if key != "body":
            return f"I am the offline model and cannot fill in {key} of {name}."
        arguments[key] = writing.report_body(request.sections.get("Goal", ""), results)
    return Call(name, arguments)


def _after(observation: str) -> str:
    """What is said after a tool call: an error cannot be mended here."""
    try:
        found = json.loads(observation)
    except ValueError:
        return "The tool answered."
    if isinstance(found, dict) and "error" in found:
        return f"I am the offline model and cannot mend this: {found.get('message', found['error'])}"
    return "The tool answered."
