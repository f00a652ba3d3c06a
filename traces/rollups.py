"""The sums that charts read: what a transaction adds to them and takes from them, and their making anew.

Each is exact at every moment: a write changes spans and sums in one transaction, by what the spans added before and
after. Sums whose last span went are removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import add, sub
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from traces.figures import (
    DAY,
    HOUR,
    NEEDED,
    NOTHING,
    Figures,
    Key,
    charged_of,
    dimensions_of,
    entities_of,
    figures_of,
    matters,
)
from traces.histogram import bucket_of
from traces.rawsql import insert_rows
from traces.schema import SUMS, entity_rollups, latencies, rollups, spans

GRAINS: Mapping[str, int] = {"hour": HOUR, "day": DAY}


class Changes:
    """What spans add to the sums of one project, and what they no longer add."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._rollups: dict[Key, Figures] = {}
        self._entities: dict[Key, Figures] = {}
        self._latencies: dict[Key, int] = {}

    def add(self, span: Mapping[str, Any]) -> None:
        """A span, a row of its table, is there now."""
        self._change(span, add)

    def remove(self, span: Mapping[str, Any]) -> None:
        """A span, as the row stood, is there no more."""
        self._change(span, sub)

    def _change(self, span: Mapping[str, Any], how: Any) -> None:
        figures = figures_of(span)
        if figures is None:
            return
        started_at = span["started_at"]
        dimensions, charged = dimensions_of(span), charged_of(span)
        day = started_at - started_at % DAY
        ended = span["ended_at"] is not None and span["ended_at"] >= started_at
        duration = span["duration"] if span["is_call"] and ended else None
        for grain, length in GRAINS.items():
            at = started_at - started_at % length
            key = (grain, at, *dimensions, *charged)
            self._rollups[key] = tuple(map(how, self._rollups.get(key, NOTHING), figures))
            if duration is not None:
                bucket = (grain, at, *dimensions, charged[0], bucket_of(duration))
                self._latencies[bucket] = how(self._latencies.get(bucket, 0), 1)
        key = (day, *entities_of(span), *dimensions, *charged)
        self._entities[key] = tuple(map(how, self._entities.get(key, NOTHING), figures))

    def apply(self, connection: sa.Connection) -> None:
        """Bring the sums up to date."""
        project = self._project
        changed = {key: figures for key, figures in self._rollups.items() if any(figures)}
        _add(connection, rollups, SUMS, [(project, *key, *figures) for key, figures in changed.items()])
        by_entity = {key: figures for key, figures in self._entities.items() if any(figures)}
        _add(connection, entity_rollups, SUMS, [(project, *key, *figures) for key, figures in by_entity.items()])
        _add(connection, latencies, ("calls",), [(project, *key, n) for key, n in self._latencies.items() if n])


def _add(connection: sa.Connection, table: sa.Table, sums: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    if not rows:
        return
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    insert = dialect.insert(table)
    key = [column.name for column in table.primary_key]
    grown = {name: table.c[name] + insert.excluded[name] for name in sums}
    # In one order in every process, so that no two wait for each other.
    insert_rows(connection, insert.on_conflict_do_update(index_elements=key, set_=grown), sorted(rows))
    for row in rows:
        if row[len(key)] < 0:
            _drop_if_empty(connection, table, sums[0], dict(zip(key, row, strict=False)))


def _drop_if_empty(connection: sa.Connection, table: sa.Table, count: str, key: Mapping[str, Any]) -> None:
    is_it = (table.c[name] == value for name, value in key.items())
    connection.execute(sa.delete(table).where(table.c[count] <= 0, *is_it))


def rebuild_sums(connection: sa.Connection) -> None:
    """Make the sums of every project anew from the spans that are there."""
    for table in (rollups, entity_rollups, latencies):
        connection.execute(sa.delete(table))
    chosen = sa.select(*(spans.c[name] for name in dict.fromkeys(("project", *NEEDED)))).where(matters())
    changes: dict[str, Changes] = {}
    for row in connection.execute(chosen).yield_per(5_000):
        values = dict(row._mapping)
        changes.setdefault(row.project, Changes(row.project)).add(values)
    for project in sorted(changes):
        changes[project].apply(connection)
