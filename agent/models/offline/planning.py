"""From a task to a plan, or to the honest word that there is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from agent.models.offline import queries, wording
from agent.models.offline.question import Kind, NotUnderstoodError, Question
from agent.models.offline.reading import search_words, understand, wants_report
from agent.models.offline.request import ChatRequest, OfferedTool
from agent.models.offline.tables import read_tables
from agent.models.offline.vocabulary import COUNT_WORD, DOCUMENTS, NO_REPORT, NUMBERS, REPORT

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
    return {"kind": "plan", "goal": wording.goal(feedback), "rationale": _rationale(feedback, left), "steps": steps}


def _find(tools: dict[str, OfferedTool], argument: str) -> OfferedTool | None:
    """The tool that takes this argument: tools are known by what they take, not by what they are called."""
    return next((tool for tool in tools.values() if argument in tool.schema.get("properties", {})), None)


def _document_question(task: str) -> Question:
    words = search_words(task)
    if not words:
        raise NotUnderstoodError("I do not see what to look for in the documents")
    return Question(
        kind=Kind.DOCUMENTS,
        report=wants_report(task.lower()),
        documents=True,
        search=words,
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
        words = question.search or search_words(task)
        steps.append(
            _step("Look up what the documents say about it", search.name, {"query": words[:200]}, (),
                  "Paragraphs with their document and number; an empty result means that no document speaks of it")
        )  # fmt: skip
    if question.kind is Kind.DOCUMENTS:
        steps.append(
            _step("Say what the paragraphs found mean for the task", None, {}, (0,), "Words that name a document")
        )
    if question.report and report:
        steps.append(
            _step("Write the report, with the source of each figure", report.name,
                  {"filename": wording.file_name(question), "title": wording.title(question)},
                  tuple(range(len(steps))), "A file is written")
        )  # fmt: skip
    return [_numbered(n, step) for n, step in enumerate(steps, start=1)]


def _data_steps(question: Question, tool: str) -> list[Step]:
    """What data there is, the figures, and what puts them into proportion."""
    latest = question.period is not None and question.period.latest
    first = (
        "Find the latest month with data"
        if latest
        else "See how many rows the data has for this, and from which months"
    )
    parts: list[tuple[str, str, str, tuple[int, ...]]] = [
        (first, queries.coverage(question), "One row with the number of rows and the months", ())
    ]
    parts += [(*part, (0,)) for part in FIGURES[question.kind](question)]
    return [
        _step(description, tool, {"sql": query}, after, criterion) for description, query, criterion, after in parts
    ]


Part = tuple[str, str, str]
"""Description, query, criterion."""
ONE = "One row with a figure"
NO_DATA = "an empty result means that there is no data"


def _top_parts(question: Question) -> list[Part]:
    several = "s" if question.count > 1 else ""
    rows = f"At most {wording.spelled(question.count)} row{several}, each with a name and a figure; {NO_DATA}"
    parts = [(f"Find {wording.subject(question)}", queries.ranking(question, question.count), rows)]
    if question.limit:
        compared = f"Compare {'each' if question.count > 1 else 'it'} with its {queries.limit_noun(question)}"
        parts.append(
            (
                f"{compared}{wording.when(question)}",
                queries.against_limit(question),
                "A row for each that says whether it is over",
            )
        )
    return [*parts, _all_together(question)]


def _limit_parts(question: Question) -> list[Part]:
    query = queries.against_limit(question) if question.limit else queries.over_threshold(question)
    found = (f"Find {wording.subject(question)}", query, "A row for each; an empty result means that there is none")
    return [found, _all_together(question)]


def _trend_parts(question: Question) -> list[Part]:
    return [
        (
            f"Work out {wording.subject(question)}",
            queries.series(question),
            f"A row for each month, with a figure; {NO_DATA}",
        ),
        (
            "Work out the change from the first month to the last",
            queries.change(question),
            f"One row with both months; {NO_DATA}",
        ),
    ]


def _comparison_parts(question: Question) -> list[Part]:
    apart = "One row with the difference; an empty result means that there are not two to compare"
    parts = [
        (
            f"Work out {wording.subject(question)}",
            queries.ranking(question),
            f"A row for each, with a figure; {NO_DATA}",
        ),
        ("Work out how far the highest and the lowest are apart", queries.difference(question), apart),
    ]
    return [*parts, _all_together(question)] if question.aggregate in ("SUM", "COUNT") else parts


def _total_parts(question: Question) -> list[Part]:
    parts = [(f"Work out {wording.subject(question)}", queries.total(question), ONE)]
    if question.measure:
        parts.append(("See the smallest and the largest of the rows behind it", queries.spread(question), "One row"))
    return parts


def _all_together(question: Question) -> Part:
    return f"Work out {wording.all_together(question)}", queries.total(question), ONE


FIGURES: dict[Kind, Callable[[Question], list[Part]]] = {
    Kind.TOP: _top_parts,
    Kind.OVER_LIMIT: _limit_parts,
    Kind.TREND: _trend_parts,
    Kind.COMPARISON: _comparison_parts,
    Kind.TOTAL: _total_parts,
}


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


def _rationale(question: Question, left: Sequence[str]) -> str:
    if question.kind is Kind.DOCUMENTS:
        words = "The documents are searched first; what is said rests on the paragraphs found."
    else:
        words = wording.rationale(question)
    if left:
        words += f" Not taken up, since I do not understand it: {'; '.join(left)}."
    return words
