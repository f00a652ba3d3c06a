from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from store_records import a_plan, a_request, a_run, at

from agent.errors import NotFoundError, RefusedError
from agent.records import (
    Artifact,
    AttemptStatus,
    Decision,
    EventKind,
    RequestKind,
    RequestStatus,
    RunStatus,
    Source,
    StepProgress,
    StepStatus,
)
from agent.store.gateway import AlreadyDecidedError, RecordStore, StaleHashError, StaleLeaseError

P = "default"


@pytest.fixture
def store(record_store: RecordStore) -> RecordStore:
    """With run r-1, its plan version 1 and the request q-1 for it."""
    record_store.add_run(a_run())
    record_store.put_plan(P, "r-1", a_plan(), created_at=at(1), created_by="model")
    record_store.update_run(P, "r-1", plan_version=1)
    record_store.put_request(a_request())
    return record_store


def decide(store: RecordStore, request_id: str = "q-1", decision: Decision = Decision.APPROVE, **changes: Any) -> Any:
    given: dict[str, Any] = {"hash": a_plan().hash, "by": "li", "system_user": "root", "at": at(60), **changes}
    return store.decide(P, request_id, decision=decision, **given)


# --- runs


def test_a_run_reads_back_as_it_was_written(record_store: RecordStore) -> None:
    run = a_run(
        started_at=at(0.000001),
        finished_at=at(2),
        status=RunStatus.FAILED,
        stop_reason="step_blocked",
        error="s2 did not get done",
        answer="12",
        sources=(Source(1, "s2", "lookup", "B-7: 12"),),
        degraded=True,
    )
    assert record_store.add_run(run) == run
    assert record_store.run(P, "r-1") == run


def test_times_of_other_zones_come_back_as_the_same_moment_in_utc(record_store: RecordStore) -> None:
    there = at(0).astimezone(timezone(timedelta(hours=-7)))
    read = record_store.add_run(a_run(created_at=there)).created_at
    assert (read, read.utcoffset()) == (there, timedelta(0))


def test_a_time_without_a_zone_is_refused(record_store: RecordStore) -> None:
    with pytest.raises(Exception, match="no time zone"):
        record_store.add_run(a_run(created_at=datetime(2026, 1, 1)))
    assert record_store.runs(P) == []


def test_text_that_no_database_can_hold_is_kept_as_well_as_possible(store: RecordStore) -> None:
    store.update_run(P, "r-1", answer="a\x00b\ud800c")
    result = {"k\x00": ["\udfff", float("nan"), float("inf"), 0.1, None, True]}
    store.put_steps(P, "r-1", 1, [StepProgress("r-1", 1, "s2", StepStatus.COMPLETED, result=result)])
    assert store.run(P, "r-1").answer == "a\ufffdb\ufffdc"
    assert store.steps(P, "r-1")[0].result == {"k\ufffd": ["\ufffd", "nan", "inf", 0.1, None, True]}


def test_a_run_id_is_taken_once_and_projects_are_apart(record_store: RecordStore) -> None:
    record_store.add_run(a_run())
    with pytest.raises(RefusedError, match="r-1 exists"):
        record_store.add_run(a_run(thread_id="another"))
    record_store.add_run(a_run(project="other", task="another", thread_id="others"))
    assert record_store.run("other", "r-1").task == "another"
    assert [run.project for run in record_store.runs(P)] == [P]


def test_an_unknown_run_or_request_is_named(record_store: RecordStore) -> None:
    for ask in (
        lambda: record_store.run(P, "r-9"),
        lambda: record_store.update_run(P, "r-9", error="x"),
        lambda: record_store.runs(P, before="r-9"),
        lambda: record_store.add_event(P, "r-9", EventKind.RESUMED, "x", at(0)),
        lambda: record_store.take_lease(P, "r-9", "h:1:1", 5),
    ):
        with pytest.raises(NotFoundError, match="r-9"):
            ask()
    with pytest.raises(NotFoundError, match="q-9"):
        record_store.request(P, "q-9")


def test_runs_are_listed_newest_first_in_pages_without_gap_or_repetition(record_store: RecordStore) -> None:
    for n in range(7):
        status = RunStatus.SUCCEEDED if n % 2 else RunStatus.QUEUED
        record_store.add_run(a_run(f"r-{n}", created_at=at(n // 3), status=status))
    seen: list[str] = []
    while page := record_store.runs(P, limit=2, before=seen[-1] if seen else None):
        seen += [run.run_id for run in page]
    assert seen == ["r-6", "r-5", "r-4", "r-3", "r-2", "r-1", "r-0"]
    assert [run.run_id for run in record_store.runs(P, status=RunStatus.SUCCEEDED)] == ["r-5", "r-3", "r-1"]
    assert [run.run_id for run in record_store.runs(P, status=RunStatus.SUCCEEDED, before="r-4")] == ["r-3", "r-1"]


def test_ended_runs_are_listed_by_their_end_whenever_they_were_asked_for(record_store: RecordStore) -> None:
    ends = {"r-1": (RunStatus.FAILED, 90), "r-2": (RunStatus.SUCCEEDED, 30), "r-3": (RunStatus.FAILED, 60)}
    for number, (run_id, (status, end)) in enumerate(ends.items()):
        record_store.add_run(a_run(run_id, created_at=at(number), status=status, finished_at=at(end)))
    record_store.add_run(a_run("r-4", created_at=at(9)))

    def ended(*statuses: RunStatus, **more: Any) -> list[str]:
        return [run.run_id for run in record_store.ended_runs("default", *statuses, **more)]

    assert ended() == ["r-1", "r-3", "r-2"]
    assert ended(RunStatus.FAILED) == ["r-1", "r-3"]
    assert ended(RunStatus.FAILED, RunStatus.SUCCEEDED, since=at(60)) == ["r-1", "r-3"]
    assert ended(limit=1) == ["r-1"]
    assert record_store.ended_runs("other") == []


def test_runs_are_counted_by_status_and_time(record_store: RecordStore) -> None:
    record_store.add_run(a_run("r-1"))
    record_store.add_run(a_run("r-2", status=RunStatus.SUCCEEDED, created_at=at(10)))
    record_store.add_run(a_run("r-3", project="other"))
    counted = record_store.count_runs(P)
    assert (counted[RunStatus.QUEUED], counted[RunStatus.SUCCEEDED], counted[RunStatus.FAILED]) == (1, 1, 0)
    assert sum(record_store.count_runs(P, since=at(10)).values()) == 1


def test_a_thread_belongs_to_one_run_of_all_projects(record_store: RecordStore) -> None:
    record_store.add_run(a_run("r-1", thread_id="t"))
    for run in (a_run("r-2", thread_id="t"), replace(a_run("r-1", thread_id="t"), project="other")):
        with pytest.raises(RefusedError, match="Thread t belongs to a run already"):
            record_store.add_run(run)
    found = record_store.run_of_thread(P, "t")
    assert found is not None
    assert found.run_id == "r-1"
    assert record_store.run_of_thread("other", "t") is None


def test_update_run_sets_and_clears_columns_and_gives_the_run(store: RecordStore) -> None:
    sources = (Source(1, "s2", None, "x"),)
    changed = store.update_run(P, "r-1", status=RunStatus.FAILED, error="x", sources=sources, cancelled_by="li")
    assert (changed.status, changed.error, changed.sources) == (RunStatus.FAILED, "x", sources)
    assert store.update_run(P, "r-1", error=None) == replace(changed, error=None) == store.run(P, "r-1")


# --- lease


def test_a_live_lease_is_nobody_elses_and_a_fence_grows(store: RecordStore) -> None:
    assert store.take_lease(P, "r-1", "other:1:1", 30) == 1
    assert store.take_lease(P, "r-1", "other:2:1", 30) is None
    assert store.take_lease(P, "r-1", "other:1:1", 30) is None, "a second thread of the same process is somebody else"
    store.release_lease(P, "r-1", "other:1:1", 1)
    assert store.take_lease(P, "r-1", "other:2:1", 30) == 2


def test_a_lease_that_ran_out_is_taken_and_cannot_be_renewed(store: RecordStore) -> None:
    assert store.take_lease(P, "r-1", "other:1:1", 0) == 1
    assert store.take_lease(P, "r-1", "other:2:1", 30) == 2
    assert not store.renew_lease(P, "r-1", "other:1:1", 1, 30)
    store.release_lease(P, "r-1", "other:1:1", 1)
    assert store.take_lease(P, "r-1", "other:3:1", 30) is None
    assert store.renew_lease(P, "r-1", "other:2:1", 2, 30)


def test_renewing_makes_a_lease_live_again(store: RecordStore) -> None:
    fence = store.take_lease(P, "r-1", "other:1:1", 0)
    assert fence is not None
    assert store.renew_lease(P, "r-1", "other:1:1", fence, 30)
    assert store.take_lease(P, "r-1", "other:2:1", 30) is None


def test_a_worker_that_lost_its_lease_changes_nothing(store: RecordStore) -> None:
    old = store.take_lease(P, "r-1", "other:1:1", 0)
    store.start_attempt(P, "r-1", 1, "s2", at(1), fence=old)
    decide(store)
    assert store.take_lease(P, "r-1", "other:2:1", 30) == 2
    before = (store.run(P, "r-1"), store.plans(P, "r-1"), store.steps(P, "r-1"), store.attempts(P, "r-1"))
    done = StepProgress("r-1", 1, "s2", StepStatus.COMPLETED)
    for write in (
        lambda: store.update_run(P, "r-1", fence=old, status=RunStatus.SUCCEEDED),
        lambda: store.put_plan(P, "r-1", a_plan(2), created_at=at(1), created_by="x", fence=old),
        lambda: store.put_steps(P, "r-1", 1, [done], fence=old),
        lambda: store.start_attempt(P, "r-1", 1, "s1", at(1), fence=old),
        lambda: store.finish_attempt(P, "r-1", 1, "s2", 1, AttemptStatus.COMPLETED, at(1), None, fence=old),
        lambda: store.interrupt_attempts(P, "r-1", at(1), fence=old),
        lambda: store.put_request(a_request("q-2"), fence=old),
        lambda: store.mark_applied(P, "q-1", at(1), fence=old),
    ):
        with pytest.raises(StaleLeaseError):
            write()
    after = (store.run(P, "r-1"), store.plans(P, "r-1"), store.steps(P, "r-1"), store.attempts(P, "r-1"))
    assert after == before
    assert [request.applied_at for request in store.requests(P)] == [None]


def test_runnable_names_the_runs_that_can_move_oldest_first(record_store: RecordStore) -> None:
    for n, status in enumerate(RunStatus):
        record_store.add_run(a_run(status.value, status=status, created_at=at(-n)))
    record_store.add_run(a_run("stopping", status=RunStatus.WAITING_HUMAN, cancel_requested=True))
    record_store.add_run(a_run("decided", status=RunStatus.WAITING_HUMAN, project="other"))
    record_store.put_request(a_request("q-1", "waiting_human"))
    record_store.put_request(a_request("q-2", "decided", project="other"))
    record_store.decide(
        "other", "q-2", decision=Decision.REJECT, hash=a_plan().hash, by="li", system_user="root", at=at(1), note="no"
    )
    assert record_store.runnable() == [
        (P, "executing"),
        (P, "planning"),
        (P, "queued"),
        (P, "stopping"),
        ("other", "decided"),
    ]
    assert record_store.runnable("other") == [("other", "decided")]
    assert record_store.runnable(P, limit=1) == [(P, "executing")]
    record_store.mark_applied("other", "q-2", at(2))
    assert record_store.runnable("other") == []


def test_leased_runs_are_not_runnable_and_take_no_place_in_the_limit(record_store: RecordStore) -> None:
    for n in range(4):
        record_store.add_run(a_run(f"r-{n}", status=RunStatus.EXECUTING, created_at=at(n)))
    for n in range(3):
        assert record_store.take_lease(P, f"r-{n}", "other:1:1", 30 if n else 0)
    assert record_store.runnable(limit=2) == [(P, "r-0"), (P, "r-3")]
    assert record_store.runnable(limit=1) == [(P, "r-0")]


# --- plans, steps, attempts


def test_plan_versions_read_back_and_are_frozen(store: RecordStore) -> None:
    store.put_plan(P, "r-1", a_plan(), created_at=at(9), created_by="again")
    store.put_plan(P, "r-1", a_plan(2), created_at=at(9), created_by="li")
    assert store.plans(P, "r-1") == [a_plan(), a_plan(2)]
    assert store.plan(P, "r-1", 2) == a_plan(2)
    with pytest.raises(RefusedError, match="frozen"):
        store.put_plan(P, "r-1", a_plan(hash="f" * 64), created_at=at(9), created_by="x")
    with pytest.raises(NotFoundError, match="version 7"):
        store.plan(P, "r-1", 7)


def test_an_empty_plan_is_stored(store: RecordStore) -> None:
    store.put_plan(P, "r-1", a_plan(2, steps=()), created_at=at(9), created_by="model")
    assert store.steps(P, "r-1", 2) == []


def test_steps_stand_in_the_order_of_the_plan_and_begin_pending(store: RecordStore) -> None:
    running = StepProgress("r-1", 1, "s1", StepStatus.RUNNING, attempts=1, started_at=at(3))
    done = StepProgress(
        "r-1", 1, "s2", StepStatus.COMPLETED, 1, at(1), at(2), result={"key_result": "12", "criterion_met": True}
    )
    assert [(step.step_id, step.status) for step in store.steps(P, "r-1")] == [("s2", "pending"), ("s1", "pending")]
    store.put_steps(P, "r-1", 1, [running, done])
    assert store.steps(P, "r-1") == [done, running]
    store.put_plan(P, "r-1", a_plan(2), created_at=at(9), created_by="li")
    assert store.steps(P, "r-1") == [done, running], "the version in force is still 1"
    store.update_run(P, "r-1", plan_version=2)
    assert [step.plan_version for step in store.steps(P, "r-1")] == [2, 2]
    assert store.steps(P, "r-1", 1) == [done, running]


def test_progress_of_a_step_that_the_plan_does_not_have_is_refused_whole(store: RecordStore) -> None:
    both = [StepProgress("r-1", 1, step_id, StepStatus.SKIPPED) for step_id in ("s1", "s9")]
    with pytest.raises(NotFoundError, match="s9"):
        store.put_steps(P, "r-1", 1, both)
    with pytest.raises(NotFoundError, match="s9"):
        store.start_attempt(P, "r-1", 1, "s9", at(1))
    assert {step.status for step in store.steps(P, "r-1")} == {StepStatus.PENDING}


def test_attempts_are_numbered_per_step_and_end_as_told(store: RecordStore) -> None:
    assert store.start_attempt(P, "r-1", 1, "s2", at(1)) == 1
    store.finish_attempt(P, "r-1", 1, "s2", 1, AttemptStatus.FAILED, at(2), "no number")
    assert store.start_attempt(P, "r-1", 1, "s2", at(3)) == 2
    assert store.start_attempt(P, "r-1", 1, "s1", at(4)) == 1
    store.finish_attempt(P, "r-1", 1, "s2", 2, AttemptStatus.COMPLETED, at(5), None)
    cut = store.interrupt_attempts(P, "r-1", at(6))
    assert [(item.step_id, item.status, item.finished_at) for item in cut] == [("s1", AttemptStatus.INTERRUPTED, at(6))]
    assert store.interrupt_attempts(P, "r-1", at(7)) == []
    assert [(item.step_id, item.attempt, item.status, item.error) for item in store.attempts(P, "r-1")] == [
        ("s2", 1, "failed", "no number"),
        ("s2", 2, "completed", None),
        ("s1", 1, "interrupted", None),
    ]
    with pytest.raises(NotFoundError, match="try 9"):
        store.finish_attempt(P, "r-1", 1, "s2", 9, AttemptStatus.COMPLETED, at(5), None)


# --- approval requests


def test_a_pause_has_one_request_however_often_it_is_put(store: RecordStore) -> None:
    again = a_request("q-other", checkpoint_id="cp-q-1", requested_at=at(99))
    assert store.put_request(again) == store.put_request(a_request()) == a_request()
    assert store.requests(P) == [a_request()]
    decided = decide(store)
    assert store.put_request(again) == decided


def test_a_decision_is_recorded_with_who_when_and_an_event(store: RecordStore) -> None:
    decided = decide(store, note="go", value={"k": [1]})
    assert decided == replace(
        a_request(),
        status=RequestStatus.APPROVED,
        decision=Decision.APPROVE,
        decided_at=at(60),
        decided_by="li",
        decided_by_system_user="root",
        note="go",
        value={"k": [1]},
    )
    assert store.request(P, "q-1") == decided
    assert [(event.kind, event.text) for event in store.events(P, "r-1")][-1] == (EventKind.APPROVED, "approved by li")


def test_the_second_decision_is_told_who_was_first(store: RecordStore) -> None:
    first = decide(store)
    for digest in (a_plan().hash, "f" * 64):
        with pytest.raises(AlreadyDecidedError, match=r"q-1 was approved by li at 2026-03-01 12:01:00 UTC") as caught:
            decide(store, decision=Decision.REJECT, by="bo", hash=digest)
        assert caught.value.request == first
    assert store.request(P, "q-1") == first


def test_a_decision_on_another_hash_decides_nothing(store: RecordStore) -> None:
    with pytest.raises(StaleHashError, match="q-1 waits for a decision on 000"):
        decide(store, hash="f" * 64, new_plan=a_plan(2))
    assert store.request(P, "q-1") == a_request()
    assert store.plans(P, "r-1") == [a_plan()]
    assert [event.kind for event in store.events(P, "r-1")] == [EventKind.ASKED]


def test_a_decision_on_nothing_says_so(store: RecordStore) -> None:
    with pytest.raises(NotFoundError, match="q-9"):
        decide(store, "q-9")


def test_an_edit_stores_the_new_version_with_the_decision(store: RecordStore) -> None:
    decided = decide(store, decision=Decision.EDIT, value=a_plan(2).to_json(), new_plan=a_plan(2))
    assert (decided.status, decided.value["hash"]) == (RequestStatus.EDITED, a_plan(2).hash)
    assert store.run(P, "r-1").plan_version == 2
    assert store.plans(P, "r-1") == [a_plan(), a_plan(2)]
    assert len(store.steps(P, "r-1")) == 2


def test_an_edit_whose_version_is_taken_is_undone_whole(store: RecordStore) -> None:
    store.put_plan(P, "r-1", a_plan(2), created_at=at(9), created_by="model")
    with pytest.raises(RefusedError, match="frozen"):
        decide(store, decision=Decision.EDIT, new_plan=a_plan(2, hash="e" * 64))
    assert store.request(P, "q-1").status is RequestStatus.PENDING


@pytest.mark.parametrize(
    ("kind", "decision", "event"),
    [
        (RequestKind.PLAN, Decision.REJECT, EventKind.REJECTED),
        (RequestKind.PLAN, Decision.EDIT, EventKind.EDITED),
        (RequestKind.PLAN, Decision.RESPOND, EventKind.SENT_BACK),
        (RequestKind.QUESTION, Decision.RESPOND, EventKind.ANSWERED),
    ],
)
def test_each_decision_has_its_event(
    store: RecordStore, kind: RequestKind, decision: Decision, event: EventKind
) -> None:
    store.put_request(a_request("q-2", kind=kind))
    assert decide(store, "q-2", decision).status is decision.status
    assert store.events(P, "r-1")[-1].kind is event


def test_requests_wait_oldest_first_and_are_history_newest_first(store: RecordStore) -> None:
    for n in (3, 2):
        store.put_request(a_request(f"q-{n}", requested_at=at(n)))
    store.add_run(a_run("r-2"))
    store.put_request(a_request("q-4", "r-2", requested_at=at(-1)))
    ids = [item.request_id for item in store.requests(P, status=RequestStatus.PENDING)]
    assert ids == ["q-4", "q-1", "q-2", "q-3"]
    assert [item.request_id for item in store.requests(P)] == ["q-3", "q-2", "q-1", "q-4"]
    assert [item.request_id for item in store.requests(P, run_id="r-2")] == ["q-4"]
    assert [item.request_id for item in store.requests(P, limit=1)] == ["q-3"]
    assert (store.count_pending(P), store.count_pending("other")) == (4, 0)


def test_applied_is_noted_once(store: RecordStore) -> None:
    decide(store)
    store.mark_applied(P, "q-1", at(70))
    store.mark_applied(P, "q-1", at(80))
    assert store.request(P, "q-1").applied_at == at(70)


@pytest.mark.parametrize("status", [RequestStatus.PENDING, None])
def test_requests_come_in_pages_without_gap_or_repetition(store: RecordStore, status: RequestStatus | None) -> None:
    for number in range(5):
        store.put_request(a_request(f"q-{number}", requested_at=at(number // 2)))
    whole = [request.request_id for request in store.requests("default", status=status)]
    assert len(whole) == 5
    for cut in range(1, 5):
        rest = store.requests("default", status=status, before=whole[cut - 1])
        assert [request.request_id for request in rest] == whole[cut:]
    with pytest.raises(NotFoundError):
        store.requests("default", before="q-none")


def test_superseded_requests_want_no_decision(store: RecordStore) -> None:
    for n in (2, 3):
        store.put_request(a_request(f"q-{n}", requested_at=at(n)))
    decide(store, "q-2")
    store.supersede_requests(P, "r-1", at(90), except_ids=["q-3"])
    assert [item.status for item in store.requests(P)] == ["pending", "approved", "superseded"]
    with pytest.raises(AlreadyDecidedError, match="q-1 is superseded"):
        decide(store)
    store.supersede_requests(P, "r-1", at(91))
    assert store.count_pending(P) == 0


# --- events, artifacts, workers


def test_events_are_numbered_told_once_and_read_on_from_the_last_seen(store: RecordStore) -> None:
    for text in ("begins", "told again after a crash"):
        store.add_event(P, "r-1", EventKind.STEP_STARTED, text, at(1), step_id="s2", once="start:1:s2:1")
    store.add_event(P, "r-1", EventKind.LIMIT_HIT, "40 calls", at(2))
    store.add_event(P, "r-1", EventKind.LIMIT_HIT, "40 calls", at(3))
    events = store.events(P, "r-1")
    assert [(event.seq, event.text) for event in events] == [
        (1, "asked by ana"),
        (2, "begins"),
        (3, "40 calls"),
        (4, "40 calls"),
    ]
    assert (events[1].kind, events[1].step_id, events[1].at) == (EventKind.STEP_STARTED, "s2", at(1))
    assert store.events(P, "r-1", after=2) == events[2:]
    assert store.events(P, "r-1", limit=2) == events[2:], "the newest"


def test_a_file_written_again_replaces_its_note(store: RecordStore) -> None:
    first = Artifact("r-1", "a.txt", "s2", "text/plain", 3, "0" * 64, at(1))
    other = Artifact("r-1", "b.csv", None, "text/csv", 5_000_000_000, "1" * 64, at(2))
    for artifact in (other, first, replace(first, bytes=4)):
        store.put_artifact(P, artifact)
    assert store.artifacts(P, "r-1") == [replace(first, bytes=4), other]


def test_workers_count_while_they_beat_and_are_forgotten(record_store: RecordStore) -> None:
    record_store.beat("h:1:1", at(0))
    record_store.beat("h:2:1", at(10))
    record_store.beat("h:1:1", at(20))
    assert (record_store.live_workers(at(5)), record_store.live_workers(at(15))) == (2, 1)
    record_store.beat("h:3:1", at(100_000))
    assert record_store.live_workers(at(0)) == 1
