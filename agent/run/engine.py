"""Which engine drives a run's nodes: LangGraph, or a small loop of our own where LangGraph cannot be had.

It is chosen when the run begins, and stays: what the one has written the other cannot read.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from agent.errors import AgentError
from agent.records import EventKind, Run
from agent.run.deps import Deps
from agent.run.lease import Lease
from agent.run.loop import LoopEngine
from agent.run.places import Engine

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck


class EngineName(StrEnum):
    """What a run began with."""

    LANGGRAPH = "langgraph"
    LOOP = "loop"


class FrameworkError(AgentError):
    """LangGraph cannot be imported, or does not take the graph."""

    code = "framework"


def engine_for(app: Plandeck, run: Run, deps: Deps, lease: Lease) -> tuple[Run, Engine]:
    """The engine that a run began with, or begins with now: the run as it is stored then.

    FrameworkError if it began on LangGraph and that cannot be had now.
    """
    if run.engine == EngineName.LOOP:
        return run, LoopEngine(app.records.loop, run, deps, lease.fence)
    try:
        graph = _on_langgraph(app, run, deps, lease)
    except FrameworkError as missing:
        if run.engine is not None:
            raise FrameworkError(
                f"This run began on LangGraph, which cannot be used now: {missing.message} Mend it, then "
                f"`plandeck resume {run.thread_id}` goes on."
            ) from missing
        return _degraded(app, run, missing, lease), LoopEngine(app.records.loop, run, deps, lease.fence)
    if run.engine is None:
        run = app.records.update_run(run.project, run.run_id, fence=lease.fence, engine=EngineName.LANGGRAPH)
    return run, graph


def _on_langgraph(app: Plandeck, run: Run, deps: Deps, lease: Lease) -> Engine:
    try:
        from agent.run.checkpointer import guarded  # noqa: PLC0415  # LangGraph may be missing
        from agent.run.graph import GraphEngine  # noqa: PLC0415

        if app.checkpointer is None:
            raise FrameworkError("it could not be imported when this process began.")
        return GraphEngine(deps, guarded(app.checkpointer, lease.check), run.thread_id)
    except FrameworkError:
        raise
    except Exception as error:  # the boundary: a framework that does not fit raises anything
        raise FrameworkError(f"{type(error).__name__}: {' '.join(str(error).split())}"[:300] + ".") from error


def _degraded(app: Plandeck, run: Run, missing: FrameworkError, lease: Lease) -> Run:
    app.records.add_event(
        run.project,
        run.run_id,
        EventKind.DEGRADED,
        f"works without LangGraph: {missing.message}",
        app.now(),
        once="degraded:engine",
    )
    return app.records.update_run(run.project, run.run_id, fence=lease.fence, engine=EngineName.LOOP, degraded=True)
