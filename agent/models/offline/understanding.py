"""From a task to a question about tables.

Every reading of a task (this table, this column) is tried. A reading counts only if it explains every word that carries
meaning; the one with the most direct evidence is taken. If none is left, or two are as good, the task is not
understood: a refusal is better than a wrong number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.models.offline.bounds import Limited, find_bound
from agent.models.offline.evidence import EXACT, distance, evidence, read_evidence
from agent.models.offline.grouping import Grouping, grouping_of
from agent.models.offline.kinds import aggregate, count_of, kind_of
from agent.models.offline.question import Bound, Dimension, Filter, Kind, Measure, Question
from agent.models.offline.reading import Reading, matches, telling
from agent.models.offline.signals import MORE, NotUnderstoodError, Signals
from agent.models.offline.tables import Column, Table
from agent.models.offline.values import filters_of
from agent.models.offline.words import DOING, name_words, root


@dataclass(frozen=True, slots=True)
class Tried:
    """A reading and what came of it: a question, or the reason why there is none."""

    reading: Reading
    distance: int
    question: Question | None
    reason: str = ""

    @property
    def names_a_column(self) -> bool:
        """Whether the task has every word of the column's name."""
        return self.reading.column is not None and self.distance == EXACT and bool(evidence(self.reading))

    @property
    def name(self) -> str:
        """What it is about, for a person."""
        table, column = self.reading.table, self.reading.column
        return f"{table.name}.{column.name}" if column else f"the number of {table.name}"


def understand(signals: Signals, tables: list[Table]) -> Question:
    """The one best reading; NotUnderstoodError with the reason if there is none."""
    tried = [_try(Reading(signals, tables, table, column)) for table in tables for column in (*table.measures, None)]
    found = [item for item in tried if item.question and not _is_outdone(item, tried)]
    if not found:
        raise NotUnderstoodError(_why_none(signals, tables, tried))
    best = [item for item in found if item.distance == min(other.distance for other in found)]
    if len(best) > 1 or best[0].question is None:
        raise NotUnderstoodError(_several([item.name for item in best]))
    return best[0].question


def _try(reading: Reading) -> Tried:
    try:
        return Tried(reading, distance(reading), question_of(reading))
    except NotUnderstoodError as why:
        return Tried(reading, distance(reading), None, str(why))


def _is_outdone(item: Tried, tried: list[Tried]) -> bool:
    """Whether the same words are the whole name of another column, about which the task could not be read.

    'rooms' is `properties.rooms`, not `occupancy.room_nights`, even where the first makes no question.
    """
    if item.reading.column is None or item.distance == EXACT:
        return False
    words = evidence(item.reading)
    return any(other.names_a_column and not other.question and words & evidence(other.reading) for other in tried)


def _several(names: list[str]) -> str:
    return f"several things could be meant ({', '.join(names[:4])}); name one of them"


def _why_none(signals: Signals, tables: list[Table], tried: list[Tried]) -> str:
    if words := _unknown_everywhere(signals, tables):
        return f"I do not know what {words} means for these tables"
    named = [item.name for item in tried if item.names_a_column]
    if len(named) > 1:
        return _several(named)
    closest = min(tried, key=lambda item: (-item.reading.stage, item.distance), default=None)
    return closest.reason if closest and closest.reason else "no table that is described to me has such figures"


def _unknown_everywhere(signals: Signals, tables: list[Table]) -> str:
    """The words that no table, column or value explains, for a person."""
    known = {name for table in tables for name in table.roots}
    columns = [column for table in tables for column in table.columns]
    known |= {root(name) for column in columns for name in name_words(column.name)} | DOING
    values = " ".join(value.lower() for column in columns for value in column.values)
    limit = signals.limit.around if signals.limit and signals.limit.number is None else (0, 0)
    unknown = [
        token.text
        for token in signals.left
        if not matches(token, known) and token.root != "month" and token.text.lower() not in values
        and not MORE.fullmatch(token.text.lower()) and not limit[0] <= token.start < limit[1]
    ]  # fmt: skip
    return ", ".join(f"'{text[:40]}'" for text in dict.fromkeys(unknown))


# --- one reading


def question_of(reading: Reading) -> Question:
    """The question in this reading; NotUnderstoodError if a word is left, or something is not clear."""
    signals = reading.signals
    read_evidence(reading)
    reading.stage = 2
    filters = filters_of(reading)
    month = _month(reading)
    reading.stage = 3
    grouping = grouping_of(reading, filters)
    reading.stage = 4
    kind, group, by_month = kind_of(reading, grouping, filters)
    how = aggregate(reading, kind, replace(grouping, group=group, by_month=by_month))
    question = Question(
        kind=kind,
        measure=Measure(reading.table, reading.column, "ROW" if grouping.by_row else how),
        group=group,
        by_month=by_month,
        by_row=grouping.by_row,
        month=month,
        count=count_of(reading, kind, group),
        highest=signals.direction != "lowest",
        period=signals.period,
        filters=tuple(filters),
        difference=signals.difference,
        share=signals.share,
    )
    question = _with_bound(reading, question, grouping, filters)
    reading.stage = 5
    _check_explained(reading, question)
    return question


def _month(reading: Reading) -> Column | None:
    """The column that says when, explaining the words that chose it; None if nothing asks when."""
    left, months = reading.signals.left, reading.table.months
    said = [item for item in months if any(matches(token, telling(item)) for token in left)]
    neutral = [item for item in months if not telling(item)]
    choices = [choice for choice in (said, neutral, months) if len(choice) == 1]
    says_month = any(token.root == "month" for token in left)
    if not (reading.signals.period or reading.signals.trend or says_month):
        return None
    if not months:
        raise NotUnderstoodError(f"{reading.table.name} does not say in which month something was")
    if len(said) > 1 or not choices:
        raise NotUnderstoodError(f"{reading.table.name} has several dates; say which one is meant")
    reading.explained |= {token for token in left if matches(token, choices[0][0].roots)}
    return choices[0][0]


def _with_bound(reading: Reading, question: Question, grouping: Grouping, filters: list[Filter]) -> Question:
    """The same with the limit that it is about."""
    limit = reading.signals.limit
    if limit is None:
        return question
    if limit.number is not None:
        return replace(question, bound=Bound(limit.operator, limit.number))
    group = question.group or _single(filters)
    limited = Limited(reading.table, reading.column, group, reading.signals.period)
    bound, words = find_bound(limit, reading.bound_words, limited, reading.tables)
    reading.explained |= words
    if question.by_month and not bound.monthly:
        raise NotUnderstoodError(f"I do not know whether {bound.noun.replace('_', ' ')} holds for a month")
    month = question.month
    if bound.monthly and month is None:
        if len(reading.table.months) != 1:
            raise NotUnderstoodError(f"{reading.table.name} has several dates; say which one is meant")
        month = reading.table.months[0]
    if bound.table is reading.table:
        row = Measure(reading.table, reading.column, "ROW")
        return replace(question, bound=bound, month=month, by_row=True, measure=row)
    return replace(question, bound=bound, month=month, group=question.group if grouping.by_row else group)


def _single(filters: list[Filter]) -> Dimension | None:
    """The thing that is checked where no group but one value is named."""
    return filters[0].dimension if len(filters) == 1 else None


def _check_explained(reading: Reading, question: Question) -> None:
    left = reading.signals.left
    if question.month:
        reading.explained |= {token for token in left if token.root == "month"}
    if question.kind is Kind.COMPARISON and any(len(item.values) > 1 for item in question.filters):
        reading.explained |= {token for token in left if MORE.fullmatch(token.text.lower())}
    if unknown := reading.unexplained:
        raise NotUnderstoodError(unknown)
