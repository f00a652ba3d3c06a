"""The worker: looks for runs that can go on, and advances them. Any number of them may run, anywhere."""

from __future__ import annotations

import logging
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait

from agent.run.advance import advance
from agent.run.usecases import Plandeck

POLL_SECONDS = 0.3
BEAT_SECONDS = 5.0
PAUSE_AFTER_FAILURE_SECONDS = 5.0

log = logging.getLogger(__name__)


class Worker:
    """Advances runs in threads until it is stopped. Start it once; `stop` returns when its threads are done."""

    def __init__(self, app: Plandeck, concurrency: int = 4) -> None:
        self._app = app
        self._concurrency = concurrency
        self._busy: dict[str, Future[object]] = {}
        self._not_before: dict[str, float] = {}
        """Runs that could not be advanced at all (a store refused), until when they are left alone."""
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="plandeck worker", daemon=True)
        self._beaten = 0.0

    def start(self) -> None:
        """Begin, in a thread of its own."""
        self._thread.start()

    def stop(self, timeout: float | None = None) -> None:
        """Take no more runs, and let those in flight end their step; after `timeout` seconds they are left alone.

        A run that is left alone stays at its last checkpoint: its stores may be closed under it.
        """
        self._stopping.set()
        end = None if timeout is None else time.monotonic() + timeout
        self._thread.join(timeout)
        wait(self._busy.values(), None if end is None else max(0.0, end - time.monotonic()))

    @property
    def alive(self) -> bool:
        """Whether the loop is running."""
        return self._thread.is_alive()

    @property
    def busy(self) -> int:
        """How many runs are being advanced here now."""
        return sum(1 for future in self._busy.values() if not future.done())

    def _loop(self) -> None:
        pool = ThreadPoolExecutor(self._concurrency, thread_name_prefix="plandeck run")
        while not self._stopping.is_set():
            try:
                self._beat()
                self._take(pool)
            except Exception:  # the loop outlives a store that is away for a moment; it is logged
                log.exception("the worker could not look for runs")
                self._stopping.wait(PAUSE_AFTER_FAILURE_SECONDS)
            self._stopping.wait(POLL_SECONDS)
        pool.shutdown(wait=False, cancel_futures=True)

    def _beat(self) -> None:
        if time.monotonic() - self._beaten >= BEAT_SECONDS:
            self._app.records.beat(self._app.owner, self._app.now())
            self._beaten = time.monotonic()

    def _take(self, pool: ThreadPoolExecutor) -> None:
        self._busy = {key: future for key, future in self._busy.items() if not future.done()}
        free = self._concurrency - len(self._busy)
        if free <= 0:
            return
        # Past the runs that are at work or left alone, however many they are.
        now = time.monotonic()
        self._not_before = {key: moment for key, moment in list(self._not_before.items()) if moment > now}
        limit = free + len(self._busy) + len(self._not_before)
        for project, run_id in self._app.records.runnable(self._app.project, limit=limit):
            if len(self._busy) >= self._concurrency:
                return
            if project == self._app.project and run_id not in self._busy and self._may_try(run_id):
                self._busy[run_id] = pool.submit(self._advance, run_id)

    def _may_try(self, run_id: str) -> bool:
        return time.monotonic() >= self._not_before.get(run_id, 0.0)

    def _advance(self, run_id: str) -> None:
        try:
            advance(self._app, run_id, stopping=self._stopping.is_set)
            self._not_before.pop(run_id, None)
        except Exception:  # a run that no store lets us record anything about is tried again later
            log.exception("run %s could not be advanced", run_id)
            self._not_before[run_id] = time.monotonic() + PAUSE_AFTER_FAILURE_SECONDS
