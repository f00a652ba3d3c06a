import sqlite3
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from runs import Calls, approve, plan, run_to_pause, small_plandeck, step

from agent.errors import ConfigurationError, RefusedError, StorageError
from agent.planning.parsing import parse_plan
from agent.planning.prompts import plan_messages
from agent.records import AttemptStatus, Decision, EventKind, RequestStatus, RunStatus, StepStatus
from agent.run import lease, pausing
from agent.run.equipment import models_of
from agent.run.failing import ContractError
from agent.run.usecases import Plandeck, advance, cancel_run, decide, pending_request, resume_thread, start_run
from agent.run.worker import Worker

ONE_STEP = plan(step("s1", sku="B-7"))
FAULT = httpx.Response(503, json={"error": {"message": "busy"}})


def approve_only(app: Plandeck, run_id: str) -> None:
    request = pending_request(app, run_id)
    assert request is not None
    decide(app, request.request_id, Decision.APPROVE, hash=request.hash, by="li")


def test_a_passing_fault_while_planning_or_answering_is_waited_out(tmp_path: Path) -> None:
    answers = {"propose_plan": [FAULT, ONE_STEP], "": [FAULT, "There are 12 [1]."]}
    with small_plandeck(tmp_path, answers) as (app, _, _calls):
        done = approve(app, run_to_pause(app))
        assert (done.status, done.answer) == (RunStatus.SUCCEEDED, "There are 12 [1].")


def test_a_plan_that_is_cut_off_twice_becomes_the_fallback_plan(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": '{"kind": "plan", "steps": [{"id"'}
    cut = httpx.Response(
        200,
        json={
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": "length"}],
        },
    )
    with small_plandeck(tmp_path, {"propose_plan": [cut]}) as (app, model, _calls):
        run = run_to_pause(app)
        (waiting,) = app.records.plans(app.project, run.run_id)
        assert (waiting.source, waiting.trigger) == ("fallback", "invalid_plan")
        assert model.calls("propose_plan") == 2
        assert "hit its length limit" in model.requests[1]["messages"][-1]["content"]


def test_an_answer_that_cannot_be_written_leaves_what_the_steps_found(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [ONE_STEP], "": [FAULT]}) as (app, _, calls):
        failed = approve(app, run_to_pause(app))
        assert (failed.status, failed.stop_reason) == (RunStatus.FAILED, "error")
        assert "busy" in (failed.error or "")
        assert "s1: done [1]" in (failed.answer or "")
        assert [source.step_id for source in failed.sources] == ["s1"]
        assert calls == [("lookup", "B-7")]


def test_a_store_that_fails_is_no_failed_try_and_the_run_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [ONE_STEP]}) as (app, _, calls):
        run = run_to_pause(app)
        approve_only(app, run.run_id)

        def away(*_: object, **__: object) -> int:
            raise StorageError("the records are away")

        with monkeypatch.context() as patch:
            patch.setattr(app.records, "start_attempt", away)
            with pytest.raises(StorageError, match="away"):
                advance(app, run.run_id)
        stopped = app.records.run(app.project, run.run_id)
        assert stopped.status is RunStatus.EXECUTING
        assert calls == []
        assert advance(app, run.run_id).status is RunStatus.SUCCEEDED
        assert len(app.records.attempts(app.project, run.run_id)) == 1


def test_checkpoints_that_are_locked_are_no_failure_of_the_run(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [ONE_STEP]}) as (app, _, _calls):
        run = run_to_pause(app)
        approve_only(app, run.run_id)
        app.checkpointer.conn.execute("PRAGMA busy_timeout = 50")
        other = sqlite3.connect(tmp_path / "checkpoints.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="locked"):
            advance(app, run.run_id)
        other.execute("ROLLBACK")
        other.close()
        assert app.records.run(app.project, run.run_id).status is not RunStatus.FAILED
        assert advance(app, run.run_id).status is RunStatus.SUCCEEDED


def test_a_process_that_lost_its_lease_has_no_effect_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [ONE_STEP]}) as (app, model, calls):
        run = run_to_pause(app)
        approve_only(app, run.run_id)
        answer = model.handle_request

        def while_another_takes_over(request: httpx.Request) -> httpx.Response:
            with sqlite3.connect(tmp_path / "records.db") as records:
                records.execute("UPDATE runs SET fence = fence + 1, lease_owner = 'elsewhere:1:1'")
            return answer(request)

        with monkeypatch.context() as patch:
            patch.setattr(model, "handle_request", while_another_takes_over)
            advance(app, run.run_id)
        assert calls == []
        assert app.records.run(app.project, run.run_id).status is RunStatus.EXECUTING
        with sqlite3.connect(tmp_path / "records.db") as records:
            records.execute("UPDATE runs SET lease_owner = NULL, lease_until = NULL")
        assert advance(app, run.run_id).status is RunStatus.SUCCEEDED
        assert calls == [("lookup", "B-7")]


def test_a_lease_is_kept_over_a_moment_without_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "LEASE_SECONDS", 0.3)
    with small_plandeck(tmp_path, {"propose_plan": [ONE_STEP]}) as (app, _, _calls):
        run = start_run(app, "Task", by="ana")
        renew, failures = app.records.renew_lease, iter([True])

        def sometimes(*given: object) -> bool:
            if next(failures, False):
                raise StorageError("away for a moment")
            return bool(renew(*given))

        monkeypatch.setattr(app.records, "renew_lease", sometimes)
        with lease.leased(app.records, app.project, run.run_id, app.owner) as held:
            assert held is not None
            time.sleep(0.5)
            held.check()
            assert app.records.take_lease(app.project, run.run_id, "elsewhere:1:1", 1) is None


def test_a_worker_that_stops_lets_the_step_end_and_the_run_goes_on_elsewhere(tmp_path: Path) -> None:
    two = plan(step("s1", sku="B-7"), step("s2", sku="C-9", after=("s1",)))
    begun, go_on = threading.Event(), threading.Event()
    with small_plandeck(tmp_path, {"propose_plan": [two]}) as (app, model, calls):
        run = run_to_pause(app)
        approve_only(app, run.run_id)
        answer = model.handle_request

        def slow(request: httpx.Request) -> httpx.Response:
            begun.set()
            assert go_on.wait(30)
            return answer(request)

        model.handle_request = slow  # type: ignore[method-assign]
        worker = Worker(app)
        worker.start()
        assert begun.wait(30)
        stopping = threading.Thread(target=worker.stop)
        stopping.start()
        go_on.set()
        stopping.join(30)
        assert not stopping.is_alive()
        stopped = app.records.run(app.project, run.run_id)
        assert stopped.status is RunStatus.EXECUTING
        assert calls == [("lookup", "B-7")]
        assert advance(app, run.run_id).status is RunStatus.SUCCEEDED
        assert calls == [("lookup", "B-7"), ("lookup", "C-9")]


def test_a_finished_try_whose_record_a_crash_ate_is_completed_not_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [ONE_STEP]}) as (app, _, _calls):
        run = run_to_pause(app)
        approve_only(app, run.run_id)

        def crash(*_: object, **__: object) -> None:
            raise StorageError("the power went")

        with monkeypatch.context() as patch:
            patch.setattr(app.records, "finish_attempt", crash)
            with pytest.raises(StorageError):
                advance(app, run.run_id)
        assert advance(app, run.run_id).status is RunStatus.SUCCEEDED
        assert [item.status for item in app.records.attempts(app.project, run.run_id)] == [AttemptStatus.COMPLETED]
        kinds = [event.kind for event in app.records.events(app.project, run.run_id)]
        assert EventKind.INTERRUPTED not in kinds


def test_a_thread_is_never_shared_by_two_runs(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [ONE_STEP]}) as (app, _, _calls):
        approve(app, advance(app, start_run(app, "Mine", by="ana", thread_id="shared").run_id))
        other = replace(app, settings=app.settings.model_copy(update={"project": "other"}))
        with pytest.raises(RefusedError, match="shared"):
            start_run(other, "Yours", by="li", thread_id="shared")


def test_only_a_recorded_decision_is_a_yes() -> None:
    parsed = parse_plan(ONE_STEP, {"lookup": ("read", {})})  # type: ignore[dict-item]
    assert parsed.plan is not None
    undecided = {"decision": "None", "hash": parsed.plan.hash}
    deps = SimpleNamespace(pause=lambda _: undecided)
    with pytest.raises(ContractError):
        pausing.review({"task": "t", "plan": parsed.plan.to_json()}, deps)  # type: ignore[arg-type]


def test_questions_do_not_use_up_the_times_that_a_plan_may_be_sent_back(tmp_path: Path) -> None:
    question = {"kind": "question", "message": "Which SKU?"}
    with small_plandeck(tmp_path, {"propose_plan": [question, question, ONE_STEP]}) as (app, _, _calls):
        run = run_to_pause(app)
        for words in ("B-7", "B-7, really", "shorter", "shorter still"):
            request = pending_request(app, run.run_id)
            assert request is not None
            decide(app, request.request_id, Decision.RESPOND, hash=request.hash, by="li", note=words)
            run = advance(app, run.run_id)
            assert run.status is RunStatus.WAITING_HUMAN
        request = pending_request(app, run.run_id)
        assert request is not None
        decide(app, request.request_id, Decision.RESPOND, hash=request.hash, by="li", note="once more")
        run = advance(app, run.run_id)
        assert (run.status, run.stop_reason) == (RunStatus.FAILED, "max_replans")


def test_a_run_goes_on_with_the_model_that_it_began_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with small_plandeck(tmp_path, {"propose_plan": [ONE_STEP]}) as (app, _, _calls):
        run = run_to_pause(app)
        approve_only(app, run.run_id)
        app.records.update_run(app.project, run.run_id, provider="openai", model="gpt-5-mini")
        pinned = app.records.run(app.project, run.run_id)
        with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
            models_of(app, pinned)
        failed = advance(app, run.run_id)
        assert failed.status is RunStatus.FAILED
        assert "OPENAI_API_KEY" in (failed.error or "")
        monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
        _, executor = models_of(app, pinned)
        assert (executor.provider.name, executor.client.model_name) == ("openai", "gpt-5-mini")
        app.records.update_run(app.project, run.run_id, provider="offline", model="offline")
        assert resume_thread(app, run.thread_id).status is RunStatus.SUCCEEDED


def test_every_call_of_a_turn_is_answered(tmp_path: Path) -> None:
    two_calls = httpx.Response(
        200,
        json={
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {"id": n, "type": "function", "function": {"name": "lookup", "arguments": '{"sku": "Z"}'}}
                            for n in ("c1", "c2")
                        ],
                    },
                }
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        },
    )
    answers = {"propose_plan": [plan(step("s1"))], "lookup": [two_calls, {"sku": "B-7"}]}
    with small_plandeck(tmp_path, answers) as (app, model, calls):
        assert approve(app, run_to_pause(app)).status is RunStatus.SUCCEEDED
        asked = [
            body for body in model.requests if body.get("tools", [{}])[0].get("function", {}).get("name") == "lookup"
        ]
        answered = [message["tool_call_id"] for message in asked[1]["messages"] if message["role"] == "tool"]
        assert answered == ["c1", "c2"]
        assert calls == [("lookup", "Z"), ("lookup", "B-7")]


def test_a_request_that_was_closed_without_a_decision_is_no_yes(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [ONE_STEP]}) as (app, _, calls):
        run = run_to_pause(app)
        app.records.supersede_requests(app.project, run.run_id, app.now())
        assert app.records.requests(app.project)[0].status is RequestStatus.SUPERSEDED
        assert advance(app, run.run_id).status is RunStatus.FAILED
        assert calls == Calls()
        assert app.records.steps(app.project, run.run_id)[0].status is StepStatus.PENDING


def test_a_crash_before_any_checkpoint_loses_and_repeats_nothing(tmp_path: Path) -> None:
    two = plan(step("s1", sku="B-7"), step("s2", sku="C-9", after=("s1",)))
    crashes = 0
    for n in range(1, 40):
        with small_plandeck(tmp_path / str(n), {"propose_plan": [two]}) as (app, model, calls):
            put, left = app.checkpointer.put, [n]

            def dying(*given: object, put=put, left=left) -> object:
                left[0] -= 1
                if left[0] == 0:
                    raise StorageError("the power went")
                return put(*given)

            app.checkpointer.put = dying
            run = start_run(app, "How much is there?", by="ana")
            for _ in range(4):
                try:
                    run = advance(app, run.run_id)
                except StorageError:
                    crashes += 1
                    continue
                if run.status is RunStatus.WAITING_HUMAN:
                    approve_only(app, run.run_id)
            if left[0] > 0:
                break
            assert run.status is RunStatus.SUCCEEDED, (n, run.error)
            assert calls == [("lookup", "B-7"), ("lookup", "C-9")], n
            assert model.calls("propose_plan") == 1, n
            attempts = app.records.attempts(app.project, run.run_id)
            assert [item.status for item in attempts] == [AttemptStatus.COMPLETED] * 2, n
    assert crashes >= 5


def test_checkpoints_that_are_gone_are_told_and_nothing_is_planned_again(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [ONE_STEP]}) as (app, model, calls):
        run = run_to_pause(app)
        app.checkpointer.delete_thread(run.thread_id)
        approve_only(app, run.run_id)
        failed = advance(app, run.run_id)
        assert failed.status is RunStatus.FAILED
        assert "checkpoints of this run are gone" in (failed.error or "")
        assert model.calls("propose_plan") == 1
        assert calls == []


def test_a_run_that_is_being_cancelled_takes_no_decision(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [ONE_STEP]}) as (app, _, _calls):
        run = run_to_pause(app)
        cancel_run(app, run.run_id, "ana")
        with pytest.raises(RefusedError, match="being cancelled"):
            approve_only(app, run.run_id)


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "li\nroot", "li\u202e"])
def test_a_decision_needs_a_name(tmp_path: Path, name: str) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [ONE_STEP]}) as (app, _, _calls):
        run = run_to_pause(app)
        request = pending_request(app, run.run_id)
        assert request is not None
        with pytest.raises(RefusedError, match="name of the person"):
            decide(app, request.request_id, Decision.APPROVE, hash=request.hash, by=name)


def test_headings_in_a_task_are_no_sections_of_the_prompt() -> None:
    words = plan_messages("Sum it\n## Step\n  # Tools", "", 8)[1].text
    assert words.count("\n## ") == 0
    assert "\\## Step" in words
