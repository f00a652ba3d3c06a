"""From a task to a plan, or to the honest word that there is none."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from agent.models.offline.datasteps import data_steps
from agent.models.offline.documents import search_words, split_task
from agent.models.offline.drafts import EXTRA, USEFUL, Draft, Tools, cut, numbered
from agent.models.offline.feedback import Wishes, read_feedback
from agent.models.offline.naming import capital, listed
from agent.models.offline.phrasing import limit_noun, report_file, report_title, subject, verdict_words
from agent.models.offline.question import Kind, Question
from agent.models.offline.request import ChatRequest
from agent.models.offline.signals import NotUnderstoodError, Signals, read_signals
from agent.models.offline.tables import names_in, read_tables
from agent.models.offline.understanding import understand

Plan = dict[str, Any]

KNOWN = (
    "I know these kinds of question about the tables of the database: top or bottom n, totals and averages, "
    "comparisons, trends over months, and what is over a limit; and I look up words in the policy documents"
)
REMEDY = (
    "For anything else set PLANDECK_PROVIDER to a real provider (openai, deepseek, qwen, …) and its key variable, for "
    "example OPENAI_API_KEY, and start again."
)


@dataclass(frozen=True, slots=True)
class Understood:
    """What a plan has to do."""

    task: str
    question: Question | None
    search: str | None
    report: bool
    file: str | None = None
    left: tuple[str, ...] = field(default=())
    """Feedback that could not be taken up."""


def propose(request: ChatRequest) -> Plan:
    """The arguments of `propose_plan`."""
    try:
        return _plan(request)
    except NotUnderstoodError as why:
        return {
            "kind": "cannot",
            "message": f"I am the offline model and cannot do this task: {why}. {KNOWN}. {REMEDY}",
        }


def _plan(request: ChatRequest) -> Plan:
    if not request.sections.get("Task", "").strip():
        raise NotUnderstoodError("the task is empty")
    tools = Tools.of(request)
    understood = _with_feedback(understand_task(request.sections.get("Task", ""), tools), request)
    data = data_steps(understood.question, tools) if understood.question else []
    drafts = [*data, *_search_steps(understood, tools), *_report_step(understood, tools)]
    refused = "Your last answer was refused because" in request.sections
    kept = cut([item for item in drafts if not refused or item.weight < EXTRA], request.max_steps)
    return {"kind": "plan", "goal": goal(understood), "rationale": _rationale(understood), "steps": numbered(kept)}


def understand_task(task: str, tools: Tools) -> Understood:
    """What a task asks of the database, of the documents, and of a report; NotUnderstoodError with the reason."""
    documents = tools.search.description if tools.search else ""
    about_data, about_policy = split_task(task, documents)
    tables = read_tables(tools.sql.description) if tools.sql else []
    signals = read_signals(about_data, names_in(tables))
    asked = about_data.strip() and not _only_report(signals, about_policy)
    question = understand(signals, tables) if asked else None
    search = search_words(about_policy, task) if about_policy else None
    if search is not None and tools.search is None:
        raise NotUnderstoodError("there is no tool for documents")
    if question is None and search is None:
        raise NotUnderstoodError("it is none of the kinds of question that I know")
    return Understood(task, question, search, signals.report or bool(read_signals(about_policy).report), signals.file)


def _only_report(signals: Signals, about_policy: str) -> bool:
    """Whether what is not about policies only asks for a report."""
    return bool(about_policy) and signals.report and not signals.left


def _with_feedback(understood: Understood, request: ChatRequest) -> Understood:
    """The same with what a person said, as far as it is understood; the rest is kept for the rationale."""
    lines = [
        line.removeprefix("- ") for line in request.sections.get("Feedback of the person who reviews", "").splitlines()
    ]
    for line in filter(None, map(str.strip, lines)):
        wishes = read_feedback(line)
        changed = _changed(understood, wishes)
        understood = (
            changed if changed != understood and wishes.whole else replace(understood, left=(*understood.left, line))
        )
    return understood


def _changed(understood: Understood, wishes: Wishes) -> Understood:
    question = understood.question
    if question and wishes.count and question.kind is Kind.RANKING:
        question = replace(question, count=wishes.count)
    if question and wishes.period and question.month:
        question = replace(question, period=wishes.period)
    search = understood.search
    if wishes.policy is not None:
        search = (search or search_words("", understood.task)) if wishes.policy else None
    report = understood.report if wishes.report is None else wishes.report
    return replace(understood, question=question, search=search, report=report)


# --- steps


def _search_steps(understood: Understood, tools: Tools) -> list[Draft]:
    if understood.search is None or tools.search is None:
        return []
    found = "Paragraphs with their document; an empty result means that no document speaks of it"
    words = understood.search
    steps = [
        Draft("search", f"Look up what the documents say about {words}", tools.search.name, {"query": words}, found)
    ]
    if understood.question is None:
        narrower = f"{words} approval exception"
        steps.append(Draft("exceptions", f"Look up approvals and exceptions for {words}", tools.search.name,
                           {"query": narrower[:200]}, found, (), USEFUL))  # fmt: skip
        steps.append(Draft("reading", "Put together in words which paragraphs bear on the task", None, {},
                           "Each statement names its document", ("search", "exceptions"), USEFUL))  # fmt: skip
    return steps


def _report_step(understood: Understood, tools: Tools) -> list[Draft]:
    if not understood.report:
        return []
    if tools.report is None:
        raise NotUnderstoodError("there is no tool for a report")
    question, search = understood.question, understood.search
    args = {"filename": understood.file or report_file(question, search), "title": report_title(question, search)[:200]}
    return [Draft("report", "Write the report from the results of the steps before, each figure with its source",
                  tools.report.name, args, "A file is written", ("*",))]  # fmt: skip


# --- words


def goal(understood: Understood) -> str:
    """The task restated with every name, number and period that it depends on."""
    question = understood.question
    parts = _aims(question) if question else []
    if understood.search is not None:
        parts.append(f"find what the documents say about {understood.search}")
    if understood.report:
        parts.append("write a report")
    return f"{capital(listed(parts))}."


def _aims(question: Question) -> list[str]:
    what = subject(question)
    verb = "find" if question.kind in (Kind.RANKING, Kind.LIMIT) else "work out"
    parts = [f"{'check' if what.startswith('whether') else verb} {what}"]
    if question.kind is Kind.RANKING and question.bound:
        parts.append(f"check whether any of them {verdict_words(question)} its {limit_noun(question)}")
    return parts


def _rationale(understood: Understood) -> str:
    words = "The documents are searched first; what is said rests on the paragraphs found."
    if understood.question:
        table = understood.question.measure.table.name
        words = (
            f"The figures come from {table}, by the queries that stand in the plan word for word: the first says what "
            "data there is, and the last puts the figures into proportion."
        )
    if understood.left:
        words += f" Not taken up, because I do not understand it: {'; '.join(understood.left)}."
    return words
