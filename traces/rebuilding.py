"""Making everything anew that is worked out from spans: who is counted, the summaries of traces, the sums."""

from __future__ import annotations

import sqlalchemy as sa

from traces.rollups import rebuild_sums
from traces.schema import spans
from traces.schema import traces as traces_table
from traces.writing import recount

TRACES_AT_ONCE = 200


def rebuild(connection: sa.Connection) -> None:
    """Work all of it out from the spans that are there, in the caller's transaction."""
    connection.execute(sa.delete(traces_table))
    keys = connection.execute(sa.select(spans.c.project, spans.c.trace_id).distinct()).all()
    by_project: dict[str, list[str]] = {}
    for project, trace_id in keys:
        by_project.setdefault(project, []).append(trace_id)
    for project, trace_ids in sorted(by_project.items()):
        for begin in range(0, len(trace_ids), TRACES_AT_ONCE):
            recount(connection, project, trace_ids[begin : begin + TRACES_AT_ONCE])
    rebuild_sums(connection)
