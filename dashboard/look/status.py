"""The one table from every status, kind and effect to its colour slot, icon and word.

Pages, graphs and timelines take colour and icon from here and from nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agent.checkpoints.records import ChangeKind, CheckpointStatus
from agent.planning.changes import ChangeKind as StepChangeKind
from agent.records import (
    AttemptStatus,
    CallState,
    Effect,
    EventKind,
    PlanSource,
    RequestKind,
    RequestStatus,
    RunStatus,
    StepStatus,
)


class Slot(StrEnum):
    """The colour slots of the theme by their Streamlit names; what each means is in `SLOT_MEANINGS`."""

    GRAY = "gray"
    BLUE = "blue"
    GREEN = "green"
    RED = "red"
    YELLOW = "yellow"
    VIOLET = "violet"
    ORANGE = "orange"


SLOT_MEANINGS = {
    Slot.GRAY: "nothing yet, harmless, cancelled, skipped",
    Slot.BLUE: "moving",
    Slot.GREEN: "done, healthy",
    Slot.RED: "broken",
    Slot.YELLOW: "needs a person, warning, unknown price",
    Slot.VIOLET: "publishes inside the company, fork",
    Slot.ORANGE: "leaves the company or writes to a system",
}


@dataclass(frozen=True, slots=True)
class Look:
    """How one value is shown: never by colour alone."""

    slot: Slot
    icon: str
    """Name of a Material Symbol."""
    word: str

    @property
    def glyph(self) -> str:
        """The icon as Markdown, in the slot's colour."""
        return f":{self.slot}[:material/{self.icon}:]"


_PENDING = "radio_button_unchecked"
_DONE = "check_circle"
_MOVING = "progress_activity"
_HAND = "front_hand"

LOOKS: dict[type[StrEnum], dict[StrEnum, Look]] = {
    RunStatus: {
        RunStatus.QUEUED: Look(Slot.GRAY, "schedule", "queued"),
        RunStatus.PLANNING: Look(Slot.BLUE, "edit_note", "planning"),
        RunStatus.EXECUTING: Look(Slot.BLUE, _MOVING, "executing"),
        RunStatus.WAITING_HUMAN: Look(Slot.YELLOW, _HAND, "waits for you"),
        RunStatus.SUCCEEDED: Look(Slot.GREEN, _DONE, "succeeded"),
        RunStatus.FAILED: Look(Slot.RED, "error", "failed"),
        RunStatus.CANCELLED: Look(Slot.GRAY, "cancel", "cancelled"),
    },
    StepStatus: {
        StepStatus.PENDING: Look(Slot.GRAY, _PENDING, "pending"),
        StepStatus.RUNNING: Look(Slot.BLUE, _MOVING, "running"),
        StepStatus.COMPLETED: Look(Slot.GREEN, _DONE, "completed"),
        StepStatus.FAILED: Look(Slot.RED, "error", "failed"),
        StepStatus.BLOCKED: Look(Slot.RED, "block", "blocked"),
        StepStatus.SKIPPED: Look(Slot.GRAY, "remove_circle", "skipped"),
    },
    AttemptStatus: {
        AttemptStatus.RUNNING: Look(Slot.BLUE, _MOVING, "running"),
        AttemptStatus.COMPLETED: Look(Slot.GREEN, _DONE, "completed"),
        AttemptStatus.FAILED: Look(Slot.RED, "error", "failed"),
        AttemptStatus.INTERRUPTED: Look(Slot.GRAY, "replay", "cut off"),
        AttemptStatus.PAUSED: Look(Slot.YELLOW, _HAND, "waits for a person"),
    },
    CallState: {
        CallState.INTENDED: Look(Slot.BLUE, _MOVING, "being made"),
        CallState.COMMITTED: Look(Slot.GREEN, _DONE, "made"),
        CallState.UNKNOWN: Look(Slot.YELLOW, "help", "outcome unknown"),
        CallState.SIMULATED: Look(Slot.GRAY, "science", "simulated"),
        CallState.CANCELLED: Look(Slot.RED, "error", "failed"),
        CallState.COMPENSATED: Look(Slot.GRAY, "undo", "undone"),
    },
    RequestStatus: {
        RequestStatus.PENDING: Look(Slot.YELLOW, _HAND, "waits for you"),
        RequestStatus.APPROVED: Look(Slot.GREEN, _DONE, "approved"),
        RequestStatus.EDITED: Look(Slot.GREEN, "edit", "approved as edited"),
        RequestStatus.REJECTED: Look(Slot.RED, "cancel", "rejected"),
        RequestStatus.RESPONDED: Look(Slot.YELLOW, "undo", "sent back"),
        RequestStatus.EXPIRED: Look(Slot.GRAY, "schedule", "expired"),
        RequestStatus.SUPERSEDED: Look(Slot.GRAY, "remove_circle", "superseded"),
    },
    RequestKind: {
        RequestKind.PLAN: Look(Slot.YELLOW, "checklist", "plan"),
        RequestKind.TOOL_CALL: Look(Slot.YELLOW, "build", "tool call"),
        RequestKind.QUESTION: Look(Slot.YELLOW, "help", "question"),
        RequestKind.INTERRUPT: Look(Slot.YELLOW, _HAND, "interrupt"),
    },
    Effect: {
        Effect.READ: Look(Slot.GRAY, "visibility", "read"),
        Effect.DRAFT: Look(Slot.GRAY, "draft", "draft"),
        Effect.PUBLISH_INTERNAL: Look(Slot.VIOLET, "domain", "publish internal"),
        Effect.SEND_EXTERNAL: Look(Slot.ORANGE, "outgoing_mail", "send external"),
        Effect.WRITE_SYSTEM: Look(Slot.ORANGE, "database", "write system"),
    },
    EventKind: {
        EventKind.ASKED: Look(Slot.GRAY, "person", "asked"),
        EventKind.MODE_CHOSEN: Look(Slot.GRAY, "alt_route", "mode chosen"),
        EventKind.PLAN_PROPOSED: Look(Slot.GRAY, "edit_note", "plan proposed"),
        EventKind.PLAN_WAITS: Look(Slot.YELLOW, _HAND, "plan waits"),
        EventKind.APPROVED: Look(Slot.GREEN, _DONE, "approved"),
        EventKind.EDITED: Look(Slot.GREEN, "edit", "approved as edited"),
        EventKind.REJECTED: Look(Slot.RED, "cancel", "rejected"),
        EventKind.ANSWERED: Look(Slot.GREEN, _DONE, "answered"),
        EventKind.SENT_BACK: Look(Slot.YELLOW, "undo", "sent back"),
        EventKind.STEP_STARTED: Look(Slot.GRAY, "play_arrow", "step started"),
        EventKind.STEP_COMPLETED: Look(Slot.GREEN, _DONE, "step completed"),
        EventKind.STEP_FAILED: Look(Slot.RED, "error", "step failed"),
        EventKind.STEP_RETRIED: Look(Slot.GRAY, "replay", "tried again"),
        EventKind.STEP_BLOCKED: Look(Slot.RED, "block", "step blocked"),
        EventKind.STEP_SKIPPED: Look(Slot.GRAY, "remove_circle", "step skipped"),
        EventKind.INTERRUPTED: Look(Slot.GRAY, "power_off", "cut off"),
        EventKind.RESUMED: Look(Slot.BLUE, "resume", "resumed"),
        EventKind.ARTIFACT_WRITTEN: Look(Slot.GRAY, "draft", "file written"),
        EventKind.RUN_SUCCEEDED: Look(Slot.GREEN, _DONE, "run succeeded"),
        EventKind.RUN_FAILED: Look(Slot.RED, "error", "run failed"),
        EventKind.RUN_CANCELLED: Look(Slot.GRAY, "cancel", "run cancelled"),
        EventKind.LIMIT_HIT: Look(Slot.YELLOW, "warning", "limit reached"),
        EventKind.DEGRADED: Look(Slot.YELLOW, "warning", "degraded"),
    },
    PlanSource: {
        PlanSource.MODEL: Look(Slot.GRAY, "neurology", "planned by the model"),
        PlanSource.FALLBACK: Look(Slot.YELLOW, "warning", "generic plan, the model's own could not be read"),
        PlanSource.PERSON: Look(Slot.GRAY, "person", "edited by a person"),
    },
    CheckpointStatus: {
        CheckpointStatus.FINISHED: Look(Slot.GREEN, _DONE, "finished"),
        CheckpointStatus.WAITING: Look(Slot.YELLOW, _HAND, "waits for a person"),
        CheckpointStatus.BREAKPOINT: Look(Slot.YELLOW, "pause_circle", "stopped at a breakpoint"),
        CheckpointStatus.FAILED: Look(Slot.RED, "error", "failed"),
        CheckpointStatus.RUNNING: Look(Slot.BLUE, _MOVING, "running"),
        CheckpointStatus.UNKNOWN: Look(Slot.GRAY, "help", "unknown"),
    },
    StepChangeKind: {
        StepChangeKind.ADDED: Look(Slot.GRAY, "add", "added"),
        StepChangeKind.CHANGED: Look(Slot.GRAY, "edit", "changed"),
        StepChangeKind.REMOVED: Look(Slot.GRAY, "remove", "removed"),
        StepChangeKind.KEPT: Look(Slot.GRAY, "check", "kept"),
    },
    ChangeKind: {
        ChangeKind.ADDED: Look(Slot.GRAY, "add", "added"),
        ChangeKind.CHANGED: Look(Slot.GRAY, "edit", "changed"),
        ChangeKind.REMOVED: Look(Slot.GRAY, "remove", "removed"),
    },
}

PERSON = Look(Slot.GRAY, "person", "person")
AGENT = Look(Slot.GRAY, "smart_toy", "agent")
MODEL_CALL = Look(Slot.GRAY, "neurology", "model call")
TOOL_CALL = Look(Slot.GRAY, "build", "tool call")
WARNING = Look(Slot.YELLOW, "warning", "warning")
FORK = Look(Slot.VIOLET, "alt_route", "fork")
NOT_DOABLE = Look(Slot.GRAY, "do_not_disturb_on", "can’t do this")
EDITED = Look(Slot.GRAY, "edit", "replaced by an edit")
REPLANNED = Look(Slot.GRAY, "replay", "planned anew")
OUTCOME = Look(Slot.YELLOW, "quiz", "outcome unknown")
BUDGET = Look(Slot.YELLOW, "payments", "budget")
UNKNOWN_PRICE = Look(Slot.YELLOW, "help", "unknown price")


def look_of(value: StrEnum) -> Look:
    """How a status, kind or effect is shown; KeyError for an enum that has no place in the table."""
    return LOOKS[type(value)][value]


def badge_of(look: Look, more: str = "") -> str:
    """A tinted badge as Markdown; `more` is our own words after the look's, e.g. `11 min`."""
    words = f"{look.word}, {more}" if more else look.word
    return f":{look.slot}-badge[:material/{look.icon}: {words}]"


def badge(value: StrEnum, more: str = "") -> str:
    """The badge of a status, kind or effect as Markdown."""
    return badge_of(look_of(value), more)


def glyph(value: StrEnum) -> str:
    """The icon of a status, kind or effect as Markdown, in its colour."""
    return look_of(value).glyph
