import time
from pathlib import Path

from runs import plan, small_plandeck, step

from agent.records import Decision, RunStatus
from agent.run.usecases import Plandeck, decide, pending_request, start_run
from agent.run.worker import Worker


def wait_for_status(app: Plandeck, run_id: str, status: RunStatus) -> None:
    end = time.monotonic() + 30
    while app.records.run(app.project, run_id).status is not status:
        assert time.monotonic() < end, app.records.run(app.project, run_id)
        time.sleep(0.02)


def test_two_workers_advance_many_runs_once_each(tmp_path: Path) -> None:
    answers = {"propose_plan": [plan(step("s1", sku="B-7"))]}
    with small_plandeck(tmp_path, answers) as (app, _, calls):
        workers = [Worker(app), Worker(app)]
        for worker in workers:
            worker.start()
        runs = [start_run(app, f"Task {n}", by="ana").run_id for n in range(6)]
        for run_id in runs:
            wait_for_status(app, run_id, RunStatus.WAITING_HUMAN)
            request = pending_request(app, run_id)
            assert request is not None
            decide(app, request.request_id, Decision.APPROVE, hash=request.hash, by="li")
        for run_id in runs:
            wait_for_status(app, run_id, RunStatus.SUCCEEDED)
        for worker in workers:
            worker.stop()
        assert len(calls) == len(runs)
