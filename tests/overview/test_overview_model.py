from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agent.records import (
    ApprovalRequest,
    Decision,
    Effect,
    Limits,
    RequestKind,
    RequestStatus,
    Run,
    RunStatus,
    StepProgress,
    StepStatus,
)
from dashboard.overview.model import (
    Observed,
    failed_item,
    finished_row,
    headline,
    overview,
    people_time,
    running_item,
    start_of_day,
    start_of_month,
    waiting_item,
)

NOW = datetime(2026, 12, 1, 9, 42, tzinfo=UTC)
RUN = Run(
    project="default",
    run_id="r-1",
    thread_id="th-1",
    agent="analyst",
    agent_version="1",
    task="Reconcile November travel invoices",
    mode="plan_execute",
    provider="offline",
    model="offline-1",
    status=RunStatus.EXECUTING,
    requested_by="omar",
    created_at=NOW - timedelta(minutes=3),
    started_at=NOW - timedelta(minutes=2),
    limits=Limits(),
    tools={},
    trace_id="a" * 32,
    root_span_id="b" * 16,
)


def plan_payload(*effects: Effect, **more: object) -> dict:
    steps = [{"id": f"s{n}", "effect": str(effect)} for n, effect in enumerate(effects, start=1)]
    return {"kind": "plan", "task": RUN.task, "plan": {"steps": steps, "source": "model", "repairs": [], **more}}


def request(kind: RequestKind = RequestKind.PLAN, **changes: object) -> ApprovalRequest:
    made = ApprovalRequest(
        project="default",
        request_id="q-1",
        kind=kind,
        run_id="r-1",
        thread_id="th-1",
        checkpoint_id="c",
        interrupt_id="i",
        hash="a" * 64,
        status=RequestStatus.PENDING,
        requested_at=NOW - timedelta(minutes=11),
        requested_by="ana",
        payload=plan_payload(Effect.READ, Effect.DRAFT, Effect.READ),
    )
    return replace(made, **changes)


def steps(*statuses: StepStatus, error: str | None = None) -> list[StepProgress]:
    return [
        StepProgress("r-1", 1, f"s{n}", status, attempts=3 if status is StepStatus.BLOCKED else 1, error=error)
        for n, status in enumerate(statuses, start=1)
    ]


@pytest.mark.parametrize(
    ("waiting", "words"),
    [
        (0, "Nothing waits for you"),
        (1, "One thing waits for you"),
        (3, "Three things wait for you"),
        (10, "Ten things wait for you"),
        (11, "11 things wait for you"),
        (1_200, "1,200 things wait for you"),
    ],
)
def test_the_headline_answers_whether_anything_needs_me(waiting: int, words: str) -> None:
    assert headline(waiting) == words


def test_a_waiting_plan_says_who_asked_how_long_it_waits_and_its_gravest_effect() -> None:
    item = waiting_item(request(), NOW)
    assert (item.title, item.button) == (RUN.task, "Review plan")
    assert item.facts.replace("\u00a0", " ") == "ana asked · waits 11 min · 3 steps"
    assert item.effect is Effect.DRAFT
    assert item.findings == ()


def test_a_generic_or_cut_plan_is_a_finding() -> None:
    payload = plan_payload(Effect.READ, source="fallback", repairs=["truncated: 3 steps"])
    assert waiting_item(request(payload=payload), NOW).findings == ("generic plan", "steps were cut")


def test_a_question_is_its_own_title_and_is_answered() -> None:
    payload = {"kind": "question", "task": RUN.task, "question": "Which fiscal calendar?"}
    item = waiting_item(request(RequestKind.QUESTION, payload=payload), NOW)
    assert (item.title, item.button, item.effect) == ("Which fiscal calendar?", "Answer", None)
    assert "the run goes on with your answer" in item.facts


def test_a_request_without_task_or_plan_is_still_shown() -> None:
    item = waiting_item(request(RequestKind.INTERRUPT, payload={"kind": "interrupt"}), NOW)
    assert (item.title, item.button) == ("Run r-1", "Review")


def test_a_long_task_is_cut() -> None:
    item = waiting_item(request(payload={"kind": "plan", "task": "word " * 100}), NOW)
    assert len(item.title) <= 120
    assert item.title.endswith("…")


@pytest.mark.parametrize(
    ("run", "done", "words", "share"),
    [
        (RUN, [StepStatus.COMPLETED, StepStatus.RUNNING, StepStatus.PENDING], "step 2 of 3", 1 / 3),
        (RUN, [StepStatus.COMPLETED, StepStatus.COMPLETED], "step 2 of 2", 1.0),
        (replace(RUN, status=RunStatus.PLANNING), [], "plans", 0.0),
        (replace(RUN, status=RunStatus.QUEUED, started_at=None), [], "queued", 0.0),
        (replace(RUN, cancel_requested=True), [StepStatus.RUNNING], "stopping", 0.0),
    ],
)
def test_a_run_in_motion_says_how_far_it_is(run: Run, done: list[StepStatus], words: str, share: float) -> None:
    item = running_item(run, Observed(NOW, steps={"r-1": steps(*done)}, costs={"r-1": 21_400_000_000}))
    assert (item.progress, item.share, item.cost) == (words, share, "$0.0214")


def test_a_run_that_has_called_no_model_costs_nothing_and_one_without_a_price_is_unknown() -> None:
    assert running_item(RUN, Observed(NOW)).cost == "$0"
    assert running_item(RUN, Observed(NOW, costs={"r-1": None})).cost == "unknown"


def test_a_failed_run_says_where_it_broke_why_and_what_was_kept() -> None:
    run = replace(RUN, status=RunStatus.FAILED, stop_reason="step_blocked", error="no column x", finished_at=NOW)
    seen = Observed(NOW, steps={"r-1": steps(StepStatus.COMPLETED, StepStatus.BLOCKED, StepStatus.SKIPPED)})
    item = failed_item(run, seen)
    assert item.badge.replace("\u00a0", " ") == "s2, 3 tries"
    assert item.facts.replace("\u00a0", " ") == "r-1 · omar · 09:42 · no column x · 1 of 3 steps kept · $0"


def test_a_run_that_failed_before_any_step_names_its_stop_reason() -> None:
    run = replace(RUN, status=RunStatus.FAILED, stop_reason="invalid_plan", finished_at=NOW)
    assert failed_item(run, Observed(NOW)).badge == "invalid plan"


def test_people_and_computing_are_apart() -> None:
    run = replace(RUN, status=RunStatus.SUCCEEDED, finished_at=NOW)
    seen = Observed(NOW, waits={"r-1": timedelta(minutes=4)}, computing={"r-1": timedelta(seconds=31.2)})
    row = finished_row(run, seen)
    assert (row.computing, row.people) == ("31.2\u00a0s", "4\u00a0m\u00a000\u00a0s")


def test_a_run_that_never_worked_or_waited_says_so() -> None:
    row = finished_row(replace(RUN, status=RunStatus.CANCELLED, finished_at=NOW), Observed(NOW))
    assert (row.computing, row.people) == ("–", "–")


def test_people_time_adds_up_the_decided_requests_of_a_run() -> None:
    decided = request(decision=Decision.APPROVE, decided_at=NOW)
    assert people_time([decided, decided, request(run_id="r-2")]) == {"r-1": timedelta(minutes=22)}


def test_an_untouched_home_is_a_first_run_and_anything_else_is_not() -> None:
    assert overview(Observed(NOW)).first_run
    assert not overview(Observed(NOW, pending=[request()])).first_run
    assert not overview(Observed(NOW, finished=[replace(RUN, status=RunStatus.SUCCEEDED)])).first_run


def test_days_and_months_begin_at_midnight_utc() -> None:
    assert start_of_day(NOW) == datetime(2026, 12, 1, tzinfo=UTC)
    assert start_of_month(NOW.replace(day=17)) == datetime(2026, 12, 1, tzinfo=UTC)


def test_a_refused_task_is_told_with_the_planners_reason_and_is_not_broken() -> None:
    said = {"stop_reason": "empty_plan", "error": "The planner made no plan.", "finished_at": NOW}
    run = replace(RUN, status=RunStatus.FAILED, answer="I cannot do this task: there is no tool for flights.", **said)
    item = failed_item(run, Observed(NOW))
    assert (item.badge, item.broken) == ("can’t do this", False)
    assert "· there is no tool for flights ·" in item.facts.replace("flights.", "flights")
    assert failed_item(replace(run, answer=None), Observed(NOW)).broken


def test_what_is_left_out_is_counted() -> None:
    shown = overview(Observed(NOW, pending=[request()], more_pending=11, more_failed=2))
    assert (shown.headline, shown.more_waiting, shown.more_failed, shown.more_running) == (
        "12 things wait for you", "and 11 more", "and 2 more", "",
    )  # fmt: skip
