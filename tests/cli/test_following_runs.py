import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from agent.home import make_home
from agent.records import Decision, RunStatus
from agent.run.usecases import Plandeck, decide, open_plandeck, pending_request, start_run
from agent.settings import load_settings
from dashboard.cli.running import _follow, settle

TASK = "Which region sold most in 2026?"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Plandeck]:
    settings = load_settings(home=tmp_path / "home")
    make_home(settings.home)
    with open_plandeck(settings) as opened:
        yield opened


def test_a_run_that_somebody_else_approved_first_is_followed_to_its_end(app: Plandeck) -> None:
    run = settle(app, start_run(app, TASK, by="ana").run_id)
    request = pending_request(app, run.run_id)
    assert request

    def clock_on_which_omar_is_first() -> datetime:
        # Read by the decision itself, so the request was still pending when it was looked up.
        if sys._getframe(1).f_code.co_name == "decide":
            decide(app, request.request_id, Decision.APPROVE, hash=request.hash, by="omar")
        return app.now()

    ended = _follow(replace(app, now=clock_on_which_omar_is_first), run.run_id, "li")
    assert ended.status is RunStatus.SUCCEEDED
    assert app.records.request(app.project, request.request_id).decided_by == "omar"


def test_a_run_of_another_process_waits_only_once_its_status_says_so(app: Plandeck) -> None:
    run = settle(app, start_run(app, TASK, by="ana").run_id)
    assert app.records.take_lease(app.project, run.run_id, app.owner, 60)
    app.records.update_run(app.project, run.run_id, status=RunStatus.PLANNING)
    later = threading.Timer(0.5, app.records.update_run, (app.project, run.run_id), {"status": RunStatus.WAITING_HUMAN})
    later.start()
    assert settle(app, run.run_id).status is RunStatus.WAITING_HUMAN
    later.join()


def test_a_decision_that_another_process_is_about_to_apply_is_awaited(app: Plandeck) -> None:
    run = settle(app, start_run(app, TASK, by="ana").run_id)
    request = pending_request(app, run.run_id)
    assert request
    fence = app.records.take_lease(app.project, run.run_id, app.owner, 60)
    decide(app, request.request_id, Decision.APPROVE, hash=request.hash, by="omar")
    assert fence
    later = threading.Timer(0.5, app.records.release_lease, (app.project, run.run_id, app.owner, fence))
    later.start()
    assert _follow(app, run.run_id, "li").status is RunStatus.SUCCEEDED
    later.join()
