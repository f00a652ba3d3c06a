"""What works behind the pages of one server: the stores are opened and the worker is started while pages are served."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from agent.errors import AgentError
from dashboard.named_stores import store_problems
from dashboard.services import close_services, services
from traces.errors import TracesError
from traces.room import room_problem

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck
    from agent.run.worker import Worker

RETRY_SECONDS = 5.0
STOP_SECONDS = 10.0
STARTING = "still starting"

log = logging.getLogger(__name__)


class Background:
    """Opens the stores and runs the worker in threads of its own; tries again while a store refuses."""

    def __init__(self, concurrency: int = 4) -> None:
        self._concurrency = concurrency
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._open, name="plandeck opening", daemon=True)
        self._worker: Worker | None = None
        self._app: Plandeck | None = None
        self._problem = STARTING

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the worker and close the stores; runs in flight stay at their last checkpoint."""
        self._stopping.set()
        self._thread.join(STOP_SECONDS)
        if self._worker:
            self._worker.stop(STOP_SECONDS)
        close_services()

    @property
    def app(self) -> Plandeck | None:
        """The open product, or None while it is not open."""
        return self._app

    def failing(self) -> dict[str, str]:
        """What does not answer now, by name, each with its sentence; empty when ready."""
        if self._app is None:
            return {"stores": self._problem}
        found: dict[str, str] = {}
        for name, ask in {"records": self._ask_records, "spans": self._ask_spans}.items():
            try:
                ask(self._app)
            except (AgentError, TracesError) as error:
                found[name] = str(error)
        if self._worker is None or not self._worker.alive:
            found["worker"] = "not running"
        return found

    @staticmethod
    def _ask_records(app: Plandeck) -> None:
        app.records.count_pending(app.project)

    @staticmethod
    def _ask_spans(app: Plandeck) -> None:
        app.spans.traces(app.project, limit=1)

    def _open(self) -> None:
        while not self._stopping.is_set():
            try:
                app = services()
            except (AgentError, TracesError) as error:
                self._problem = str(error)
                log.error("Plandeck cannot start yet: %s", error)
            except Exception as error:  # the boundary: without it the server would wait for ever and not say why
                self._problem = f"{type(error).__name__}: {error}"
                log.exception("Plandeck cannot start yet")
            else:
                self._begin(app)
                return
            self._stopping.wait(RETRY_SECONDS)

    def _begin(self, app: Plandeck) -> None:
        from agent.run.worker import Worker  # noqa: PLC0415 - loaded behind the pages

        self._worker = Worker(app, self._concurrency)
        self._worker.start()
        self._app = app
        for problem in (room_problem(app.settings.home), app.prices.problem, *store_problems(app.settings)):
            if problem:
                log.warning("%s", problem)
