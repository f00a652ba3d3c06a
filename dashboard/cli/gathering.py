"""Puts a run together from the stores, as the document that commands answer with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.shapes import run_json

if TYPE_CHECKING:
    from agent.records import Run
    from agent.run.usecases import Plandeck
    from dashboard.cli.opening import Stores
    from dashboard.cli.output import JsonObject


def run_document(stores: Stores | Plandeck, run: Run) -> JsonObject:
    """One run with its current plan, progress, usage and cost."""
    records, project = stores.records, stores.project
    plan = steps = None
    if run.plan_version is not None:
        plan = records.plan(project, run.run_id, run.plan_version)
        steps = records.steps(project, run.run_id, run.plan_version)
    return run_json(
        run,
        plan=plan,
        steps=steps or [],
        usage=stores.spans.run_usage(project, run.run_id),
        meter=records.ledger.meter(project, run.run_id),
    )
