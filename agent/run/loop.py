"""The agent's graph without LangGraph: the same nodes and super-steps, kept in a table of our own records."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

from agent.records import JsonObject, Run
from agent.run.deps import Deps
from agent.run.flow import FIRST, IN_WAVE, MOST_AT_ONCE, NODES, Task, after, handed
from agent.run.places import Pause, Place
from agent.run.state import RunState
from agent.store.loop_places import LoopPlace, LoopPlaces


class _PausedError(Exception):
    """A node waits for a person."""

    def __init__(self, payload: JsonObject) -> None:
        super().__init__("waits for a person")
        self.payload = payload


@dataclass(frozen=True, slots=True)
class _Step:
    """A durable super-step, and how far the next one is."""

    number: int
    values: RunState
    tasks: tuple[Task, ...]
    written: dict[int, JsonObject]

    @property
    def open(self) -> list[int]:
        """The tasks that have not ended: they wait for a person or are still to run."""
        return [n for n in range(len(self.tasks)) if "update" not in self.written.get(n, {})]


class LoopEngine:
    """One run in the loop; see `places.Engine`."""

    def __init__(self, places: LoopPlaces, run: Run, deps: Deps, fence: int) -> None:
        self._places = places
        self._run = run
        self._deps = deps
        self._fence = fence

    def place(self) -> Place:
        """Where the run stands."""
        step = self._step()
        if step is None:
            return Place("", {}, (), begun=False, ended=False)
        pauses = tuple(Pause(self._pause_id(step, n), step.written[n]["pause"]) for n in step.open if n in step.written)
        return Place(f"loop-{step.number}", step.values, pauses, begun=True, ended=not step.tasks)

    def begin(self, values: RunState) -> Iterator[RunState]:
        """Begin the run."""
        begun = applied({}, [values])
        self._put(0, begun, [Task(FIRST)])
        yield begun
        yield from self.go_on({})

    def go_on(self, decisions: Mapping[str, JsonObject]) -> Iterator[RunState]:
        """Go on from the last super-step; tasks of the next that have ended do not run again."""
        while (step := self._step()) is not None and step.tasks:
            self._run_tasks(step, decisions)
            step = self._step()
            if step is None or step.open:
                return
            values = applied(step.values, [step.written[n]["update"] for n in range(len(step.tasks))])
            self._put(step.number + 1, values, following(step.tasks, values, self._deps))
            yield values

    def _run_tasks(self, step: _Step, decisions: Mapping[str, JsonObject]) -> None:
        """Run every open task that does not wait; what one raises is raised when all have ended."""
        given = {n: decisions.get(self._pause_id(step, n)) for n in step.open}
        running: list[Future[None]] = []
        with ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix=f"loop {self._run.run_id}") as pool:
            for n, decision in given.items():
                if decision is not None or n not in step.written:
                    running.append(pool.submit(copy_context().run, self._run_task, step, n, decision))
            wait(running)
        for task in running:
            task.result()

    def _run_task(self, step: _Step, n: int, decision: JsonObject | None) -> None:
        task = step.tasks[n]
        deps = replace(self._deps, pause=_pause(decision))
        try:
            written: JsonObject = {"update": NODES[task.node](handed(step.values, task), deps)}
        except _PausedError as paused:
            written = {"pause": paused.payload}
        self._places.put_write(self._run.project, self._run.run_id, n, written, fence=self._fence)

    def _pause_id(self, step: _Step, n: int) -> str:
        return hashlib.sha256(f"{self._run.thread_id}|{step.number}|{n}".encode()).hexdigest()[:32]

    def _step(self) -> _Step | None:
        stored = self._places.place(self._run.project, self._run.run_id)
        return None if stored is None else _step_of(stored)

    def _put(self, number: int, values: RunState, tasks: list[Task]) -> None:
        state = {"values": values, "tasks": [asdict(task) for task in tasks]}
        self._places.put_place(self._run.project, self._run.run_id, number, state, fence=self._fence)


def _pause(decision: JsonObject | None) -> Callable[[JsonObject], JsonObject]:
    """What a node waits with: it gets the decision, or ends here where there is none yet."""
    asked: list[JsonObject] = []

    def pause(payload: JsonObject) -> JsonObject:
        asked.append(payload)
        if len(asked) > 1:
            raise RuntimeError("A node may wait for a person once, or one decision would count for two questions.")
        if decision is None:
            raise _PausedError(payload)
        return decision

    return pause


def following(done: tuple[Task, ...], values: RunState, deps: Deps) -> list[Task]:
    """What comes after a super-step's tasks."""
    if any(task.node in IN_WAVE.values() for task in done):
        return [Task("join")]
    return [task for ended in done for task in after(ended.node, values, deps)]


def applied(values: RunState, updates: list[RunState]) -> RunState:
    """The values after a super-step: each update by its key's reducer, in the order of the tasks.

    ValueError when two tasks wrote the same key and it has none: nobody could say which one holds.
    """
    merged: dict[str, Any] = {**{key: empty() for key, (_, empty) in _reducers().items() if empty}, **values}
    written: set[str] = set()
    for update in updates:
        for key, value in update.items():
            reducer = _reducers().get(key)
            if reducer is None and key in written:
                raise ValueError(f"Two tasks at once wrote {key}.")
            merged[key] = reducer[0](merged[key], value) if reducer and key in merged else value
            written.add(key)
    return cast(RunState, merged)


@cache
def _reducers() -> dict[str, tuple[Any, Any]]:
    """Of each key that has one: its reducer, and what makes the value it begins with, None if it begins with none."""
    hints = get_type_hints(RunState, include_extras=True)
    annotated = {key: hint for key, hint in hints.items() if get_origin(hint) is Annotated}
    return {key: (hint.__metadata__[0], _empty(get_args(hint)[0])) for key, hint in annotated.items()}


def _empty(hint: Any) -> type | None:
    origin = get_origin(hint)
    return origin if origin in (dict, list) else None


def _step_of(stored: LoopPlace) -> _Step:
    tasks = tuple(Task(**task) for task in stored.state["tasks"])
    return _Step(stored.number, cast(RunState, stored.state["values"]), tasks, stored.written)
