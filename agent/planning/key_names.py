"""The names that models give to the parts of a plan, and which part each means."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agent.records import JsonValue

STEP_ID = ("id", "stepid", "taskid", "stepnumber", "stepno", "stepindex", "number", "no", "num", "nr", "index", "ref",
           "uid", "identifier", "key", "order")  # fmt: skip
DESCRIPTION = ("description", "title", "task", "name", "action", "step", "what", "instruction", "instructions",
               "objective", "subtask", "todo", "activity", "stepdescription", "taskdescription", "heading", "goal",
               "purpose", "summary", "details", "detail", "text", "content", "label")  # fmt: skip
TOOL = ("tool", "toolname", "toolid", "tooltouse", "usetool", "suggestedtool", "functionname", "function", "tools",
        "uses", "using")  # fmt: skip
ARGS = ("args", "arguments", "parameters", "params", "toolinput", "toolargs", "toolarguments", "toolparameters",
        "actioninput", "kwargs", "input", "inputs", "payload", "argument")  # fmt: skip
DEPENDENCIES = ("dependencies", "dependson", "deps", "dependency", "depends", "after", "requires", "prerequisites",
                "prereqs", "needs", "blockedby", "waitsfor", "dependenton", "predecessors", "parents", "requiredsteps",
                "runafter")  # fmt: skip
CRITERIA = ("acceptancecriteria", "acceptancecriterion", "criteria", "criterion", "successcriteria",
            "successcriterion", "success", "donewhen", "acceptance", "expectedresult", "expectedoutput",
            "expectedoutcome", "expected", "verification", "definitionofdone", "dod", "verify", "validation",
            "done", "check", "completioncriteria", "exitcriteria")  # fmt: skip

GOAL = ("goal", "restatedgoal", "objective", "aim", "task", "title", "purpose", "query", "planname", "plangoal")
RATIONALE = ("rationale", "reasoning", "reason", "why", "explanation", "justification", "strategy", "approach",
             "thought", "thoughts", "analysis", "summary", "overview")  # fmt: skip
STEPS = ("steps", "plansteps", "tasks", "actions", "plan", "todo", "todos", "todolist", "subtasks", "tasklist",
         "actionitems", "stages", "phases", "workflow", "items", "planofaction", "step", "nodes", "substeps",
         "steplist", "executionplan", "proposedplan", "actionplan", "sequence")  # fmt: skip
ENVELOPES = ("plan", "arguments", "parameters", "args", "input", "toolinput", "actioninput", "function", "toolcalls",
             "toolcall", "functioncall", "proposeplan", "output", "result", "response", "data", "content", "message",
             "messages", "choices", "answer", "finalanswer", "json", "value", "text", "executionplan", "proposedplan",
             "actionplan", "workflow", "planner", "return", "properties", "delta")  # fmt: skip
QUESTION = ("question", "clarifyingquestion", "clarifyingquestions", "questions", "clarification",
            "clarificationneeded", "message", "error", "reply", "answer", "response", "text", "content",
            "reason")  # fmt: skip

PARTS: Mapping[str, tuple[str, ...]] = {
    "id": STEP_ID, "description": DESCRIPTION, "tool": TOOL, "args": ARGS, "dependencies": DEPENDENCIES,
    "acceptance_criteria": CRITERIA,
}  # fmt: skip
"""Part of a step to the names for it, the likeliest first."""

WEAK = frozenset(
    ("name", "text", "content", "label", "summary", "details", "detail", "goal", "purpose", "key", "no", "num",
     "number", "index", "order", "input", "inputs", "success", "done", "check", "reason")
)  # fmt: skip
"""Names that data of any kind has, so that they do not make it a step."""

_NOT_LETTERS = re.compile(r"[\W_]+")


def bare(name: object) -> str:
    """A key without case, spaces and punctuation: `Depends On` and `depends_on` are `dependson`; `#` is `number`."""
    text = str(name).strip()
    return "number" if text == "#" else _NOT_LETTERS.sub("", text.casefold())


def by_bare_name(value: Mapping[str, JsonValue]) -> dict[str, tuple[str, JsonValue]]:
    """Bare key to key and value; the first of two alike wins."""
    found: dict[str, tuple[str, JsonValue]] = {}
    for key, item in value.items():
        found.setdefault(bare(key), (key, item))
    return found


def part_of(name: str) -> str | None:
    """The part of a step that a key most likely means, or None."""
    wanted = bare(name)
    return next((part for part, names in PARTS.items() if wanted and wanted in names), None)
