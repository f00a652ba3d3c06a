"""How a run goes about its task, in words. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.records import EventKind, Mode, Run, RunEvent

WORDS = {
    Mode.DIRECT: "answers directly",
    Mode.REACT: "looks with tools, no plan",
    Mode.PLAN_EXECUTE: "plan, approve, execute",
    Mode.AUTO: "chooses by itself how",
}
GOES_ON = "goes on with "


@dataclass(frozen=True, slots=True)
class Taken:
    """The mode that a run really has."""

    mode: Mode
    reason: str | None = None
    """Why, where it is not the one that was asked for."""

    @property
    def free(self) -> bool:
        """Whether it works without a plan."""
        return self.mode in (Mode.DIRECT, Mode.REACT)


def taken(run: Run, events: Sequence[RunEvent]) -> Taken:
    """What the run does: as asked, as `auto` chose, or as it degraded to."""
    asked = Mode(run.mode) if run.mode in set(Mode) else Mode.PLAN_EXECUTE
    found = Taken(asked)
    for event in events:
        if event.kind is EventKind.MODE_CHOSEN:
            word, _, reason = event.text.removeprefix("mode ").partition(": ")
            found = Taken(Mode(word), reason) if word in set(Mode) else found
        if event.kind is EventKind.DEGRADED and f"{GOES_ON}{Mode.REACT}" in event.text:
            found = Taken(Mode.REACT, event.text)
    return found


def words(run: Run, events: Sequence[RunEvent]) -> str:
    """The mode for the line of facts."""
    now = taken(run, events)
    if now.mode == run.mode:
        return WORDS[now.mode]
    return f"{run.mode}: {WORDS[now.mode]}"


def why(run: Run, events: Sequence[RunEvent]) -> str | None:
    """The sentence that says why the mode is another than asked; None where it is as asked."""
    now = taken(run, events)
    if now.reason is None:
        return None
    if run.mode == Mode.AUTO:
        return f"The model chose {now.mode} ({WORDS[now.mode]}): {now.reason}"
    return f"Works as {now.mode} ({WORDS[now.mode]}), although {run.mode} was asked for: {now.reason}"
