"""Writing spans in one transaction: the better delivery stays, its trace is counted anew, and the sums follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from traces.counting import Count, CountableSpan, count_trace
from traces.figures import NEEDED, NOTHING, figures_of
from traces.rawsql import insert_rows, json_text
from traces.records import PricedSpan, Rates
from traces.rollups import Changes
from traces.rows import better, rates_id, rates_row, span_row
from traces.schema import SUMS, rates, span_bodies, spans
from traces.schema import traces as traces_table

KEYS_AT_ONCE = 500
"""Keys in one statement; SQLite takes a limited number of parameters."""

Key = tuple[str, str]
SpanRow = Mapping[str, Any]
_Item = TypeVar("_Item")

_COUNT = Count.__slots__
_LIGHT = tuple(
    dict.fromkeys(
        (
            *("trace_id", "span_id", "parent_span_id", "name", "model_call", "ended_at", "not_itemised"),
            *NEEDED,
        )
    )
)
"""What a write has to know of the spans that are there."""
_TRACE_WORDS = ("agent", "thread_id", "run_id", "user_id")


def lock_traces(connection: sa.Connection, project: str, trace_ids: Iterable[str]) -> None:
    """Let no other process count the same trace at the same time; SQLite has one writer anyway."""
    if connection.dialect.name == "sqlite":
        return
    for trace_id in sorted(trace_ids):
        key = sa.func.hashtextextended(f"{project}/{trace_id}", 0)
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))


def write_spans(connection: sa.Connection, project: str, batch: Sequence[PricedSpan]) -> None:
    """Store spans in the caller's transaction; a span that is there is replaced by a better one, never added to it."""
    touched = {priced.span.trace_id for priced in batch}
    lock_traces(connection, project, touched)
    there = _stored(connection, project, sorted(touched))
    arrived = _best(project, batch)
    chosen = {key: row for key, (row, _) in arrived.items() if key not in there or better(row, there[key])}
    if not chosen:
        return
    now = _counted({**there, **chosen})
    recounted = {key: now[key] for key, row in there.items() if key not in chosen and _differs(row, now[key])}
    changes = Changes(project)
    for key in (*(key for key in chosen if key in there), *recounted):
        changes.remove(there[key])
    for key in (*chosen, *recounted):
        changes.add(now[key])
    _delete(connection, project, [key for key in chosen if key in there])
    _insert(connection, project, {key: (now[key], arrived[key][1]) for key in chosen})
    _update_counts(connection, project, recounted)
    _write_summaries(connection, project, now.values())
    changes.apply(connection)


def recount(connection: sa.Connection, project: str, trace_ids: Sequence[str]) -> None:
    """Decide anew who is counted in traces and write their summaries; the sums stay as they are."""
    there = _stored(connection, project, trace_ids)
    now = _counted(there)
    _update_counts(connection, project, {key: now[key] for key, row in there.items() if _differs(row, now[key])})
    _write_summaries(connection, project, now.values())


def _stored(connection: sa.Connection, project: str, trace_ids: Sequence[str]) -> dict[Key, SpanRow]:
    """The spans of traces as they stand."""
    chosen = sa.select(*(spans.c[name] for name in _LIGHT))
    return {
        (row.trace_id, row.span_id): dict(row._mapping)
        for ids in _portions(trace_ids)
        for row in connection.execute(chosen.where(spans.c.project == project, spans.c.trace_id.in_(ids)))
    }


def _best(project: str, batch: Iterable[PricedSpan]) -> dict[Key, tuple[dict[str, Any], PricedSpan]]:
    """The best delivery of each span of a batch, with its row."""
    best: dict[Key, tuple[dict[str, Any], PricedSpan]] = {}
    ids: dict[int, str] = {}
    for priced in batch:
        row = span_row(project, priced, _id_of(priced.priced.rates, ids))
        key = (row["trace_id"], row["span_id"])
        if key not in best or better(row, best[key][0]):
            best[key] = (row, priced)
    return best


def _id_of(found: Rates | None, known: dict[int, str]) -> str | None:
    """The id of rates; `known` spares working it out again for the same object."""
    if found is None:
        return None
    if id(found) not in known:
        known[id(found)] = rates_id(found)
    return known[id(found)]


def _counted(rows: Mapping[Key, SpanRow]) -> dict[Key, SpanRow]:
    """The rows with the decision who is counted."""
    by_trace: dict[str, list[SpanRow]] = {}
    # By start: the first of several roots is the top one.
    for row in sorted(rows.values(), key=lambda row: (row["started_at"], row["span_id"])):
        by_trace.setdefault(row["trace_id"], []).append(row)
    counted: dict[Key, SpanRow] = {}
    for trace_id, members in by_trace.items():
        counts = count_trace([_countable(row) for row in members])
        for row in members:
            count = counts[row["span_id"]]
            counted[trace_id, row["span_id"]] = {**row, **{name: getattr(count, name) for name in _COUNT}}
    return counted


def _countable(row: SpanRow) -> CountableSpan:
    weight = None
    given, made = row["input_tokens"], row["output_tokens"]
    if given is not None or made is not None:
        weight = (given or 0) + (made or 0)
    elif row["cost"] is not None:
        weight = 0
    return CountableSpan(row["span_id"], row["parent_span_id"], row["model_call"], weight)


def _differs(row: SpanRow, other: SpanRow) -> bool:
    return any(row[name] != other[name] for name in _COUNT)


def _delete(connection: sa.Connection, project: str, keys: Sequence[Key]) -> None:
    for some in _portions(keys):
        for table in (spans, span_bodies):
            is_one = sa.tuple_(table.c.trace_id, table.c.span_id).in_(some)
            connection.execute(sa.delete(table).where(table.c.project == project, is_one))


def _insert(connection: sa.Connection, project: str, chosen: Mapping[Key, tuple[SpanRow, PricedSpan]]) -> None:
    insert_rows(connection, sa.insert(spans), [_values(row) for row, _ in chosen.values()])
    bodies = [(project, *key, json_text(priced.span.body)) for key, (_, priced) in chosen.items() if priced.span.body]
    insert_rows(connection, sa.insert(span_bodies), bodies)
    _add_rates(connection, project, chosen.values())


_SPAN_COLUMNS = tuple(column.name for column in spans.columns)
_JSON_COLUMNS = ("flags", "attributes")


def _values(row: SpanRow) -> tuple[Any, ...]:
    """A row in the order of the table's columns."""
    texts = {name: json_text(row[name]) for name in _JSON_COLUMNS}
    return tuple(texts[name] if name in texts else row[name] for name in _SPAN_COLUMNS)


def _add_rates(connection: sa.Connection, project: str, chosen: Iterable[tuple[SpanRow, PricedSpan]]) -> None:
    new = {row["rates_id"]: priced.priced.rates for row, priced in chosen if priced.priced.rates}
    if not new:
        return
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    entries = [rates_row(project, found) for _, found in sorted(new.items()) if found]
    connection.execute(dialect.insert(rates).on_conflict_do_nothing(), entries)


def _update_counts(connection: sa.Connection, project: str, recounted: Mapping[Key, SpanRow]) -> None:
    if not recounted:
        return
    columns: dict[str, Any] = {name: sa.bindparam(name) for name in _COUNT}
    its_key = (spans.c.trace_id == sa.bindparam("the_trace"), spans.c.span_id == sa.bindparam("the_span"))
    values = [
        {"the_trace": key[0], "the_span": key[1], **{name: row[name] for name in _COUNT}}
        for key, row in recounted.items()
    ]
    connection.execute(sa.update(spans).where(spans.c.project == project, *its_key).values(columns), values)


def _write_summaries(connection: sa.Connection, project: str, rows: Iterable[SpanRow]) -> None:
    """One row about each trace, from its spans by start."""
    by_trace: dict[str, list[SpanRow]] = {}
    for row in rows:
        by_trace.setdefault(row["trace_id"], []).append(row)
    names = [column.name for column in traces_table.columns]
    written = []
    for trace_id in sorted(by_trace):
        summary = {"project": project, "trace_id": trace_id, **_summary(by_trace[trace_id])}
        written.append(tuple(summary[name] for name in names))
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    insert = dialect.insert(traces_table)
    new = {name: insert.excluded[name] for name in names if name not in ("project", "trace_id")}
    insert_rows(connection, insert.on_conflict_do_update(index_elements=["project", "trace_id"], set_=new), written)


def _summary(rows: Sequence[SpanRow]) -> dict[str, Any]:
    known = {row["span_id"] for row in rows}
    roots = [row for row in rows if row["parent_span_id"] is None]
    top = roots[0] if roots else rows[0]
    orphans = any(row["parent_span_id"] is not None and row["parent_span_id"] not in known for row in rows)
    running = any(row["ended_at"] is None for row in rows)
    failed = top["status"] == "error" if roots else any(row["status"] == "error" for row in rows)
    started_at = rows[0]["started_at"]
    ended_at = max((row["ended_at"] for row in rows if row["ended_at"] is not None), default=None)
    return {
        "name": top["name"],
        "started_at": started_at,
        "ended_at": ended_at,
        "duration": None if ended_at is None else max(0, ended_at - started_at),
        "status": "error" if failed else "running" if running else "ok",
        "incomplete": running or orphans or not roots,
        **{name: _first(rows, name) for name in _TRACE_WORDS},
        **_sums(rows),
        "spans": len(rows),
    }


def _sums(rows: Iterable[SpanRow]) -> dict[str, int]:
    figures = [found for row in rows if (found := figures_of(row))]
    return dict(zip(SUMS, (sum(column) for column in zip(NOTHING, *figures, strict=True)), strict=True))


def _first(rows: Sequence[SpanRow], name: str) -> str | None:
    return next((row[name] for row in rows if row[name] is not None), None)


def _portions(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    return (items[begin : begin + KEYS_AT_ONCE] for begin in range(0, len(items), KEYS_AT_ONCE))
