"""The dearest runs of the costs page. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.records import Run, RunStatus
from dashboard.costs.observed import NO_MODEL, Seen, rows_by
from dashboard.costs.over_time import SECOND
from dashboard.look.formats import NONE, cut, duration, money, percent, short_name, tokens
from traces.records import UsageRow, dollars
from traces.usage import OVER_PLANNED, over_planned, planning_share

LINE_CHARACTERS = 28
"""What a line of the task's column shows whole; its cells take two lines."""
USER_CHARACTERS, MODEL_CHARACTERS = 10, 16


@dataclass(frozen=True, slots=True)
class RunRow:
    """One of the dearest runs."""

    run_id: str
    status: RunStatus | None
    """None for a run that our records do not have."""
    task: str
    """Cut at the end of a word where it does not fit into its cell."""
    user: str
    model: str
    bar: float
    """Dollars of the money that is compared; 0 where they are unknown."""
    cost: str
    """Real money; empty where the run has only made-up money."""
    made_up: str
    """Empty where the run has none."""
    tokens: str
    planning: str
    """The planning share; `, over` where the run was over-planned."""
    computing: str


def run_rows(seen: Seen) -> list[RunRow]:
    """The dearest runs of the selection."""
    roles, models = rows_by(seen.roles_of_runs, "run"), rows_by(seen.models_of_runs, "run")
    return [_run_row(row, seen, roles, models) for row in seen.dearest]


def over_planned_note(run: Run | None, share: float | None) -> str:
    """That a run was over-planned, in a sentence; empty if it was not, or is not over."""
    if share is None or not over_planned(share) or (run and not run.status.ended):
        return ""
    line = percent(OVER_PLANNED)
    return f"Planning took {percent(share)} of its tokens: this run was over-planned (above {line})."


def share_words(share: float | None, *, ended: bool) -> str:
    """A planning share, and that it was too much; that is not known before the run did its other work."""
    return percent(share) + (", over" if ended and over_planned(share) else "")


def _run_row(
    row: UsageRow, seen: Seen, roles: Mapping[str, list[UsageRow]], models: Mapping[str, list[UsageRow]]
) -> RunRow:
    run_id, made_up = row.group["run"] or "", row.illustrative_cost
    run, worked = seen.runs.get(run_id), seen.computing.get(run_id)
    names = [item.group["model"] or NO_MODEL for item in models.get(run_id, [])]
    return RunRow(
        run_id=run_id,
        status=run.status if run else None,
        task=cut(run.task, 2 * LINE_CHARACTERS) if run else f"run {run_id}, not one of ours",
        user=cut(run.requested_by, USER_CHARACTERS) if run else NONE,
        model=_models(names),
        bar=float(dollars(seen.amount(row) or 0)),
        cost="" if row.real_cost is None and made_up is not None else money(row.real_cost),
        made_up="" if made_up is None else money(made_up),
        tokens=tokens(row.tokens),
        planning=share_words(planning_share(roles.get(run_id, [])), ended=run is None or run.status.ended),
        computing=duration(None if worked is None else worked / SECOND),
    )


def _models(names: Sequence[str]) -> str:
    """The dearest model, and how many others there are."""
    if not names:
        return NONE
    return short_name(names[0], MODEL_CHARACTERS) + (f" +{len(names) - 1}" if len(names) > 1 else "")
