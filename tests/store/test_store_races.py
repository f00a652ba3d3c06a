import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from store_records import a_plan, a_request, a_run, at

from agent.records import EventKind, RequestStatus
from agent.store.gateway import RecordStore, open_record_store

P = "default"
RACERS = Path(__file__).parents[1] / "support" / "store_racers.py"
PROCESSES = 4
THREADS = 8


def racer(url: str, *words: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(RACERS.parents[2]), str(RACERS.parent)])
    return subprocess.Popen(
        [sys.executable, str(RACERS), url, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


def race(url: str, *words: str) -> list[list[str]]:
    """What each thread of each process met, after all of them stood ready."""
    racers = [racer(url, *words) for _ in range(PROCESSES)]
    for each in racers:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in racers:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    answers = [each.communicate()[0] for each in racers]
    return [met for answer in answers for met in json.loads(answer)]


def at_once(do: Callable[[int], Any]) -> list[Any]:
    barrier = threading.Barrier(THREADS)

    def go(n: int) -> Any:
        barrier.wait()
        return do(n)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(go, range(THREADS)))


def test_of_many_threads_and_processes_one_decides_and_all_others_hear_who(records_url: str) -> None:
    with open_record_store(records_url) as store:
        store.add_run(a_run())
        store.put_request(a_request())
        met = race(records_url, "decide", str(THREADS))
        assert len(met) == PROCESSES * THREADS
        winners = [who for outcome, who in met if outcome == "won"]
        assert len(winners) == 1, met
        assert [[outcome, who] for outcome, who in met if outcome != "won"] == [["late", winners[0]]] * (len(met) - 1)
        assert store.request(P, "q-1").decided_by == winners[0]
        assert [event.kind for event in store.events(P, "r-1")] == [EventKind.ASKED, EventKind.APPROVED]


def test_processes_that_open_a_fresh_database_at_the_same_moment_all_succeed(empty_records_url: str) -> None:
    met = race(empty_records_url, "open")
    assert [outcome for outcome, _ in met] == ["opened"] * PROCESSES, met
    with open_record_store(empty_records_url) as store:
        assert sorted(run.run_id for run in store.runs(P)) == sorted(run_id for _, run_id in met)


def test_one_of_many_gets_the_lease(record_store: RecordStore) -> None:
    record_store.add_run(a_run())
    fences = at_once(lambda n: record_store.take_lease(P, "r-1", f"other:{n}:1", 30))
    assert sorted(fences, key=str) == [1] + [None] * (THREADS - 1)


def test_events_attempts_and_requests_of_many_writers_neither_clash_nor_repeat(record_store: RecordStore) -> None:
    record_store.add_run(a_run())
    record_store.put_plan(P, "r-1", a_plan(), created_at=at(1), created_by="model")

    def write(n: int) -> tuple[int, str]:
        record_store.add_event(P, "r-1", EventKind.LIMIT_HIT, str(n), at(n))
        record_store.add_event(P, "r-1", EventKind.DEGRADED, "told once", at(n), once="degraded")
        record_store.put_plan(P, "r-1", a_plan(2), created_at=at(1), created_by="li")
        record_store.beat("h:1:1", at(n))
        attempt = record_store.start_attempt(P, "r-1", 1, "s2", at(n))
        return attempt, record_store.put_request(a_request(f"q-{n}", checkpoint_id="the same")).request_id

    written = at_once(write)
    assert sorted(attempt for attempt, _ in written) == list(range(1, THREADS + 1))
    assert len({request_id for _, request_id in written}) == 1
    events = record_store.events(P, "r-1")
    assert [event.seq for event in events] == list(range(1, THREADS + 3))
    assert len([event for event in events if event.kind is EventKind.DEGRADED]) == 1
    assert record_store.live_workers(at(-1)) == 1


@pytest.mark.parametrize(
    ("when", "status", "told"),
    [
        ("after", RequestStatus.APPROVED, [EventKind.ASKED, EventKind.APPROVED]),
        ("within", RequestStatus.PENDING, [EventKind.ASKED]),
    ],
)
def test_a_killed_process_leaves_its_whole_decision_or_nothing_of_it(
    records_url: str, when: str, status: RequestStatus, told: list[EventKind]
) -> None:
    with open_record_store(records_url) as store:
        store.add_run(a_run())
        store.put_request(a_request())
        killed = racer(records_url, "die", when)
        killed.communicate()
        assert killed.returncode == -signal.SIGKILL
        assert store.request(P, "q-1").status is status
        assert [event.kind for event in store.events(P, "r-1")] == told
        assert store.take_lease(P, "r-1", "other:1:1", 30) == 1, "no lock is left behind"
