"""Run a task and die by SIGKILL in the first statement of the second step: `python dies_in_next_step.py HOME TASK`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from agent.records import Decision, StepStatus
from agent.run.flow import NODES
from agent.run.usecases import advance, decide, open_plandeck, pending_request, start_run
from agent.settings import load_settings

execute = NODES["execute"]


def dying_execute(state: Any, deps: Any) -> Any:
    if StepStatus.COMPLETED in state.get("statuses", {}).values():
        os.kill(os.getpid(), signal.SIGKILL)
    return execute(state, deps)


NODES["execute"] = dying_execute

with open_plandeck(load_settings(home=Path(sys.argv[1]))) as app:
    run = advance(app, start_run(app, sys.argv[2], by="ana").run_id)
    request = pending_request(app, run.run_id)
    if request is None:
        sys.exit(f"no plan waits: {run.error or run.answer}")
    decide(app, request.request_id, Decision.APPROVE, hash=request.hash, by="li")
    advance(app, run.run_id)
