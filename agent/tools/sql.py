"""The tool `sql_query`: one read-only SELECT over one SQLite file."""

from __future__ import annotations

import csv
import io
import math
import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import Field

from agent.errors import AgentError
from agent.records import Effect, JsonObject, JsonValue
from agent.tools.files import write_whole
from agent.tools.registry import OBSERVATION_CHARACTERS, Observation, Tool, ToolArguments, ToolContext, ToolError
from agent.tools.sql_schema import describe_schema, table_names
from agent.tools.sqlite_guard import LONGEST_VALUE, guarded, unreadable
from agent.tools.text import one_line

ROWS = 200
ROWS_SHOWN = 20
COLUMNS = 60
BYTES = 2_000_000
CELL_CHARACTERS = 200
SECONDS = 5.0
EXPLANATIONS = (["addr", "opcode", "p1", "p2", "p3", "p4", "p5", "comment"], ["id", "parent", "notused", "detail"])
"""The columns by which an EXPLAIN is known: to the authorizer it is a SELECT."""
FILE_TROUBLES = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOTADB,
}
"""Result codes that no other query can mend: they end the attempt."""

REFUSALS: tuple[tuple[str, int | str, str], ...] = (
    ("timeout", sqlite3.SQLITE_INTERRUPT, "The query took longer than {seconds:g} s and was stopped; ask for less."),
    ("not_a_select", "one statement", "Only one statement is allowed; send one SELECT."),
    ("sql_error", "to use function", "This function is not allowed here ({words})."),
    ("not_a_select", sqlite3.SQLITE_AUTH, "Only one SELECT that reads tables is allowed ({words})."),
    ("not_a_select", "not authorized", "Only one SELECT that reads tables is allowed ({words})."),
    (
        "sql_error",
        sqlite3.SQLITE_TOOBIG,
        f"A value is longer than the {LONGEST_VALUE:,} bytes that are handled here ({{words}}); leave it out.",
    ),
)
"""Error code of ours, SQLite's code or words, and what a model is told."""


class SqlArguments(ToolArguments):
    """What `sql_query` takes."""

    sql: str = Field(max_length=10_000, description="One SELECT statement in SQLite's dialect.")


@dataclass(frozen=True, slots=True)
class Rows:
    """What a SELECT gave: raw values, at most `ROWS` rows and about `BYTES` of them."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    truncated: bool
    """Whether there were more rows."""


def sql_tool(database: Path) -> Tool:
    """The tool over one database file; its description shows the file's schema as it is now."""
    return Tool(
        name="sql_query",
        version=1,
        summary=f"Runs one read-only SELECT on the business database (SQLite) and shows at most {ROWS} rows.",
        arguments=SqlArguments,
        effect=Effect.READ,
        run=lambda arguments, context: query(database, arguments.sql, context),
        timeout_seconds=SECONDS * 3,
        details=lambda: f"The database holds:\n{describe_schema(database)}",
    )


def query(database: Path, sql: str, context: ToolContext, *, seconds: float = SECONDS) -> Observation:
    """The rows of one SELECT.

    ToolError with the codes `not_a_select`, `timeout` and `sql_error` (with SQLite's words, and the names that exist);
    StorageError when the file itself cannot be read.
    """
    with guarded(database, seconds) as connection:
        try:
            found = _select(connection, sql)
        except (sqlite3.Error, sqlite3.Warning, UnicodeError, MemoryError) as error:
            raise _refused(database, error, seconds) from error
    return _observed(found, context)


def _select(connection: sqlite3.Connection, sql: str) -> Rows:
    cursor = connection.execute(sql)
    columns = [item[0] for item in cursor.description or ()]
    if not columns or columns in EXPLANATIONS:
        raise ToolError("Only one SELECT statement is run here, and this is none.", code="not_a_select")
    if len(columns) > COLUMNS:
        raise ToolError(
            f"The query has {len(columns)} columns; name the ones you need, at most {COLUMNS}.", code="sql_error"
        )
    rows: list[tuple[Any, ...]] = []
    size = 0
    for row in cursor:
        if len(rows) == ROWS or size > BYTES:
            return Rows(columns, rows, truncated=True)
        rows.append(row)
        size += sum(len(value) for value in row if isinstance(value, str | bytes))
    return Rows(columns, rows, truncated=False)


def _refused(database: Path, error: Exception, seconds: float) -> AgentError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in FILE_TROUBLES:
        return unreadable(database, error)
    words = one_line(str(error) or "out of memory", 500)
    for name, sign, sentence in REFUSALS:
        if code == sign or (isinstance(sign, str) and sign in words):
            return ToolError(sentence.format(words=words, seconds=seconds), code=name)
    hint = f" There are: {table_names(database)}." if re.search("no such (table|column)", words) else ""
    return ToolError(f"SQLite says: {words.removesuffix('.')}.{hint}", code="sql_error")


# --- rows as they are shown -----------------------------------------------------------------------------------------


def _observed(found: Rows, context: ToolContext) -> Observation:
    shown = [[_cell(value) for value in row] for row in found.rows[:ROWS_SHOWN]]
    data: JsonObject = {
        "columns": found.columns,
        "rows": shown,
        "row_count": len(found.rows),
        "truncated": found.truncated,
    }
    if not found.rows:
        return Observation(text=f"0 rows ({_line(found.columns)}).", data=data, empty=True)
    table = list(_fitting([_line(found.columns), *map(_line, shown)]))
    artifacts: tuple[str, ...] = ()
    if len(table) <= len(found.rows):
        artifacts = (_write_csv(found, context),)
    nothing = all(value is None for row in found.rows for value in row)
    text = "\n".join(
        [f"{_head(found, len(table) - 1, artifacts)}{' (only NULL: no data)' if nothing else ''}:", *table]
    )
    return Observation(text=text, data=data, artifacts=artifacts, empty=nothing)


def _head(found: Rows, shown: int, artifacts: tuple[str, ...]) -> str:
    count = len(found.rows)
    head = f"{count} row{'s' if count != 1 else ''}"
    if found.truncated:
        head = f"The first {head}; more rows were cut, narrow the query"
    return f"{head}; {shown} are shown here, all {count} are in {artifacts[0]}" if artifacts else head


def _fitting(lines: Sequence[str]) -> Iterator[str]:
    """The header and as many rows as an observation has room for."""
    left = OBSERVATION_CHARACTERS - 400
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            return
        yield line


def _line(cells: Sequence[JsonValue]) -> str:
    return " | ".join("NULL" if cell is None else one_line(str(cell)) for cell in cells)


def _cell(value: Any) -> JsonValue:
    """A value as JSON and JavaScript can hold it, cut to a length that a person reads."""
    if isinstance(value, str):
        whole = len(value) <= CELL_CHARACTERS
        return value if whole else f"{value[:CELL_CHARACTERS]}… ({len(value):,} characters)"
    return _plain(value)


def _plain(value: Any) -> JsonValue:
    """The same uncut. A float has the 15 digits that SQLite prints: sums of cents come out as cents."""
    if isinstance(value, bytes):
        return f"<{len(value)} bytes: {value[:16].hex()}{'…' if len(value) > 16 else ''}>"
    if isinstance(value, float):
        return float(f"{value:.15g}") if math.isfinite(value) else str(value)
    return str(value) if isinstance(value, int) and abs(value) >= 2**53 else value


def _write_csv(found: Rows, context: ToolContext) -> str:
    """The rows as a file of the run; its name, which a step's id of any kind cannot lead elsewhere."""
    name = f"{quote(context.step_id, safe='')[:80]}-rows.csv"
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(found.columns)
    writer.writerows([_plain(value) for value in row] for row in found.rows)
    write_whole(context.artifacts / name, file.getvalue())
    return name
