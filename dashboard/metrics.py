"""`/metrics`: Plandeck itself as Prometheus text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from agent.errors import AgentError
from agent.records import RequestStatus

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck
    from dashboard.background import Background
    from dashboard.otlp_intake import Intake

ALIVE = timedelta(seconds=20)
"""A worker that was not heard of for longer counts as gone."""


def metrics_text(background: Background, intake: Intake) -> str:
    """Every metric; those of a store that does not answer are left out, and `plandeck_up` is 0."""
    app = background.app
    lines = [
        *_metric("spans_accepted_total", "counter", "Spans taken over HTTP.", {"": intake.accepted}),
        *_metric("spans_refused_total", "counter", "Spans refused over HTTP.", {"": intake.refused}),
    ]
    try:
        records = list(_of_records(app)) if app else []
    except AgentError:
        records = []
    up = _metric("up", "gauge", "Whether the stores answer.", {"": int(bool(records))})
    return "\n".join([*up, *lines, *records]) + "\n"


def _of_records(app: Plandeck) -> Iterator[str]:
    records, now = app.records, datetime.now(UTC)
    runs = {f'{{status="{status}"}}': number for status, number in records.count_runs(app.project).items()}
    yield from _metric("runs", "gauge", "Runs of the project by status.", runs)
    yield from _metric("approvals_pending", "gauge", "Requests that wait.", {"": records.count_pending(app.project)})
    oldest = records.requests(app.project, status=RequestStatus.PENDING, limit=1)
    age = (now - oldest[0].requested_at).total_seconds() if oldest else 0
    yield from _metric("approvals_oldest_age_seconds", "gauge", "How long the oldest request waits.", {"": age})
    yield from _metric(
        "workers", "gauge", "Workers that were heard of lately.", {"": records.live_workers(now - ALIVE)}
    )


def _metric(name: str, kind: str, words: str, values: Mapping[str, float]) -> Iterator[str]:
    yield f"# HELP plandeck_{name} {words}"
    yield f"# TYPE plandeck_{name} {kind}"
    for labels, value in values.items():
        yield f"plandeck_{name}{labels} {value:g}"
