"""From a task to a plan, or to the honest word that there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent.models.offline import queries
from agent.models.offline.documents import search_words, split_task
from agent.models.offline.feedback import Wishes, read_feedback
from agent.models.offline.question import Kind, Question, plural
from agent.models.offline.request import ChatRequest, OfferedTool
from agent.models.offline.signals import NotUnderstoodError, Signals, read_signals
from agent.models.offline.tables import names_in, read_tables
from agent.models.offline.understanding import understand
from agent.models.offline.words import NUMBER_WORDS, readable

Plan = dict[str, Any]

KNOWN = (
    "I know these kinds of question about the tables of the database: top or bottom n, totals and averages, "
    "comparisons, trends over months, and what is over a limit; and I look up words in the policy documents"
)
REMEDY = (
    "For anything else set PLANDECK_PROVIDER to a real provider (openai, deepseek, qwen, …) and its key variable, for "
    "example OPENAI_API_KEY, and start again."
)
MAYBE_EMPTY = "One row with a figure; an empty value only if there is no data"
ESSENTIAL, USEFUL, EXTRA = 0, 1, 2
"""How much a plan loses with a step; what is lost least is left out first when there are too many."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A step before it has its number; `after` are the names of the drafts that it needs."""

    name: str
    description: str
    tool: str | None
    args: dict[str, Any]
    criterion: str
    after: tuple[str, ...] = ()
    weight: int = ESSENTIAL


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools at hand, known by what they take, not by what they are called."""

    sql: OfferedTool | None
    search: OfferedTool | None
    calculator: OfferedTool | None
    report: OfferedTool | None

    @classmethod
    def of(cls, request: ChatRequest) -> Tools:
        """The tools that a planning prompt lists."""
        found = [_taking(request.tools.values(), argument) for argument in ("sql", "query", "expression", "body")]
        return cls(*found)


def _taking(tools: Iterable[OfferedTool], argument: str) -> OfferedTool | None:
    return next((tool for tool in tools if argument in tool.schema.get("properties", {})), None)


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
    if understood.question is not None and tools.sql is None:
        raise NotUnderstoodError("there is no tool for the database")
    drafts = [*_data_steps(understood, tools), *_search_steps(understood, tools), *_report_step(understood, tools)]
    refused = "Your last answer was refused because" in request.sections
    kept = _cut([item for item in drafts if not refused or item.weight < EXTRA], request.max_steps)
    return {"kind": "plan", "goal": goal(understood), "rationale": _rationale(understood), "steps": _numbered(kept)}


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


def _data_steps(understood: Understood, tools: Tools) -> list[Draft]:
    question = understood.question
    if question is None or tools.sql is None:
        return []
    main, others = MAIN[question.kind](question)
    wanted: list[Other] = [("look", _look(question), (), USEFUL), ("main", main, ("look",), ESSENTIAL), *others]
    steps = [
        Draft(name, description, tools.sql.name, {"sql": statement}, criterion, after, weight)
        for name, (description, statement, criterion), after, weight in wanted
    ]
    return steps + _calculation(question, tools)


def _look(question: Question) -> Texts:
    """What data there is."""
    description = "Count the rows that the question is about"
    if question.period is not None and question.period.latest == 1:
        description = "Find the latest month with data and how many rows it has"
    elif question.measure.table.months:
        description += ", and find their first and last month"
    return description, queries.coverage(question), "One row with a row count; zero means that there is no data"


Texts = tuple[str, str, str]
Other = tuple[str, Texts, tuple[str, ...], int]


def _ranking(question: Question) -> tuple[Texts, list[Other]]:
    count = question.count or 1
    fewer = f"{_capital(spelled(count))} row{'s' if count > 1 else ''}"
    allowed = f"{fewer}, or fewer if the data has fewer, each with a figure; no rows only if there is no data"
    main = (f"Find {subject(question)}", queries.ranking(question), allowed)
    others: list[Other] = []
    if question.bound:
        others.append(("bound", _compare_texts(question), ("main",), ESSENTIAL))
    noun = plural(question.noun)
    beyond = f"Work out the {figure_words(question)} of all {noun} for comparison, and which figure comes next"
    if question.by_row:
        beyond = f"Count all {noun}, and find which figure comes next"
    others.append(("reference", (beyond, queries.beyond_ranking(question), "One row"), ("main",), USEFUL))
    return main, others


def _compare_texts(question: Question) -> Texts:
    limit = readable(queries.limit_name(question))
    if queries.shows_each(question):
        return (
            f"Hold each of them against its {limit}",
            queries.against_bound(question),
            f"A row for each that says whether it {verdict_words(question)} it; no rows only if there is no data",
        )
    return (
        f"Find the months in which one of them {verdict_words(question)} its {limit}",
        queries.against_bound(question),
        "A row for each such month; no rows means that there is none",
    )


def _limit(question: Question) -> tuple[Texts, list[Other]]:
    each = queries.shows_each(question) and not question.by_row
    verb = "Check" if each else "Find"
    criterion = (
        "A row for each that says yes, no or not set" if each else "Each row is one; no rows means that there is none"
    )
    main = (f"{verb} {subject(question)}", queries.against_bound(question), criterion)
    count = f"Count how many were checked and how many {verdict_words(question)} the limit"
    return main, [("reference", (count, queries.count_beyond(question), "One row with the counts"), ("main",), USEFUL)]


def _total(question: Question) -> tuple[Texts, list[Other]]:
    criterion = MAYBE_EMPTY
    main = (f"Work out {subject(question)}", queries.total(question), criterion)
    if question.share and question.filters:
        whole = f"Work out the {figure_words(question)} without the restriction to {_filter_words(question)}"
        return main, [("reference", (whole, queries.total(question, filters=False), MAYBE_EMPTY), ("main",), 0)]
    behind = f"Look at the rows behind it: the smallest and the largest {readable(question.measure.noun)}"
    if question.measure.column is None:
        behind = f"Count all {plural(question.measure.table.noun)} for comparison"
    return main, [("reference", (behind, queries.spread(question), "One row with a count"), ("main",), USEFUL)]


def _comparison(question: Question) -> tuple[Texts, list[Other]]:
    rows = f"A row for each {question.noun}; no rows only if there is no data"
    main = (f"Work out {subject(question)}", queries.groups(question), rows)
    if question.by_month:
        return main, [_change(question)]
    whole = f"Work out the {figure_words(question)} of all of them together, to check"
    return main, [("reference", (whole, queries.total(question), MAYBE_EMPTY), ("main",), USEFUL)]


def _trend(question: Question) -> tuple[Texts, list[Other]]:
    rows = "A row for each month; no rows only if there is no data"
    return (f"Work out {subject(question)}", queries.groups(question), rows), [_change(question)]


def _change(question: Question) -> Other:
    noun = question.noun
    change = f"Work out the change from the first to the last {noun}, and the highest and the lowest {noun}"
    return (
        "reference",
        (change, queries.change(question), "One row; no rows only if there is no data"),
        ("main",),
        USEFUL,
    )


MAIN = {
    Kind.RANKING: _ranking,
    Kind.LIMIT: _limit,
    Kind.TOTAL: _total,
    Kind.COMPARISON: _comparison,
    Kind.TREND: _trend,
}


def _calculation(question: Question, tools: Tools) -> list[Draft]:
    """What is left for the calculator: a share or a difference that the task asks for."""
    difference = question.difference and question.kind is not Kind.LIMIT
    if not (question.share or difference):
        return []
    two = any(len(item.values) == 2 for item in question.filters) or (
        question.period is not None and len(question.period.listed) == 2
    )
    if question.share and question.kind in (Kind.RANKING, Kind.TOTAL) and question.measure.how in ("SUM", "COUNT"):
        description = "Work out the share of {main} in {reference}, in percent"
    elif difference and two and question.kind is Kind.COMPARISON:
        description = "Work out the difference between the first two rows of {main}"
    else:
        raise NotUnderstoodError("I work out the difference of two things that are named, or the share of some in all")
    if tools.calculator is None:
        raise NotUnderstoodError("there is no tool for arithmetic")
    criterion = "The expression holds only figures of the steps before"
    return [Draft("calculation", description, tools.calculator.name, {}, criterion, ("main", "reference"))]


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
    title = _capital(
        subject(understood.question) if understood.question else f"What the documents say about {understood.search}"
    )
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:48].rpartition("-")[0] or "report"
    args = {"filename": understood.file or f"{name}.md", "title": title[:200]}
    return [Draft("report", "Write the report from the results of the steps before, each figure with its source",
                  tools.report.name, args, "A file is written", ("*",))]  # fmt: skip


def _cut(drafts: Sequence[Draft], most: int) -> list[Draft]:
    """At most so many steps: what is least needed goes first."""
    kept = list(drafts)
    for weight in (EXTRA, USEFUL, ESSENTIAL):
        for item in reversed(list(kept)):
            if len(kept) > most and item.weight == weight and item.name != "main":
                kept.remove(item)
    return kept[:most]


def _numbered(drafts: Sequence[Draft]) -> list[dict[str, Any]]:
    ids = {item.name: f"s{n}" for n, item in enumerate(drafts, start=1)}
    steps = []
    for item in drafts:
        before = [name for name in ids if name != item.name] if item.after == ("*",) else item.after
        steps.append(
            {
                "id": ids[item.name],
                "description": " ".join(item.description.format_map(ids).split())
                if "{" in item.description
                else item.description,
                "tool": item.tool,
                "args": item.args,
                "dependencies": [ids[name] for name in before if name in ids],
                "acceptance_criteria": item.criterion,
            }
        )
    return steps


# --- words


def goal(understood: Understood) -> str:
    """The task restated with every name, number and period that it depends on."""
    question, parts = understood.question, []
    if question:
        verb = "Find" if question.kind in (Kind.RANKING, Kind.LIMIT) else "Work out"
        parts.append(f"{verb} {subject(question)}")
        if question.kind is Kind.RANKING and question.bound:
            parts.append(f"whether any of them {verdict_words(question)} its {readable(queries.limit_name(question))}")
    if understood.search is not None:
        parts.append(f"{'find' if parts else 'Find'} what the documents say about {understood.search}")
    if understood.report:
        parts.append("write a report")
    return f"{', '.join(parts[:-1])} and {parts[-1]}." if len(parts) > 1 else f"{parts[0]}."


def _rationale(understood: Understood) -> str:
    words = "The documents are searched first; what is said rests on the paragraphs found."
    if understood.question:
        table = understood.question.measure.table.name
        words = (
            f"The figures come from {table} by queries that stand in the plan word for word; the first says what data "
            "there is, and the last puts the figures into proportion."
        )
    if understood.left:
        words += f" Not taken up, because I do not understand it: {'; '.join(understood.left)}."
    return words


def subject(question: Question) -> str:
    """What is asked for, as a noun phrase."""
    what, when, of = figure_words(question), _when(question), _of_filters(question)
    things = plural(question.noun)
    if question.kind is Kind.RANKING:
        count = question.count or 1
        which = question.noun if count == 1 else f"{spelled(count)} {things}"
        return f"the {which} with the {'highest' if question.highest else 'lowest'} {what}{of} {when}".strip()
    if question.kind is Kind.LIMIT:
        return _limit_subject(question)
    if question.kind is Kind.TOTAL:
        return f"the {what}{of} {when}".strip()
    return f"the {what} of each {question.noun}{of} {when}".strip()


def _limit_subject(question: Question) -> str:
    number = question.bound.number if question.bound else None
    each = queries.shows_each(question) and not question.by_row
    limit = number or f"{'its' if each else 'their'} {readable(queries.limit_name(question))}"
    what = readable(question.measure.noun) if question.by_row else figure_words(question)
    said = f"{what}{_of_filters(question)} {verdict_words(question)} {limit} {_when(question)}".strip()
    return f"whether the {said}" if each else f"the {plural(question.noun)} whose {said}"


def _when(question: Question) -> str:
    """The period, with the column that says when if the table has several."""
    if question.period is None:
        return ""
    several = question.month is not None and len(question.measure.table.months) > 1
    return f"{question.period.words} by {question.month.name}" if several and question.month else question.period.words


def figure_words(question: Question) -> str:
    """What is worked out, in words: `total cost (USD)`."""
    words = readable(question.measure.name)
    return f"{words} per row" if question.measure.how == "AVG" else words


def verdict_words(question: Question) -> str:
    """What is said of a figure beyond its limit."""
    operator = question.bound.operator if question.bound else ">"
    return {">": "exceeded", ">=": "reached", "<": "stayed below", "<=": "stayed within"}[operator]


def _filter_words(question: Question) -> str:
    return ", ".join(f"{item.dimension.noun} {' and '.join(item.values)}" for item in question.filters)


def _of_filters(question: Question) -> str:
    return f" with {_filter_words(question)}" if question.filters else ""


def spelled(number: int) -> str:
    """A small number as a word."""
    return next((word for word, n in NUMBER_WORDS.items() if n == number), str(number))


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
