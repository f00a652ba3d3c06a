"""The tables of a SQLite file as a model reads them.

One line for a table and one for each column, in this form:

    Table monthly_costs (1,234 rows)
      id INTEGER primary key
      project_id INTEGER → projects.id e.g. 1, 2, 3
      month DATE e.g. '2026-06-01', '2026-07-01', '2026-08-01'
      category TEXT one of 'cloud', 'staff'

Columns of dates show the first, a middle and the last value. `one of` lists every value that there is; `e.g.` some.
Names stand as SQL needs them; nothing that a name or a value holds can break a line.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agent.tools.sqlite_guard import guarded, unreadable
from agent.tools.text import one_line

SECONDS = 2.0
TABLES = 40
COLUMNS = 60
LISTED_VALUES = 12
ROWS_LOOKED_AT = 200_000
VALUE_CHARACTERS = 60
NAMES_CHARACTERS = 2_000
DATE_LIKE = re.compile(r"\d{4}-\d\d(-\d\d([ T].*)?)?")
KEYWORDS_TEXT = """
abort action add after all alter always analyze and as asc attach autoincrement before begin between by cascade
case cast check collate column commit conflict constraint create cross current current_date current_time
current_timestamp database default deferrable deferred delete desc detach distinct do drop each else end escape
except exclude exclusive exists explain fail filter first following for foreign from full generated glob group
groups having if ignore immediate in index indexed initially inner insert instead intersect into is isnull join
key last left like limit match materialized natural no not nothing notnull null nulls of offset on or order
others outer over partition plan pragma preceding primary query raise range recursive references regexp reindex
release rename replace restrict returning right rollback row rows savepoint select set table temp temporary then
ties to transaction trigger unbounded union unique update using vacuum values view virtual when where window
with without
"""
KEYWORDS = frozenset(KEYWORDS_TEXT.split())


def describe_schema(database: Path, *, seconds: float = SECONDS) -> str:
    """Every table and view; what cannot be worked out in time is left out line by line."""
    with guarded(database, seconds, describing=True) as connection:
        try:
            names = _tables(connection)
        except sqlite3.Error as error:
            raise unreadable(database, error) from error
        lines = [line for name in names[:TABLES] for line in _describe_table(connection, name)]
    if len(names) > TABLES:
        lines.append(f"and {len(names) - TABLES} further tables: {_listed(names[TABLES:])}")
    return "\n".join(lines)


def table_names(database: Path) -> str:
    """Every table with its columns in brackets, for somebody who named one that does not exist."""
    with guarded(database, SECONDS, describing=True) as connection:
        tables = [f"{shown_name(name)}({_listed(_column_names(connection, name))})" for name in _tables(connection)]
    return one_line("; ".join(tables), NAMES_CHARACTERS)


def _listed(names: Sequence[str]) -> str:
    return one_line(", ".join(map(shown_name, names)), NAMES_CHARACTERS)


def _column_names(connection: sqlite3.Connection, table: str) -> list[str]:
    try:
        return [row[1] for row in _columns(connection, table)]
    except sqlite3.Error:  # a view on a table that is gone
        return []


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
        "ORDER BY type, rowid"
    )
    return [name for (name,) in rows]


def _columns(connection: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    """(number, name, type, not null, default, place in the primary key) of each."""
    return connection.execute(f"PRAGMA table_info({_quoted(table)})").fetchall()


def _describe_table(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    try:
        columns = _columns(connection, table)
        (count,) = connection.execute(f"SELECT count(*) FROM {_quoted(table)}").fetchone()
        targets = _targets(connection, table)
    except sqlite3.Error as error:
        # On one line, so that nobody takes its columns for the ones of the table before.
        columns_there = _listed(_column_names(connection, table)) or "unknown"
        yield f"Table {shown_name(table)} (rows not counted: {one_line(str(error), 100)}; columns: {columns_there})"
        return
    yield f"Table {shown_name(table)} ({count:,} row{'s' if count != 1 else ''})"
    keys = [name for _, name, _, _, _, place in columns if place]
    for _, name, kind, *_ in columns[:COLUMNS]:
        described = f"  {shown_name(name)} {one_line(kind, 40) or 'ANY'}"
        if keys == [name]:
            yield f"{described} primary key"
            continue
        target = f" → {targets[name]}" if name in targets else ""
        yield f"{described}{target}{_values(connection, table, name, count)}"
    if len(columns) > COLUMNS:
        yield f"  and {len(columns) - COLUMNS} further columns"


def _targets(connection: sqlite3.Connection, table: str) -> dict[str, str]:
    """Column to the `table.column` that it refers to; without a name it is the other table's primary key."""
    found = {}
    for _, _, other, column, named, *_ in connection.execute(f"PRAGMA foreign_key_list({_quoted(table)})").fetchall():
        keys = [row[1] for row in _columns(connection, other) if row[5]]
        target = named or (keys[0] if len(keys) == 1 else None)
        found[column] = f"{shown_name(other)}.{shown_name(target)}" if target else shown_name(other)
    return found


def _values(connection: sqlite3.Connection, table: str, column: str, count: int) -> str:
    """` one of …`, ` e.g. …`, or nothing when there are no values or no time to look."""
    source = f"(SELECT {_quoted(column)} AS value FROM {_quoted(table)} LIMIT {ROWS_LOOKED_AT})"
    try:
        distinct = _distinct(connection, source)
        if distinct and all(isinstance(value, str) and DATE_LIKE.fullmatch(value) for value in distinct):
            distinct = _first_middle_last(
                connection, source, f"(SELECT {_quoted(column)} AS value FROM {_quoted(table)})"
            )
            return f" e.g. {_shown(distinct)}"
    except sqlite3.Error:  # no time left, or a value beyond the limits; the column is still worth its line
        return ""
    short = all(isinstance(value, str) and len(value) <= VALUE_CHARACTERS for value in distinct)
    if distinct and short and len(distinct) <= LISTED_VALUES and count <= ROWS_LOOKED_AT:
        return f" one of {_shown(sorted(distinct))}"
    plain = [value for value in distinct if not isinstance(value, bytes)]
    return f" e.g. {_shown(plain[:3])}" if plain else ""


def _distinct(connection: sqlite3.Connection, source: str) -> list[Any]:
    """A few different values, one more than are listed at most."""
    rows = connection.execute(f"SELECT DISTINCT value FROM {source} WHERE value IS NOT NULL LIMIT {LISTED_VALUES + 1}")
    return [value for (value,) in rows]


def _first_middle_last(connection: sqlite3.Connection, source: str, whole: str) -> list[Any]:
    first, last = connection.execute(f"SELECT min(value), max(value) FROM {whole}").fetchone()
    (middle,) = connection.execute(
        f"WITH sorted AS (SELECT DISTINCT value FROM {source} WHERE value IS NOT NULL ORDER BY value) "
        "SELECT value FROM sorted LIMIT 1 OFFSET (SELECT count(*) / 2 FROM sorted)"
    ).fetchone()
    return list(dict.fromkeys([first, middle, last]))


def _shown(values: Sequence[Any]) -> str:
    return ", ".join(_shown_value(value) for value in values)


def _shown_value(value: Any) -> str:
    """A value as SQL writes it."""
    if isinstance(value, str):
        return "'" + one_line(value, VALUE_CHARACTERS).replace("'", "''") + "'"
    return f"{value:.15g}" if isinstance(value, float) and not value.is_integer() else str(value)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def shown_name(name: str) -> str:
    """A name as SQL needs it, on one line whatever is in it."""
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name.lower() not in KEYWORDS
    return name if plain else one_line(_quoted(name), 100)
