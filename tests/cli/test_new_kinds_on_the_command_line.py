import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import CommandLine
from mail_tool import OPEN_MAIL, Mailbox, mail, unknown_outcome
from page_seeds import Seeds
from runs import approve, plan, run_to_pause, small_plandeck, step

from agent.records import Limits, RequestKind, RunStatus
from agent.run.usecases import Plandeck, advance, pending_request, start_run
from dashboard.cli.running import _follow
from dashboard.cli.texts import print_waiting

WAITING_MAIL = {
    "propose_plan": [plan(step("s1", sku="B-7"), OPEN_MAIL)],
    "mail": [{"to": "bo@example.com", "body": "12 left"}],
}


@contextmanager
def asking_for_mail(home: Path) -> Iterator[tuple[Plandeck, Mailbox]]:
    sent = Mailbox()
    with small_plandeck(home, WAITING_MAIL, tools=[mail(sent)]) as (app, _, _calls):
        yield app, sent


def test_a_call_that_waits_is_shown_with_its_exact_arguments_and_every_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with asking_for_mail(tmp_path) as (app, _):
        run = approve(app, run_to_pause(app))
        request = pending_request(app, run.run_id)
        assert request
        print_waiting(request)
    shown = capsys.readouterr().out
    assert "May mail send this out of the company?" in shown
    assert '"body": "12 left"' in shown
    assert f"plandeck decide {request.request_id} edit --value JSON --hash {request.hash}" in shown
    assert "respond --note WORDS" in shown


def test_approving_as_somebody_answers_plan_and_call(tmp_path: Path) -> None:
    with asking_for_mail(tmp_path) as (app, sent):
        ended = _follow(app, start_run(app, "Tell bo", by="ana").run_id, "li")
        assert ended.status is RunStatus.SUCCEEDED, ended.error
        assert sent == [("bo@example.com", "12 left")]
        kinds = [request.kind for request in app.records.requests(app.project, run_id=ended.run_id)]
        assert sorted(kinds) == [RequestKind.PLAN, RequestKind.TOOL_CALL]


def test_approving_as_somebody_raises_no_budget_and_repeats_nothing_unknown(tmp_path: Path) -> None:
    sent = Mailbox()
    seen = step("s1", "mail", to="bo@example.com", body="hello")
    broken = mail(sent, fail=unknown_outcome)
    with small_plandeck(tmp_path / "a", {"propose_plan": [plan(seen)]}, tools=[broken]) as (app, _, _calls):
        waiting = _follow(app, start_run(app, "Tell bo", by="ana").run_id, "li")
        request = pending_request(app, waiting.run_id)
        assert request
        assert (waiting.status, request.payload["about"]) == (RunStatus.WAITING_HUMAN, "outcome")
        assert sent == [("bo@example.com", "hello")]
    limits = Limits(max_tokens=3_000)
    with small_plandeck(tmp_path / "b", {"propose_plan": [plan(step("s1", sku="B-7"))]}, limits=limits) as (
        app,
        model,
        _calls,
    ):
        model.prompt_tokens = 1_000
        waiting = _follow(app, start_run(app, "Look", by="ana").run_id, "li")
        request = pending_request(app, waiting.run_id)
        assert request
        assert (waiting.status, request.payload["about"]) == (RunStatus.WAITING_HUMAN, "budget")
        assert waiting.limits == limits


def test_show_tells_mode_limits_and_every_call(tmp_path: Path) -> None:
    turns = [("lookup", {"sku": "B-7"}), "There are 12 [1]."]
    with small_plandeck(tmp_path, {"react": turns}) as (app, _, _calls):
        run = advance(app, start_run(app, "How much?", by="ana", mode="react").run_id)
    plandeck = CommandLine(tmp_path)
    shown = plandeck("show", run.run_id).out
    assert "react" in shown
    assert "1 of 40 tool calls" in shown
    assert "c1" in shown
    assert "B-7: 12 in stock" in shown
    document = plandeck.json("run", "show", run.run_id)
    assert document["meter"]["tool_calls"] == 1
    assert document["meter"]["llm_calls"] == 2
    assert document["limits"]["max_tool_calls"] == 40


def test_a_list_of_approvals_names_budget_and_outcome(tmp_path: Path) -> None:
    plandeck = CommandLine(tmp_path)
    plandeck("runs")
    with small_plandeck(tmp_path, {}) as (app, _, _calls):
        seeds = Seeds(app.records, app.now(), tmp_path / "artifacts")
        seeds.call()
        seeds.outcome()
        seeds.budget()
    shown = plandeck("approvals").out
    for part in ("tool call", "outcome", "budget", "raise the limits", "count it as done"):
        assert part in shown, part


def test_an_edited_call_is_checked_and_runs_as_edited(tmp_path: Path) -> None:
    plandeck = CommandLine(tmp_path)
    with small_plandeck(tmp_path, {}) as (app, _, _calls):
        request = Seeds(app.records, app.now(), tmp_path / "artifacts").call(
            tool="report_file", effect="draft", arguments={"filename": "a.md", "title": "A", "body": "x"}
        )
    words = ["decide", request.request_id, "edit", "--hash", request.hash, "--as", "li"]
    assert plandeck(*words, "--value", '{"filename": 3}', "--json").error == "bad_arguments"
    assert plandeck(*words, "--json").error == "arguments_missing"
    assert json.loads(plandeck(*words, "--value", "{nope", "--json").out)["error"]["code"] == "not_json"
    with small_plandeck(tmp_path, {}) as (app, _, _calls):
        assert replace(app.records.request(app.project, request.request_id)).decision is None
