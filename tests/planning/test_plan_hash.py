import hashlib
from typing import Any

import pytest

from agent.errors import AgentError
from agent.planning.hashing import payload_hash, plan_hash
from agent.records import Effect, PlanStep

STEP = PlanStep("s1", "Mail „Bo“ 5 € ", "mail", {"b": 1.0, "a": [True, None]}, (), "It is sent", Effect.SEND_EXTERNAL)

CANONICAL = (
    '{"goal":"Tell Bo","steps":[{"acceptance_criteria":"It is sent","args":{"a":[true,null],"b":1},'
    '"dependencies":[],"description":"Mail „Bo“ 5 € ","effect":"send_external","id":"s1","tool":"mail"}]}'
)


def test_the_hash_is_that_of_goal_and_steps_in_rfc_8785() -> None:
    golden = "da18ee3f8b98724a88c2727c7ce171244de2a355afb2d06e80faeac24e745fea"
    assert plan_hash("Tell Bo", [STEP]) == golden
    assert hashlib.sha256(CANONICAL.encode()).hexdigest() == golden


@pytest.mark.parametrize(
    "change",
    [
        {"id": "s2"},
        {"description": "Mail"},
        {"tool": None},
        {"args": {"b": 2, "a": [True, None]}},
        {"args": {"b": True, "a": [True, None]}},
        {"dependencies": ("s0",)},
        {"acceptance_criteria": ""},
        {"effect": Effect.READ},
    ],
)
def test_every_part_of_a_step_counts(change: dict[str, Any]) -> None:
    other = PlanStep(**{**{name: getattr(STEP, name) for name in STEP.__slots__}, **change})
    assert plan_hash("Tell Bo", [other]) != plan_hash("Tell Bo", [STEP])


def test_the_goal_and_the_order_of_steps_count() -> None:
    second = PlanStep("s2", "B", None)
    assert plan_hash("Tell Li", [STEP]) != plan_hash("Tell Bo", [STEP])
    assert plan_hash("", [STEP, second]) != plan_hash("", [second, STEP])


def test_numbers_that_json_cannot_tell_apart_are_the_same() -> None:
    assert payload_hash({"n": 5}) == payload_hash({"n": 5.0})
    assert payload_hash({"n": 5}) != payload_hash({"n": "5"})


def test_any_payload_can_be_hashed() -> None:
    assert payload_hash(None) == hashlib.sha256(b"null").hexdigest()
    assert (
        payload_hash([1e30, "\u20ac", {"\ufb33": 1, "\U0001f600": 2}])
        == hashlib.sha256('[1e+30,"€",{"\U0001f600":2,"\ufb33":1}]'.encode()).hexdigest()
    )


@pytest.mark.parametrize(
    "value", [float("nan"), float("-inf"), 2**53, "\ud800", {"\ud800": 1}, {1: 2}, {1}, object(), [10**5000]]
)
def test_what_has_no_canonical_form_is_refused_in_one_sentence(value: Any) -> None:
    with pytest.raises(AgentError, match="cannot be hashed") as refused:
        payload_hash({"value": value})
    assert refused.value.code == "not_hashable"


def test_endless_nesting_is_refused() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(AgentError, match="nested too deeply"):
        payload_hash(deep)
