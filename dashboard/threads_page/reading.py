"""What the page asks from stores and records. What was read of a checkpoint is kept: only its writes can still grow."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import streamlit as st

from agent.checkpoints.records import CheckpointState, CheckpointSummary, ThreadSummary
from agent.checkpoints.stores import CheckpointStore, open_store
from agent.errors import NotFoundError
from agent.records import ApprovalRequest, RequestKind, RequestStatus, Run
from dashboard.named_stores import OWN, named_stores
from dashboard.threads_page.model import OwnRun

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck

MOST_CHECKPOINTS = 10_000
KEPT_SECONDS = 60
_PAGE = 1_000


def stores_of(app: Plandeck) -> dict[str, CheckpointStore]:
    """Every store by name, the own one first, without those whose setting is wrong; none is opened yet."""
    return {name: open_store(location, name) for name, location in named_stores(app.settings).locations.items()}


@dataclass(frozen=True, slots=True)
class Version:
    """A namespace of a thread as it was when it was looked at; another size or newest checkpoint is another version."""

    location: str
    thread_id: str
    ns: str
    newest: str
    bytes: int | None


@st.cache_resource(max_entries=16, ttl=KEPT_SECONDS, show_spinner=False)
def history_of(_store: CheckpointStore, version: Version) -> tuple[CheckpointSummary, ...]:
    """All checkpoints of a namespace, newest first; at most the newest `MOST_CHECKPOINTS`."""
    found: list[CheckpointSummary] = []
    before = None
    while len(found) < MOST_CHECKPOINTS:
        page = _store.history(version.thread_id, ns=version.ns, limit=_PAGE, before=before)
        found += page.items
        if (before := page.next_cursor) is None:
            break
    return tuple(found)


@st.cache_resource(max_entries=32, ttl=KEPT_SECONDS, show_spinner=False)
def state_of(_store: CheckpointStore, version: Version, checkpoint_id: str) -> CheckpointState:
    """One checkpoint's state; not to be changed, since it is shared."""
    return _store.state(version.thread_id, checkpoint_id, version.ns)


@dataclass(frozen=True, slots=True)
class Thread:
    """The thread that the page shows, and all that was read for it."""

    app: Plandeck
    store: CheckpointStore
    summary: ThreadSummary
    version: Version
    history: tuple[CheckpointSummary, ...]
    """Newest first."""
    own: OwnRun | None
    now: datetime

    def state(self, checkpoint_id: str) -> CheckpointState:
        """One checkpoint's state."""
        return state_of(self.store, self.version, checkpoint_id)

    @property
    def ns(self) -> str:
        """The graph that is shown: the root, or a subgraph."""
        return self.version.ns


def read_thread(app: Plandeck, store: CheckpointStore, thread_id: str, ns: str) -> Thread:
    """Everything of a thread but the states; NotFoundError if the store has none of that id."""
    summary = store.thread(thread_id)
    location = named_stores(app.settings).locations[store.name]
    version = Version(location, thread_id, ns, summary.last_checkpoint_id, summary.bytes)
    history = history_of(store, version)
    return Thread(app, store, summary, version, history, own_run(app, store.name, thread_id), app.now())


def own_run(app: Plandeck, store_name: str, thread_id: str) -> OwnRun | None:
    """Our run of a thread, with what its records tell; None for a stranger's thread."""
    run = run_of(app, store_name, thread_id)
    if run is None:
        return None
    try:
        plan = app.records.plan(app.project, run.run_id, run.plan_version) if run.plan_version else None
    except NotFoundError:
        plan = None
    decided = app.records.requests(app.project, run_id=run.run_id)
    return OwnRun(
        run=run,
        attempts=app.records.attempts(app.project, run.run_id),
        effects={step.id: step.effect for step in plan.steps} if plan else {},
        tools={step.id: step.tool for step in plan.steps} if plan else {},
        deciders={
            _decided_hash(request): request.decided_by
            for request in decided
            if request.decided_by and request.status in (RequestStatus.APPROVED, RequestStatus.EDITED)
        },
    )


def _decided_hash(request: ApprovalRequest) -> str:
    """The hash of what a person said yes to: of an edited plan that of the edit."""
    edited = request.kind is RequestKind.PLAN and request.status is RequestStatus.EDITED
    return str(request.value["hash"]) if edited else request.hash


def run_of(app: Plandeck, store_name: str, thread_id: str) -> Run | None:
    """Our newest run of a thread; None for a stranger's thread."""
    return app.records.run_of_thread(app.project, thread_id) if store_name == OWN else None
