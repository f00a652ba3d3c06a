"""Tells on stderr what a run does while a command waits for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dashboard.cli.output import note, plain

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck

POLL_SECONDS = 0.3


@contextmanager
def progress(app: Plandeck, run_id: str, *, quiet: bool) -> Iterator[None]:
    """Print each new event of the run as a line, as long as the block runs."""
    if quiet:
        yield
        return
    done = threading.Event()
    seen = last_event(app, run_id)

    def tell() -> None:
        last = seen
        while True:
            finished = done.wait(POLL_SECONDS)
            for event in sorted(app.records.events(app.project, run_id, after=last), key=lambda item: item.seq):
                note(f"{event.at:%H:%M:%S}  {plain(event.text)}")
                last = event.seq
            if finished:
                return

    teller = threading.Thread(target=tell, name="plandeck progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def last_event(app: Plandeck, run_id: str) -> int:
    """The number of the newest event of a run; 0 if there is none."""
    return max((event.seq for event in app.records.events(app.project, run_id)), default=0)
