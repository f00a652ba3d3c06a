"""What has to come out right when models, tools and people do what they do."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import BaseModel
from runs import Calls, approve, plan, run_to_pause, small_plandeck, step

from agent.errors import RefusedError
from agent.records import (
    AttemptStatus,
    CallState,
    Decision,
    Effect,
    EventKind,
    Limits,
    RequestKind,
    Run,
    RunStatus,
    StepStatus,
)
from agent.run.meter import raised_limits
from agent.run.policy import Behaviour, Degrade, Refusal, ReplanPolicy
from agent.run.usecases import Plandeck, advance, decide, pending_request, start_run
from agent.tools.registry import ErrorKind, Observation, Tool, ToolContext, ToolError
from traces.records import pico

pytestmark = pytest.mark.usefixtures("engine")

BUSY = httpx.Response(429, headers={"Retry-After": "0"}, json={"error": {"message": "slow down"}})


class ConvertArguments(BaseModel):
    unit: str


class MailArguments(BaseModel):
    to: str
    body: str


class Mailbox(list[tuple[str, str]]):
    """What was really sent."""


def convert(fails: Iterator[Exception | None]) -> Tool:
    def run(arguments: ConvertArguments, context: ToolContext) -> Observation:
        error = next(fails, None)
        if error is not None:
            raise error
        return Observation(text=f"3 {arguments.unit}")

    return Tool("convert", 1, "Converts stock into units.", ConvertArguments, Effect.READ, run)


def always(error: Exception) -> Iterator[Exception]:
    while True:
        yield error


def mail(sent: Mailbox, *, idempotent: bool = False, fail: Callable[[], None] = lambda: None) -> Tool:
    def run(arguments: MailArguments, context: ToolContext) -> Observation:
        assert context.idempotency_key
        sent.append((arguments.to, arguments.body))
        fail()
        return Observation(text=f"sent to {arguments.to}")

    return Tool("mail", 1, "Sends mail.", MailArguments, Effect.SEND_EXTERNAL, run, idempotent=idempotent)


def statuses(app: Plandeck, run: Run) -> dict[str, StepStatus]:
    return {item.step_id: item.status for item in app.records.steps(app.project, run.run_id)}


def answer_request(app: Plandeck, run: Run, decision: Decision, **words: Any) -> Run:
    request = pending_request(app, run.run_id)
    assert request is not None, (run.status, run.stop_reason, run.error)
    decide(app, request.request_id, decision, hash=request.hash, by="li", **words)
    return advance(app, run.run_id)


def revised(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "steps", "steps": list(steps)}


S1 = step("s1", sku="B-7")
S2 = step("s2", "convert", ("s1",), unit="box")
S3 = step("s3", "note", ("s2",), text="done")


# --- replanning


def test_a_failed_step_is_planned_anew_and_finished_work_is_kept(tmp_path: Path) -> None:
    fails = iter([ToolError("unit unknown", kind=ErrorKind.FAILED)])
    answers = {
        "propose_plan": [plan(S1, S2, S3)],
        "revise_plan": [revised(S1, step("s2", "convert", ("s1",), unit="pallet"), S3)],
    }
    with small_plandeck(tmp_path, answers, tools=[convert(fails)]) as (app, model, calls):
        waiting = approve(app, run_to_pause(app))
        assert waiting.status is RunStatus.WAITING_HUMAN
        new = app.records.plans(app.project, waiting.run_id)[-1]
        assert (new.version, new.trigger, new.parent_hash) == (
            2,
            "execution_error",
            app.records.plans(app.project, waiting.run_id)[0].hash,
        )
        assert new.step("s2").args == {"unit": "pallet"}
        assert statuses(app, waiting) == {
            "s1": StepStatus.COMPLETED,
            "s2": StepStatus.PENDING,
            "s3": StepStatus.PENDING,
        }
        done = approve(app, waiting)
        assert done.status is RunStatus.SUCCEEDED, done.error
        assert calls == [("lookup", "B-7"), ("note", "done")]
        asked = next(body for body in model.requests if "revise_plan" in str(body.get("tools")))
        words = asked["messages"][1]["content"]
        assert "unit unknown" in words
        assert '"kind": "execution_error"' in words
        assert "12 in stock" not in words, "the planner gets summaries, not observations"


@pytest.mark.parametrize(
    "given_back",
    [revised(S2), revised(S1, S2, S3), revised(S1)],
    ids=["the failed step alone", "everything", "finished steps only"],
)
def test_a_replan_with_nothing_new_stops_the_run(tmp_path: Path, given_back: dict[str, Any]) -> None:
    fails = always(ToolError("unit unknown", kind=ErrorKind.FAILED))
    answers = {"propose_plan": [plan(S1, S2, S3)], "revise_plan": [given_back]}
    with small_plandeck(tmp_path, answers, tools=[convert(fails)]) as (app, model, _):
        ended = approve(app, run_to_pause(app))
        assert (ended.status, ended.stop_reason) == (RunStatus.FAILED, "no_progress")
        assert "unit unknown" in (ended.error or "")
        assert model.calls("propose_plan") + model.calls("revise_plan") == 2
        assert ended.answer, "what was found is delivered"


def test_replans_end_at_their_limit(tmp_path: Path) -> None:
    fails = always(ToolError("unit unknown", kind=ErrorKind.FAILED))
    units = (f"unit {n}" for n in range(9))
    answers = {
        "propose_plan": [plan(S1, S2)],
        "revise_plan": [revised(step("s2", "convert", ("s1",), unit=unit)) for unit in units],
    }
    with small_plandeck(tmp_path, answers, tools=[convert(fails)]) as (app, model, _):
        run = run_to_pause(app)
        for _ in range(3):
            run = approve(app, run)
        assert (run.status, run.stop_reason) == (RunStatus.FAILED, "max_replans")
        assert "unit unknown" in (run.error or "")
        assert model.calls("revise_plan") == 2


def test_strict_keeps_waiting_steps_word_for_word_and_adaptive_may_answer_early(tmp_path: Path) -> None:
    reworded = {**S3, "description": "Do s3 otherwise"}
    new = step("s2", "convert", ("s1",), unit="pallet")
    failure = ToolError("unit unknown", kind=ErrorKind.FAILED)
    for policy, expected in ((ReplanPolicy.STRICT, "Do s3"), (ReplanPolicy.ADAPTIVE, "Do s3 otherwise")):
        answers = {"propose_plan": [plan(S1, S2, S3)], "revise_plan": [revised(new, reworded)]}
        with small_plandeck(
            tmp_path / policy, answers, tools=[convert(iter([failure]))], behaviour=Behaviour(replan=policy)
        ) as (app, _, _calls):
            run = approve(app, run_to_pause(app))
            assert app.records.plans(app.project, run.run_id)[-1].step("s3").description == expected

    early = {"kind": "answer", "message": "There are 12."}
    for policy, status in ((ReplanPolicy.STRICT, RunStatus.FAILED), (ReplanPolicy.ADAPTIVE, RunStatus.SUCCEEDED)):
        answers = {"propose_plan": [plan(S1, S2, S3)], "revise_plan": [early]}
        with small_plandeck(
            tmp_path / f"early {policy}", answers, tools=[convert(iter([failure]))], behaviour=Behaviour(replan=policy)
        ) as (app, _, _calls):
            assert approve(app, run_to_pause(app)).status is status


def test_an_empty_observation_is_a_trigger_of_its_own(tmp_path: Path) -> None:
    def nothing(arguments: ConvertArguments, context: ToolContext) -> Observation:
        return Observation(text="no rows", empty=True)

    empty = Tool("convert", 1, "Converts stock.", ConvertArguments, Effect.READ, nothing)
    unmet = {"criterion_met": False, "reason": "there is nothing", "key_result": ""}
    met = {"criterion_met": True, "reason": "a number", "key_result": "12"}
    answers = {
        "propose_plan": [plan(step("s1", "convert", unit="2026-12"))],
        "judge_step": [unmet, met],
        "revise_plan": [revised(step("s1", sku="B-7"))],
    }
    with small_plandeck(tmp_path, answers, tools=[empty]) as (app, _, calls):
        run = approve(app, run_to_pause(app))
        assert app.records.plans(app.project, run.run_id)[-1].trigger == "empty_observation"
        assert approve(app, run).status is RunStatus.SUCCEEDED
        assert calls == [("lookup", "B-7")]


def test_looking_back_may_add_steps_which_wait_for_approval(tmp_path: Path) -> None:
    further = {"enough": False, "missing": "C-9", "steps": [step("s2", sku="C-9"), step("s3", sku="B-7")]}
    answers = {"propose_plan": [plan(S1)], "reflect": [further, {"enough": True}]}
    with small_plandeck(tmp_path, answers) as (app, _, calls):
        run = approve(app, run_to_pause(app))
        assert run.status is RunStatus.WAITING_HUMAN
        new = app.records.plans(app.project, run.run_id)[-1]
        assert ([item.id for item in new.steps], new.trigger) == (["s1", "s2"], "not_enough"), "s3 repeats s1"
        assert approve(app, run).status is RunStatus.SUCCEEDED
        assert calls == [("lookup", "B-7"), ("lookup", "C-9")]


# --- failures and retries


def test_a_step_that_times_out_twice_is_done_once_at_the_third_try(tmp_path: Path) -> None:
    late = [ToolError("convert is late", kind=ErrorKind.TIMEOUT, retry_after=0.01) for _ in range(2)]
    answers = {"propose_plan": [plan(S1, S2, S3)]}
    with small_plandeck(tmp_path, answers, tools=[convert(iter(late))]) as (app, _, calls):
        done = approve(app, run_to_pause(app))
        assert done.status is RunStatus.SUCCEEDED, done.error
        tries = [item for item in app.records.attempts(app.project, done.run_id) if item.step_id == "s2"]
        assert [item.status for item in tries] == [AttemptStatus.FAILED] * 2 + [AttemptStatus.COMPLETED]
        assert calls == [("lookup", "B-7"), ("note", "done")]
        states = [call.state for call in app.records.ledger.calls(app.project, done.run_id) if call.step_id == "s2"]
        assert states == [CallState.CANCELLED] * 2 + [CallState.COMMITTED]


def test_a_step_waits_as_long_as_it_is_told(tmp_path: Path) -> None:
    told = ToolError("slow down", kind=ErrorKind.RATE_LIMITED, retry_after=7)
    waited: list[float] = []
    with small_plandeck(tmp_path, {"propose_plan": [plan(S1, S2)]}, tools=[convert(iter([told]))]) as (app, _, _calls):
        offset = timedelta()

        def wait(seconds: float) -> bool:
            nonlocal offset
            waited.append(seconds)
            offset += timedelta(seconds=seconds)
            return True

        start = app.now()
        patient = replace(app, now=lambda: start + offset, wait=lambda *_: wait(_[-1]))
        assert approve(patient, run_to_pause(patient)).status is RunStatus.SUCCEEDED
        assert max(waited) == pytest.approx(7, abs=0.1)


def test_what_is_denied_is_not_tried_again(tmp_path: Path) -> None:
    denied = always(ToolError("no right to convert", kind=ErrorKind.PERMISSION_DENIED))
    independent = step("s4", sku="C-9")
    answers = {"propose_plan": [plan(S1, S2, S3, independent)]}
    with small_plandeck(tmp_path, answers, tools=[convert(denied)]) as (app, model, _):
        ended = approve(app, run_to_pause(app))
        assert (ended.status, ended.stop_reason) == (RunStatus.FAILED, "step_blocked")
        assert statuses(app, ended) == {
            "s1": StepStatus.COMPLETED,
            "s2": StepStatus.BLOCKED,
            "s3": StepStatus.SKIPPED,
            "s4": StepStatus.COMPLETED,
        }
        tries = [item for item in app.records.attempts(app.project, ended.run_id) if item.step_id == "s2"]
        assert len(tries) == 1
        reported = model.requests[-1]["messages"][1]["content"]
        assert "no right to convert" in reported, "the answer is asked to say what is missing"


def test_a_tool_that_misses_something_asks_and_the_same_run_goes_on(tmp_path: Path) -> None:
    missing = iter([ToolError("Which region?", kind=ErrorKind.MISSING_INPUT)])
    with small_plandeck(tmp_path, {"propose_plan": [plan(S1, S2)]}, tools=[convert(missing)]) as (app, model, _):
        run = approve(app, run_to_pause(app))
        request = pending_request(app, run.run_id)
        assert request is not None
        assert (request.kind, request.payload["question"]) == (RequestKind.QUESTION, "Which region?")
        tries = [item for item in app.records.attempts(app.project, run.run_id) if item.step_id == "s2"]
        assert [item.status for item in tries] == [AttemptStatus.PAUSED]
        done = answer_request(app, run, Decision.RESPOND, value="north")
        assert (done.run_id, done.status) == (run.run_id, RunStatus.SUCCEEDED)
        assert '"a_person_said": "north"' in str(
            [body["messages"][1]["content"] for body in model.requests if "convert" in str(body.get("tools"))][-1]
        )


def test_steps_that_need_nothing_of_each_other_run_in_one_wave(tmp_path: Path) -> None:
    wave = plan(step("s1", sku="B-7"), step("s2", sku="C-9"), step("s3", "note", ("s1", "s2"), text="both"))
    with small_plandeck(tmp_path, {"propose_plan": [wave]}) as (app, _, calls):
        done = approve(app, run_to_pause(app))
        assert done.status is RunStatus.SUCCEEDED, done.error
        assert sorted(calls[:2]) == [("lookup", "B-7"), ("lookup", "C-9")]
        assert calls[2:] == [("note", "both")]


def test_a_finished_step_survives_the_failure_of_its_sibling(tmp_path: Path) -> None:
    fails = iter([ToolError("convert is late", kind=ErrorKind.TIMEOUT, retry_after=0.01)])
    wave = plan(step("s1", sku="B-7"), step("s2", "convert", unit="box"))
    with small_plandeck(tmp_path, {"propose_plan": [wave]}, tools=[convert(fails)]) as (app, _, calls):
        assert approve(app, run_to_pause(app)).status is RunStatus.SUCCEEDED
        assert calls == [("lookup", "B-7")]


# --- limits


def test_a_model_that_never_stops_is_stopped(tmp_path: Path) -> None:
    again = [("lookup", {"sku": f"B-7{' ' * n}"}) for n in range(100)]
    with small_plandeck(tmp_path, {"react": again}) as (app, _, calls):
        ended = advance(app, start_run(app, "Look", by="ana", mode="react").run_id)
        assert (ended.status, ended.stop_reason) == (RunStatus.FAILED, "loop")
        assert len(calls) <= 3


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(max_llm_calls=5), "max_llm_calls"),
        (Limits(max_tool_calls=4), "max_tool_calls"),
        (Limits(wall_seconds=-1), "timeout"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_limit_stops_the_run_under_its_name(tmp_path: Path, limits: Limits, reason: str) -> None:
    skus = [("lookup", {"sku": "B-7" if n == 0 else f"X-{n}"}) for n in range(100)]
    with small_plandeck(tmp_path, {"react": skus}) as (app, model, _):
        run = start_run(app, "Look", by="ana", mode="react")
        # No manifest may say -1, which is over at once.
        app.records.update_run(app.project, run.run_id, limits=limits)
        ended = advance(app, run.run_id)
        assert (ended.status, ended.stop_reason) == (RunStatus.FAILED, reason)
        assert len(model.requests) <= limits.max_llm_calls
        assert len(app.records.ledger.calls(app.project, ended.run_id)) <= limits.max_tool_calls
        if reason != "timeout":
            assert ended.answer, "what was found is delivered"


def test_planning_again_and_again_ends_at_the_limit_of_iterations(tmp_path: Path) -> None:
    more = [{"enough": False, "missing": "more", "steps": [step(f"x{n}", "note", text=str(n))]} for n in range(9)]
    answers = {"propose_plan": [plan(step("s0", "note", text="begin"))], "reflect": more}
    limits = Limits(max_iterations=3, max_steps=20)
    with small_plandeck(tmp_path, answers, limits=limits) as (app, _model, calls):
        run = run_to_pause(app)
        for _ in range(3):
            run = approve(app, run)
        assert (run.status, run.stop_reason) == (RunStatus.FAILED, "max_iterations")
        assert [argument for _, argument in calls] == ["begin", "0", "1"]
        assert run.answer


def test_a_budget_is_asked_about_before_the_call_that_would_pass_it(tmp_path: Path) -> None:
    limits = Limits(max_tokens=3_000)
    with small_plandeck(tmp_path, {"propose_plan": [plan(S1)]}, limits=limits) as (app, model, calls):
        model.prompt_tokens = 1_000
        run = run_to_pause(app)
        request = pending_request(app, run.run_id)
        assert request is not None
        while request.payload.get("about") != "budget":
            run = answer_request(app, run, Decision.APPROVE)
            request = pending_request(app, run.run_id)
            assert request is not None, (run.status, run.stop_reason)
        before = len(model.requests)
        with pytest.raises(RefusedError, match="raised"):
            decide(app, request.request_id, Decision.RESPOND, hash=request.hash, by="li", value="more")
        assert len(model.requests) == before
        refused = answer_request(app, run, Decision.REJECT, note="too dear")
        assert (refused.status, refused.stop_reason) == (RunStatus.FAILED, "budget")
        assert len(model.requests) == before
        assert len(calls) <= 1


def test_a_raised_budget_lets_the_same_run_go_on(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [plan(S1)]}, limits=Limits(max_tokens=3_000)) as (app, model, calls):
        model.prompt_tokens = 1_000
        run = run_to_pause(app)
        while run.status is RunStatus.WAITING_HUMAN:
            run = answer_request(app, run, Decision.APPROVE)
        assert run.status is RunStatus.SUCCEEDED, (run.stop_reason, run.error)
        assert run.limits.max_tokens > 3_000
        assert calls == [("lookup", "B-7")]


# --- effects


OPEN_MAIL = step("s2", "mail", ("s1",), to="bo@example.com")


def test_a_call_with_open_arguments_that_sends_something_waits_with_exactly_these(tmp_path: Path) -> None:
    sent = Mailbox()
    answers = {"propose_plan": [plan(S1, OPEN_MAIL)], "mail": [{"to": "bo@example.com", "body": "12 left"}]}
    with small_plandeck(tmp_path, answers, tools=[mail(sent)]) as (app, model, _):
        run = approve(app, run_to_pause(app))
        assert sent == []
        request = pending_request(app, run.run_id)
        assert request is not None
        assert request.kind is RequestKind.TOOL_CALL
        assert request.payload["arguments"] == {"to": "bo@example.com", "body": "12 left"}
        asked = model.calls("mail")
        done = answer_request(app, run, Decision.APPROVE)
        assert done.status is RunStatus.SUCCEEDED, done.error
        assert sent == [("bo@example.com", "12 left")]
        assert model.calls("mail") == asked, "the model is not asked again"
        (call,) = [item for item in app.records.ledger.calls(app.project, done.run_id) if item.tool == "mail"]
        assert (call.state, call.arguments) == (CallState.COMMITTED, request.payload["arguments"])


def test_a_call_whose_arguments_the_approver_saw_is_not_asked_about_twice(tmp_path: Path) -> None:
    sent = Mailbox()
    seen = step("s1", "mail", to="bo@example.com", body="hello")
    with small_plandeck(tmp_path, {"propose_plan": [plan(seen)]}, tools=[mail(sent)]) as (app, _, _calls):
        assert approve(app, run_to_pause(app)).status is RunStatus.SUCCEEDED
        assert sent == [("bo@example.com", "hello")]


@pytest.mark.parametrize(("refusal", "noted"), [(Refusal.GO_ON, True), (Refusal.END, False)])
def test_a_refused_call_is_not_made_and_the_run_goes_on_or_ends_by_policy(
    tmp_path: Path, refusal: Refusal, noted: bool
) -> None:
    sent = Mailbox()
    answers = {
        "propose_plan": [plan(S1, OPEN_MAIL, step("s3", "note", ("s1",), text="anyway"))],
        "mail": [{"to": "bo@example.com", "body": "12 left"}],
    }
    with small_plandeck(tmp_path, answers, tools=[mail(sent)], behaviour=Behaviour(refusal=refusal)) as (
        app,
        model,
        calls,
    ):
        run = approve(app, run_to_pause(app))
        ended = answer_request(app, run, Decision.REJECT, note="not to bo")
        assert sent == []
        assert ended.status is (RunStatus.FAILED if refusal is Refusal.GO_ON else RunStatus.CANCELLED)
        assert ("note", "anyway") in calls or not noted
        assert model.calls("revise_plan") == 0, "a person's no is not planned around"
        assert "not to bo" in (ended.error or "")


def test_an_edited_call_runs_as_edited_and_is_checked_first(tmp_path: Path) -> None:
    sent = Mailbox()
    answers = {"propose_plan": [plan(S1, OPEN_MAIL)], "mail": [{"to": "bo@example.com", "body": "12 left"}]}
    with small_plandeck(tmp_path, answers, tools=[mail(sent)]) as (app, _, _calls):
        run = approve(app, run_to_pause(app))
        with pytest.raises(RefusedError, match="body"):
            answer_request(app, run, Decision.EDIT, value={"to": "cy@example.com"})
        done = answer_request(app, run, Decision.EDIT, value={"to": "cy@example.com", "body": "a dozen"})
        assert done.status is RunStatus.SUCCEEDED
        assert sent == [("cy@example.com", "a dozen")]


def test_an_effect_whose_outcome_is_unknown_is_asked_about_and_not_repeated(tmp_path: Path) -> None:
    sent = Mailbox()

    def breaks() -> None:
        raise ToolError("the line broke", kind=ErrorKind.OUTCOME_UNKNOWN)

    seen = step("s1", "mail", to="bo@example.com", body="hello")
    with small_plandeck(tmp_path, {"propose_plan": [plan(seen)]}, tools=[mail(sent, fail=breaks)]) as (app, _, _calls):
        run = approve(app, run_to_pause(app))
        assert run.status is RunStatus.WAITING_HUMAN
        request = pending_request(app, run.run_id)
        assert request is not None
        assert request.payload["about"] == "outcome"
        (call,) = app.records.ledger.calls(app.project, run.run_id)
        assert call.state is CallState.UNKNOWN
        done = answer_request(app, run, Decision.RESPOND, value="bo has it")
        assert done.status is RunStatus.SUCCEEDED, done.error
        assert sent == [("bo@example.com", "hello")], "it was sent once"


def test_another_call_after_a_committed_one_is_asked_about_and_made_itself(tmp_path: Path) -> None:
    sent = Mailbox()
    wanted = [("mail", {"to": "bo@example.com", "body": "a dozen"}), ("mail", {"to": "cy@example.com", "body": "ten"})]
    answers = {
        "propose_plan": [plan(step("s1", "mail"))],
        "mail": [arguments for _, arguments in wanted],
        "judge_step": [
            {"criterion_met": False, "reason": "the wrong person", "key_result": ""},
            {"criterion_met": True, "reason": "it went out", "key_result": "sent"},
        ],
    }
    with small_plandeck(tmp_path, answers, tools=[mail(sent)]) as (app, _, _calls):
        run = approve(app, run_to_pause(app))
        run = approve(app, run)
        request = pending_request(app, run.run_id)
        assert request is not None
        assert request.payload["arguments"] == wanted[1][1]
        assert request.payload["made_before"] == [wanted[0][1]]
        done = approve(app, run)
        assert done.status is RunStatus.SUCCEEDED, done.error
        assert sent == [("bo@example.com", "a dozen"), ("cy@example.com", "ten")]
        (progress,) = app.records.steps(app.project, done.run_id)
        assert progress.result is not None
        assert progress.result["observation"]["text"] == "sent to cy@example.com"


def test_a_planner_that_plans_anew_is_told_what_was_done_for_good(tmp_path: Path) -> None:
    sent = Mailbox()
    answers = {
        "propose_plan": [plan(step("s1", "mail", to="bo@example.com", body="hello"))],
        "judge_step": [{"criterion_met": False, "reason": "no answer came", "key_result": ""}] * 3,
        "revise_plan": [{"kind": "cannot", "message": "It was sent."}],
    }
    with small_plandeck(tmp_path, answers, tools=[mail(sent)]) as (app, model, _):
        done = approve(app, run_to_pause(app))
        assert done.status is RunStatus.FAILED
        assert len(sent) == 1
        asked = next(request for request in model.requests if "revise_plan" in str(request.get("tools")))
        assert "done_already_and_not_to_be_done_again" in str(asked["messages"])
        assert "bo@example.com" in str(asked["messages"])


class Killed(BaseException):
    """The end of the process, as far as a run in it can tell."""


def test_calls_that_a_crash_cut_off_or_made_again_are_no_loop(tmp_path: Path) -> None:
    made: list[str] = []

    def dies(arguments: MailArguments, context: ToolContext) -> Observation:
        made.append(arguments.to)
        if len(made) <= 5:
            raise Killed
        return Observation(text="12")

    tool = Tool("peek", 1, "Looks.", MailArguments, Effect.READ, dies)
    answers = {"propose_plan": [plan(step("s1", "peek", to="x", body="y"))]}
    with small_plandeck(tmp_path, answers, tools=[tool]) as (app, _, _calls):
        run = run_to_pause(app)
        with pytest.raises(Killed):
            approve(app, run)
        for _ in range(4):
            with pytest.raises(Killed):
                advance(app, run.run_id)
        done = advance(app, run.run_id)
        assert done.status is RunStatus.SUCCEEDED, done.error
        assert len(made) == 6


# --- modes and degrading


def test_a_simple_question_costs_one_call_and_no_plan(tmp_path: Path) -> None:
    direct = {"mode": "direct", "reason": "It is common knowledge.", "answer": "The middle value."}
    with small_plandeck(tmp_path, {"choose_mode": [direct]}) as (app, model, calls):
        done = advance(app, start_run(app, "What is a median?", by="ana", mode="auto").run_id)
        assert (done.status, done.answer) == (RunStatus.SUCCEEDED, "The middle value.")
        assert len(model.requests) == 1
        assert calls == []
        assert any("common knowledge" in event.text for event in app.records.events(app.project, done.run_id))


def test_the_free_mode_looks_until_it_can_answer(tmp_path: Path) -> None:
    turns = [("lookup", {"sku": "nope"}), ("lookup", {"sku": "B-7"}), "There are 12 [2]."]
    with small_plandeck(tmp_path, {"react": turns}) as (app, model, calls):
        done = advance(app, start_run(app, "How much of B-7?", by="ana", mode="react").run_id)
        assert (done.status, done.answer) == (RunStatus.SUCCEEDED, "There are 12 [2].")
        assert calls == [("lookup", "nope"), ("lookup", "B-7")]
        assert [source.n for source in done.sources] == [2]
        assert "There is no SKU nope" in str(model.requests[1]["messages"])


def test_without_a_plan_only_reading_needs_no_yes(tmp_path: Path) -> None:
    turns = [("note", {"text": "hello"}), "Noted [1]."]
    with small_plandeck(tmp_path, {"react": turns}) as (app, _, calls):
        run = advance(app, start_run(app, "Note it", by="ana", mode="react").run_id)
        assert run.status is RunStatus.WAITING_HUMAN
        assert calls == Calls()
        done = answer_request(app, run, Decision.APPROVE)
        assert done.status is RunStatus.SUCCEEDED, done.error
        assert calls == [("note", "hello")]


@pytest.mark.parametrize("degrade", list(Degrade))
def test_a_run_without_a_valid_plan_degrades_as_configured(tmp_path: Path, degrade: Degrade) -> None:
    answers = {"propose_plan": [plan(step("s1", "delete_rows"))], "react": ["There are 12."]}
    with small_plandeck(tmp_path, answers, behaviour=Behaviour(degrade=degrade)) as (app, _, _calls):
        run = run_to_pause(app)
        told = [event for event in app.records.events(app.project, run.run_id) if "LangGraph" not in event.text]
        expected = {
            Degrade.FALLBACK_PLAN: (RunStatus.WAITING_HUMAN, None),
            Degrade.REACT: (RunStatus.SUCCEEDED, "completed"),
            Degrade.FAIL: (RunStatus.FAILED, "invalid_plan"),
        }[degrade]
        assert (run.status, run.stop_reason) == expected
        assert (EventKind.DEGRADED in [event.kind for event in told]) is (degrade is not Degrade.FAIL)


def test_a_reviewer_sends_a_poor_result_back(tmp_path: Path) -> None:
    scores = [{"score": 0.2, "advice": "name the unit"}, {"score": 0.9, "advice": ""}]
    behaviour = Behaviour(review_below=0.6)
    with small_plandeck(tmp_path, {"propose_plan": [plan(S1)], "review_result": scores}, behaviour=behaviour) as (
        app,
        model,
        calls,
    ):
        assert approve(app, run_to_pause(app)).status is RunStatus.SUCCEEDED
        assert len(calls) == 2
        assert any(
            "name the unit" in str(body["messages"]) for body in model.requests if "lookup" in str(body.get("tools"))
        )


def test_the_planner_is_told_what_is_left_and_what_fails(tmp_path: Path) -> None:
    denied = always(ToolError("no right to convert", kind=ErrorKind.PERMISSION_DENIED))
    with small_plandeck(tmp_path, {"propose_plan": [plan(S1, S2)]}, tools=[convert(denied)]) as (app, model, _):
        approve(app, run_to_pause(app))
        run_to_pause(app)
        words = model.requests[-1]["messages"][1]["content"]
        assert '"convert": {' in words
        assert '"tool_calls": 40' in words


def test_a_replanner_and_a_look_back_that_are_cut_off_do_not_end_a_run_as_an_error(tmp_path: Path) -> None:
    cut = httpx.Response(
        200,
        json={
            "id": "cut",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "{"}, "finish_reason": "length"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20},
        },
    )
    with small_plandeck(tmp_path / "look back", {"propose_plan": [plan(S1)], "reflect": [cut]}) as (app, _, _calls):
        done = approve(app, run_to_pause(app))
        assert (done.status, done.stop_reason) == (RunStatus.SUCCEEDED, "completed")
    fails = always(ToolError("unit unknown", kind=ErrorKind.FAILED))
    answers = {"propose_plan": [plan(S1, S2)], "revise_plan": [cut]}
    with small_plandeck(tmp_path / "replan", answers, tools=[convert(fails)]) as (app, model, _calls):
        ended = approve(app, run_to_pause(app))
        assert (ended.status, ended.stop_reason) == (RunStatus.FAILED, "step_blocked")
        assert "unit unknown" in (ended.error or "")
        assert model.calls("revise_plan") == 2
        assert ended.answer


# --- what no store holds


@pytest.mark.parametrize("words", ["NUL \x00 inside", "half a character \ud83d"])
def test_words_that_no_database_holds_do_not_stop_a_run(tmp_path: Path, words: str) -> None:
    named = plan(step("s1", sku="B-7")) | {"goal": words, "rationale": words}
    answers = {"propose_plan": [named], "answer": [f"{words} [1]"]}
    with small_plandeck(tmp_path, answers) as (app, _, _calls):
        done = approve(app, run_to_pause(app))
        assert done.status is RunStatus.SUCCEEDED, done.error
        assert "\x00" not in str(done.answer)


@pytest.mark.parametrize("value", [10**30, float("nan"), [[[[[["deep"] * 2] * 2] * 2] * 2] * 2]])
def test_odd_arguments_are_an_observation_that_the_model_mends(tmp_path: Path, value: object) -> None:
    answers = {"propose_plan": [plan(step("s1"))], "lookup": [{"sku": value}, {"sku": "B-7"}]}
    with small_plandeck(tmp_path, answers) as (app, _, calls):
        done = approve(app, run_to_pause(app))
        assert done.status is RunStatus.SUCCEEDED, done.error
        assert calls[-1] == ("lookup", "B-7")


def test_an_answer_that_is_nested_too_deeply_is_refused_in_a_sentence(tmp_path: Path) -> None:
    deep: Any = "bottom"
    for _ in range(900):
        deep = [deep]
    with small_plandeck(tmp_path, {"propose_plan": [{"kind": "question", "message": "Which one?"}]}) as (
        app,
        _,
        _calls,
    ):
        run = run_to_pause(app)
        request = pending_request(app, run.run_id)
        assert request is not None
        with pytest.raises(RefusedError, match="nested more than 40 levels deep"):
            decide(app, request.request_id, Decision.RESPOND, hash=request.hash, by="ana", value=deep)


def test_a_limit_in_the_middle_of_a_step_leaves_nothing_running_and_tells_what_was_sent(tmp_path: Path) -> None:
    sent = Mailbox()
    answers = {"propose_plan": [plan(step("s1", "mail", to="bo@example.com", body="hello"))]}
    limits = Limits(max_llm_calls=2)
    with small_plandeck(tmp_path, answers, tools=[mail(sent)], limits=limits) as (app, _, _calls):
        done = approve(app, run_to_pause(app))
        assert (done.status, done.stop_reason) == (RunStatus.FAILED, "max_llm_calls")
        assert len(sent) == 1
        assert "s1 called mail" in str(done.answer)
        assert statuses(app, done) == {"s1": StepStatus.PENDING}
        (tried,) = app.records.attempts(app.project, done.run_id)
        assert tried.status is AttemptStatus.INTERRUPTED


@pytest.mark.parametrize(("tokens", "cost"), [(1, 0), (5_000_000, 0), (1, 7 * 10**12)])
def test_a_raised_budget_allows_what_is_used_already(tokens: int, cost: int) -> None:
    raised = raised_limits(Limits(max_tokens=3_000, max_cost_usd="0"), tokens, cost)
    assert raised.max_tokens >= max(6_000, tokens)
    assert pico(Decimal(raised.max_cost_usd)) >= cost
