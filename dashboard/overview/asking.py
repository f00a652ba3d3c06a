"""Asks the stores what the overview shows."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from agent.records import RequestStatus, Run, RunStatus
from dashboard.metrics import ALIVE
from dashboard.named_stores import named_stores
from dashboard.overview.model import Observed, people_time, start_of_day, start_of_month
from dashboard.overview.side_model import SideSeen
from dashboard.settings_page.model import places
from traces.queries import UsageQuery

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck

WAITING_SHOWN = 5
RUNNING_SHOWN = 5
ENDED_SHOWN = 6
FAILED_SHOWN = 3
COUNTED = 1_000
MOVING = (RunStatus.EXECUTING, RunStatus.PLANNING, RunStatus.QUEUED)


def observe(app: Plandeck, now: datetime) -> Observed:
    """What waits, runs, failed and ended, with the progress, cost and people's time of each."""
    pending = app.records.requests(app.project, status=RequestStatus.PENDING, limit=WAITING_SHOWN)
    running, more_running = _moving(app)
    all_failed = app.records.ended_runs(app.project, RunStatus.FAILED, since=start_of_day(now), limit=COUNTED)
    failed = all_failed[:FAILED_SHOWN]
    finished = app.records.ended_runs(app.project, RunStatus.SUCCEEDED, RunStatus.CANCELLED, limit=ENDED_SHOWN)
    used = {run.run_id: app.spans.run_usage(app.project, run.run_id) for run in (*running, *failed, *finished)}
    requests = [request for run in finished for request in app.records.requests(app.project, run_id=run.run_id)]
    return Observed(
        now=now,
        pending=pending,
        more_pending=max(0, app.records.count_pending(app.project) - len(pending)),
        running=running,
        more_running=more_running,
        failed=failed,
        more_failed=len(all_failed) - len(failed),
        finished=finished,
        steps={run.run_id: app.records.steps(app.project, run.run_id, run.plan_version) for run in (*running, *failed)},
        costs={run_id: usage.real_cost for run_id, usage in used.items()},
        made_up={run_id: made_up for run_id, usage in used.items() if (made_up := usage.illustrative_cost) is not None},
        waits=people_time(requests),
        computing={
            run_id: timedelta(microseconds=nanoseconds / 1_000)
            for run_id, nanoseconds in app.spans.computing_times(app.project, [run.run_id for run in finished]).items()
        },
    )


def _moving(app: Plandeck) -> tuple[list[Run], int]:
    """What works or will, and how many more: executing, decided and about to go on, planning, queued."""
    counts = app.records.count_runs(app.project)
    decided = _decided(app, counts)
    total = len(decided) + sum(counts.get(status, 0) for status in MOVING)
    executing, *others = (app.records.runs(app.project, status=status, limit=RUNNING_SHOWN) for status in MOVING)
    shown = [*executing, *decided, *(run for found in others for run in found)][:RUNNING_SHOWN]
    return shown, max(0, total - len(shown))


def _decided(app: Plandeck, counts: dict[RunStatus, int]) -> list[Run]:
    """Runs whose request was decided and that no worker took on yet; their status still says that they wait."""
    if counts.get(RunStatus.WAITING_HUMAN, 0) <= app.records.count_pending(app.project):
        return []
    waiting = app.records.requests(app.project, status=RequestStatus.PENDING, limit=COUNTED)
    asked = {request.run_id for request in waiting}
    runs = app.records.runs(app.project, status=RunStatus.WAITING_HUMAN, limit=COUNTED)
    return [run for run in runs if run.run_id not in asked]


def observe_side(app: Plandeck, now: datetime) -> SideSeen:
    """Money of today, yesterday and the month, the queue, the workers and the stores."""
    today, month = start_of_day(now), start_of_month(now)

    def usage(since: datetime, until: datetime | None = None, by: tuple[str, ...] = ()) -> UsageQuery:
        return UsageQuery(
            app.project, by=by, since=in_nanoseconds(since), until=in_nanoseconds(until) if until else None
        )

    yesterday = usage(today - timedelta(days=1), now - timedelta(days=1))
    sizes = [place.bytes for place in places(app.settings) if place.bytes is not None]
    return SideSeen(
        now=now,
        today=app.spans.usage_total(usage(today)),
        yesterday=app.spans.usage_total(yesterday),
        month=app.spans.usage_total(usage(month)),
        hours=app.spans.usage(usage(today, by=("hour",))),
        runs=app.records.count_runs(app.project, today),
        oldest=next(iter(app.records.requests(app.project, status=RequestStatus.PENDING, limit=1)), None),
        pending=app.records.count_pending(app.project),
        workers=app.records.live_workers(now - ALIVE),
        unpriced=app.spans.unpriced_models(usage(today)),
        stores=2 + len(named_stores(app.settings).locations),
        bytes=None if app.settings.database_url else sum(sizes),
    )


def in_nanoseconds(at: datetime) -> int:
    """Nanoseconds since 1970."""
    return int(at.timestamp()) * 1_000_000_000 + at.microsecond * 1_000
