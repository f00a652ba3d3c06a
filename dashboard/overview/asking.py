"""Asks the stores what the overview shows."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from agent.records import RequestStatus, Run, RunStatus
from dashboard.overview.model import Observed, people_time, start_of_day

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck

WAITING_SHOWN = 20
RUNNING_SHOWN = 10
ENDED_SHOWN = 6
ENDED_LOOKED_AT = 30


def observe(app: Plandeck, now: datetime) -> Observed:
    """What waits, runs, failed and ended, with the progress, cost and people's time of each."""
    running = _runs(app, RunStatus.EXECUTING, RunStatus.PLANNING, RunStatus.QUEUED, limit=RUNNING_SHOWN)
    failed = [
        run for run in _runs(app, RunStatus.FAILED, limit=ENDED_LOOKED_AT) if _ended_since(run, start_of_day(now))
    ]
    finished = _runs(app, RunStatus.SUCCEEDED, RunStatus.CANCELLED, limit=ENDED_SHOWN)
    finished = sorted(finished, key=lambda run: run.finished_at or run.created_at, reverse=True)[:ENDED_SHOWN]
    shown = [*running, *failed, *finished]
    requests = [request for run in finished for request in app.records.requests(app.project, run_id=run.run_id)]
    return Observed(
        now=now,
        pending=app.records.requests(app.project, status=RequestStatus.PENDING, limit=WAITING_SHOWN),
        running=running,
        failed=failed,
        finished=finished,
        today=app.records.count_runs(app.project, start_of_day(now)),
        steps={run.run_id: app.records.steps(app.project, run.run_id, run.plan_version) for run in (*running, *failed)},
        costs={run.run_id: app.spans.run_usage(app.project, run.run_id).cost for run in shown},
        waits=people_time(requests),
    )


def _runs(app: Plandeck, *statuses: RunStatus, limit: int) -> list[Run]:
    return [run for status in statuses for run in app.records.runs(app.project, status=status, limit=limit)]


def _ended_since(run: Run, since: datetime) -> bool:
    return run.finished_at is not None and run.finished_at >= since
