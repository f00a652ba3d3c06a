"""The records of runs, plans, steps, approvals and events: the one module that knows their SQL.

Every write is one transaction and locks its run's row first, so that nothing needs a second try and locks are always
taken in the same order. A write that names a fence is refused when another process took the run's lease since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    func,
    insert,
    literal,
    null,
    select,
    tuple_,
    update,
)
from sqlalchemy.exc import IntegrityError

from agent.errors import NotFoundError, RefusedError
from agent.records import (
    ApprovalRequest,
    Artifact,
    AttemptStatus,
    Decision,
    EventKind,
    JsonValue,
    Limits,
    Plan,
    RequestStatus,
    Run,
    RunEvent,
    RunStatus,
    StepAttempt,
    StepProgress,
    StepStatus,
)
from agent.store import owners, schema
from agent.store.columns import UtcDateTime
from agent.store.conditions import holds, is_plan, is_request, is_run, is_step, of_step, runnable_query
from agent.store.engine import Database
from agent.store.errors import AlreadyDecidedError, StaleHashError, StaleLeaseError
from agent.store.ledger import Ledger
from agent.store.loop_places import LoopPlaces
from agent.store.migrate import migrate
from agent.store.rows import (
    artifact_from_row,
    attempt_from_row,
    columns_of,
    event_from_row,
    plan_from_row,
    request_from_row,
    run_from_row,
    step_from_row,
    stored_columns,
)
from agent.store.within import (
    append_event,
    compare_and_set,
    decision_event,
    lock_run,
    lock_word,
    put_plan,
    read_request,
    read_run,
    require_step,
    upsert,
)

__all__ = [
    "AlreadyDecidedError",
    "RecordStore",
    "StaleHashError",
    "StaleLeaseError",
    "open_record_store",
]

WORKER_KEPT = timedelta(days=1)


def open_record_store(url: str, *, is_dead: Callable[[str], bool] = owners.is_dead) -> RecordStore:
    """Open `sqlite:///path` or `postgresql://…` and bring it to the newest schema.

    `is_dead(owner)` says whether the process behind a lease has surely ended. StorageError, in one sentence and with
    nothing altered, for a database that is damaged, strange, newer, locked, read-only or out of reach.
    """
    database = Database(url)
    try:
        migrate(database)
    except BaseException:
        database.close()
        raise
    return RecordStore(database, is_dead)


class RecordStore:
    """Reads and writes the records of all projects; usable from any thread. A context manager that closes itself."""

    def __init__(self, database: Database, is_dead: Callable[[str], bool]) -> None:
        self._database = database
        self._is_dead = is_dead
        self.ledger = Ledger(database)
        """What runs did and used up: tool calls and meters."""
        self.loop = LoopPlaces(database)
        """Where runs without LangGraph stand."""

    def __enter__(self) -> RecordStore:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        self._database.close()

    # --- runs

    def add_run(self, run: Run) -> Run:
        """Store a new run and the event that it was asked for; RefusedError if its id or its thread is taken.

        Checkpoints know no projects, so a thread belongs to one run of all projects.
        """
        with self._database.write() as connection:
            lock_word(connection, f"thread {run.thread_id}")
            if connection.scalar(select(schema.runs.c.run_id).where(schema.runs.c.thread_id == run.thread_id).limit(1)):
                raise RefusedError(
                    f"Thread {run.thread_id} belongs to a run already; leave out the thread or choose another id.",
                    code="thread_taken",
                )
            try:
                connection.execute(insert(schema.runs).values(fence=0, **columns_of(run)))
            except IntegrityError as error:
                raise RefusedError(f"Run {run.run_id} exists already.", code="exists") from error
            asked = f"asked by {run.requested_by}"
            append_event(connection, run.project, run.run_id, EventKind.ASKED, asked, at=run.created_at, once="asked")
        return self.run(run.project, run.run_id)

    def run(self, project: str, run_id: str) -> Run:
        """The run; NotFoundError if the project has none of that id."""
        with self._database.read() as connection:
            return read_run(connection, project, run_id)

    def run_of_thread(self, project: str, thread_id: str) -> Run | None:
        """The newest run that wrote a thread, or None."""
        runs = schema.runs.c
        query = (
            select(schema.runs)
            .where(runs.project == project, runs.thread_id == thread_id)
            .order_by(runs.created_at.desc(), runs.run_id.desc())
            .limit(1)
        )
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else run_from_row(row)

    def runs(
        self, project: str, *, status: RunStatus | None = None, limit: int = 50, before: str | None = None
    ) -> list[Run]:
        """Newest first; `before` is the id of the last run of the page before (NotFoundError if unknown)."""
        runs = schema.runs.c
        query = select(schema.runs).where(runs.project == project)
        if status is not None:
            query = query.where(runs.status == status)
        with self._database.read() as connection:
            if before is not None:
                last = read_run(connection, project, before)
                query = query.where(
                    tuple_(runs.created_at, runs.run_id)
                    < tuple_(literal(last.created_at, UtcDateTime()), literal(last.run_id))
                )
            query = query.order_by(runs.created_at.desc(), runs.run_id.desc()).limit(limit)
            return [run_from_row(row) for row in connection.execute(query)]

    def ended_runs(
        self, project: str, *statuses: RunStatus, since: datetime | None = None, limit: int = 50
    ) -> list[Run]:
        """Runs that ended, the last to end first: with one of the statuses if any is named, at `since` or later."""
        runs = schema.runs.c
        query = select(schema.runs).where(runs.project == project, runs.finished_at.is_not(None))
        if statuses:
            query = query.where(runs.status.in_([str(status) for status in statuses]))
        if since is not None:
            query = query.where(runs.finished_at >= since)
        query = query.order_by(runs.finished_at.desc(), runs.run_id.desc()).limit(limit)
        with self._database.read() as connection:
            return [run_from_row(row) for row in connection.execute(query)]

    def count_runs(self, project: str, since: datetime | None = None) -> dict[RunStatus, int]:
        """How many runs stand where, every status named; those created at `since` or later if it is given."""
        runs = schema.runs.c
        query = select(runs.status, func.count().label("number")).where(runs.project == project).group_by(runs.status)
        if since is not None:
            query = query.where(runs.created_at >= since)
        with self._database.read() as connection:
            found = {row.status: row.number for row in connection.execute(query)}
        return {status: found.get(status, 0) for status in RunStatus}

    def update_run(self, project: str, run_id: str, *, fence: int | None = None, **columns: Any) -> Run:
        """Set attributes of the run by name; StaleLeaseError when `fence` is not the newest any more."""
        with self._locked_run(project, run_id, fence) as connection:
            connection.execute(update(schema.runs).where(is_run(project, run_id)).values(stored_columns(columns)))
            return read_run(connection, project, run_id)

    # --- lease

    def take_lease(self, project: str, run_id: str, owner: str, seconds: float) -> int | None:
        """The new fencing number; None while a lease is live, be it one of this very process.

        A lease whose time is over, or whose owner is surely dead, is taken at once.
        """
        with self._locked_run(project, run_id) as connection:
            row = connection.execute(
                select(
                    schema.runs.c.lease_owner, schema.runs.c.lease_until, schema.runs.c.fence, self._time().label("now")
                ).where(is_run(project, run_id))
            ).one()
            if row.lease_owner is not None and row.lease_until > row.now and not self._is_dead(row.lease_owner):
                return None
            fence: int = row.fence + 1
            connection.execute(
                update(schema.runs)
                .where(is_run(project, run_id))
                .values(lease_owner=owner, lease_until=row.now + timedelta(seconds=seconds), fence=fence)
            )
        return fence

    def renew_lease(self, project: str, run_id: str, owner: str, fence: int, seconds: float) -> bool:
        """Hold the lease for `seconds` from now; False when it is lost."""
        with self._database.write() as connection:
            now: datetime = connection.execute(select(self._time())).scalar_one()
            until = now + timedelta(seconds=seconds)
            held = connection.execute(
                update(schema.runs).where(holds(project, run_id, owner, fence)).values(lease_until=until)
            )
        return held.rowcount == 1

    def release_lease(self, project: str, run_id: str, owner: str, fence: int) -> None:
        """Give the lease back; nothing happens when it is lost already."""
        with self._database.write() as connection:
            connection.execute(
                update(schema.runs)
                .where(holds(project, run_id, owner, fence))
                .values(lease_owner=null(), lease_until=null())
            )

    def runnable(self, project: str | None = None, limit: int = 50) -> list[tuple[str, str]]:
        """(project, run id) of runs that `advance` can move now, oldest first.

        These are queued, planning or executing, or they wait and were decided or asked to stop; and no live lease.
        """
        with self._database.read() as connection:
            rows = connection.execute(runnable_query(self._time(), project, limit)).all()
        free = sorted(
            (row.created_at, row.project, row.run_id)
            for row in rows
            if not row.leased or self._is_dead(row.lease_owner)
        )
        return [(found, run_id) for _, found, run_id in free[:limit]]

    def _time(self) -> ColumnElement[datetime]:
        """Now, by the one clock that all processes of this database share."""
        if self._database.is_sqlite:
            return literal(datetime.now(UTC), UtcDateTime())
        return func.clock_timestamp(type_=UtcDateTime())

    # --- plans

    def put_plan(
        self, project: str, run_id: str, plan: Plan, *, created_at: datetime, created_by: str, fence: int | None = None
    ) -> None:
        """Freeze a plan version, its steps pending. The same again changes nothing; another hash is refused."""
        with self._locked_run(project, run_id, fence) as connection:
            put_plan(connection, project, run_id, plan, created_at=created_at, created_by=created_by)

    def plans(self, project: str, run_id: str) -> list[Plan]:
        """Every version, oldest first."""
        plans = schema.plans.c
        query = select(schema.plans).where(plans.project == project, plans.run_id == run_id).order_by(plans.version)
        with self._database.read() as connection:
            return [plan_from_row(row) for row in connection.execute(query)]

    def plan(self, project: str, run_id: str, version: int) -> Plan:
        """One version; NotFoundError if there is none."""
        query = select(schema.plans).where(is_plan(project, run_id, version))
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            raise NotFoundError(f"Run {run_id} has no plan version {version}.")
        return plan_from_row(row)

    # --- steps and attempts

    def put_steps(
        self, project: str, run_id: str, plan_version: int, progress: Sequence[StepProgress], fence: int | None = None
    ) -> None:
        """Set how far steps of a plan version came; NotFoundError for a step that the version does not have."""
        with self._locked_run(project, run_id, fence) as connection:
            for item in progress:
                done = connection.execute(
                    update(schema.steps)
                    .where(is_step(project, run_id, plan_version, item.step_id))
                    .values(
                        status=str(item.status),
                        attempts=item.attempts,
                        started_at=item.started_at,
                        finished_at=item.finished_at,
                        result=item.result,
                        error=item.error,
                    )
                )
                if done.rowcount == 0:
                    raise NotFoundError(f"Plan version {plan_version} of run {run_id} has no step {item.step_id}.")

    def steps(self, project: str, run_id: str, plan_version: int | None = None) -> list[StepProgress]:
        """Every step of a plan version in the plan's order; of the run's current version if none is named."""
        steps = schema.steps.c
        version: Any = plan_version
        if version is None:
            version = select(schema.runs.c.plan_version).where(is_run(project, run_id)).scalar_subquery()
        query = (
            select(schema.steps)
            .where(steps.project == project, steps.run_id == run_id, steps.plan_version == version)
            .order_by(steps.position)
        )
        with self._database.read() as connection:
            return [step_from_row(row) for row in connection.execute(query)]

    def start_attempt(
        self, project: str, run_id: str, plan_version: int, step_id: str, at: datetime, *, fence: int | None = None
    ) -> int:
        """Note that a try of a step begins; its number, 1 for the first."""
        attempts = schema.attempts.c
        with self._locked_run(project, run_id, fence) as connection:
            require_step(connection, project, run_id, plan_version, step_id)
            last = connection.scalar(
                select(func.max(attempts.attempt)).where(of_step(project, run_id, plan_version, step_id))
            )
            number: int = (last or 0) + 1
            connection.execute(
                insert(schema.attempts).values(
                    project=project,
                    run_id=run_id,
                    plan_version=plan_version,
                    step_id=step_id,
                    attempt=number,
                    status=str(AttemptStatus.RUNNING),
                    started_at=at,
                )
            )
        return number

    def finish_attempt(  # noqa: PLR0917 - naming a try takes five words
        self,
        project: str,
        run_id: str,
        plan_version: int,
        step_id: str,
        attempt: int,
        status: AttemptStatus,
        at: datetime,
        error: str | None = None,
        fence: int | None = None,
    ) -> None:
        """Note how a try ended; NotFoundError if it never began."""
        with self._locked_run(project, run_id, fence) as connection:
            done = connection.execute(
                update(schema.attempts)
                .where(of_step(project, run_id, plan_version, step_id), schema.attempts.c.attempt == attempt)
                .values(status=str(status), finished_at=at, error=error)
            )
        if done.rowcount == 0:
            raise NotFoundError(f"Step {step_id} of run {run_id} had no try {attempt}.")

    def interrupt_attempts(
        self, project: str, run_id: str, at: datetime, fence: int | None = None
    ) -> list[StepAttempt]:
        """End every running try as interrupted, since its process died or its run ended; those tries.

        Their steps wait again.
        """
        attempts, steps = schema.attempts.c, schema.steps.c
        with self._locked_run(project, run_id, fence) as connection:
            connection.execute(
                update(schema.steps)
                .where(steps.project == project, steps.run_id == run_id, steps.status == str(StepStatus.RUNNING))
                .values(status=str(StepStatus.PENDING))
            )
            rows = connection.execute(
                update(schema.attempts)
                .where(attempts.project == project, attempts.run_id == run_id, attempts.status == AttemptStatus.RUNNING)
                .values(status=str(AttemptStatus.INTERRUPTED), finished_at=at)
                .returning(*schema.attempts.c)
            ).all()
        return sorted((attempt_from_row(row) for row in rows), key=lambda item: (item.started_at, item.step_id))

    def attempts(self, project: str, run_id: str) -> list[StepAttempt]:
        """Every try, in the order in which they began."""
        attempts = schema.attempts.c
        query = (
            select(schema.attempts)
            .where(attempts.project == project, attempts.run_id == run_id)
            .order_by(attempts.started_at, attempts.plan_version, attempts.step_id, attempts.attempt)
        )
        with self._database.read() as connection:
            return [attempt_from_row(row) for row in connection.execute(query)]

    # --- approval requests

    def put_request(self, request: ApprovalRequest, fence: int | None = None) -> ApprovalRequest:
        """Store a request; if its pause (thread, checkpoint, interrupt) has one already, that one comes back."""
        requests = schema.requests.c
        stored = select(schema.requests).where(
            requests.project == request.project,
            requests.thread_id == request.thread_id,
            requests.checkpoint_id == request.checkpoint_id,
            requests.interrupt_id == request.interrupt_id,
        )
        with self._locked_run(request.project, request.run_id, fence) as connection:
            row = connection.execute(stored).one_or_none()
            if row is None:
                connection.execute(insert(schema.requests).values(columns_of(request)))
                row = connection.execute(stored).one()
        return request_from_row(row)

    def request(self, project: str, request_id: str) -> ApprovalRequest:
        """The request; NotFoundError if the project has none of that id."""
        with self._database.read() as connection:
            return read_request(connection, project, request_id)

    def requests(
        self,
        project: str,
        *,
        status: RequestStatus | None = None,
        run_id: str | None = None,
        limit: int = 200,
        before: str | None = None,
    ) -> list[ApprovalRequest]:
        """The longest waiting first if `status` is pending, else the newest first.

        `before` is the id of the last request of the page before (NotFoundError if unknown).
        """
        requests = schema.requests.c
        query = select(schema.requests).where(requests.project == project)
        if status is not None:
            query = query.where(requests.status == status)
        if run_id is not None:
            query = query.where(requests.run_id == run_id)
        place = tuple_(requests.requested_at, requests.request_id)
        oldest_first = status is RequestStatus.PENDING
        if oldest_first:
            query = query.order_by(requests.requested_at, requests.request_id)
        else:
            query = query.order_by(requests.requested_at.desc(), requests.request_id.desc())
        with self._database.read() as connection:
            if before is not None:
                last = read_request(connection, project, before)
                reached = tuple_(literal(last.requested_at, UtcDateTime()), literal(last.request_id))
                query = query.where(place > reached if oldest_first else place < reached)
            return [request_from_row(row) for row in connection.execute(query.limit(limit))]

    def count_pending(self, project: str) -> int:
        """How many requests wait for a person."""
        requests = schema.requests.c
        query = (
            select(func.count())
            .select_from(schema.requests)
            .where(requests.project == project, requests.status == RequestStatus.PENDING)
        )
        with self._database.read() as connection:
            return connection.scalar(query) or 0

    def decide(
        self,
        project: str,
        request_id: str,
        *,
        decision: Decision,
        hash: str,
        by: str,
        system_user: str,
        at: datetime,
        note: str | None = None,
        value: JsonValue = None,
        new_plan: Plan | None = None,
        new_limits: Limits | None = None,
    ) -> ApprovalRequest:
        """Decide a request once, whoever is first; the event and what is new are stored in the same transaction.

        AlreadyDecidedError (with the decided request) when it is not pending any more, StaleHashError when `hash` is
        not what waits, NotFoundError when there is no such request.
        """
        decided = {
            "status": str(decision.status),
            "decision": str(decision),
            "decided_at": at,
            "decided_by": by,
            "decided_by_system_user": system_user,
            "note": note,
            "value": value,
        }
        with self._database.write() as connection:
            before = read_request(connection, project, request_id)
            lock_run(connection, project, before.run_id)
            compare_and_set(connection, project, request_id, hash, decided)
            if new_plan is not None:
                put_plan(connection, project, before.run_id, new_plan, created_at=at, created_by=by)
                connection.execute(
                    update(schema.runs).where(is_run(project, before.run_id)).values(plan_version=new_plan.version)
                )
            if new_limits is not None:
                limits = stored_columns({"limits": new_limits})
                connection.execute(update(schema.runs).where(is_run(project, before.run_id)).values(limits))
            kind, text = decision_event(before.kind, decision, by, new_plan)
            append_event(connection, project, before.run_id, kind, text, at=at, once=f"decided:{request_id}")
            return read_request(connection, project, request_id)

    def mark_applied(self, project: str, request_id: str, at: datetime, fence: int | None = None) -> None:
        """Note that a decision reached the graph; the first note stays."""
        run_id = self.request(project, request_id).run_id
        with self._locked_run(project, run_id, fence) as connection:
            connection.execute(
                update(schema.requests)
                .where(is_request(project, request_id), schema.requests.c.applied_at.is_(None))
                .values(applied_at=at)
            )

    def supersede_requests(self, project: str, run_id: str, at: datetime, except_ids: Sequence[str] = ()) -> None:
        """Close the run's pending requests, except those named: nobody has to decide them any more."""
        requests = schema.requests.c
        with self._locked_run(project, run_id) as connection:
            connection.execute(
                update(schema.requests)
                .where(
                    requests.project == project,
                    requests.run_id == run_id,
                    requests.status == RequestStatus.PENDING,
                    requests.request_id.not_in(except_ids),
                )
                .values(status=str(RequestStatus.SUPERSEDED), decided_at=at)
            )

    # --- events and artifacts

    def add_event(
        self,
        project: str,
        run_id: str,
        kind: EventKind,
        text: str,
        at: datetime,
        *,
        step_id: str | None = None,
        once: str | None = None,
    ) -> None:
        """Add a line to the run's history; nothing happens if the run has one with the same `once` already."""
        with self._locked_run(project, run_id) as connection:
            append_event(connection, project, run_id, kind, text, at=at, step_id=step_id, once=once)

    def events(self, project: str, run_id: str, *, limit: int = 200, after: int = 0) -> list[RunEvent]:
        """The newest `limit` events with a `seq` above `after`, in the order in which they happened."""
        events = schema.events.c
        query = (
            select(schema.events)
            .where(events.project == project, events.run_id == run_id, events.seq > after)
            .order_by(events.seq.desc())
            .limit(limit)
        )
        with self._database.read() as connection:
            return [event_from_row(row) for row in connection.execute(query)][::-1]

    def put_artifact(self, project: str, artifact: Artifact) -> None:
        """Note a file of a run; a file of the same name written again replaces the note."""
        columns = {**columns_of(artifact), "project": project}
        with self._locked_run(project, artifact.run_id) as connection:
            upsert(connection, schema.artifacts, columns)

    def artifacts(self, project: str, run_id: str) -> list[Artifact]:
        """The files of a run, oldest first."""
        artifacts = schema.artifacts.c
        query = (
            select(schema.artifacts)
            .where(artifacts.project == project, artifacts.run_id == run_id)
            .order_by(artifacts.created_at, artifacts.name)
        )
        with self._database.read() as connection:
            return [artifact_from_row(row) for row in connection.execute(query)]

    # --- workers

    def beat(self, worker_id: str, at: datetime) -> None:
        """Note that a worker is alive, and forget those not heard of for a day."""
        workers = schema.workers
        with self._database.write() as connection:
            upsert(connection, workers, {"worker_id": worker_id, "seen_at": at})
            connection.execute(workers.delete().where(workers.c.seen_at < at - WORKER_KEPT))

    def live_workers(self, since: datetime) -> int:
        """How many workers gave a sign of life at `since` or later."""
        query = select(func.count()).select_from(schema.workers).where(schema.workers.c.seen_at >= since)
        with self._database.read() as connection:
            return connection.scalar(query) or 0

    # --- within

    @contextmanager
    def _locked_run(self, project: str, run_id: str, fence: int | None = None) -> Iterator[Connection]:
        """A transaction in which nobody else writes anything of this run."""
        with self._database.write() as connection:
            lock_run(connection, project, run_id, fence)
            yield connection
