"""The right of one process to advance a run: taken, renewed while it works, and asked for before every effect."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from agent.errors import StorageError
from agent.store.gateway import RecordStore, StaleLeaseError

LEASE_SECONDS = 30.0

log = logging.getLogger(__name__)


@dataclass
class Lease:
    """A lease that this process holds, or held."""

    records: RecordStore
    project: str
    run_id: str
    owner: str
    fence: int
    _held_until: float = field(default_factory=lambda: time.monotonic() + LEASE_SECONDS)

    def check(self) -> None:
        """Make sure of the lease for a while longer; StaleLeaseError if another process has taken over."""
        if not self._renew():
            raise StaleLeaseError(f"Another process goes on with run {self.run_id}.")

    def _renew(self) -> bool:
        now = time.monotonic()
        if not self.records.renew_lease(self.project, self.run_id, self.owner, self.fence, LEASE_SECONDS):
            return False
        self._held_until = now + LEASE_SECONDS
        return True

    def keep(self, done: threading.Event) -> None:
        """Renew until `done`, or until the lease is surely lost. A store that is away for a moment is asked again."""
        while not done.wait(LEASE_SECONDS / 3):
            try:
                if not self._renew():
                    return
            except StorageError:
                log.exception("the lease of run %s could not be renewed", self.run_id)
                if time.monotonic() > self._held_until:
                    return


@contextmanager
def leased(records: RecordStore, project: str, run_id: str, owner: str) -> Iterator[Lease | None]:
    """Hold a run's lease; None while another process does."""
    fence = records.take_lease(project, run_id, owner, LEASE_SECONDS)
    if fence is None:
        yield None
        return
    lease = Lease(records, project, run_id, owner, fence)
    done = threading.Event()
    heartbeat = threading.Thread(target=lease.keep, args=(done,), name=f"lease {run_id}", daemon=True)
    heartbeat.start()
    try:
        yield lease
    finally:
        done.set()
        heartbeat.join()
        records.release_lease(project, run_id, owner, fence)
