"""The one tool call of a step: what the plan fixes stays, what it leaves open is filled in from earlier results."""

from __future__ import annotations

import json
import re
from typing import Any

from agent.models.offline import writing
from agent.models.offline.documents import search_words
from agent.models.offline.planning import MAIN, Tools, understand_task
from agent.models.offline.request import ChatRequest
from agent.models.offline.signals import NotUnderstoodError

DIFFERENCE = re.compile(r"\bdifference between the first two rows of (s\d+)")
SHARE = re.compile(r"\bshare of (s\d+) in (s\d+)")


def arguments_for(request: ChatRequest, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the step's call; NotUnderstoodError if one that is needed cannot be filled in."""
    step = request.json_section("Step", {})
    arguments = dict(step.get("args") or {})
    for key in schema.get("required", []):
        if key not in arguments:
            arguments[key] = _filled(request, step, key, name)
    return arguments


def _filled(request: ChatRequest, step: dict[str, Any], key: str, name: str) -> str:
    results = request.json_section("Earlier results", [])
    goal = request.sections.get("Goal", "")
    if key == "body":
        return writing.report_body(goal, results)
    if key == "title":
        return (goal or request.sections.get("Task", "Report")).strip().rstrip(".")[:120]
    if key == "filename":
        return "report.md"
    if key == "expression":
        return _expression(str(step.get("description", "")), {item["step_id"]: item for item in results})
    if key == "query":
        return search_words("", request.sections.get("Task", "") or str(step.get("description", "")))
    if key == "sql":
        return _statement(request, name)
    raise NotUnderstoodError(f"I cannot fill in {key} of {name}")


def _statement(request: ChatRequest, name: str) -> str:
    """The query that the whole task asks for: the tool's own description says what tables there are."""
    tool = request.offered(name)
    question = understand_task(request.sections.get("Task", ""), Tools(tool, tool, None, tool)).question
    if question is None:
        raise NotUnderstoodError("the task asks nothing of the database")
    return MAIN[question.kind](question)[0][1]


def _expression(description: str, results: dict[str, dict[str, Any]]) -> str:
    if found := DIFFERENCE.search(description):
        figures = _figures(results.get(found[1]))
        if len(figures) == 2:
            return f"{figures[0]} - {figures[1]}"
        raise NotUnderstoodError(f"the result of {found[1]} does not have two figures")
    if found := SHARE.search(description):
        part, whole = _figures(results.get(found[1])), _figures(results.get(found[2]), first_row=True)
        if part and whole and float(whole[0]):
            return f"round(100 * ({' + '.join(part)}) / {whole[0]}, 2)"
        raise NotUnderstoodError("the results before do not have the figures for a share")
    raise NotUnderstoodError("I do not know which figures are to be worked with")


def _figures(result: dict[str, Any] | None, *, first_row: bool = False) -> list[str]:
    """The figure of each row as digits: the last number of a row, or the first one of the first row."""
    data = ((result or {}).get("observation") or {}).get("data")
    if not isinstance(data, dict) or not isinstance(data.get("rows"), list):
        return []
    names = [str(name) for name in data.get("columns", [])]
    numbers = [
        [(name, value) for name, value in zip(names, row, strict=False)
         if isinstance(value, int | float) and not isinstance(value, bool) and name != "row_count"]
        for row in data["rows"]
    ]  # fmt: skip
    if first_row:
        return [str(row[0][1]) for row in numbers[:1] if row]
    return [str(row[-1][1]) for row in numbers if row]


def after_call(request: ChatRequest, name: str, schema: dict[str, Any]) -> str | dict[str, Any]:
    """What follows a tool's answer: words, or the arguments of a mended call."""
    error = _error(request.last_observation or "")
    if error is None:
        return "The tool answered; the step's result is its observation."
    try:
        mended = arguments_for(request, name, schema)
    except NotUnderstoodError as why:
        return f"I am the offline model and cannot mend this call: {why}. The tool said: {error}"
    if mended == request.last_arguments:
        return f"I am the offline model and cannot mend this call. The tool said: {error}"
    return mended


def _error(text: str) -> str | None:
    try:
        found = json.loads(text)
    except ValueError:
        return text if text.lower().startswith("error") else None
    if isinstance(found, dict) and "error" in found:
        return str(found.get("message") or found["error"])
    return None
