import re
from enum import StrEnum

import pytest

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
from dashboard.look.status import LOOKS, Slot, badge, glyph, look_of

SHOWN = (
    RunStatus, StepStatus, AttemptStatus, RequestStatus, RequestKind, Effect, EventKind, PlanSource, CheckpointStatus,
    ChangeKind, StepChangeKind, CallState,
)  # fmt: skip


@pytest.mark.parametrize("value", [value for kind in SHOWN for value in kind], ids=repr)
def test_every_value_has_a_slot_an_icon_and_a_word(value: StrEnum) -> None:
    look = look_of(value)
    assert look.slot in Slot
    assert re.fullmatch(r"[a-z0-9_]+", look.icon)
    assert look.word.strip() == look.word
    assert look.word


def test_the_table_names_nothing_that_is_not_a_value() -> None:
    for kind, looks in LOOKS.items():
        assert set(looks) == set(kind), kind


def test_equal_words_of_different_kinds_keep_their_own_looks() -> None:
    assert look_of(AttemptStatus.INTERRUPTED).slot is Slot.GRAY
    assert look_of(RunStatus.FAILED) == look_of(StepStatus.FAILED)
    assert look_of(RequestStatus.REJECTED).slot is not look_of(RunStatus.CANCELLED).slot


def test_only_failure_and_refusal_are_red_and_people_are_amber() -> None:
    assert look_of(RunStatus.WAITING_HUMAN).slot is look_of(RequestStatus.PENDING).slot is Slot.YELLOW
    assert {value for value in StepStatus if look_of(value).slot is Slot.RED} == {StepStatus.FAILED, StepStatus.BLOCKED}
    assert look_of(Effect.SEND_EXTERNAL).slot is look_of(Effect.WRITE_SYSTEM).slot is Slot.ORANGE


def test_badges_and_glyphs_are_markdown() -> None:
    assert badge(RunStatus.WAITING_HUMAN, "11 min") == ":yellow-badge[:material/front_hand: waits for you, 11 min]"
    assert glyph(Effect.READ) == ":gray[:material/visibility:]"
