"""Limits that stand in a table: which column holds them, and how a limit finds what it limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.models.offline.periods import Period
from agent.models.offline.question import Bound, Dimension
from agent.models.offline.signals import Limit, NotUnderstoodError, Token
from agent.models.offline.tables import Column, Table
from agent.models.offline.words import name_words, root, roots, same

SPANS = {
    "monthly",
    "month",
    "yearly",
    "annual",
    "year",
    "daily",
    "day",
    "weekly",
    "week",
    "quarterly",
    "quarter",
    "hourly",
}
VALIDITY = {"valid", "from", "since", "until", "start", "end", "effective"}


@dataclass(frozen=True, slots=True)
class Limited:
    """What is held against a limit: figures of this column (None: counts of rows), of each of these, over a period."""

    table: Table
    column: Column | None
    group: Dimension | None
    period: Period | None


def find_bound(
    limit: Limit, words: Sequence[Token], limited: Limited, tables: Sequence[Table]
) -> tuple[Bound, set[Token]]:
    """The limit that these words name, and the words that it explains; NotUnderstoodError if that is not just one."""
    table, column = limited.table, limited.column
    named = [(token.root, token) for token in words]
    if limit.words.startswith("over") and limit.words != "over" and not any(_is_limit(item) for item, _ in named):
        named.append(("budget", words[0] if words else Token("budget", 0, 0)))
    scored = []
    for other in tables:
        for item in other.measures:
            if other.name == table.name and item == column:
                continue
            hits = {token for name, token in named if _names(name, other, item)}
            if hits:
                exact = sum(name in item.roots | other.roots for name, _ in named)
                scored.append((exact, other, item, hits))
    if not scored:
        said = " ".join(token.text for token in words) or "that"
        raise NotUnderstoodError(f"I find no limit called {said!r} in the tables")
    best = max(exact for exact, *_ in scored)
    found = [item for item in scored if item[0] == best]
    if len(found) > 1:
        raise NotUnderstoodError(f"the limit could be {' or '.join(f'{o.name}.{c.name}' for _, o, c, _ in found)}")
    _, other, item, hits = found[0]
    if column and column.unit and item.unit and column.unit != item.unit:
        raise NotUnderstoodError(f"{column.name} and {other.name}.{item.name} have different units")
    hits = hits | {token for token in words if token.root in other.roots | item.roots}
    return _bound(limit, limited, other, item), hits


def implied_by_limit(words: Sequence[Token], table: Table, column: Column, tables: Sequence[Table]) -> bool:
    """Whether the limit that is named says what is measured: `max_parcels` limits `parcels`, budgets limit costs.

    Only if it leaves no other column.
    """
    limits = [
        (other, item)
        for other in tables
        for item in other.measures
        if (other.name, item) != (table.name, column) and any(_names(token.root, other, item) for token in words)
    ]
    if len(limits) != 1 or any(_is_limit(item) for item in column.roots | {root(table.words[-1])}):
        return False
    other, limit = limits[0]
    said = {item for item in limit.specific if not _is_limit(item)} - other.roots
    same_unit = bool(_units(limit)) and _units(limit) <= _units(column) | column.roots
    if said and all(any(item == name or same(item, name) for name in column.roots) for item in said):
        return True
    only = table.measures == (column,)
    return (same_unit or only) if not said else (same_unit and only)


def _units(column: Column) -> frozenset[str]:
    return frozenset({column.unit}) if column.unit else frozenset()


def _is_limit(name: str) -> bool:
    return name in LIMIT_ROOTS or any(same(name, item) for item in LIMIT_ROOTS)


LIMIT_ROOTS = roots("budget limit quota target cap allowance ceiling threshold plan maximum goal")


def _names(name: str, table: Table, column: Column) -> bool:
    """Whether a word names this column, or this table of nothing but limits."""
    if any(name == item or same(name, item) for item in column.specific):
        return True
    noun = root(table.words[-1])
    return (name == noun or same(name, noun)) and len(table.measures) == 1


def _bound(limit: Limit, limited: Limited, other: Table, column: Column) -> Bound:
    group = limited.group
    if other.name == limited.table.name:
        return Bound(limit.operator, table=other, column=column)
    if group is None:
        raise NotUnderstoodError(f"I do not see for which things {other.name}.{column.name} holds")
    key = _key(other, group)
    month = _month(other)
    _check_grain(other, key, month)
    monthly = _check_span(other, column, month, limited)
    return Bound(limit.operator, table=other, column=column, key=key, month=month, monthly=monthly)


def _key(other: Table, group: Dimension) -> Column:
    """The column by which the table of limits names the group."""
    for column in other.columns:
        place = f"{other.name}.{column.name}"
        if group.via and group.names_its_table and group.via.target in (column.target, place):
            return column
        if not group.via and (column.name == group.column.name or group.column.target == place):
            return column
    for column in other.columns:
        named = column.roots - {"nam", "id"} or column.roots
        is_label = column == other.label and bool(other.roots & group.roots)
        own_or_name = not group.via or group.names_its_table
        if column.groupable and own_or_name and (named & group.roots or (is_label and not group.via)):
            return column
    raise NotUnderstoodError(f"{other.name} does not say which {group.noun} a limit is for")


def _month(other: Table) -> Column | None:
    months = other.months
    if len(months) > 1 or any(set(column.words) & VALIDITY for column in months):
        raise NotUnderstoodError(f"I do not see for which month a limit in {other.name} holds")
    return months[0] if months else None


def _check_grain(other: Table, key: Column, month: Column | None) -> None:
    """Limits that also depend on something else cannot be held against the group alone."""
    if other.key is not None and key in (other.key, other.label):
        return
    more = [item.name for item in other.columns if item not in (key, month) and (item.groupable or item.target)]
    if more:
        raise NotUnderstoodError(f"limits in {other.name} also depend on {more[0]}")


def _check_span(other: Table, column: Column, month: Column | None, limited: Limited) -> bool:
    """Whether a limit holds for each month; NotUnderstoodError if it is unclear for how long it holds."""
    said = SPANS & {*name_words(other.name), *name_words(column.name)}
    if month is not None or said & {"monthly", "month"}:
        if not limited.table.months:
            raise NotUnderstoodError(f"{other.name} has limits for each month, and {limited.table.name} has no months")
        return True
    if said & {"yearly", "annual", "year"}:
        if limited.period is None or not limited.period.one_year:
            raise NotUnderstoodError(f"{other.name}.{column.name} holds for a year; name the year")
        return False
    if said:
        raise NotUnderstoodError(
            f"{other.name}.{column.name} holds for a {sorted(said)[0]}, I only know months and years"
        )
    return False
