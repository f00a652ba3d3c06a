"""Which table a task is about, and which of its columns is measured; or that its rows are counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.models.offline import vocabulary
from agent.models.offline.question import NotUnderstoodError, Threshold
from agent.models.offline.tables import UNITS, Column, Table, words_of
from agent.models.offline.taking import THRESHOLD, Text, Word

OWN_NAME = 10
COUNTING = re.compile(rf"\b{vocabulary.COUNTING}\s|{THRESHOLD}\s*")
SINGLED = re.compile(rf"\b{vocabulary.SINGLED}\s")
BEFORE_LIMIT = re.compile(rf"([^\W\d_]+)\s+(?:of |with |are |was |were |is )?\s*{THRESHOLD}")
PLAIN_COUNTING = ("how", "number", "count")
GENERIC_DATES = {"month", "date", "period", "day"}


@dataclass(frozen=True, slots=True)
class Measured:
    """What the task is about."""

    table: Table
    column: Column | None
    """None: the table's rows are counted."""
    asked: bool = False
    """Whether the words of counting themselves ask for a figure."""


def find_measure(text: Text, tables: Sequence[Table], threshold: Threshold | None, limit: str | None) -> Measured:
    """The one column, or the one table to count, that the words can mean; NotUnderstoodError otherwise."""
    counted = _take_counted(text, tables)
    if counted:
        return counted
    _refuse_single_things(text, tables)
    stems = text.stems | ({threshold.unit} if threshold and threshold.unit else set())
    scored = [
        (_score(table, column, stems), table, column)
        for table in tables
        for column in table.columns
        if column.measurable
    ]
    best = max((score for score, *_ in scored), default=0)
    found = [(table, column) for score, table, column in scored if score == best > 0]
    if not found and limit:
        found = _limited_by(limit, tables)
    if not found:
        raise NotUnderstoodError("I find no column of numbers that it is surely about")
    if len(found) > 1:
        options = ", ".join(f"{table.name}.{column.name}" for table, column in found[:4])
        raise NotUnderstoodError(f"several columns could be meant ({options})")
    _check_unit(found[0][1], threshold)
    return Measured(*found[0])


def month_column(table: Table, words: Sequence[Word]) -> Column | None:
    """The column that says when a row was: the only one, or the only one that the task names."""
    columns = [column for column in table.columns if column.month_key]
    stems = {word.stem for word in words} | {word.written for word in words}
    named = [column for column in columns if set(column.words) - GENERIC_DATES & stems and set(column.words) & stems]
    for choice in (columns, named):
        if len(choice) == 1:
            return choice[0]
    return None if named else table.month


def _take_counted(text: Text, tables: Sequence[Table]) -> Measured | None:
    """`how many shipments`, `the most tickets`, `more than 5 invoices`."""
    for found in COUNTING.finditer(text.rest):
        following = [word for word in text.words if word.start >= found.end()][:3]
        plain = found[0].split()[0] in PLAIN_COUNTING or "number" in found[0]
        for place, word in enumerate(following[: 3 if plain else 1]):
            named = [table for table in tables if table.words[-1] == word.stem]
            if not named:
                if _measures(word.stem, tables):
                    break
                continue
            table = _the_one(named, following[:place])
            if set(table.words) & vocabulary.UNCOUNTABLE:
                if plain:
                    raise NotUnderstoodError(f"the rows of {table.name} or an amount in them could be counted")
                break
            text.cut(word.start, word.end)
            if found[0].strip() not in ("most", "fewest", THRESHOLD):
                text.cut(found.start(), found.end())
            return Measured(table, None, asked=plain or found[0].strip() == "total")
    return None


def _measures(word: str, tables: Sequence[Table]) -> bool:
    return any(word in column.words for table in tables for column in table.columns if column.measurable)


def _the_one(named: Sequence[Table], before: Sequence[Word]) -> Table:
    if len(named) > 1:
        said = {word.stem for word in before}
        named = [table for table in named if set(table.words[:-1]) <= said]
    if len(named) != 1:
        raise NotUnderstoodError("several tables could be meant")
    return named[0]


def _refuse_single_things(text: Text, tables: Sequence[Table]) -> None:
    """`the largest invoice`, `invoices over 500`: about single rows, which no known kind of question looks at."""
    things = {table.words[-1] for table in tables if not set(table.words) & vocabulary.UNCOUNTABLE}
    words = text.words
    before_limit = BEFORE_LIMIT.search(text.rest)
    suspects = [word for found in SINGLED.finditer(text.rest) for word in words if word.start == found.end()]
    suspects += [word for word in words if before_limit and word.start == before_limit.start(1)]
    for word in suspects:
        row = word.stem in things and not _referred(word.stem, tables)
        if row or word.written == "sale":
            raise NotUnderstoodError(f"single rows ({word.written}) are not among the things that I rank or check")


def _referred(thing: str, tables: Sequence[Table]) -> bool:
    """Whether other tables refer to a thing, so that it groups them."""
    targets = {column.target.split(".")[0] for table in tables for column in table.columns if column.target}
    return any(table.words[-1] == thing and (table.name in targets or table.label_named) for table in tables)


def _score(table: Table, column: Column, stems: set[str]) -> int:
    """How much the words speak for a column: its own name most, then its table's, then what means the same."""
    named = stems & (set(column.words) | (set(words_of(column.name)) & UNITS - {"usd", "eur", "gbp"}))
    of_table = stems & set(table.words)
    alike = any(group & set(column.words) and group & stems for group in vocabulary.SYNONYMS)
    alike_table = any(group & set(table.words) and group & stems - named for group in vocabulary.SYNONYMS)
    if not (named or alike or of_table & vocabulary.UNCOUNTABLE):
        return 0
    whole = set(column.words) <= stems
    return (
        OWN_NAME * len(named)
        + whole
        + 4 * bool(of_table)
        + 3 * (alike and not named)
        + 2 * (alike_table and not of_table)
    )


def _limited_by(noun: str, tables: Sequence[Table]) -> list[tuple[Table, Column]]:
    """The amounts that a limit of this name can only be meant for: those with a reference in common with it."""
    limits = [table for table in tables if noun in table.words]
    keys = {column.target for table in limits for column in table.columns if column.target}
    return [
        (table, column)
        for table in tables
        if table not in limits and keys & {column.target for column in table.columns if column.target}
        for column in table.columns
        if column.measurable
    ]


def _check_unit(column: Column, threshold: Threshold | None) -> None:
    if threshold is None or threshold.unit is None:
        return
    units = set(words_of(column.name)) & UNITS
    money = set(column.words) & (vocabulary.MONEY | vocabulary.REVENUE | {"price", "total"})
    if threshold.unit in units or (not units and money and threshold.unit in vocabulary.CURRENCIES):
        return
    raise NotUnderstoodError(f"{column.name} is not said to be in {threshold.unit}")
