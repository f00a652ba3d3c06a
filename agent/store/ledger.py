"""What runs did and used up: each tool call before and after it is made, a meter a run, the answer being written.

Both are written as things happen and not read off checkpoints: a call that a crash cut off counts, and is known.
"""

from __future__ import annotations

from dataclasses import fields, replace

from sqlalchemy import and_, case, delete, exists, func, insert, not_, select, update

from agent.errors import NotFoundError
from agent.records import AttemptStatus, CallState, Meter, ToolCall
from agent.store import schema
from agent.store.engine import Database
from agent.store.rows import call_from_row, columns_of, stored_columns
from agent.store.within import lock_run, upsert


class Ledger:
    """Tool calls and meters of all runs. Every write is durable on return and refused when the fence is old."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_call(self, project: str, call: ToolCall, *, fence: int | None = None) -> ToolCall:
        """Write down a call as the run's next one; its `number` is given here."""
        calls = schema.tool_calls
        of_run = and_(calls.c.project == project, calls.c.run_id == call.run_id)
        with self._database.write() as connection:
            lock_run(connection, project, call.run_id, fence)
            last = connection.scalar(select(func.max(calls.c.number)).where(of_run)) or 0
            numbered = replace(call, number=last + 1)
            connection.execute(insert(calls).values(project=project, **columns_of(numbered)))
        return numbered

    def close_call(
        self, project: str, run_id: str, number: int, *, fence: int | None = None, **columns: object
    ) -> None:
        """Set `state`, `finished_at`, `error`, `observation` of a call by name; NotFoundError if there is none."""
        calls = schema.tool_calls
        one = and_(calls.c.project == project, calls.c.run_id == run_id, calls.c.number == number)
        with self._database.write() as connection:
            lock_run(connection, project, run_id, fence)
            done = connection.execute(update(calls).where(one).values(stored_columns(columns)))
        if done.rowcount == 0:
            raise NotFoundError(f"Run {run_id} made no call {number}.")

    def calls(self, project: str, run_id: str) -> list[ToolCall]:
        """Every call of a run, in the order in which they were made."""
        calls = schema.tool_calls
        query = select(calls).where(calls.c.project == project, calls.c.run_id == run_id).order_by(calls.c.number)
        with self._database.read() as connection:
            return [call_from_row(row) for row in connection.execute(query)]

    def last_call(self, project: str, run_id: str, key: str) -> ToolCall | None:
        """The newest call with an idempotency key, or None."""
        calls = schema.tool_calls
        query = (
            select(calls)
            .where(calls.c.project == project, calls.c.run_id == run_id, calls.c.key == key)
            .order_by(calls.c.number.desc())
            .limit(1)
        )
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else call_from_row(row)

    def count_calls(self, project: str, run_id: str) -> dict[str, int]:
        """How often each `arguments_hash` was really called; calls that were refused or reused are not counted."""
        calls = schema.tool_calls
        query = (
            select(calls.c.arguments_hash, func.count().label("times"))
            .where(calls.c.project == project, calls.c.run_id == run_id)
            .where(calls.c.state != str(CallState.SIMULATED))
            .group_by(calls.c.arguments_hash)
        )
        with self._database.read() as connection:
            return {row.arguments_hash: row.times for row in connection.execute(query)}

    def repeats(self, project: str, run_id: str, arguments_hash: str) -> int:
        """How often a call was made by tries that were not cut off: what a crash makes again is no loop."""
        calls, attempts = schema.tool_calls.c, schema.attempts.c
        cut_off = exists().where(
            attempts.project == calls.project,
            attempts.run_id == calls.run_id,
            attempts.step_id == calls.step_id,
            attempts.status == str(AttemptStatus.INTERRUPTED),
            attempts.started_at <= calls.started_at,
            attempts.finished_at >= calls.started_at,
        )
        query = select(func.count()).where(
            calls.project == project,
            calls.run_id == run_id,
            calls.arguments_hash == arguments_hash,
            calls.state.not_in([str(CallState.SIMULATED), str(CallState.INTENDED)]),
            not_(cut_off),
        )
        with self._database.read() as connection:
            return connection.scalar(query) or 0

    def health(self, project: str, last: int = 200) -> dict[str, tuple[int, int]]:
        """(calls, failed ones) of each tool among the project's last calls."""
        calls = schema.tool_calls.c
        newest = (
            select(calls.tool, calls.state)
            .where(calls.project == project, calls.state != str(CallState.INTENDED))
            .order_by(calls.started_at.desc())
            .limit(last)
            .subquery()
        )
        failed = func.sum(case((newest.c.state == str(CallState.COMMITTED), 0), else_=1))
        query = select(newest.c.tool, func.count().label("calls"), failed.label("failed")).group_by(newest.c.tool)
        with self._database.read() as connection:
            return {row.tool: (row.calls, int(row.failed)) for row in connection.execute(query)}

    def meter(self, project: str, run_id: str) -> Meter:
        """What the run has used up; nothing for a run that did nothing."""
        meters = schema.meters
        query = select(meters).where(meters.c.project == project, meters.c.run_id == run_id)
        with self._database.read() as connection:
            row = connection.execute(query).one_or_none()
        counted = sum(self.count_calls(project, run_id).values())
        if row is None:
            return Meter(tool_calls=counted)
        stored = {field.name: row._mapping[field.name] for field in fields(Meter) if field.name != "tool_calls"}
        return Meter(**stored, tool_calls=counted)

    def put_draft(self, project: str, run_id: str, text: str | None, *, fence: int | None = None) -> None:
        """Keep the answer as far as it is written, for everybody who watches; None when it is complete."""
        drafts = schema.drafts
        with self._database.write() as connection:
            lock_run(connection, project, run_id, fence)
            if text is None:
                connection.execute(delete(drafts).where(drafts.c.project == project, drafts.c.run_id == run_id))
            else:
                upsert(connection, drafts, {"project": project, "run_id": run_id, "text": text})

    def draft(self, project: str, run_id: str) -> str | None:
        """The answer as far as it is written; None when none is being written."""
        drafts = schema.drafts.c
        query = select(drafts.text).where(drafts.project == project, drafts.run_id == run_id)
        with self._database.read() as connection:
            return connection.scalar(query)

    def put_meter(self, project: str, run_id: str, meter: Meter, *, fence: int | None = None) -> None:
        """Keep what the run has used up. Tool calls are counted from the calls themselves."""
        columns = {name: value for name, value in columns_of(meter).items() if name != "tool_calls"}
        with self._database.write() as connection:
            lock_run(connection, project, run_id, fence)
            upsert(connection, schema.meters, {"project": project, "run_id": run_id, **columns})
