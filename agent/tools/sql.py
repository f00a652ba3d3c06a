"""Read-only SQL over one SQLite file, held in by SQLite itself: authorizer, progress handler, limits."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from agent.records import Effect
from agent.tools.registry import OBSERVATION_CHARACTERS, Observation, Tool, ToolContext, ToolError
from agent.tools.report import write_whole

ROWS = 200
ROWS_SHOWN = 20
CELL_CHARACTERS = 200
SECONDS = 5.0
OPERATIONS_BETWEEN_CHECKS = 10_000
LISTED_VALUES = 12
DATE_LIKE = re.compile(r"\d{4}-\d\d")
SAMPLED_ROWS = 20_000
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 5_000_000,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 20_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 25_000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
EXPLANATIONS = (["addr", "opcode", "p1", "p2", "p3", "p4", "p5", "comment"], ["id", "parent", "notused", "detail"])
"""The columns by which an EXPLAIN is known: to the authorizer it is a SELECT."""
DENIED_FUNCTIONS = {"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "randomblob", "zeroblob"}


class SqlArguments(BaseModel):
    """What `sql_query` takes."""

    sql: str = Field(max_length=20_000, description="One SELECT statement in SQLite's dialect.")


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


def query(database: Path, sql: str, context: ToolContext) -> Observation:
    """The rows of one SELECT; ToolError with SQLite's words, and what exists, for anything else."""
    with _open(database) as connection:
        stop_at = time.monotonic() + SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > stop_at, OPERATIONS_BETWEEN_CHECKS)
        connection.set_authorizer(_authorize)
        try:
            cursor = connection.execute(sql)
            columns = [item[0] for item in cursor.description or ()]
            if not columns or columns in EXPLANATIONS:
                raise ToolError("Only one SELECT statement is run here, and this is none.", code="not_a_select")
            rows = [[_cell(value) for value in row] for row in cursor.fetchmany(ROWS + 1)]
        except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError) as error:
            raise _refused(database, error) from error
    return _observed(columns, rows, context)


@contextmanager
def _open(database: Path) -> Iterator[sqlite3.Connection]:
    try:
        connection = sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True, timeout=SECONDS)
    except sqlite3.Error as error:
        raise ToolError(f"{database.name} cannot be opened: {error}.", code="sql_error") from error
    with closing(connection):
        connection.text_factory = lambda raw: raw.decode("utf-8", errors="replace")
        for limit, value in LIMITS.items():
            connection.setlimit(limit, value)
        yield connection


def _authorize(action: int, *names: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION and (names[1] or "").lower() in DENIED_FUNCTIONS:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY


def _refused(database: Path, error: Exception) -> ToolError:
    words = str(error)
    if words == "interrupted":
        return ToolError(f"The query took longer than {SECONDS:g} s and was stopped; ask for less.", code="timeout")
    if "not authorized" in words or "prohibited" in words:
        return ToolError(f"Only one SELECT that reads tables is allowed ({words}).", code="not_a_select")
    if "one statement" in words:
        return ToolError("Only one statement is allowed; send one SELECT.", code="not_a_select")
    hint = f" There are: {_names(database)}." if "no such" in words else ""
    return ToolError(f"SQLite says: {words}.{hint}", code="sql_error")


def _names(database: Path) -> str:
    with _open(database) as connection:
        return "; ".join(f"{table}({', '.join(columns)})" for table, columns in _tables(connection))


def _cell(value: Any) -> Any:
    """A value as JSON can hold it, cut to a length that a person reads."""
    if isinstance(value, bytes):
        return f"<{len(value)} bytes: {value[:16].hex()}…>"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and abs(value) >= 2**53:
        return str(value)
    if isinstance(value, str) and len(value) > CELL_CHARACTERS:
        return f"{value[:CELL_CHARACTERS]}… ({len(value):,} characters)"
    if isinstance(value, float):
        return round(value, 6)
    return value


def _observed(columns: list[str], rows: list[list[Any]], context: ToolContext) -> Observation:
    truncated, rows = len(rows) > ROWS, rows[:ROWS]
    data = {"columns": columns, "rows": rows[:ROWS_SHOWN], "row_count": len(rows), "truncated": truncated}
    if not rows:
        return Observation(text=f"0 rows ({', '.join(columns)}).", data=data, empty=True)
    head = f"{len(rows)} row{'s' if len(rows) != 1 else ''}"
    if truncated:
        head = f"The first {ROWS} rows; more rows were cut, narrow the query"
    artifacts: tuple[str, ...] = ()
    if len(rows) > ROWS_SHOWN:
        name = f"{context.step_id}-rows.csv"
        write_whole(context.artifacts / name, _csv(columns, rows))
        artifacts = (name,)
        head += f"; {ROWS_SHOWN} are shown here, all of them are in {name}"
    text = f"{head}:\n{_table(columns, rows[:ROWS_SHOWN])}"
    if len(text) > OBSERVATION_CHARACTERS:
        text = f"{text[: OBSERVATION_CHARACTERS - 40]}\n… cut here"
    return Observation(text=text, data=data, artifacts=artifacts)


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [" | ".join(columns), *(" | ".join("NULL" if cell is None else str(cell) for cell in row) for row in rows)]
    return "\n".join(" ".join(line.splitlines()) for line in lines)


def _csv(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return file.getvalue()


# --- the schema as a model reads it ---------------------------------------------------------------------------------


def describe_schema(database: Path) -> str:
    """Every table and view with its columns, keys and some values; one line each, see the module's tests."""
    with _open(database) as connection:
        stop_at = time.monotonic() + SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > stop_at, OPERATIONS_BETWEEN_CHECKS)
        return "\n".join(line for table, _ in _tables(connection) for line in _describe_table(connection, table))


def _tables(connection: sqlite3.Connection) -> list[tuple[str, list[str]]]:
    names = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
        "ORDER BY type, rowid"
    ).fetchall()
    return [(name, [row[1] for row in _columns(connection, name)]) for (name,) in names]


def _columns(connection: sqlite3.Connection, table: str) -> list[tuple[Any, ...]]:
    return connection.execute("SELECT * FROM pragma_table_info(?)", (table,)).fetchall()


def _describe_table(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    keys = {
        row[3]: f"{row[2]}.{row[4] or 'id'}"
        for row in connection.execute("SELECT * FROM pragma_foreign_key_list(?)", (table,))
    }
    (count,) = connection.execute(f"SELECT COUNT(*) FROM {_quoted(table)}").fetchone()
    yield f"Table {_shown_name(table)} ({count:,} rows)"
    for _, column, kind, _, _, key in _columns(connection, table):
        primary = " primary key" if key else ""
        target = f" → {keys[column]}" if column in keys else ""
        yield f"  {_shown_name(column)} {kind or 'ANY'}{primary}{target}{_values(connection, table, column)}"


def _values(connection: sqlite3.Connection, table: str, column: str) -> str:
    sample = f"SELECT {_quoted(column)} AS value FROM {_quoted(table)} LIMIT {SAMPLED_ROWS}"
    distinct = [
        row[0]
        for row in connection.execute(
            f"SELECT DISTINCT value FROM ({sample}) WHERE value IS NOT NULL ORDER BY value LIMIT {SAMPLED_ROWS}"
        )
    ]
    if not distinct:
        return " no values"
    texts = [value for value in distinct if isinstance(value, str)]
    dates = all(DATE_LIKE.match(value) for value in texts)
    if len(distinct) == len(texts) <= LISTED_VALUES and not dates:
        return f" one of {', '.join(map(_shown_value, distinct))}"
    chosen = [distinct[0], distinct[len(distinct) // 2], distinct[-1]]
    return f" e.g. {', '.join(map(_shown_value, dict.fromkeys(chosen)))}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _shown_name(name: str) -> str:
    """A name as SQL needs it, on one line whatever is in it."""
    if name.isidentifier() and name.isascii():
        return name
    return " ".join(_quoted(name).splitlines())


def _shown_value(value: Any) -> str:
    """A value as SQL writes it, on one line and short."""
    if isinstance(value, str):
        line = json.dumps(value[:40], ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "''")
        return f"'{line}'"
    return "a blob" if isinstance(value, bytes) else str(_cell(value))
