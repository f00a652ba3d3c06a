"""How a question is put into words: the goal, the steps, the names of files."""

from __future__ import annotations

import re

from agent.models.offline import queries
from agent.models.offline.question import Filter, Kind, Question
from agent.models.offline.tables import UNIT_NAMES, stem
from agent.models.offline.vocabulary import NUMBERS

FILE_NAME_CHARACTERS = 36
BEYOND = {">": "above", ">=": "of at least", "<": "below", "<=": "of at most"}


def goal(question: Question) -> str:
    """The task restated in one sentence."""
    if question.kind is Kind.DOCUMENTS:
        words = f"Find what the documents say about: {question.search}"
    else:
        verb = "Find" if question.kind in (Kind.TOP, Kind.OVER_LIMIT) else "Work out"
        words = f"{verb} {subject(question)}"
    if question.kind is Kind.TOP and question.limit:
        any_of_them = "any of them" if question.count > 1 else "it"
        words += f", and whether {any_of_them} exceeded its {queries.limit_noun(question)}"
    if question.documents and question.kind is not Kind.DOCUMENTS:
        words += "; look up what the documents say about it"
    return words + ("; write a report." if question.report else ".")


def subject(question: Question) -> str:
    """What is asked for, as a noun phrase with its filters and its period."""
    around = f"{_of_filters(question)}{when(question)}"
    each = "for each" if question.aggregate == "AVG" else "of each"
    things = _things(question)
    if question.kind is Kind.TOP:
        which = f"{spelled(question.count)} {things}" if question.count > 1 else _thing(question)
        return f"the {which} with the {_extreme(question)}{around}"
    if question.kind is Kind.OVER_LIMIT and question.limit:
        return f"which {things} exceeded their {queries.limit_noun(question)}{around}"
    if question.kind is Kind.OVER_LIMIT and question.threshold:
        threshold = question.threshold
        limit = f"{BEYOND[threshold.operator]} {_amount(threshold.number)}{_unit(question)}"
        return f"the {things} with {_article(question)}{figure(question)} {limit}{around}"
    if question.kind is Kind.TREND:
        return f"the {figure(question)} {each} month{around}"
    if question.kind is Kind.COMPARISON:
        compared = _compared(question)
        of_whom = f"of {listed(compared.values)}" if compared else f"{each} {_thing(question)}"
        return f"the {figure(question)} {of_whom}{around}"
    return f"the {figure(question)}{around}"


def all_together(question: Question) -> str:
    """The figure over all that the question is about."""
    compared = _compared(question)
    of_whom = f"{listed(compared.values)} together" if compared else f"all {_things(question)}"
    return f"the {figure(question)} of {of_whom}{_of_filters(question)}{when(question)}"


def figure(question: Question) -> str:
    """What is worked out: `total cost`, `average weight per row of shipments`, `number of tickets`."""
    noun = queries.measure_noun(question)
    if question.aggregate == "AVG" and question.table:
        return f"average {noun} per row of {question.table.name}"
    return {"SUM": f"total {noun}", "MAX": f"highest {noun}", "MIN": f"lowest {noun}"}.get(question.aggregate, noun)


def when(question: Question) -> str:
    """The period with a space before it; empty if the task names none."""
    if question.period is None:
        return " over all months together" if question.limit else ""
    return (
        f" {question.period.words}{' together' if question.period.listed and question.kind is not Kind.TREND else ''}"
    )


def title(question: Question) -> str:
    """The title of a report."""
    words = f"what the documents say about {question.search}" if question.kind is Kind.DOCUMENTS else subject(question)
    words = words.removeprefix("the ")
    return words[:1].upper() + words[1:]


def file_name(question: Question) -> str:
    """A short name for a report: `project-cost-2026-08.md`."""
    if question.kind is Kind.DOCUMENTS:
        parts = question.search
    else:
        period = (
            question.period.words.removeprefix("in ").removeprefix("the ").removesuffix(" with data")
            if question.period
            else ""
        )
        limit = queries.limit_noun(question) if question.limit else ""
        measured = question.measure and queries.measure_noun(question)
        counted = " ".join(question.table.words) if question.table else ""
        parts = f"{_thing(question)} {measured or counted} {limit} {period}"
    name = re.sub(r"[^a-z0-9]+", "-", parts.lower()).strip("-")
    if len(name) > FILE_NAME_CHARACTERS:
        name = name[: FILE_NAME_CHARACTERS + 1].rpartition("-")[0] or name[:FILE_NAME_CHARACTERS]
    return f"{name or 'report'}.md"


def rationale(question: Question) -> str:
    """Why these steps."""
    table = question.table.name if question.table else "the database"
    words = f"The figures come from {table}, by queries that stand in the plan; the last one puts them into proportion."
    if question.month and not set(question.month.words) <= {"month", "date", "period", "day"}:
        words += f" The month of a row is that of {question.month.name}."
    if question.period and question.period.latest:
        words += " The latest month is the latest in the data for this, which is rarely the present one."
    return words


def spelled(number: int) -> str:
    """A number as it stands in a sentence."""
    return next((word for word, n in NUMBERS.items() if n == number), str(number))


def _extreme(question: Question) -> str:
    noun = queries.measure_noun(question)
    if question.measure is None:
        return f"{'most' if question.descending else 'fewest'} {noun.removeprefix('number of ')}"
    if question.aggregate == "SUM" and stem(noun.split()[-1]) != noun.split()[-1]:
        return f"{'most' if question.descending else 'fewest'} {noun}"
    return (
        f"{'highest' if question.descending else 'lowest'} {figure(question) if question.aggregate == 'AVG' else noun}"
    )


def _thing(question: Question) -> str:
    return question.dimension.noun if question.dimension else ""


def _things(question: Question) -> str:
    return queries.plural(_thing(question)) if question.dimension else "rows"


def _article(question: Question) -> str:
    words = figure(question)
    if stem(words.split()[-1]) != words.split()[-1] and question.aggregate == "SUM":
        return ""
    return "an " if words[0] in "aeiou" else "a "


def _of_filters(question: Question) -> str:
    compared = _compared(question)
    said = [_said(item) for item in question.filters if item is not compared]
    return f" {' and '.join(said)}" if said else ""


def _compared(question: Question) -> Filter | None:
    """The filter whose values are the very things that are set side by side."""
    if question.kind is not Kind.COMPARISON:
        return None
    return next((item for item in question.filters if item.dimension == question.dimension), None)


def _said(item: Filter) -> str:
    noun = item.dimension.noun
    if item.dimension.is_label:
        return f"of {listed(item.values)}"
    preposition = "with" if noun in ("status", "state") else "for"
    return f"{preposition} {queries.plural(noun) if len(item.values) > 1 else noun} {listed(item.values)}"


def listed(parts: tuple[str, ...] | list[str]) -> str:
    """`A, B and C`."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _unit(question: Question) -> str:
    unit = UNIT_NAMES.get(question.measure.unit or "") if question.measure else None
    return f" {unit}" if unit else ""


def _amount(number: str) -> str:
    whole, point, rest = number.partition(".")
    return f"{int(whole):,}{point}{rest}"
