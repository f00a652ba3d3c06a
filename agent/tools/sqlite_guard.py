"""A SQLite file opened so that nothing but reading can be done with it, and not for long.

What is refused is refused by SQLite: the file is opened read-only, its authorizer allows only reading, its limits bound
every value and statement, and its progress handler stops at the deadline.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from agent.errors import StorageError

OPERATIONS_BETWEEN_CHECKS = 200
"""A single operation on two longest values can take 0.1 s, and is not interrupted; so there are few between checks."""
LONGEST_VALUE = 100_000
"""Bytes. `instr`, `replace` and `trim` take quadratic time, and no progress handler is asked inside them."""
LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: LONGEST_VALUE,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 20_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 25_000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
ACTIONS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
FUNCTION_NAMES = """
avg count group_concat max median min percentile string_agg sum total
abs acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow
power radians random round sign sin sinh sqrt tan tanh trunc
char concat concat_ws glob hex instr length like lower ltrim octet_length quote replace rtrim soundex
substr substring trim unhex unicode upper
coalesce if ifnull iif likelihood likely nullif typeof unlikely
current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch
cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
json json_array json_array_length json_extract json_insert json_object json_patch json_quote json_remove
json_replace json_set json_type json_valid -> ->>
"""
FUNCTIONS = frozenset(FUNCTION_NAMES.split())
"""What may be called. Left out: whatever touches files or code, makes large values at once; what, like
`json_group_array`, gathers them without regard to the limit of length; and `printf`, whose precision is a loop that
nothing interrupts."""
PRAGMAS = {"table_info", "foreign_key_list"}
"""What a description of the tables needs besides; a query cannot use them."""


@contextmanager
def guarded(database: Path, seconds: float, *, describing: bool = False) -> Iterator[sqlite3.Connection]:
    """A read-only connection that stops whatever runs on it after `seconds`.

    Statements raise `sqlite3.Error`; StorageError when the file cannot be opened. Bytes that are no UTF-8 in a text
    come as replacement characters.
    """
    stop_at = time.monotonic() + seconds
    try:
        connection = sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True, timeout=seconds)
    except sqlite3.Error as error:
        raise unreadable(database, error) from error
    with closing(connection):
        connection.text_factory = lambda raw: raw.decode("utf-8", errors="replace")
        for limit, value in LIMITS.items():
            connection.setlimit(limit, value)
        connection.set_authorizer(_authorize_describing if describing else _authorize)
        connection.set_progress_handler(lambda: time.monotonic() > stop_at, OPERATIONS_BETWEEN_CHECKS)
        yield connection


def unreadable(database: Path, error: Exception) -> StorageError:
    """What to tell when the file itself is the trouble: missing, locked, damaged, no database."""
    return StorageError(
        f"The database {database} cannot be read: {error}. Check that it is there, whole and not locked."
    )


def _authorize(action: int, *names: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_OK if (names[1] or "").lower() in FUNCTIONS else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in ACTIONS else sqlite3.SQLITE_DENY


def _authorize_describing(action: int, *names: str | None) -> int:
    if action == sqlite3.SQLITE_PRAGMA and names[0] in PRAGMAS:
        return sqlite3.SQLITE_OK
    return _authorize(action, *names)
