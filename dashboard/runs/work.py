"""Parts of a run's page: the limits below the figures, steps or calls, the versions of its plan."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dashboard.look.formats import duration, plural
from dashboard.look.parts import gray, meter, metric_strip, section, small, small_table
from dashboard.look.status import badge_of, look_of
from dashboard.look.text import escape
from dashboard.runs import calls, limits, model, modes, versions
from dashboard.runs.calls import CallRow

CALLS_SHOWN = 40


def figures(seen: model.Observed) -> None:
    """The strip, with what is used of the limits."""
    frame = metric_strip(model.metrics(seen), key="strip")
    if not seen.meter.llm_calls and seen.usage.calls:
        return  # a run of a time when nothing was metered: what it used of its limits is not known
    made_up = bool(seen.usage.calls) and seen.usage.illustrative_calls == seen.usage.calls
    with frame:
        for column, gauge in zip(
            st.columns(2, gap="medium"), limits.gauges(seen.meter, seen.run.limits, made_up=made_up), strict=True
        ):
            with column:
                meter(gauge.share, gauge.sentence, over=gauge.over)
        counts = limits.counts(seen.meter, seen.run.limits)
        st.caption(" · ".join(_count(count) for count in counts))


def _count(count: limits.Count) -> str:
    return f":yellow[:material/warning:] **{escape(count.words)}**" if count.near else escape(count.words)


def mode_line(seen: model.Observed) -> None:
    """Why the run works otherwise than asked, or what `auto` chose."""
    why = modes.why(seen.run, seen.events)
    if why:
        st.caption(f":material/alt_route: {escape(why)}")


def free_steps(seen: model.Observed) -> bool:
    """The calls of a run without a plan, as its steps; False for a run that has or will have a plan."""
    if not seen.free:
        return False
    rows = calls.free(seen.asked_calls, seen.calls, seen.requests, seen.now)
    section("Calls")
    if rows:
        _table(rows, "Calls of the run with state and time")
    else:
        ended = seen.run.status.ended
        st.markdown(gray("It answered without calling a tool." if ended else "No tool was called yet."))
    return True


def tool_calls(seen: model.Observed) -> None:
    """The ledger of a run with a plan."""
    if seen.free or not seen.calls:
        return
    section("Tool calls")
    rows = calls.made(seen.calls, seen.now)
    _table(rows[-CALLS_SHOWN:], "Tool calls of the run in order, with state and time")
    if len(rows) > CALLS_SHOWN:
        st.caption(f"the last {CALLS_SHOWN} of {escape(plural(len(rows), 'call'))}")


def _table(rows: list[CallRow], alt: str) -> None:
    time: dict[str, Callable[[float], str]] = {"Time": duration}
    small_table(
        [
            {
                "": f"**{escape(row.name)}**",
                "Call": _called(row),
                "State": badge_of(row.look),
                "What it showed": escape(row.shown) or "–",
                "Time": row.seconds,
            }
            for row in rows
        ],
        time,
        alt=alt,
    )


def _called(row: CallRow) -> str:
    of = "" if row.step_id == row.name else f" for {escape(row.step_id)}"
    effect = f" {gray(escape(f'· {look_of(row.effect).word}'))}" if row.effect else ""
    return f"{escape(row.tool)}{of}{effect}  \n{gray(escape(row.arguments) or 'no arguments')}"


def plan_versions(seen: model.Observed) -> None:
    """Every version of the plan, where there are several."""
    if len(seen.plans) < 2:
        return
    section("Versions of the plan")
    small_table(
        [
            {
                "": f"**{row.version}**",
                "Why": escape(row.why),
                "Changes": escape(row.changes),
                "Decision": _decision(row),
            }
            for row in versions.version_rows(seen.plans, seen.progress_of, seen.requests)
        ],
        alt="Versions of the plan, newest first, with why each was made",
    )


def _decision(row: versions.VersionRow) -> str:
    if row.decision is None:
        return gray("not asked")
    return small(badge_of(row.decision) + (f" {escape(row.by)}" if row.by else ""))
