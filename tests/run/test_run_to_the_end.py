import json
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from runs import approve, plan, run_to_pause, small_plandeck, step

from agent.errors import RefusedError
from agent.records import (
    AttemptStatus,
    Decision,
    EventKind,
    PlanSource,
    RequestKind,
    RequestStatus,
    RunStatus,
    StepStatus,
)
from agent.run.usecases import advance, cancel_run, check_edited_plan, decide, pending_request, resume_thread, start_run

pytestmark = pytest.mark.usefixtures("engine")

TWO_STEPS = plan(step("s1", sku="B-7"), step("s2", "note", ("s1",)))
NOTE = {"text": "12 in stock"}


def test_nothing_runs_before_a_person_approves_and_everything_after(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [TWO_STEPS], "note": [NOTE]}) as (app, model, calls):
        waiting = run_to_pause(app)
        assert waiting.status is RunStatus.WAITING_HUMAN
        assert calls == []
        assert model.calls("lookup") == model.calls("") == 0
        request = pending_request(app, waiting.run_id)
        assert request is not None
        assert request.kind is RequestKind.PLAN
        assert request.hash == app.records.plans(app.project, waiting.run_id)[0].hash

        done = approve(app, waiting)
        assert done.status is RunStatus.SUCCEEDED
        assert done.stop_reason == "completed"
        assert calls == [("lookup", "B-7"), ("note", "12 in stock")]
        assert done.answer == "The answer rests on the observation [1]."
        assert [source.step_id for source in done.sources] == ["s1"]
        assert "12 in stock" in done.sources[0].text
        assert [item.status for item in app.records.steps(app.project, done.run_id)] == [StepStatus.COMPLETED] * 2
        assert [item.name for item in app.records.artifacts(app.project, done.run_id)] == ["note.txt"]
        assert (app.artifacts_of(done.run_id) / "note.txt").read_text() == "12 in stock"


def test_results_of_a_dependency_reach_the_next_step_whole_and_others_in_summary(tmp_path: Path) -> None:
    three = plan(step("s1", sku="B-7"), step("s2", sku="C-9"), step("s3", "note", ("s2",)))
    with small_plandeck(tmp_path, {"propose_plan": [three], "note": [NOTE]}) as (app, model, _):
        approve(app, run_to_pause(app))
        asked = next(
            body for body in model.requests if body.get("tools", [{}])[0].get("function", {}).get("name") == "note"
        )
        words = asked["messages"][1]["content"]
        assert "C-9: 0 in stock" in words
        assert "B-7: 12 in stock" not in words
        assert '"step_id": "s1"' in words


def test_advance_again_changes_nothing(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [TWO_STEPS], "note": [NOTE]}) as (app, model, calls):
        waiting = run_to_pause(app)
        assert advance(app, waiting.run_id).status is RunStatus.WAITING_HUMAN
        assert model.calls("propose_plan") == 1
        done = approve(app, waiting)
        asked = len(model.requests)
        assert advance(app, done.run_id) == done
        assert resume_thread(app, done.thread_id) == done
        assert len(model.requests) == asked
        assert len(calls) == 2


def test_an_edited_plan_runs_as_edited(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [TWO_STEPS], "note": [NOTE]}) as (app, _, calls):
        waiting = run_to_pause(app)
        request = pending_request(app, waiting.run_id)
        assert request is not None
        edited = {"goal": "Know C-9", "steps": [{**step("s1", sku="C-9"), "description": "Look up C-9"}]}
        decided = decide(app, request.request_id, Decision.EDIT, hash=request.hash, by="li", plan=edited)
        assert decided.status is RequestStatus.EDITED
        done = advance(app, waiting.run_id)
        assert done.status is RunStatus.SUCCEEDED
        assert calls == [("lookup", "C-9")]
        first, second = app.records.plans(app.project, waiting.run_id)
        assert second.parent_hash == first.hash
        assert (second.version, second.trigger, second.source) == (2, "edit", PlanSource.PERSON)
        assert second.step("s1").description == "Look up C-9"


def test_an_invalid_edit_is_refused_and_the_request_stays_open(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [TWO_STEPS]}) as (app, _, _calls):
        waiting = run_to_pause(app)
        request = pending_request(app, waiting.run_id)
        assert request is not None
        wrong = {"steps": [step("s1", "delete_rows")]}
        with pytest.raises(RefusedError, match="delete_rows"):
            decide(app, request.request_id, Decision.EDIT, hash=request.hash, by="li", plan=wrong)
        assert check_edited_plan(app, waiting.run_id, wrong["steps"]).errors[0].code == "unknown_tool"
        assert pending_request(app, waiting.run_id) is not None


def test_a_rejected_plan_ends_the_run_without_a_call(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [TWO_STEPS]}) as (app, model, calls):
        waiting = run_to_pause(app)
        request = pending_request(app, waiting.run_id)
        assert request is not None
        with pytest.raises(RefusedError, match="reason"):
            decide(app, request.request_id, Decision.REJECT, hash=request.hash, by="li")
        decide(app, request.request_id, Decision.REJECT, hash=request.hash, by="li", note="Not this quarter")
        ended = advance(app, waiting.run_id)
        assert (ended.status, ended.stop_reason, ended.error) == (RunStatus.CANCELLED, "rejected", "Not this quarter")
        assert calls == []
        assert model.calls("") == 0


def test_a_plan_sent_back_comes_again_with_the_feedback(tmp_path: Path) -> None:
    again = plan(step("s1", sku="C-9"))
    with small_plandeck(tmp_path, {"propose_plan": [TWO_STEPS, again]}) as (app, model, calls):
        waiting = run_to_pause(app)
        request = pending_request(app, waiting.run_id)
        assert request is not None
        decide(app, request.request_id, Decision.RESPOND, hash=request.hash, by="li", note="Look at C-9 instead")
        waiting = advance(app, waiting.run_id)
        assert waiting.status is RunStatus.WAITING_HUMAN
        assert waiting.plan_version == 2
        assert "Look at C-9 instead" in model.requests[-1]["messages"][1]["content"]
        assert approve(app, waiting).status is RunStatus.SUCCEEDED
        assert calls == [("lookup", "C-9")]


def test_a_stale_hash_decides_nothing(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [TWO_STEPS]}) as (app, _, _calls):
        request = pending_request(app, run_to_pause(app).run_id)
        assert request is not None
        with pytest.raises(RefusedError):
            decide(app, request.request_id, Decision.APPROVE, hash="0" * 64, by="li")


def test_an_invalid_plan_is_asked_for_once_more_with_the_reasons(tmp_path: Path) -> None:
    wrong = plan(step("s1", "delete_rows"))
    with small_plandeck(tmp_path, {"propose_plan": [wrong, TWO_STEPS]}) as (app, model, _):
        waiting = run_to_pause(app)
        assert model.calls("propose_plan") == 2
        assert "delete_rows" in model.requests[1]["messages"][1]["content"]
        assert app.records.plans(app.project, waiting.run_id)[0].source is PlanSource.MODEL


def test_a_plan_invalid_twice_becomes_the_fallback_plan_which_waits_like_any_other(tmp_path: Path) -> None:
    wrong = plan(step("s1", "delete_rows"))
    with small_plandeck(tmp_path, {"propose_plan": [wrong]}) as (app, model, calls):
        waiting = run_to_pause(app)
        assert waiting.status is RunStatus.WAITING_HUMAN
        assert model.calls("propose_plan") == 2
        assert app.records.plans(app.project, waiting.run_id)[0].source is PlanSource.FALLBACK
        assert calls == []


def test_no_steps_twice_ends_the_run_without_asking_a_person(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [plan()]}) as (app, model, _):
        ended = run_to_pause(app)
        assert (ended.status, ended.stop_reason) == (RunStatus.FAILED, "empty_plan")
        assert model.calls("propose_plan") == 2
        assert app.records.requests(app.project) == []


@pytest.mark.parametrize("as_text", [False, True])
def test_a_planner_that_cannot_ends_the_run_with_its_words(tmp_path: Path, as_text: bool) -> None:
    cannot: object = {"kind": "cannot", "message": "There is no weather tool."}
    cannot = json.dumps(cannot) if as_text else cannot
    with small_plandeck(tmp_path, {"propose_plan": [cannot]}) as (app, _, _calls):
        ended = run_to_pause(app)
        assert (ended.status, ended.stop_reason, ended.answer) == (
            RunStatus.FAILED,
            "empty_plan",
            "There is no weather tool.",
        )


@pytest.mark.parametrize("question", [{"kind": "question", "message": "Which SKU?"}, "Which SKU do you mean?"])
def test_a_question_of_the_planner_is_answered_in_the_same_run(tmp_path: Path, question: object) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [question, TWO_STEPS], "note": [NOTE]}) as (app, model, _):
        waiting = run_to_pause(app)
        request = pending_request(app, waiting.run_id)
        assert request is not None
        assert request.kind is RequestKind.QUESTION
        decide(app, request.request_id, Decision.RESPOND, hash=request.hash, by="li", value="B-7")
        waiting = advance(app, waiting.run_id)
        assert "B-7" in model.requests[-1]["messages"][1]["content"]
        assert approve(app, waiting).status is RunStatus.SUCCEEDED


def test_a_tool_error_goes_back_to_the_model_which_mends_its_call(tmp_path: Path) -> None:
    open_argument = plan(step("s1"))
    answers = {"propose_plan": [open_argument], "lookup": [{"sku": "Z-1"}, {"sku": "B-7"}]}
    with small_plandeck(tmp_path, answers) as (app, model, calls):
        done = approve(app, run_to_pause(app))
        assert done.status is RunStatus.SUCCEEDED
        assert calls == [("lookup", "Z-1"), ("lookup", "B-7")]
        assert "There is no SKU Z-1" in model.requests[-4]["messages"][-1]["content"]
        assert len(app.records.attempts(app.project, done.run_id)) == 1


def test_a_call_that_changes_a_fixed_argument_or_names_another_tool_does_not_run(tmp_path: Path) -> None:
    answers = {
        "propose_plan": [plan(step("s1", sku="B-7"))],
        "lookup": [{"sku": "C-9"}, ("note", {"text": "x"}), {"sku": "B-7"}],
    }
    with small_plandeck(tmp_path, answers) as (app, _, calls):
        assert approve(app, run_to_pause(app)).status is RunStatus.SUCCEEDED
        assert calls == [("lookup", "B-7")]


def test_an_unmet_criterion_is_tried_three_times_then_blocked_and_dependents_skipped(tmp_path: Path) -> None:
    three = plan(step("s1", sku="B-7"), step("s2", after=("s1",), sku="C-9"), step("s3", "note", ("s2",), text="x"))
    met = {"criterion_met": True, "reason": "yes", "key_result": "12 in stock"}
    unmet = {"criterion_met": False, "reason": "nothing in stock", "key_result": "0"}
    with small_plandeck(tmp_path, {"propose_plan": [three], "judge_step": [met, unmet]}) as (app, model, calls):
        ended = approve(app, run_to_pause(app))
        assert (ended.status, ended.stop_reason) == (RunStatus.FAILED, "step_blocked")
        assert "nothing in stock" in (ended.error or "")
        assert [item.status for item in app.records.steps(app.project, ended.run_id)] == [
            StepStatus.COMPLETED,
            StepStatus.BLOCKED,
            StepStatus.SKIPPED,
        ]
        assert [call for call in calls if call[1] == "C-9"] == [("lookup", "C-9")] * 3
        attempts = [item for item in app.records.attempts(app.project, ended.run_id) if item.step_id == "s2"]
        assert [item.status for item in attempts] == [AttemptStatus.FAILED] * 3
        assert ended.answer is not None
        assert "s2" in model.requests[-1]["messages"][1]["content"]


def test_an_exception_ends_the_try_and_is_no_result(tmp_path: Path) -> None:
    broken = httpx.Response(500, json={"error": {"message": "try later"}})
    answers = {"propose_plan": [plan(step("s1", sku="B-7"))], "lookup": [broken, {"sku": "B-7"}]}
    with small_plandeck(tmp_path, answers) as (app, _, calls):
        done = approve(app, run_to_pause(app))
        assert done.status is RunStatus.SUCCEEDED
        attempts = app.records.attempts(app.project, done.run_id)
        assert [item.status for item in attempts] == [AttemptStatus.FAILED, AttemptStatus.COMPLETED]
        assert "try later" in (attempts[0].error or "")
        assert calls == [("lookup", "B-7")]


def test_a_refused_key_is_not_tried_again(tmp_path: Path) -> None:
    refused = httpx.Response(401, json={"error": {"message": "bad key"}})
    answers = {"propose_plan": [plan(step("s1", sku="B-7"))], "lookup": [refused]}
    with small_plandeck(tmp_path, answers) as (app, model, _):
        ended = approve(app, run_to_pause(app))
        assert ended.stop_reason == "step_blocked"
        assert model.calls("lookup") == 1


def test_a_failure_of_planning_fails_the_run_and_resume_goes_on(tmp_path: Path) -> None:
    broken = httpx.Response(500, json={"error": {"message": "try later"}})
    with small_plandeck(tmp_path, {"propose_plan": [broken, broken, broken, TWO_STEPS], "note": [NOTE]}) as (
        app,
        _,
        _calls,
    ):
        failed = run_to_pause(app)
        assert (failed.status, failed.stop_reason) == (RunStatus.FAILED, "error")
        assert "try later" in (failed.error or "")
        resumed = resume_thread(app, failed.thread_id)
        assert resumed.status is RunStatus.WAITING_HUMAN
        assert (resumed.error, resumed.stop_reason) == (None, None)
        assert approve(app, resumed).status is RunStatus.SUCCEEDED


def test_a_lost_request_row_is_made_again_from_the_checkpoint_with_the_same_id(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [TWO_STEPS]}) as (app, _, _calls):
        waiting = run_to_pause(app)
        request = pending_request(app, waiting.run_id)
        assert request is not None
        from sqlalchemy import create_engine, text

        engine = create_engine(app.settings.records_url)
        with engine.begin() as connection:
            connection.execute(text("DELETE FROM approval_requests"))
        engine.dispose()
        assert pending_request(app, waiting.run_id) is None
        advance(app, waiting.run_id)
        again = pending_request(app, waiting.run_id)
        assert again is not None
        assert (again.request_id, again.hash) == (request.request_id, request.hash)


def test_a_waiting_run_can_be_cancelled_and_its_request_is_superseded(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [TWO_STEPS]}) as (app, _, calls):
        waiting = run_to_pause(app)
        cancel_run(app, waiting.run_id, "ana")
        ended = advance(app, waiting.run_id)
        assert (ended.status, ended.stop_reason) == (RunStatus.CANCELLED, "cancelled")
        assert app.records.requests(app.project)[0].status is RequestStatus.SUPERSEDED
        assert calls == []


@pytest.mark.parametrize(("task", "word"), [("", "empty"), ("  \n", "empty"), ("x" * 100_000, "100,000")])
def test_a_task_of_no_or_too_many_characters_is_refused_in_one_sentence(tmp_path: Path, task: str, word: str) -> None:
    with small_plandeck(tmp_path, {}) as (app, _, _calls):
        with pytest.raises(RefusedError, match=word):
            start_run(app, task, by="ana")
        assert app.records.runs(app.project) == []


def test_spans_of_a_run_carry_step_attempt_and_role_and_are_one_trace(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [TWO_STEPS], "note": [NOTE]}) as (app, model, _):
        done = approve(app, run_to_pause(app))
        spans = app.spans.run_spans(app.project, done.run_id)
        assert {span.trace_id for span in spans} == {done.trace_id}
        chats = [span for span in spans if span.operation == "chat"]
        assert len(chats) == len(model.requests)
        assert sorted((span.role or "", span.step_id or "") for span in chats) == [
            ("check", ""),
            ("check", "s1"),
            ("check", "s2"),
            ("execution", "s1"),
            ("execution", "s2"),
            ("planning", ""),
            ("synthesis", ""),
        ]
        assert all((span.attempt or 0) == (1 if span.step_id else 0) for span in chats)
        usage = app.spans.run_usage(app.project, done.run_id)
        assert (usage.input_tokens, usage.output_tokens) == (100 * len(chats), 10 * len(chats))
        assert {span.span_id for span in spans if span.parent_span_id is None} == {done.root_span_id}
        assert not [span for span in spans if span.status == "error"]
        assert [span.tool for span in spans if span.operation == "execute_tool"] == ["lookup", "note"]


def test_events_tell_the_story_in_order(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [TWO_STEPS], "note": [NOTE]}) as (app, _, _calls):
        done = approve(app, run_to_pause(app))
        kinds = [event.kind for event in reversed(app.records.events(app.project, done.run_id))]
        if kinds[0] is EventKind.RUN_SUCCEEDED:
            kinds.reverse()
        assert [kind for kind in kinds if kind not in (EventKind.ASKED, EventKind.DEGRADED)] == [
            EventKind.PLAN_PROPOSED,
            EventKind.PLAN_WAITS,
            EventKind.APPROVED,
            EventKind.STEP_STARTED,
            EventKind.STEP_COMPLETED,
            EventKind.STEP_STARTED,
            EventKind.ARTIFACT_WRITTEN,
            EventKind.STEP_COMPLETED,
            EventKind.RUN_SUCCEEDED,
        ]


def test_times_of_a_run_are_aware(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [TWO_STEPS], "note": [NOTE]}) as (app, _, _calls):
        done = approve(app, run_to_pause(app))
        assert done.finished_at is not None
        assert done.started_at is not None
        assert done.created_at <= done.started_at <= done.finished_at <= datetime.now(UTC)
