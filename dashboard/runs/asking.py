"""Asks the stores what the runs page shows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import NotFoundError
from agent.records import Artifact, Run, RunStatus
from dashboard.runs.happened import PARTS, Part
from dashboard.runs.model import ListRow, Observed, list_row
from traces.usage import UsageQuery, planning_share

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck

LISTED = 25


def observe(app: Plandeck, run_id: str) -> Observed:
    """All that is known of a run now; NotFoundError if the project has none of that id."""
    run = app.records.run(app.project, run_id)
    plan = app.records.plan(app.project, run_id, run.plan_version) if run.plan_version else None
    filters = {"run": [run_id]}
    roles = app.spans.usage(UsageQuery(app.project, by=("role",), filters=filters))
    by_step = app.spans.usage(UsageQuery(app.project, by=("step",), filters=filters))
    return Observed(
        run=run,
        plan=plan,
        now=app.now(),
        usage=app.spans.run_usage(app.project, run_id),
        steps=app.records.steps(app.project, run_id, run.plan_version) if plan else (),
        attempts=[
            attempt for attempt in app.records.attempts(app.project, run_id) if attempt.plan_version == run.plan_version
        ],
        requests=sorted(app.records.requests(app.project, run_id=run_id), key=lambda request: request.requested_at),
        events=app.records.events(app.project, run_id),
        artifacts=app.records.artifacts(app.project, run_id),
        by_step={row.group["step"]: row for row in by_step if row.group["step"]},
        computing=_computing(app, [run]).get(run_id),
        planning_share=planning_share(roles),
    )


def parts(app: Plandeck, run_id: str) -> list[Part]:
    """When the run's processes planned and answered, by their spans; only what ended has one."""
    return [
        Part(PARTS[span.kind], _at(span.started_at), _at(span.ended_at))
        for span in app.spans.run_spans(app.project, run_id)
        if span.kind in PARTS and span.ended_at is not None
    ]


def _at(nanoseconds: int) -> datetime:
    return datetime.fromtimestamp(nanoseconds / 1_000_000_000, UTC)


def status_named(name: str | None) -> RunStatus | None:
    """The status that an address names; None for all, NotFoundError if there is none of that name."""
    if name is None:
        return None
    if name not in set(RunStatus):
        raise NotFoundError(f"There is no status {name}; there are {', '.join(RunStatus)}.")
    return RunStatus(name)


def listed(app: Plandeck, status: RunStatus | None = None, before: str | None = None) -> list[ListRow]:
    """A page of the list of runs, newest first, perhaps of one status only."""
    runs = app.records.runs(app.project, status=status, limit=LISTED, before=before)
    computing = _computing(app, runs)
    return [_listed(app, run, computing.get(run.run_id)) for run in runs]


def _computing(app: Plandeck, runs: Sequence[Run]) -> dict[str, timedelta]:
    found = app.spans.computing_times(app.project, [run.run_id for run in runs])
    return {run_id: timedelta(microseconds=nanoseconds / 1_000) for run_id, nanoseconds in found.items()}


def _listed(app: Plandeck, run: Run, computing: timedelta | None) -> ListRow:
    requests = app.records.requests(app.project, run_id=run.run_id)
    steps = app.records.steps(app.project, run.run_id, run.plan_version) if run.plan_version else []
    return list_row(run, requests, steps, app.spans.run_usage(app.project, run.run_id).cost, computing, app.now())


def file_of(app: Plandeck, artifact: Artifact) -> Path:
    """Where a run's file is; NotFoundError if it is gone or not inside the run's own folder."""
    folder = app.artifacts_of(artifact.run_id).resolve()
    path = (folder / artifact.name).resolve()
    if not path.is_relative_to(folder) or not path.is_file():
        raise NotFoundError(f"The file {artifact.name} of run {artifact.run_id} is not in {folder} any more.")
    return path
