"""Asks the stores what the costs page shows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent.errors import NotFoundError
from agent.records import Run
from dashboard.costs.observed import Opened, Seen
from dashboard.costs.selection import Selection
from traces.records import UsageRow
from traces.store import UsageQuery

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck

DEAREST = 8
CSV_GROUPS = ("day", "model", "provider", "agent", "user", "role", "run")


def observe(app: Plandeck, chosen: Selection) -> Seen:
    """Usage, time and runs of the selection, and what it is compared with."""
    spans, project = app.spans, app.project
    query, bucket = chosen.query(project), chosen.period.bucket
    dearest = spans.dearest_runs(query, DEAREST)
    run_ids = [row.group["run"] or "" for row in dearest]
    of_runs = replace(query, filters={**query.filters, "run": run_ids})
    total = spans.usage_total(query)
    run_times = spans.latency(query, of="run", by=bucket)
    return Seen(
        total=total,
        before=spans.usage_total(chosen.query_before(project)),
        by_model=spans.usage(chosen.query(project, (bucket, "model"))),
        by_role=spans.usage(chosen.query(project, ("role",))),
        roles_of_buckets=spans.usage(replace(query, by=(bucket, "role"), in_runs=True)),
        roles_of_runs=spans.usage(replace(query, by=("run", "role"), in_runs=True)),
        dearest=dearest,
        models_of_runs=spans.usage(replace(of_runs, by=("run", "model"), dearest=True)),
        runs={run_id: run for run_id in run_ids if (run := known_run(app, run_id))},
        computing=spans.computing_times(project, run_ids),
        times_of_runs=run_times,
        times_of_calls=[] if run_times else spans.latency(query, of="call", by=bucket),
        unpriced=spans.unpriced_models(query),
        arithmetic=_opened(app, query),
        choices=spans.usage(replace(query, by=("model", "agent", "user", "role"), filters={})),
        anything_ever=bool(total.calls or spans.usage_total(UsageQuery(project)).calls),
        price_problem=app.prices.problem,
    )


def arithmetic_of_run(app: Plandeck, chosen: Selection, run_id: str) -> Opened:
    """How the cost of a run within the selection is made."""
    query = chosen.query(app.project)
    return _opened(app, replace(query, filters={**query.filters, "run": [run_id]}))


def planning_share_of_run(app: Plandeck, run_id: str) -> float | None:
    """Over the whole run, whatever is selected; None without tokens."""
    return app.spans.planning_share(UsageQuery(app.project, filters={"run": [run_id]}))


def _opened(app: Plandeck, query: UsageQuery) -> Opened:
    real, made_up = (app.spans.arithmetic(replace(query, illustrative=kind)) for kind in (False, True))
    return Opened(real, made_up)


def rows_for_export(app: Plandeck, chosen: Selection) -> list[UsageRow]:
    """The selection by everything that a spreadsheet may group it by."""
    return app.spans.usage(chosen.query(app.project, CSV_GROUPS))


def known_run(app: Plandeck, run_id: str) -> Run | None:
    """The run of our records; None for one that only spans name."""
    try:
        return app.records.run(app.project, run_id)
    except NotFoundError:
        return None
