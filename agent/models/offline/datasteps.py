"""The steps that ask the database, kind of question by kind of question."""

from __future__ import annotations

from agent.models.offline import queries
from agent.models.offline.drafts import ESSENTIAL, USEFUL, Draft, Tools
from agent.models.offline.naming import capital, noun_of, plural, spelled
from agent.models.offline.phrasing import (
    figure_words,
    filter_words,
    limit_noun,
    subject,
    verdict_words,
)
from agent.models.offline.question import Kind, Question
from agent.models.offline.signals import NotUnderstoodError

MAYBE_EMPTY = "One row with a figure; an empty value only if there is no data"
Texts = tuple[str, str, str]
"""A description, a query, a criterion."""
Other = tuple[str, Texts, tuple[str, ...], int]
"""A step besides the main one: its name, its texts, what it needs, how much is lost without it."""


def data_steps(question: Question, tools: Tools) -> list[Draft]:
    """The steps that answer a question: what data there is, the answer, and what puts it into proportion."""
    if tools.sql is None:
        raise NotUnderstoodError("there is no tool for the database")
    main, others = MAIN[question.kind](question)
    wanted: list[Other] = [("look", _look(question), (), USEFUL), ("main", main, ("look",), ESSENTIAL), *others]
    steps = [
        Draft(name, description, tools.sql.name, {"sql": statement}, criterion, after, weight)
        for name, (description, statement, criterion), after, weight in wanted
    ]
    return steps + _calculation(question, tools)


def _look(question: Question) -> Texts:
    """What data there is."""
    of = f" for {words}" if (words := filter_words(queries.scope(question))) else ""
    description = f"See how many rows there are{of}"
    if question.period is not None and question.period.latest == 1:
        description = f"See which month is the latest with data, and how many rows it has{of}"
    elif question.covered_month:
        description += ", and which months they cover"
    return description, queries.coverage(question), "One row with a row count; zero means that there is no data"


def _ranking(question: Question) -> tuple[Texts, list[Other]]:
    count = question.count or 1
    fewer = f"{capital(spelled(count))} row{'s' if count > 1 else ''}"
    allowed = f"{fewer}, or fewer if the data has fewer, each with a figure; no rows only if there is no data"
    main = (f"Find {subject(question)}", queries.ranking(question), allowed)
    others: list[Other] = []
    if question.bound:
        others.append(("bound", _compare_texts(question), ("main",), ESSENTIAL))
    noun = plural(question.noun)
    beyond = f"Put them into proportion: the {figure_words(question)} of all {noun}, and the figure that comes next"
    if question.by_row:
        beyond = f"Put them into proportion: how many {noun} there are, and the figure that comes next"
    others.append(("reference", (beyond, queries.beyond_ranking(question), "One row"), ("main",), USEFUL))
    return main, others


def _compare_texts(question: Question) -> Texts:
    limit = limit_noun(question)
    if queries.shows_each(question):
        return (
            f"Compare each with its {limit}",
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
    count = f"Count how many have been checked, and how many of them {verdict_words(question)} the limit"
    return main, [("reference", (count, queries.count_beyond(question), "One row with the counts"), ("main",), USEFUL)]


def _total(question: Question) -> tuple[Texts, list[Other]]:
    criterion = MAYBE_EMPTY
    main = (f"Work out {subject(question)}", queries.total(question), criterion)
    if question.share and question.filters:
        whole = f"Work out the {figure_words(question)} without the restriction to {filter_words(question.filters)}"
        return main, [("reference", (whole, queries.total(question, filters=False), MAYBE_EMPTY), ("main",), 0)]
    behind = f"See what is behind it: how many rows, with the smallest and the largest {noun_of(question.measure.noun)}"
    if question.measure.column is None:
        behind = f"Count all {plural(question.measure.table.noun)}, for comparison"
    return main, [("reference", (behind, queries.spread(question), "One row with a count"), ("main",), USEFUL)]


def _comparison(question: Question) -> tuple[Texts, list[Other]]:
    rows = f"A row for each {question.noun}; no rows only if there is no data"
    main = (f"Work out {subject(question)}", queries.groups(question), rows)
    if question.by_month:
        return main, [_change(question)]
    whole = f"Work out the {figure_words(question)} over all of them, for comparison"
    return main, [("reference", (whole, queries.total(question), MAYBE_EMPTY), ("main",), USEFUL)]


def _trend(question: Question) -> tuple[Texts, list[Other]]:
    rows = "A row for each month; no rows only if there is no data"
    return (f"Work out {subject(question)}", queries.groups(question), rows), [_change(question)]


def _change(question: Question) -> Other:
    noun = question.noun
    change = f"Work out the change from the first {noun} to the last, and find the highest and the lowest {noun}"
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
    if question.share and question.kind is Kind.TOTAL and len(question.filters) > 1:
        raise NotUnderstoodError("several restrictions are named, and I do not know in which whole the share is meant")
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
