"""What in a task says that a column is meant, or that rows are to be counted."""

from __future__ import annotations

import re

from agent.models.offline.bounds import implied_by_limit
from agent.models.offline.reading import Reading, matches, matches_root, telling
from agent.models.offline.signals import NotUnderstoodError, Token
from agent.models.offline.tables import Column
from agent.models.offline.values import values_in
from agent.models.offline.words import AMOUNTS, DOING, GENERIC, UNITS, name_words, root

EXACT, BY_ITS_UNIT, NOT_NAMED = 0, 3, 4


def evidence(reading: Reading) -> set[Token]:
    """The words that name what is measured."""
    column, left = reading.column, _free_of_values(reading)
    if column is None:
        return {token for token in reading.signals.left if reading.is_table_noun(token)}
    if not column.specific:
        generic = {token for token in left if token.root in column.roots}
        return generic if reading.table_words or _is_only_generic(reading) else set()
    return {token for token in left if matches(token, column.specific) or _is_unit(token, column)}


def _free_of_values(reading: Reading) -> list[Token]:
    """The words without values, of which 'Long Acre' is no length; a value that is also the column's name stays."""
    roots = reading.column.roots if reading.column else frozenset()
    inside = {token for _, _, tokens in values_in(reading) for token in tokens if token.root not in roots}
    return [token for token in reading.signals.left if token not in inside]


def _is_unit(token: Token, column: Column) -> bool:
    word = token.text.lower()
    return column.unit is not None and word == column.unit and word not in ("days", "min")


def _is_only_generic(reading: Reading) -> bool:
    """Whether 'amount' can only mean this column: no other has a name that says as little."""
    others = [item for table in reading.tables for item in table.measures if not item.specific]
    return others == [reading.column]


def distance(reading: Reading) -> int:
    """How indirect the evidence is: 0 if every word of the column's name is in the task."""
    column, found = reading.column, evidence(reading)
    if column is None:
        return EXACT if reading.signals.counting else 2
    exact = {token.root for token in found} & column.specific
    if exact:
        return 2 * len(column.specific - exact - reading.table.roots)
    if found and not column.specific:
        return 1
    return BY_ITS_UNIT if found or _is_named_by_table(reading) else NOT_NAMED


def is_named(reading: Reading) -> bool:
    """Whether the task says that this is measured, in whatever way."""
    return bool(evidence(reading)) or is_implied(reading) or _is_named_by_table(reading)


def _is_named_by_table(reading: Reading) -> bool:
    """Whether the table's name says what the column holds: `amount` in a table of costs."""
    column, table = reading.column, reading.table
    noun = root(table.words[-1])
    if column is None or not any(matches(token, {noun}) for token in reading.signals.left):
        return False
    if not matches_root(noun, AMOUNTS):
        return False
    like = [item for item in table.measures if not item.specific or matches_root(noun, item.specific)]
    return table.measures == (column,) or like == [column]


def is_implied(reading: Reading) -> bool:
    """Whether the task names the rows, or the limit, and that leaves only this column."""
    column, signals = reading.column, reading.signals
    if column is None or _has_words_for_another_column(reading):
        return False
    rows = any(matches(token, {root(reading.table.words[-1])}) for token in signals.left)
    limited = bool(signals.limit and signals.limit.number)
    if rows and reading.table.measures == (column,) and (signals.how_much or limited):
        return True
    words = reading.bound_words
    return bool(words) and implied_by_limit(words, reading.table, column, reading.tables)


def _has_words_for_another_column(reading: Reading) -> bool:
    others = [item for item in reading.table.measures if item != reading.column]
    limit_words = set(reading.bound_words)
    free = [token for token in reading.signals.left if token not in limit_words]
    return any(matches(token, item.specific) for item in others for token in free)


# --- what it explains


def read_evidence(reading: Reading) -> None:
    """Explain the words that name what is measured; NotUnderstoodError if nothing does."""
    if not is_named(reading):
        raise NotUnderstoodError(reading.unexplained or "I find no column of numbers that the task is about")
    reading.stage = 1
    if reading.column is None:
        _check_counted(reading)
    elif reading.signals.counting is not None:
        after, found = _after(reading, reading.signals.counting), evidence(reading)
        if after not in found and not (reading.signals.limit and reading.is_dimension(after)):
            raise NotUnderstoodError(f"{reading.table.name}.{reading.column.name} is not what is counted")
    reading.explained |= evidence(reading) | reading.table_words
    if reading.column:
        reading.explained |= _beside_the_column(reading, reading.column)


def _beside_the_column(reading: Reading, column: Column) -> set[Token]:
    """Verbs, units and words like 'amount' that add nothing to the column's name."""
    found, left = evidence(reading), reading.signals.left
    units = UNITS & set(name_words(column.name))
    generic = column.roots & GENERIC | ({root("amount")} if found else set())
    beside = {token for token in left if token.root in generic or token.text.lower() in units}
    if any(token.root in column.specific for token in found):
        beside |= {token for token in left if token.root in DOING and not _says_which(reading, token)}
    return beside


def _says_which(reading: Reading, token: Token) -> bool:
    """Whether 'paid' may choose rows: a column is called so, or has such a value."""
    words = {root(value) for item in reading.dimensions for value in item.column.values}
    return any(token.root in item.roots for item in reading.dimensions) or token.root in words


def _check_counted(reading: Reading) -> None:
    """Rows are counted if the task counts, or if nothing else in the table could be meant."""
    table, signals, found = reading.table, reading.signals, evidence(reading)
    if signals.average:
        raise NotUnderstoodError(f"I do not know over what the number of {table.name} is to be averaged")
    if table.repeats_its_noun:
        raise NotUnderstoodError(f"I do not know whether rows of {table.name} or different ones are to be counted")
    if signals.counting is not None:
        after = _after(reading, signals.counting)
        limited = signals.limit and reading.is_dimension(after) and _follows_quantity(reading)
        if after not in found and not limited:
            raise NotUnderstoodError(f"{table.name} are not what is counted")
        return
    if root(table.words[-1]) in AMOUNTS:
        raise NotUnderstoodError(f"I do not know whether {table.name} are to be counted")
    if any(matches(token, item.specific) for item in table.measures for token in signals.left):
        raise NotUnderstoodError(f"{table.name} has a column that is meant")
    amounts = [item for item in table.measures if not item.specific or item.unit in ("usd", "eur", "gbp", "chf")]
    if amounts and not _follows_quantity(reading):
        raise NotUnderstoodError(
            f"I do not know whether the number of {table.name} or their {amounts[0].name} is meant"
        )


def _follows_quantity(reading: Reading) -> bool:
    """Whether 'most', 'fewest' or 'more than 5' stands right before the table's noun."""
    limit = reading.signals.limit
    for token in evidence(reading):
        before = reading.signals.text[: token.start].lower().rstrip()
        if re.search(r"\b(?:most|fewest|least)$", before):
            return True
        if limit and limit.number and 0 <= token.start - limit.around[1] <= 2:
            return True
    return False


def _after(reading: Reading, place: int) -> Token | None:
    """The next word that carries meaning and is no value."""
    values, found = values_in(reading), evidence(reading)
    passed = {token for _, _, tokens in values for token in tokens}
    named = [item.roots for having, _, _ in values for item in having]
    named += [frozenset(telling(item)) for item in reading.table.months]
    passed |= {token for token in reading.signals.left if any(matches(token, roots) for roots in named)}
    return next((t for t in reading.signals.left if t.start >= place and (t not in passed or t in found)), None)
