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
            "steps": {
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
            },
        },
    },
}
"""The function that a planner answers with. Flat, with a discriminator: providers handle unions badly."""

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
) -> list[BaseMessage]:
    """Ask for a plan. `tools` is `ToolRegistry.describe()`; `refused` says why the last answer failed."""
    sections: list[tuple[str, JsonValue]] = [("Task", task)]
    if previous is not None:
        sections.append(("Previous plan", previous))
    if feedback:
        sections.append(("Feedback of the person who reviews", "\n".join(f"- {item}" for item in feedback)))
    if refused:
        sections.append(("Your last answer was refused because", "\n".join(f"- {item}" for item in refused)))
    system = instructions("plan").format(max_steps=max_steps, tools=tools)
    return [SystemMessage(system), _sections(sections)]


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
