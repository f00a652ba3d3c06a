"""From a task to a plan, or to the honest word that there is none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agent.models.offline import queries
from agent.models.offline.question import (
    COUNT_WORD,
    DOCUMENTS,
    NO_REPORT,
    NUMBERS,
    REPORT,
    Kind,
    NotUnderstoodError,
    Question,
    understand,
)
from agent.models.offline.request import ChatRequest, OfferedTool
from agent.models.offline.tables import read_tables

Plan = dict[str, Any]
Step = dict[str, Any]

KNOWN = (
    "I know top or bottom n, totals and averages, comparisons, trends over months, and what is over a limit, about the "
    "tables of the database, and I can look up words in the documents"
)
REMEDY = (
    "For anything else set PLANDECK_PROVIDER to a real provider (openai, deepseek, qwen, …) with its key variable, for "
    "example OPENAI_API_KEY, and start again."
)


def propose(request: ChatRequest) -> Plan:
    """The arguments of `propose_plan`."""
    tools = request.tools
    task = request.sections.get("Task", "")
    try:
        return _plan(task, request, tools)
    except NotUnderstoodError as why:
        return {
            "kind": "cannot",
            "message": f"I am the offline model and cannot do this task: {why}. {KNOWN}. {REMEDY}",
        }


def _plan(task: str, request: ChatRequest, tools: dict[str, OfferedTool]) -> Plan:
    sql, search, report = (_find(tools, argument) for argument in ("sql", "query", "body"))
    try:
        tables = read_tables(sql.description) if sql else []
        question = understand(task, tables)
    except NotUnderstoodError:
        if not (search and DOCUMENTS.search(task.lower())):
            raise
        question = _document_question(task)
    feedback, left = _with_feedback(question, request.sections.get("Feedback of the person who reviews", ""))
    steps = _steps(feedback, sql, search, report, task)[: request.max_steps]
    return {"kind": "plan", "goal": _goal(feedback), "rationale": _rationale(feedback, left), "steps": steps}


def _find(tools: dict[str, OfferedTool], argument: str) -> OfferedTool | None:
    """The tool that takes this argument: tools are known by what they take, not by what they are called."""
    return next((tool for tool in tools.values() if argument in tool.schema.get("properties", {})), None)


STOP = {"what", "does", "do", "the", "say", "about", "policy", "policies", "rule", "rules", "is", "are", "and", "our", "a",
        "an", "of", "for", "to", "in", "on", "it", "write", "report", "short", "which", "who", "how", "guideline", "please",
        "document", "documents", "when", "tell", "me", "find", "look", "up", "there", "any", "with"}  # fmt: skip


def _document_question(task: str) -> Question:
    words = [word for word in re.findall(r"[\w-]+", task.lower()) if word not in STOP]
    if not words:
        raise NotUnderstoodError("I do not see what to look for in the documents")
    return Question(
        kind=Kind.DOCUMENTS,
        report=bool(REPORT.search(task.lower())) and not NO_REPORT.search(task.lower()),
        documents=True,
        search=" ".join(words),
    )


def _with_feedback(question: Question, feedback: str) -> tuple[Question, tuple[str, ...]]:
    """The question with what a person said, as far as it is understood; the rest is handed back."""
    left = []
    for line in (entry[2:] if entry.startswith("- ") else entry for entry in feedback.splitlines() if entry.strip()):
        said = line.lower()
        changed = question
        if NO_REPORT.search(said):
            changed = replace(changed, report=False)
        elif REPORT.search(said):
            changed = replace(changed, report=True)
        if DOCUMENTS.search(said):
            changed = replace(changed, documents=True)
        number = re.search(rf"\b(?:top|bottom|first)?\s*({COUNT_WORD})\b", said)
        if number and question.kind is Kind.TOP:
            changed = replace(changed, count=NUMBERS.get(number[1]) or int(number[1]))
        if changed == question:
            left.append(line)
        question = changed
    return question, tuple(left)


# --- steps


def _steps(
    question: Question, sql: OfferedTool | None, search: OfferedTool | None, report: OfferedTool | None, task: str
) -> list[Step]:
    steps: list[Step] = []
    if question.kind is not Kind.DOCUMENTS:
        if sql is None:
            raise NotUnderstoodError("there is no tool for the database")
        steps = _data_steps(question, sql.name)
    if question.documents and search:
        words = question.search or " ".join(word for word in re.findall(r"[\w-]+", task.lower()) if word not in STOP)
        steps.append(
            _step("Look up what the documents say about it", search.name, {"query": words[:200]}, (),
                  "Paragraphs with their document and number; an empty result means that no document speaks of it")
        )  # fmt: skip
    if question.kind is Kind.DOCUMENTS:
        steps.append(
            _step("Say what the paragraphs found mean for the task", None, {}, (0,), "Words that name a document")
        )
    if question.report and report:
        name = re.sub(r"[^a-z0-9]+", "-", _subject(question).lower()).strip("-")[:60] or "report"
        steps.append(
            _step("Write the report, with the source of each figure", report.name,
                  {"filename": f"{name}.md", "title": _capital(_subject(question))}, tuple(range(len(steps))),
                  "A file is written")
        )  # fmt: skip
    return [_numbered(n, step) for n, step in enumerate(steps, start=1)]


def _data_steps(question: Question, tool: str) -> list[Step]:
    """Three or four steps: what data there is, the figures, and what puts them into proportion."""
    latest = question.period is not None and question.period.latest
    first = "Find the latest month with data" if latest else "See which rows and months the data has"
    steps = [
        _step(first, tool, {"sql": queries.coverage(question)}, (), "One row with the number of rows and the months")
    ]
    what = _subject(question)

    def add(description: str, query: str, criterion: str, after: tuple[int, ...] = (0,)) -> None:
        steps.append(_step(description, tool, {"sql": query}, after, criterion))

    if question.kind is Kind.TOP:
        add(
            f"Find {what}",
            queries.ranking(question, question.count or 1),
            f"At most {_spelled(question.count or 1)} rows, each with a name and a figure",
        )
        if question.limit:
            add(f"Compare each of them with its {queries.limit_noun(question)} {_when(question)}".strip(), queries.against_limit(question),
                "A row for each that says whether it is over", (0, 1))  # fmt: skip
        add(
            f"Work out the {_figure(question)} of all {_when(question)} for comparison".replace("  ", " "),
            queries.total(question),
            "One row with a figure",
        )
    elif question.kind is Kind.OVER_LIMIT:
        query = queries.against_limit(question) if question.limit else queries.over_threshold(question)
        add(f"Find {what}", query, "A row for each; an empty result means that none is")
        add(
            f"Work out the {_figure(question)} of all {_when(question)} for comparison",
            queries.total(question),
            "One row with a figure",
        )
    elif question.kind is Kind.TREND:
        add(f"Work out {what}", queries.series(question), "A row for each month")
        add(
            "Work out the change from the first month to the last",
            queries.change(question),
            "One row with both months and the change",
            (0, 1),
        )
    elif question.kind is Kind.COMPARISON:
        add(f"Work out {what}", queries.ranking(question), "A row for each, with a figure")
        add(
            "Work out how far the highest and the lowest are apart",
            queries.difference(question),
            "One row with the difference",
            (0, 1),
        )
    else:
        add(f"Work out {what}", queries.total(question), "One row with a figure")
        add(
            "See the rows behind the figure: how many, the smallest, the largest",
            queries.spread(question),
            "One row",
            (0, 1),
        )
    return steps


def _step(description: str, tool: str | None, args: dict[str, Any], after: tuple[int, ...], criterion: str) -> Step:
    return {
        "description": " ".join(description.split()),
        "tool": tool,
        "args": args,
        "dependencies": [f"s{n + 1}" for n in after],
        "acceptance_criteria": criterion,
    }


def _numbered(n: int, step: Step) -> Step:
    return {"id": f"s{n}", **step}


# --- words


def _goal(question: Question) -> str:
    if question.kind is Kind.DOCUMENTS:
        goal = f"Find what the documents say about: {question.search}"
    else:
        verb = "Find" if question.kind in (Kind.TOP, Kind.OVER_LIMIT) else "Work out"
        goal = f"{verb} {_subject(question)}"
    if question.kind is Kind.TOP and question.limit:
        goal += f", and whether any of them exceeded its {queries.limit_noun(question)}"
    return goal + (", and write a report." if question.report else ".")


def _rationale(question: Question, left: Sequence[str]) -> str:
    if question.kind is Kind.DOCUMENTS:
        words = "The documents are searched first; what is said rests on the paragraphs found."
    else:
        table = question.table.name if question.table else "the database"
        words = f"The figures come from {table}, by queries that stand in the plan; the last query puts them into proportion."
    if left:
        words += f" Not taken up, since I do not understand it: {'; '.join(left)}."
    return words


def _subject(question: Question) -> str:
    """What is asked for, as a noun phrase."""
    if question.kind is Kind.DOCUMENTS:
        return f"what the documents say about {question.search}"
    things = f"{question.dimension.noun}s" if question.dimension else ""
    figure, when = f"{_figure(question)}{_of_filters(question)}", _when(question)
    if question.kind is Kind.TOP:
        count = question.count or 1
        which = f"{_spelled(count)} {things}" if count > 1 else things[:-1]
        return f"the {which} with the {'highest' if question.descending else 'lowest'} {figure} {when}".strip()
    if question.kind is Kind.OVER_LIMIT and question.limit:
        return f"which {things} exceeded their {' '.join(question.limit[0].words)} {when}".strip()
    if question.kind is Kind.OVER_LIMIT and question.threshold:
        words = {">": "above", ">=": "at or above", "<": "below", "<=": "at or below"}[question.threshold.operator]
        return f"the {things} with a {figure} {words} {question.threshold.number} {when}".strip()
    if question.kind is Kind.TREND:
        return f"the {figure} of each month {when}".strip()
    if question.kind is Kind.COMPARISON:
        return f"the {figure} by {things[:-1]} {when}".strip()
    return f"the {figure} {when}".strip()


def _figure(question: Question) -> str:
    noun = queries.measure_noun(question)
    return {"AVG": f"average {noun}", "SUM": f"total {noun}", "MAX": f"highest {noun}", "MIN": f"lowest {noun}"}.get(
        question.aggregate, noun
    )


def _of_filters(question: Question) -> str:
    values = [value for item in question.filters for value in item.values]
    return f" of {' and '.join(values)}" if values else ""


def _when(question: Question) -> str:
    return question.period.words if question.period else ""


def _spelled(number: int) -> str:
    return next((word for word, n in NUMBERS.items() if n == number), str(number))


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
