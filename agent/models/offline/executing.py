"""The one tool call of a step: what the plan fixes stays, what it leaves open is filled in from earlier results."""

from __future__ import annotations

import json
import re
from typing import Any

from agent.models.offline import writing
from agent.models.offline.datasteps import MAIN
from agent.models.offline.documents import search_words, split_task
from agent.models.offline.drafts import Tools
from agent.models.offline.naming import is_number
from agent.models.offline.planning import understand_task
from agent.models.offline.request import ChatRequest
from agent.models.offline.signals import NotUnderstoodError, read_signals

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
        return writing.report_body(request, results)
    if key == "title":
        return (goal or request.sections.get("Task", "Report")).strip().rstrip(".")[:120]
    if key == "filename":
        return "report.md"
    if key == "expression":
        return _expression(request, str(step.get("description", "")), results)
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


def _expression(request: ChatRequest, description: str, results: list[dict[str, Any]]) -> str:
    """What the step says if it names the steps to work with, else what the task asks for.

    A person may have changed the wording of the step; the task stays.
    """
    by_id = {item["step_id"]: item for item in results}
    if found := DIFFERENCE.search(description):
        return _difference([by_id.get(found[1], {})], f"the result of {found[1]} does not have two figures")
    if found := SHARE.search(description):
        return _share(by_id.get(found[1], {}), by_id.get(found[2], {}))
    shown = [item for item in results if _figures(item)]
    signals = read_signals(split_task(request.sections.get("Task", ""), "")[0])
    if signals.share and len(shown) > 1:
        return _share(shown[-2], shown[-1])
    if signals.difference:
        return _difference(shown, "no result before has just two figures")
    raise NotUnderstoodError("I do not know which figures are to be worked with")


def _difference(results: list[dict[str, Any]], why_not: str) -> str:
    two = [figures for figures in map(_figures, results) if len(figures) == 2]
    if not two:
        raise NotUnderstoodError(why_not)
    return f"{two[0][0]} - {two[0][1]}"


def _share(part: dict[str, Any], whole: dict[str, Any]) -> str:
    parts, wholes = _figures(part), _figures(whole, first_row=True)
    if not (parts and wholes and float(wholes[0])):
        raise NotUnderstoodError("the results before do not have the figures for a share")
    return f"round(100 * ({' + '.join(parts)}) / {wholes[0]}, 2)"


def _figures(result: dict[str, Any], *, first_row: bool = False) -> list[str]:
    """The figure of each row as digits: the last number of a row, or the first one of the first row."""
    data = (result.get("observation") or {}).get("data")
    if not isinstance(data, dict) or not isinstance(data.get("rows"), list):
        return []
    names = [str(name) for name in data.get("columns", [])]
    numbers = [
        [value for name, value in zip(names, row, strict=False) if is_number(value) and name != "row_count"]
        for row in data["rows"]
    ]
    if first_row:
        return [str(row[0]) for row in numbers[:1] if row]
    return [str(row[-1]) for row in numbers if row]


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
