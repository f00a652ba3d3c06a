from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from page_seeds import a_plan
from store_records import START, a_request, a_run, at

from agent.records import (
    AttemptStatus,
    Decision,
    EventKind,
    Plan,
    RequestStatus,
    RunEvent,
    RunStatus,
    StepAttempt,
    StepProgress,
    StepStatus,
    StopReason,
)
from dashboard.look.status import NOT_DOABLE, Slot
from dashboard.look.timeline import timeline_alt
from dashboard.runs import model
from dashboard.runs.happened import Part, timeline
from dashboard.runs.model import Observed
from traces.records import UsageRow

PLAN = a_plan(2)


def usage(**changes: int | None) -> UsageRow:
    row = UsageRow(
        group={}, calls=8, errors=0, input_tokens=20_000, output_tokens=1_678, cache_read_tokens=None,
        cache_write_tokens=None, reasoning_tokens=None, cost=11_900_000_000, unpriced_calls=0, calls_without_usage=0,
        calls_with_invalid_usage=0, illustrative_calls=0, reported_calls=0,
    )  # fmt: skip
    return replace(row, **changes)


def attempt(step_id: str, start: float, end: float | None, number: int = 1, error: str | None = None) -> StepAttempt:
    status = AttemptStatus.RUNNING if end is None else AttemptStatus.FAILED if error else AttemptStatus.COMPLETED
    return StepAttempt("r-1", 2, step_id, number, status, at(start), None if end is None else at(end), error)


def seen(status: RunStatus = RunStatus.EXECUTING, plan: Plan | None = PLAN, **more: object) -> Observed:
    run = more.pop("run", a_run(status=status, started_at=at(1), plan_version=2 if plan else None))
    return Observed(run=run, plan=plan, now=more.pop("now", at(100)), usage=more.pop("usage", usage()), **more)


def decided(start: float, end: float, **changes: object):
    by = changes.pop("decided_by", "li")
    return a_request(
        status=RequestStatus.APPROVED, requested_at=at(start), decided_at=at(end), decided_by=by,
        decision=Decision.APPROVE, **changes,
    )  # fmt: skip


def text(words: str) -> str:
    return words.replace("\u00a0", " ")


def test_the_times_of_people_add_up() -> None:
    assert model.people_time([decided(4, 44), decided(50, 60)], at(70)) == timedelta(seconds=50)


def test_a_pending_request_counts_until_now() -> None:
    assert model.people_time([a_request(requested_at=at(5))], at(1_000)) == timedelta(seconds=995)


def test_computing_is_what_worked_whatever_the_clock_did_in_between() -> None:
    run = a_run(status=RunStatus.SUCCEEDED, started_at=at(1), finished_at=at(14_400))
    assert strip(seen(run=run, computing=timedelta(seconds=19)))["Computing"][0] == "19.0 s"
    assert strip(seen(run=run))["Computing"][0] == "–"


def test_a_clock_that_went_back_gives_no_negative_time() -> None:
    assert model.people_time([decided(10, 5)], at(3)) == timedelta(0)


def cut_off(step_id: str, start: float, found: float) -> StepAttempt:
    return StepAttempt("r-1", 2, step_id, 1, AttemptStatus.INTERRUPTED, at(start), at(found))


def test_the_time_of_a_try_that_was_cut_off_is_unknown_and_downtime_is_not_drawn_as_work() -> None:
    attempts = [cut_off("s1", 60, 14_460), attempt("s1", 14_461, 14_465, 2)]
    observed = seen(attempts=attempts, now=at(14_470))
    assert (model.step_rows(observed)[0].tries, model.step_rows(observed)[0].seconds) == (2, None)
    assert lanes(observed)["s1 sql_query"] == [(60, 60, "cut off"), (14_461, 14_465, "try 2")]
    drawn = timeline(observed)
    assert drawn
    assert "s1 sql_query cut off –;" in timeline_alt(drawn)
    assert "time unknown" in next(bar.hover for bar in drawn.bars if bar.label == "cut off")


@pytest.mark.parametrize(
    ("status", "seconds"),
    [
        (RunStatus.QUEUED, 1.0),
        (RunStatus.PLANNING, 1.0),
        (RunStatus.EXECUTING, 1.0),
        (RunStatus.SUCCEEDED, None),
        (RunStatus.FAILED, None),
        (RunStatus.CANCELLED, None),
    ],
)
def test_polling_is_quick_while_something_moves_and_stops_at_the_end(status: RunStatus, seconds: float | None) -> None:
    assert model.poll_seconds(seen(status)) == seconds


def test_polling_is_calm_while_a_person_is_awaited() -> None:
    assert model.poll_seconds(seen(RunStatus.WAITING_HUMAN, requests=[a_request()])) == 3.0
    assert model.poll_seconds(seen(RunStatus.WAITING_HUMAN, requests=[decided(4, 44)])) == 1.0


def test_a_decided_run_that_no_worker_took_on_yet_does_not_wait_for_a_person() -> None:
    observed = seen(RunStatus.WAITING_HUMAN, requests=[decided(4, 44)])
    assert observed.status is RunStatus.QUEUED
    assert text(str(model.moving(observed))) == "Approved by li at 12:00:44; a worker goes on with it."
    assert strip(observed)["Steps done"] == ("0 of 4", "in the queue")
    assert model.signature(observed) != model.signature(seen(RunStatus.WAITING_HUMAN, requests=[a_request()]))
    assert model.list_row(observed.run, observed.requests, [], None, None, at(100)).status is RunStatus.QUEUED


def test_a_run_with_a_request_that_waits_waits() -> None:
    assert seen(RunStatus.WAITING_HUMAN, requests=[decided(4, 44), a_request()]).status is RunStatus.WAITING_HUMAN
    assert seen(RunStatus.WAITING_HUMAN).status is RunStatus.WAITING_HUMAN


def strip(observed: Observed) -> dict[str, tuple[str, str]]:
    return {metric.label: (text(metric.value), text(metric.context)) for metric in model.metrics(observed)}


def test_the_strip_of_a_run_in_motion() -> None:
    steps = [
        StepProgress("r-1", 2, "s1", StepStatus.COMPLETED),
        StepProgress("r-1", 2, "s2", StepStatus.RUNNING),
    ]
    shown = strip(seen(steps=steps, requests=[decided(4, 44)], planning_share=0.5, computing=timedelta(seconds=59)))
    assert shown == {
        "Steps done": ("1 of 4", "s2 runs"),
        "Computing": ("59.0 s", "8 model calls"),
        "People": ("40.0 s", "1 decision by li"),
        "Cost": ("$0.0119", ""),
        "Tokens": ("21,678", "planning 50 %"),
    }


def test_unknown_is_never_zero() -> None:
    shown = strip(
        seen(plan=None, status=RunStatus.QUEUED, usage=usage(cost=None, input_tokens=None, output_tokens=None))
    )
    assert shown["Cost"][0] == shown["Tokens"][0] == "unknown"
    assert shown["Steps done"] == ("–", "in the queue")
    assert shown["People"] == ("–", "")


def test_calls_without_a_price_are_told_beside_the_cost() -> None:
    assert strip(seen(usage=usage(unpriced_calls=3)))["Cost"][1] == "3 calls unpriced"


def test_every_context_fits_its_pill() -> None:
    long = replace(PLAN.steps[0], id="a-step-with-a-very-long-name")
    plan = replace(PLAN, steps=(long,))
    for status in StepStatus:
        observed = seen(
            plan=plan,
            steps=[StepProgress("r-1", 2, long.id, status)],
            requests=[decided(4, 44, decided_by="somebody-with-a-long-name")],
        )
        assert all(len(metric.context) < 18 for metric in model.metrics(observed))


def test_steps_show_tries_time_tokens_and_cost_of_their_own() -> None:
    attempts = [attempt("s1", 10, 14), attempt("s2", 14, 19, error="timeout"), attempt("s2", 20, 24, 2)]
    rows = model.step_rows(seen(attempts=attempts, by_step={"s2": usage(cost=1_000, input_tokens=10, output_tokens=5)}))
    by_id = {row.step.id: row for row in rows}
    assert (by_id["s2"].tries, by_id["s2"].seconds, by_id["s2"].tokens, by_id["s2"].cost) == (2, 9.0, 15, 1_000)
    assert (by_id["s1"].tries, by_id["s1"].seconds, by_id["s1"].tokens, by_id["s1"].cost) == (1, 4.0, None, None)
    assert (by_id["s4"].tries, by_id["s4"].seconds) == (None, None)


def test_a_failed_run_says_why_what_was_kept_and_what_to_do() -> None:
    run = a_run(status=RunStatus.FAILED, stop_reason=StopReason.STEP_BLOCKED, error="s3 did not get done: no column")
    steps = [StepProgress("r-1", 2, "s1", StepStatus.COMPLETED), StepProgress("r-1", 2, "s3", StepStatus.BLOCKED)]
    end = model.ending(seen(run=run, steps=steps))
    assert end
    assert end.broken
    assert end.title == "s3 did not get done: no column"
    assert text(end.body).startswith("1 of 4 steps were done and are kept.")
    assert "start the task again" in end.body


@pytest.mark.parametrize("reason", [None, "a_reason_of_tomorrow", *StopReason])
def test_every_stop_reason_has_words(reason: str | None) -> None:
    end = model.ending(seen(run=a_run(status=RunStatus.FAILED, stop_reason=reason)))
    assert end
    assert end.title
    assert "_" not in end.title


def refused_run(**changes: object):
    said = {"status": RunStatus.FAILED, "stop_reason": StopReason.EMPTY_PLAN, "error": "The planner made no plan."}
    return a_run(started_at=at(1), finished_at=at(3), **{**said, "answer": "I have no tool for flights.", **changes})


def test_a_task_that_the_planner_refused_is_no_failure() -> None:
    observed = seen(run=refused_run(), plan=None)
    assert model.refusal(observed.run) == "I have no tool for flights."
    assert model.ending(observed) is None
    drawn = timeline(observed)
    assert drawn
    assert [(bar.slot, bar.label) for bar in drawn.bars] == [(Slot.GRAY, "no plan")]
    ended = RunEvent("r-1", 2, at(3), EventKind.RUN_FAILED, None, "run failed, empty_plan")
    assert model.event_words(observed, ended) == "no plan, the agent can’t do this"
    assert model.event_look(observed, ended) is NOT_DOABLE


def test_a_plan_without_steps_is_a_failure() -> None:
    observed = seen(run=refused_run(answer=None), plan=None)
    assert model.refusal(observed.run) is None
    assert model.ending(observed)
    ended = RunEvent("r-1", 2, at(3), EventKind.RUN_FAILED, None, "run failed, empty_plan")
    assert model.event_words(observed, ended) == "run failed, empty plan"


def test_the_remedy_for_a_refusal_names_a_provider_only_to_those_without_one() -> None:
    assert "set a provider" in model.what_to_do(refused_run())
    assert "provider" not in model.what_to_do(refused_run(provider="openai"))


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({RunStatus.FAILED: 0}, "No runs yet"),
        ({RunStatus.SUCCEEDED: 1, RunStatus.FAILED: 19}, "20 runs, all ended"),
        (
            {RunStatus.SUCCEEDED: 1, RunStatus.QUEUED: 1, RunStatus.WAITING_HUMAN: 2},
            "4 runs, 1 in motion, 2 wait for you",
        ),
    ],
)
def test_the_headline_of_the_list(counts: dict[RunStatus, int], words: str) -> None:
    assert text(model.list_headline(counts)) == words


def test_a_rejected_run_names_who_and_why_and_is_not_broken() -> None:
    run = a_run(status=RunStatus.CANCELLED, stop_reason=StopReason.REJECTED, error="Not this month")
    end = model.ending(seen(run=run, requests=[decided(4, 44)]))
    assert end
    assert not end.broken
    assert end.title == "li rejected the plan."
    assert "Not this month" in end.body


def test_a_cancelled_run_names_who_cancelled_it() -> None:
    run = a_run(status=RunStatus.CANCELLED, stop_reason=StopReason.CANCELLED, cancelled_by="omar")
    end = model.ending(seen(run=run))
    assert end
    assert end.title == "omar cancelled the run."


def test_runs_that_go_on_or_succeeded_have_no_ending() -> None:
    assert model.ending(seen()) is None
    assert model.ending(seen(status=RunStatus.SUCCEEDED)) is None


def test_what_was_not_done_is_told_after_the_end_only() -> None:
    steps = [StepProgress("r-1", 2, name, StepStatus.COMPLETED) for name in ("s1", "s2", "s3")]
    assert model.undone(seen(steps=steps)) == []
    left = model.undone(seen(status=RunStatus.SUCCEEDED, steps=steps))
    assert left == ["s4 Write the report with a source per figure: pending"]


def test_a_line_of_the_list() -> None:
    run = a_run(task="Which\nproject?", started_at=at(1), finished_at=at(61))
    row = model.list_row(
        run,
        [decided(4, 44)],
        [StepProgress("r-1", 1, "s1", StepStatus.COMPLETED)],
        None,
        timedelta(seconds=20),
        at(100),
    )
    assert (row.task, row.steps, row.computing, row.people, row.cost) == ("Which project?", "1 of 1", 20.0, 40.0, None)
    assert row.when == "12:00:00"


def lanes(observed: Observed, parts: Sequence[Part] = ()) -> dict[str, list[tuple[float, float, str]]]:
    drawn = timeline(observed, parts)
    assert drawn
    found: dict[str, list[tuple[float, float, str]]] = {lane: [] for lane in drawn.lanes}
    for bar in (*drawn.bars, *drawn.waits):
        seconds = [round((moment - START).total_seconds(), 3) for moment in (bar.start, bar.end)]
        found[bar.lane].append((seconds[0], seconds[1], text(bar.label)))
    return found


def test_the_timeline_tells_planning_people_tries_and_the_answer() -> None:
    sent_back = a_request(
        status=RequestStatus.RESPONDED, requested_at=at(4), decided_at=at(44), decided_by="li",
        decision=Decision.RESPOND, payload={"plan": a_plan(1).to_json()},
    )  # fmt: skip
    approved = decided(50, 60, payload={"plan": PLAN.to_json()})
    attempts = [attempt("s1", 60, 64), attempt("s2", 64, 69, error="timeout"), attempt("s2", 70, 74, 2)]
    run = a_run(status=RunStatus.SUCCEEDED, started_at=at(1), finished_at=at(80), answer="42")
    assert lanes(seen(run=run, requests=[sent_back, approved], attempts=attempts)) == {
        "planning": [(1, 4, "plan v1"), (44, 50, "plan v2")],
        "person": [(4, 44, "li · 40.0 s"), (50, 60, "li · 10.0 s")],
        "s1 sql_query": [(60, 64, "")],
        "s2 policy_search": [(64, 69, "failed"), (70, 74, "try 2")],
        "s3 calculator": [],
        "s4 report_file": [],
        "answer": [(74, 80, "")],
    }


def test_downtime_is_not_drawn_as_planning_or_answering() -> None:
    request = decided(7_204, 7_210, payload={"plan": PLAN.to_json()})
    run = a_run(status=RunStatus.SUCCEEDED, started_at=at(1), finished_at=at(14_402), answer="42", plan_version=2)
    observed = seen(run=run, requests=[request], attempts=[attempt("s1", 7_210, 7_214)])
    parts = [Part("planning", at(7_201), at(7_203)), Part("answer", at(14_400), at(14_401))]
    drawn = lanes(observed, parts)
    assert drawn["planning"] == [(7_201, 7_203, "plan v2")]
    assert drawn["answer"] == [(14_400, 14_401, "")]
    assert lanes(observed)["planning"] == [(1, 7_204, "plan v2")]


def test_parts_belong_to_the_round_of_planning_in_which_they_began() -> None:
    first = decided(4, 44, payload={"plan": a_plan(1).to_json()})
    sent_back = replace(first, status=RequestStatus.RESPONDED, decision=Decision.RESPOND)
    requests = [sent_back, a_request(requested_at=at(50))]
    observed = seen(RunStatus.WAITING_HUMAN, requests=requests)
    parts = [Part("planning", at(2), at(3.5)), Part("planning", at(46), at(49))]
    assert [bar[:2] for bar in lanes(observed, parts)["planning"]] == [(2, 3.5), (46, 49)]


def test_planning_that_goes_on_is_drawn_until_now_whatever_ended_before() -> None:
    run = a_run(status=RunStatus.PLANNING, started_at=at(1))
    drawn = lanes(seen(run=run, plan=None), [Part("planning", at(2), at(3))])
    assert drawn == {"planning": [(1, 100, "planning")]}


def test_a_run_that_plans_now_is_a_bar_until_now() -> None:
    run = a_run(status=RunStatus.PLANNING, started_at=at(1))
    assert lanes(seen(run=run, plan=None)) == {"planning": [(1, 100, "planning")]}


def test_a_wait_goes_on_until_now_and_says_since_when_for_the_strip_counts() -> None:
    run = a_run(status=RunStatus.WAITING_HUMAN, started_at=at(1), plan_version=2)
    waiting = a_request(requested_at=at(4), payload={"plan": PLAN.to_json()})
    assert lanes(seen(run=run, requests=[waiting]))["person"] == [(4, 100, "waits · since 12:00")]


def test_a_running_try_goes_on_until_now() -> None:
    assert lanes(seen(attempts=[attempt("s1", 60, None)]))["s1 sql_query"] == [(60, 100, "")]


def test_nothing_is_drawn_before_the_start() -> None:
    assert timeline(seen(run=a_run(), plan=None)) is None
