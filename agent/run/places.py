"""Where a run stands, whatever drives its nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from agent.records import JsonObject
from agent.run.state import RunState


@dataclass(frozen=True, slots=True)
class Pause:
    """A node that waits for a person."""

    id: str
    """The same each time that the same pause is looked at."""
    payload: JsonObject


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run stands: after its last durable super-step."""

    checkpoint_id: str
    values: RunState
    pauses: tuple[Pause, ...]
    begun: bool
    ended: bool


class Engine(Protocol):
    """Drives one run's nodes, one durable super-step after the other.

    A task of a wave that has ended is durable by itself, and does not run again. What a node raises comes out of the
    iterators, once the other tasks of its wave have ended.
    """

    def place(self) -> Place:
        """Where the run stands."""

    def begin(self, values: RunState) -> Iterator[RunState]:
        """Begin with these values and go on until the run waits or ends; the values after each super-step."""

    def go_on(self, decisions: Mapping[str, JsonObject]) -> Iterator[RunState]:
        """Go on from where the run stands: with what was decided about each pause by its id, empty if it has none."""
