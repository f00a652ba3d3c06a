import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from agent.records import AttemptStatus, Decision, RunStatus, StepStatus
from agent.run.usecases import Plandeck, decide, open_plandeck, pending_request
from agent.settings import load_settings

TASK = (
    "Which three projects cost most in the latest month with data, and did any exceed its budget? Write a short report."
)
DELAY_MS = 700
PLANDECK = [sys.executable, "-m", "dashboard.cli"]


def environment(home: Path, delay_ms: int = 0) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLANDECK_")}
    return {**kept, "PLANDECK_HOME": str(home), "PLANDECK_OFFLINE_DELAY_MS": str(delay_ms)}


def plandeck(home: Path, *words: str, delay_ms: int = 0) -> Any:
    done = subprocess.run(
        [*PLANDECK, *words, "--json"], env=environment(home, delay_ms), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def wait_for(what: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


@contextmanager
def worker(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([*PLANDECK, "worker"], env=environment(home, DELAY_MS), stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()


def step_running(app: Plandeck, run_id: str, step_id: str) -> bool:
    return any(
        item.step_id == step_id and item.status is StepStatus.RUNNING for item in app.records.steps(app.project, run_id)
    )


def assert_no_completed_step_ran_twice(app: Plandeck, run_id: str) -> None:
    completed = Counter(
        item.step_id for item in app.records.attempts(app.project, run_id) if item.status is AttemptStatus.COMPLETED
    )
    steps = [step.id for step in app.records.plans(app.project, run_id)[-1].steps]
    assert completed == dict.fromkeys(steps, 1)
    tools = Counter(
        span.step_id for span in app.spans.run_spans(app.project, run_id) if span.operation == "execute_tool"
    )
    cut = {
        item.step_id for item in app.records.attempts(app.project, run_id) if item.status is AttemptStatus.INTERRUPTED
    }
    assert all(tools[step] == 1 for step in steps if step not in cut), tools


@pytest.mark.parametrize("victim", ["s1", "s2", "s3"])
def test_a_run_whose_worker_is_killed_in_a_step_goes_on_after_restart(tmp_path: Path, victim: str) -> None:
    with worker(tmp_path) as first, open_plandeck(load_settings(home=tmp_path)) as app:
        run_id = plandeck(tmp_path, "run", TASK, "--detach")["run_id"]
        request = wait_for(lambda: pending_request(app, run_id))
        decide(app, request.request_id, Decision.APPROVE, hash=request.hash, by="li")
        wait_for(lambda: step_running(app, run_id, victim))
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert step_running(app, run_id, victim), "nothing was killed in the middle of a step"
        assert app.records.run(app.project, run_id).status is RunStatus.EXECUTING
        with worker(tmp_path):
            wait_for(lambda: app.records.run(app.project, run_id).status.ended, seconds=90)
        run = app.records.run(app.project, run_id)
        assert run.status is RunStatus.SUCCEEDED, run.error
        tries = [item.status for item in app.records.attempts(app.project, run_id) if item.step_id == victim]
        assert tries == [AttemptStatus.INTERRUPTED, AttemptStatus.COMPLETED]
        assert_no_completed_step_ran_twice(app, run_id)


def test_a_process_killed_in_the_first_statement_of_the_next_step_has_lost_nothing(tmp_path: Path) -> None:
    script = Path(__file__).parents[1] / "support" / "dies_in_next_step.py"
    died = subprocess.run([sys.executable, str(script), str(tmp_path), TASK], env=environment(tmp_path), check=False)
    assert died.returncode == -signal.SIGKILL
    with open_plandeck(load_settings(home=tmp_path)) as app:
        run = app.records.runs(app.project)[0]
        resumed = plandeck(tmp_path, "resume", run.thread_id)
        assert resumed["status"] == "succeeded"
        saved = resumed["saved"]
        assert (saved["steps"], saved["llm_calls"], saved["tool_calls"], saved["illustrative"]) == (1, 2, 1, True)
        assert saved["tokens"] > 0
        assert 0 < float(saved["cost_usd"]) < float(resumed["cost_usd"])
        assert [item.status for item in app.records.attempts(app.project, run.run_id)] == [
            AttemptStatus.COMPLETED
        ] * len(resumed["plan"]["steps"])
        assert_no_completed_step_ran_twice(app, run.run_id)
