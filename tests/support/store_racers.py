"""A process that opens a record store, says so, waits for the word, and does one thing in several threads at once.

`python store_racers.py URL decide THREADS` decides request q-1; `… open` only opens, at the word, and adds a run.
Prints one JSON line: what each thread met. `… die after` is killed as soon as its decision is acknowledged,
`… die within` before its transaction ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from sqlalchemy import Engine, event
from store_records import a_plan, a_run

from agent.errors import AgentError
from agent.records import Decision
from agent.store.gateway import AlreadyDecidedError, RecordStore, open_record_store


def wait_for_the_word() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


def decide(store: RecordStore, who: str) -> list[str]:
    try:
        decided = store.decide(
            "default",
            "q-1",
            decision=Decision.APPROVE,
            hash=a_plan().hash,
            by=who,
            system_user="root",
            at=datetime.now(UTC),
        )
    except AlreadyDecidedError as error:
        return ["late", str(error.request.decided_by)]
    except AgentError as error:
        return ["failed", str(error)]
    return ["won", str(decided.decided_by)]


def decide_at_once(url: str, threads: int) -> list[list[str]]:
    with open_record_store(url) as store, ThreadPoolExecutor(threads) as pool:
        store.count_pending("default")
        barrier = threading.Barrier(threads)
        wait_for_the_word()

        def go(n: int) -> list[str]:
            barrier.wait()
            return decide(store, f"{os.getpid()}-{n}")

        return list(pool.map(go, range(threads)))


def open_at_once(url: str) -> list[list[str]]:
    wait_for_the_word()
    try:
        with open_record_store(url) as store:
            return [["opened", store.add_run(a_run(f"r-{os.getpid()}")).run_id]]
    except AgentError as error:
        return [["failed", str(error)]]


def die(url: str, when: str) -> None:
    def kill(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with open_record_store(url) as store:
        if when == "within":
            event.listen(Engine, "commit", kill)
        decide(store, "the late")
        kill()


if __name__ == "__main__":
    url, what, *rest = sys.argv[1:]
    if what == "die":
        die(url, rest[0])
    print(json.dumps(decide_at_once(url, int(rest[0])) if what == "decide" else open_at_once(url)))
