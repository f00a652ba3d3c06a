"""A question in words: what is asked for, the goal of a plan, the name of a report."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.models.offline import queries
from agent.models.offline.naming import capital, limit_words, listed, noun_of, plural, spelled
from agent.models.offline.question import Filter, Kind, Question

FILE_CHARACTERS = 40
ENDING = ".md"
VERBS = {">": ("exceeded", "exceed"), ">=": ("reached", "reach"), "<": ("stayed below", "stay below"),
         "<=": ("stayed within", "stay within")}  # fmt: skip


def subject(question: Question) -> str:
    """What is asked for, as a noun phrase."""
    what, when, of = figure_words(question), _when(question), _of_filters(question)
    if question.kind is Kind.RANKING:
        count = question.count or 1
        which = question.noun if count == 1 else f"{spelled(count)} {plural(question.noun)}"
        phrase = f"the {which} with the {'highest' if question.highest else 'lowest'} {what}{of} {when}"
    elif question.kind is Kind.LIMIT:
        phrase = _limit_subject(question)
    elif question.kind is Kind.TOTAL:
        phrase = f"the {what}{of} {when}"
    else:
        phrase = f"the {what} of {_each(question)} {when}"
    return phrase.strip()


def _each(question: Question) -> str:
    """`each region`, or the ones that are named."""
    scope = queries.scope(question)
    named = [value for item in question.filters if item not in scope for value in item.values]
    what = listed(named) if named else f"each {question.noun}"
    return f"{what} for {filter_words(scope)}" if scope else what


def _limit_subject(question: Question) -> str:
    number = question.bound.number if question.bound else None
    each = queries.shows_each(question) and not question.by_row
    limit = (
        f"{float(number):,}".removesuffix(".0") if number else f"{'its' if each else 'their'} {limit_noun(question)}"
    )
    what = noun_of(question.measure.noun) if question.by_row else figure_words(question)
    said = f"{what}{_of_filters(question)} {verdict_words(question)} {limit} {_when(question)}".strip()
    return f"whether the {said}" if each else f"the {plural(question.noun)} whose {said}"


def _when(question: Question) -> str:
    """The period, with the column that says when if the table has several."""
    if question.period is None:
        return ""
    several = question.month is not None and len(question.measure.table.months) > 1
    by = f" by {' '.join(question.month.words)} date" if several and question.month else ""
    return f"{question.period.words}{by}"


def figure_words(question: Question) -> str:
    """What is worked out, in words: `total cost`."""
    return noun_of(question.measure.name)


def limit_noun(question: Question) -> str:
    """What the limit is called, in words: `parcel limit`."""
    return limit_words(queries.limit_name(question))


def verdict_words(question: Question, *, plain: bool = False) -> str:
    """What is said of a figure beyond its limit: `exceeded`, or plain `exceed`."""
    return VERBS[question.bound.operator if question.bound else ">"][plain]


def filter_words(filters: Sequence[Filter]) -> str:
    """What a question is restricted to: `crop wheat, village Marsh`."""
    return ", ".join(f"{item.dimension.noun} {' and '.join(item.values)}" for item in filters)


def _of_filters(question: Question) -> str:
    return f" for {filter_words(question.filters)}" if question.filters else ""


# --- the name of a report


def report_title(question: Question | None, search: str | None) -> str:
    """The head of a report."""
    return capital(subject(question).removeprefix("the ") if question else f"What the documents say about {search}")


def report_file(question: Question | None, search: str | None) -> str:
    """A short file name that says what a report is about: `top-projects-by-cost-2026-08.md`."""
    words = _slug(f"policy {search}") if question is None else _slug(_about(question))
    when = _slug(_period_words(question)) if question else ""
    room = FILE_CHARACTERS - len(ENDING) - (len(when) + 1 if when else 0)
    short = words if len(words) <= room else words[: room + 1].rpartition("-")[0]
    return f"{'-'.join(filter(None, (short, when))) or 'report'}{ENDING}"


def _about(question: Question) -> str:
    what, things = noun_of(question.measure.noun).removeprefix("number of "), plural(question.noun)
    if question.kind is Kind.RANKING:
        return f"{'top' if question.highest else 'bottom'} {things} by {what}"
    if question.kind is Kind.LIMIT:
        limit = question.bound.number if question.bound and question.bound.number else limit_noun(question)
        over = "over" if verdict_words(question) in ("exceeded", "reached") else "under"
        return f"{things} {over} {limit}"
    if question.kind is Kind.TOTAL:
        return f"{what} {filter_words(question.filters)}"
    return f"{what} by {question.noun}"


def _period_words(question: Question) -> str:
    period = question.period
    if period is None:
        return ""
    if period.latest:
        return "latest month" if period.latest == 1 else f"latest {period.latest} months"
    return re.sub(r"^(?:in|from) | and", "", period.words)


def _slug(words: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
