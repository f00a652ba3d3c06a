"""Many rows into a table at once, past SQLAlchemy's work for each value of each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import sqlalchemy as sa
from sqlalchemy.sql.dml import Insert


def insert_rows(connection: sa.Connection, insert: Insert, rows: Sequence[tuple[Any, ...]]) -> None:
    """Execute an insert of whole rows, the values in the order of the table's columns, JSON as `json_text` gives it."""
    if not rows:
        return
    names = [column.name for column in insert.table.columns]
    text = str(insert.compile(dialect=connection.dialect, column_keys=names))
    connection.exec_driver_sql(text, list(rows))


def json_text(value: Any) -> str:
    """JSON of a value that is storable (`traces.values`)."""
    return orjson.dumps(value).decode()
