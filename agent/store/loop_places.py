"""Where runs without LangGraph stand: the last durable super-step, and what tasks of the next have done since."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Table, and_, delete, select

from agent.records import JsonObject
from agent.store import schema
from agent.store.engine import Database
from agent.store.within import lock_run, upsert


@dataclass(frozen=True, slots=True)
class LoopPlace:
    """A durable super-step."""

    number: int
    """How many super-steps were before it."""
    state: JsonObject
    """What the engine needs to go on from here."""
    written: dict[int, JsonObject]
    """What each task of the next super-step has written so far, by the task's position."""


class LoopPlaces:
    """The places of all runs. Every write is durable on return, and refused when the fence is old."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def place(self, project: str, run_id: str) -> LoopPlace | None:
        """Where a run stands; None before it begins."""
        places, writes = schema.loop_places, schema.loop_writes
        with self._database.read() as connection:
            place = connection.execute(select(places).where(_of(places, project, run_id))).one_or_none()
            written = connection.execute(select(writes).where(_of(writes, project, run_id))).all()
        if place is None:
            return None
        return LoopPlace(place.number, place.state, {row.task: row.written for row in written})

    def put_place(self, project: str, run_id: str, number: int, state: JsonObject, *, fence: int) -> None:
        """Make this the run's place: a new super-step, for which no task has written anything."""
        writes = schema.loop_writes
        with self._database.write() as connection:
            lock_run(connection, project, run_id, fence)
            connection.execute(delete(writes).where(_of(writes, project, run_id)))
            place = {"project": project, "run_id": run_id, "number": number, "state": state}
            upsert(connection, schema.loop_places, place)

    def put_write(self, project: str, run_id: str, task: int, written: JsonObject, *, fence: int) -> None:
        """Keep what a task of the next super-step wrote, in place of what it wrote before."""
        with self._database.write() as connection:
            lock_run(connection, project, run_id, fence)
            row = {"project": project, "run_id": run_id, "task": task, "written": written}
            upsert(connection, schema.loop_writes, row)


def _of(table: Table, project: str, run_id: str) -> ColumnElement[bool]:
    return and_(table.c.project == project, table.c.run_id == run_id)
