"""`advance`: the one way in which a run moves. Idempotent, and safe to call from any process at any time.

Load, take the run's lease, feed the engine its input, nothing, or a decision, and go until it waits or ends. What pages
read is projected from each checkpoint after it is durable, so a crash between the two is mended by the next call.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agent.errors import RefusedError, StorageError
from agent.planning.hashing import payload_hash
from agent.records import (
    ApprovalRequest,
    AttemptStatus,
    Decision,
    EventKind,
    JsonObject,
    Mode,
    Plan,
    RequestKind,
    RequestStatus,
    Run,
    RunStatus,
    StepProgress,
    StepStatus,
    StopReason,
)
from agent.run.completing import sources_of
from agent.run.engine import engine_for
from agent.run.failing import one_sentence
from agent.run.lease import Lease, leased
from agent.run.places import Pause, Place
from agent.run.projection import closed_attempts, progress, step_event, with_closed
from agent.run.savings import saved_before
from agent.run.state import RunState, plan_of
from agent.run.tracing import RunTracing
from agent.store.gateway import StaleLeaseError
from traces.errors import TracesError

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck

log = logging.getLogger(__name__)


def advance(app: Plandeck, run_id: str, *, revive: bool = False, stopping: Callable[[], bool] = lambda: False) -> Run:
    """Move a run until it waits for a person or ends; at once back when another process holds its lease.

    `revive` goes on with a run that failed with an error. Once `stopping` says so, nothing new is begun.
    """
    run = app.records.run(app.project, run_id)
    if not may_go_on(run, revive):
        return run
    with leased(app.records, app.project, run_id, app.owner) as lease:
        if lease is not None:
            run = app.records.run(app.project, run_id)
            if may_go_on(run, revive):
                with suppress(StaleLeaseError):
                    _Advance(app, run, lease, stopping).go()
    return app.records.run(app.project, run_id)


def may_go_on(run: Run, revive: bool) -> bool:
    """Whether there is something left to do; `revive` as for `advance`."""
    return not run.status.ended or (revive and run.stop_reason == StopReason.ERROR)


@dataclass
class _Advance:
    """One call of `advance` that holds the lease."""

    app: Plandeck
    run: Run
    lease: Lease
    stopping: Callable[[], bool]

    def __post_init__(self) -> None:
        self.fence = self.lease.fence
        self.put_plan: tuple[int, str] | None = None
        self.sink = self.app.exporter

    def go(self) -> None:
        """Go on until the run waits or ends. What the graph raises ends the attempt and is recorded, never a result.

        Our own stores' failures are no failure of the run: they go to the caller, and the run stays where it is.
        """
        self.tracing = RunTracing(self.run, self.sink)
        was = self.run.status
        try:
            deps = self.app.deps_for(self.run, self.lease, self.tracing, self.stopping)
            self.run, self.engine = engine_for(self.app, self.run, deps, self.lease)
            with self.tracing.segment():
                place = self.engine.place()
                self._note_cut_off(place)
                self._note_resumed(place, was)
                self._drive()
            deps.meter.flush()
        except (StaleLeaseError, StorageError, TracesError):
            raise
        except Exception as error:  # the boundary: whatever user code, model or tool raised fails the run
            log.exception("run %s failed", self.run.run_id)
            self._end(RunStatus.FAILED, StopReason.ERROR, error=one_sentence(error))

    def _note_cut_off(self, place: Place) -> None:
        """Tries that run on the record but not in the checkpoint were cut off with their process."""
        if place.values.get("run_id", self.run.run_id) != self.run.run_id:
            raise RefusedError(f"Thread {self.run.thread_id} belongs to another run; start again with another thread.")
        self._project_values(place.values)
        cut = self.app.records.interrupt_attempts(self.run.project, self.run.run_id, self.app.now(), self.fence)
        for attempt in cut:
            self._event(
                EventKind.INTERRUPTED,
                f"{attempt.step_id} try {attempt.attempt} was cut off, its process ended",
                step_id=attempt.step_id,
                once=f"cut:{attempt.plan_version}:{attempt.step_id}:{attempt.attempt}",
            )

    def _note_resumed(self, place: Place, was: RunStatus) -> None:
        """A run that neither waited nor is new goes on after a crash, a failure or a worker's end."""
        if place.begun and was not in (RunStatus.QUEUED, RunStatus.WAITING_HUMAN) and not self._cancelled():
            saved = saved_before(self.app, self.run.run_id, self.app.now())
            self._event(EventKind.RESUMED, f"resumed, {saved}", once=f"resumed:{self.fence}")

    def _drive(self) -> None:
        while not self.stopping():
            place = self.engine.place()
            self._project_values(place.values)
            self._close_applied({pause.id for pause in place.pauses})
            if self._cancelled():
                self._end(RunStatus.CANCELLED, StopReason.CANCELLED)
                return
            if place.ended:
                self._finish(place.values)
                return
            if not place.begun and self.run.plan_version is not None:
                raise RefusedError("The checkpoints of this run are gone, so it cannot go on; start the task again.")
            requests = [self._request(place.checkpoint_id, pause) for pause in place.pauses]
            if any(request.status is RequestStatus.PENDING for request in requests):
                self._update(status=RunStatus.WAITING_HUMAN)
                return
            decisions = _decisions(requests)
            self._show_going_on(place.values if place.begun else self._beginning(), decisions)
            self._follow(self.engine.go_on(decisions) if place.begun else self.engine.begin(self._beginning()))

    def _beginning(self) -> RunState:
        return {"task": self.run.task, "run_id": self.run.run_id, "mode": self.run.mode}

    def _show_going_on(self, values: RunState, decisions: Mapping[str, JsonObject]) -> None:
        self._update(
            status=RunStatus.PLANNING if _will_plan(values, decisions) else RunStatus.EXECUTING,
            started_at=self.run.started_at or self.app.now(),
            stop_reason=None,
            error=None,
            finished_at=None,
        )

    def _follow(self, steps: Iterator[RunState]) -> None:
        for values in steps:
            self._project_values(values)
            if self._cancelled() or self.stopping():
                return

    # --- pauses

    def _request(self, checkpoint_id: str, pause: Pause) -> ApprovalRequest:
        """The request row of a pending pause, made again where it is missing."""
        value = pause.payload
        kind = RequestKind(value["kind"])
        key = f"{self.run.project}|{self.run.thread_id}|{checkpoint_id}|{pause.id}"
        made = ApprovalRequest(
            project=self.run.project,
            request_id="q-" + hashlib.sha256(key.encode()).hexdigest()[:12],
            kind=kind,
            run_id=self.run.run_id,
            thread_id=self.run.thread_id,
            checkpoint_id=checkpoint_id,
            interrupt_id=pause.id,
            hash=value["plan"]["hash"] if kind is RequestKind.PLAN else payload_hash(value),
            status=RequestStatus.PENDING,
            requested_at=self.app.now(),
            requested_by=self.run.requested_by,
            payload=value,
        )
        stored = self.app.records.put_request(made, fence=self.fence)
        if stored.status is RequestStatus.PENDING:
            self._event(EventKind.PLAN_WAITS, _waits(kind, value), once=f"waits:{stored.request_id}")
        return stored

    def _close_applied(self, pending: set[str]) -> None:
        """Mark the decisions that a checkpoint shows to have reached the graph, and write the time people took."""
        for request in self.app.records.requests(self.run.project, run_id=self.run.run_id):
            if request.decision and request.applied_at is None and request.interrupt_id not in pending:
                self.tracing.waited(request)
                self.app.records.mark_applied(self.run.project, request.request_id, self.app.now(), fence=self.fence)

    # --- records

    def _project_values(self, state: RunState) -> None:
        plan = plan_of(state)
        if plan is None:
            return
        records, project, run_id = self.app.records, self.run.project, self.run.run_id
        self._put_plan(plan)
        attempts = records.attempts(project, run_id)
        closed = closed_attempts(state, attempts, self.app.now())
        for attempt in closed:
            records.finish_attempt(
                project,
                run_id,
                attempt.plan_version,
                attempt.step_id,
                attempt.attempt,
                attempt.status,
                attempt.finished_at or self.app.now(),
                attempt.error,
                fence=self.fence,
            )
            if attempt.status is AttemptStatus.FAILED:
                self._event(
                    EventKind.STEP_FAILED,
                    f"{attempt.step_id} try {attempt.attempt} failed: {attempt.error}",
                    step_id=attempt.step_id,
                    once=f"failed:{attempt.plan_version}:{attempt.step_id}:{attempt.attempt}",
                )
        self._put_steps(plan, progress(run_id, plan, state, with_closed(attempts, closed)))

    def _put_plan(self, plan: Plan) -> None:
        if (plan.version, plan.hash) == self.put_plan:
            return
        self.app.records.put_plan(
            self.run.project,
            self.run.run_id,
            plan,
            created_at=self.app.now(),
            created_by=str(plan.source),
            fence=self.fence,
        )
        self._event(
            EventKind.PLAN_PROPOSED,
            f"plan version {plan.version}, {len(plan.steps)} steps",
            once=f"plan:{plan.version}:{plan.hash}",
        )
        if self.run.plan_version != plan.version:
            self._update(plan_version=plan.version)
        self.put_plan = (plan.version, plan.hash)

    def _put_steps(self, plan: Plan, steps: list[StepProgress]) -> None:
        records, project, run_id = self.app.records, self.run.project, self.run.run_id
        before = {item.step_id: item for item in records.steps(project, run_id, plan.version)}
        changed = [item for item in steps if before.get(item.step_id) != item]
        if not changed:
            return
        records.put_steps(project, run_id, plan.version, changed, fence=self.fence)
        for item in changed:
            old = before.get(item.step_id)
            event = step_event(old.status if old else StepStatus.PENDING, item)
            if event:
                kind, text = event
                self._event(kind, text, step_id=item.step_id, once=f"{kind}:{plan.version}:{item.step_id}")

    def _finish(self, state: RunState) -> None:
        reason = state.get("stop_reason")
        if reason is None:
            raise RefusedError("The graph ended without saying why; nothing is taken for done.")
        status = {StopReason.COMPLETED: RunStatus.SUCCEEDED, StopReason.REJECTED: RunStatus.CANCELLED}.get(
            StopReason(reason), RunStatus.FAILED
        )
        self._end(status, reason, error=_run_error(state), answer=state.get("answer"), sources=sources_of(state))

    def _end(self, status: RunStatus, reason: str, **columns: Any) -> None:
        """The run is over once its spans are stored: a run that counts as finished has its whole cost."""
        self.lease.check()
        at = self.app.now()
        self.app.records.interrupt_attempts(self.run.project, self.run.run_id, at, self.fence)
        self.app.records.supersede_requests(self.run.project, self.run.run_id, at)
        ended = self.app.records.run(self.run.project, self.run.run_id)
        self.tracing.ended(replace(ended, status=status, stop_reason=str(reason), error=columns.get("error")), at)
        self.sink.check()
        self._update(status=status, stop_reason=str(reason), finished_at=at, **columns)
        self.app.records.ledger.put_draft(self.run.project, self.run.run_id, None, fence=self.fence)
        kind = {
            RunStatus.SUCCEEDED: EventKind.RUN_SUCCEEDED,
            RunStatus.CANCELLED: EventKind.RUN_CANCELLED,
        }.get(status, EventKind.RUN_FAILED)
        self._event(kind, f"run {status}" + ("" if status is RunStatus.SUCCEEDED else f", {reason}"))

    def _cancelled(self) -> bool:
        return self.app.records.run(self.run.project, self.run.run_id).cancel_requested

    def _update(self, **columns: Any) -> None:
        self.run = self.app.records.update_run(self.run.project, self.run.run_id, fence=self.fence, **columns)

    def _event(self, kind: EventKind, text: str, *, step_id: str | None = None, once: str | None = None) -> None:
        self.app.records.add_event(
            self.run.project, self.run.run_id, kind, text, self.app.now(), step_id=step_id, once=once
        )


def _waits(kind: RequestKind, payload: JsonObject) -> str:
    """The line about a pause in the run's history."""
    if kind is RequestKind.PLAN:
        return f"plan version {payload['plan']['version']} waits"
    if kind is RequestKind.TOOL_CALL:
        return f"{payload['step_id']} waits for leave to call {payload['tool']}"
    return "a question waits"


def _decisions(requests: list[ApprovalRequest]) -> dict[str, JsonObject]:
    """What was decided, by the id of the pause; empty to go on after a crash."""
    if any(request.decision is None for request in requests):
        raise RefusedError("A request of this run was closed without a decision, so the run cannot go on.")
    return {request.interrupt_id: _answer(request) for request in requests}


def _answer(request: ApprovalRequest) -> JsonObject:
    """A decision as the node gets it."""
    return {
        "decision": str(request.decision),
        "hash": request.hash,
        "by": request.decided_by,
        "note": request.note,
        "value": request.value,
    }


def _will_plan(state: RunState, decisions: Mapping[str, JsonObject]) -> bool:
    """Whether the model will be asked for a plan next."""
    if state.get("mode") in (Mode.DIRECT, Mode.REACT):
        return False
    return not state.get("plan") or any(said["decision"] == Decision.RESPOND for said in decisions.values())


def _run_error(state: RunState) -> str | None:
    """Why a run did not do everything, in one sentence; None if it did."""
    if state.get("error"):
        return state.get("error")
    blocked = [key for key, value in state.get("statuses", {}).items() if value == StepStatus.BLOCKED]
    if not blocked:
        return None
    return f"{blocked[0]} did not get done: {state.get('errors', {}).get(blocked[0], 'no reason is known')}"
