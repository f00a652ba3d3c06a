"""The messages that models are sent. The instructions are the Markdown files beside this module.

Every call has one system message and one user message made of `## Heading` sections; sections that hold structure are
JSON. A model, whoever serves it, learns what is wanted from these messages and from the functions offered with them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.resources import files

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from agent.records import JsonObject, JsonValue

STEPS: JsonObject = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["id", "description", "tool", "args", "dependencies", "acceptance_criteria"],
        "properties": {
            "id": {"type": "string"},
            "description": {"type": "string"},
            "tool": {"type": ["string", "null"]},
            "args": {"type": "object"},
            "dependencies": {"type": "array", "items": {"type": "string"}},
            "acceptance_criteria": {"type": "string"},
        },
    },
}

PROPOSE_PLAN: JsonObject = {
    "name": "propose_plan",
    "description": "Propose a plan for a person to approve, or say why there is none.",
    "parameters": {
        "type": "object",
        "required": ["kind"],
        "properties": {
            "kind": {"type": "string", "enum": ["plan", "question", "cannot"]},
            "message": {"type": "string", "description": "The question, or why it cannot be done. Not for a plan."},
            "goal": {"type": "string"},
            "rationale": {"type": "string"},
            "steps": STEPS,
        },
    },
}
"""The function that a planner answers with. Flat, with a discriminator: providers handle unions badly."""

REVISE_PLAN: JsonObject = {
    "name": "revise_plan",
    "description": "Give the steps that replace a failed one, or say why there are none.",
    "parameters": {
        "type": "object",
        "required": ["kind"],
        "properties": {
            "kind": {"type": "string", "enum": ["steps", "question", "answer", "cannot"]},
            "message": {"type": "string", "description": "The question, the answer, or why it cannot be done."},
            "steps": STEPS,
        },
    },
}
"""The function that a replanner answers with. Flat, like the planner's."""

CHOOSE_MODE: JsonObject = {
    "name": "choose_mode",
    "description": "Choose how to go about the task; answer it at once if it needs no tool.",
    "parameters": {
        "type": "object",
        "required": ["mode", "reason"],
        "properties": {
            "mode": {"type": "string", "enum": ["direct", "react", "plan_execute"]},
            "reason": {"type": "string"},
            "answer": {"type": "string", "description": "Only for `direct`: the whole answer."},
        },
    },
}
"""The function by which a run in mode `auto` begins."""

REFLECT: JsonObject = {
    "name": "reflect",
    "description": "Say whether the results are enough to answer the task.",
    "parameters": {
        "type": "object",
        "required": ["enough"],
        "properties": {
            "enough": {"type": "boolean"},
            "missing": {"type": "string"},
            "steps": STEPS,
        },
    },
}
"""The function with which a finished plan is looked back on."""

REVIEW_RESULT: JsonObject = {
    "name": "review_result",
    "description": "Score a step's result and say what should be better.",
    "parameters": {
        "type": "object",
        "required": ["score", "advice"],
        "properties": {
            "score": {"type": "number", "minimum": 0, "maximum": 1},
            "advice": {"type": "string"},
        },
    },
}
"""The function that a reviewer answers with."""

JUDGE_STEP: JsonObject = {
    "name": "judge_step",
    "description": "Say whether a step met its acceptance criterion.",
    "parameters": {
        "type": "object",
        "required": ["criterion_met", "reason", "key_result"],
        "properties": {
            "criterion_met": {"type": "boolean"},
            "reason": {"type": "string"},
            "key_result": {"type": "string"},
        },
    },
}
"""The function that a judge answers with."""


REFUSED = "Your last answer was refused because"


def instructions(name: str) -> str:
    """The text of `<name>.md`."""
    return files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8")


def _sections(sections: Sequence[tuple[str, JsonValue]]) -> HumanMessage:
    parts = []
    for heading, value in sections:
        body = _quoted(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
        parts.append(f"## {heading}\n{body}")
    return HumanMessage("\n\n".join(parts))


def _quoted(text: str) -> str:
    """Somebody's words, which must not pass for a section of ours."""
    return re.sub(r"(?m)^(\s*)#", r"\1\\#", text)


def plan_messages(
    task: str,
    tools: str,
    max_steps: int,
    *,
    feedback: Sequence[str] = (),
    refused: Sequence[str] = (),
    previous: JsonObject | None = None,
    situation: JsonObject | None = None,
) -> list[BaseMessage]:
    """Ask for a plan. `tools` is `ToolRegistry.describe()`; `refused` says why the last answer failed.

    `situation` is what is left of the run's budget and which tools failed lately.
    """
    sections: list[tuple[str, JsonValue]] = [("Task", task)]
    if previous is not None:
        sections.append(("Previous plan", previous))
    if feedback:
        sections.append(("Feedback of the person who reviews", "\n".join(f"- {item}" for item in feedback)))
    if refused:
        sections.append((REFUSED, "\n".join(f"- {item}" for item in refused)))
    if situation:
        sections.append(("Situation", situation))
    system = instructions("plan").format(max_steps=max_steps, tools=tools)
    return [SystemMessage(system), _sections(sections)]


def revise_messages(
    task: str,
    tools: str,
    *,
    plan: JsonObject,
    progress: Sequence[JsonObject],
    trigger: JsonObject,
    adaptive: bool,
    refused: Sequence[str] = (),
    situation: JsonObject | None = None,
) -> list[BaseMessage]:
    """Ask for steps in place of a failed one. Progress is `{step_id, description, status, key_result|error}` a step."""
    sections: list[tuple[str, JsonValue]] = [
        ("Task", task),
        ("Plan", plan),
        ("Progress", list(progress)),
        ("Why a new plan is wanted", trigger),
    ]
    if refused:
        sections.append((REFUSED, "\n".join(f"- {item}" for item in refused)))
    if situation:
        sections.append(("Situation", situation))
    rules = instructions("revise_adaptive" if adaptive else "revise_strict").strip()
    return [SystemMessage(instructions("revise").format(tools=tools, rules=rules)), _sections(sections)]


def route_messages(task: str, tools: str) -> list[BaseMessage]:
    """Ask how to go about a task."""
    return [SystemMessage(instructions("route").format(tools=tools)), _sections([("Task", task)])]


def reflect_messages(
    task: str, tools: str, goal: str, progress: Sequence[JsonObject], most_steps: int
) -> list[BaseMessage]:
    """Ask whether the results of a finished plan are enough."""
    system = instructions("reflect").format(tools=tools, most_steps=most_steps)
    return [SystemMessage(system), _sections([("Task", task), ("Goal", goal), ("Progress", list(progress))])]


def react_messages(task: str, feedback: Sequence[str]) -> list[BaseMessage]:
    """Begin the free mode; the model's own turns and the tools' answers follow."""
    sections: list[tuple[str, JsonValue]] = [("Task", task)]
    if feedback:
        sections.append(("What the person said", "\n".join(f"- {item}" for item in feedback)))
    return [SystemMessage(instructions("react")), _sections(sections)]


def direct_messages(task: str) -> list[BaseMessage]:
    """Ask for an answer without any tool."""
    return [SystemMessage(instructions("direct")), _sections([("Task", task)])]


def review_messages(step: JsonObject, observation: JsonObject) -> list[BaseMessage]:
    """Ask a reviewer for a score."""
    return [SystemMessage(instructions("review")), _sections([("Step", step), ("Observation", observation)])]


def execute_messages(task: str, goal: str, step: JsonObject, results: Sequence[JsonObject]) -> list[BaseMessage]:
    """Ask for one step's tool call (the tool is bound), or for its result in words if it has no tool.

    Each result is `{step_id, description, tool, status, key_result, criterion_met}`; those of direct dependencies also
    have `observation: {text, data, artifacts, empty}`.
    """
    return [
        SystemMessage(instructions("execute")),
        _sections([("Task", task), ("Goal", goal), ("Step", step), ("Earlier results", list(results))]),
    ]


def judge_messages(step: JsonObject, observation: JsonObject) -> list[BaseMessage]:
    """Ask whether a step's criterion is met."""
    return [SystemMessage(instructions("judge")), _sections([("Step", step), ("Observation", observation)])]


def answer_messages(
    task: str, goal: str, steps: Sequence[JsonObject], observations: Sequence[JsonObject]
) -> list[BaseMessage]:
    """Ask for the final answer. Each observation is `{n, step_id, tool, key_result, text, data}`."""
    return [
        SystemMessage(instructions("answer")),
        _sections([("Task", task), ("Goal", goal), ("Steps", list(steps)), ("Observations", list(observations))]),
    ]
