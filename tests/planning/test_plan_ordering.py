import pytest

from agent.planning.ordering import CycleError, dependents, find_cycles, layers, ready_steps, topological_order
from agent.records import PlanStep, StepStatus


def steps(**after: str) -> list[PlanStep]:
    return [PlanStep(name, name, None, dependencies=tuple(others.split())) for name, others in after.items()]


DIAMOND = steps(d="b c", b="a", c="a", a="", e="")


def test_dependencies_come_first_and_otherwise_the_order_stays() -> None:
    assert [step.id for step in topological_order(DIAMOND)] == ["a", "b", "c", "d", "e"]
    assert [step.id for step in topological_order(steps(x="", y="", z="x"))] == ["x", "y", "z"]


def test_columns_of_the_drawing() -> None:
    assert layers(DIAMOND) == {"a": 0, "b": 1, "c": 1, "d": 2, "e": 0}
    assert layers([]) == {}


def test_all_that_hangs_on_a_step() -> None:
    assert dependents(DIAMOND, "a") == ["d", "b", "c"]
    assert dependents(DIAMOND, "d") == []
    assert dependents(steps(a="b", b="a"), "a") == ["b"]
    assert dependents(DIAMOND, "unknown") == []


@pytest.mark.parametrize(
    ("statuses", "ready"),
    [
        ({}, ["a", "e"]),
        ({"a": StepStatus.RUNNING}, ["e"]),
        ({"a": StepStatus.COMPLETED}, ["b", "c", "e"]),
        ({"a": StepStatus.SKIPPED, "e": StepStatus.FAILED}, []),
        (
            {"a": StepStatus.COMPLETED, "b": StepStatus.COMPLETED, "c": StepStatus.BLOCKED, "e": StepStatus.PENDING},
            ["e"],
        ),
    ],
)
def test_ready_are_pending_steps_with_completed_dependencies(statuses: dict[str, StepStatus], ready: list[str]) -> None:
    assert [step.id for step in ready_steps(DIAMOND, statuses)] == ready


def test_circles_are_told_from_their_first_step() -> None:
    assert find_cycles(DIAMOND) == []
    assert find_cycles(steps(a="b", b="a")) == [["a", "b", "a"]]
    assert find_cycles(steps(x="b", c="a", a="b", b="c", y="x")) == [["c", "a", "b", "c"]]
    assert find_cycles(steps(a="b", b="a", c="d", d="c a")) == [["a", "b", "a"], ["c", "d", "c"]]


def test_a_circle_has_no_order() -> None:
    with pytest.raises(CycleError, match="a -> b -> a"):
        topological_order(steps(a="b", b="a"))
    with pytest.raises(CycleError):
        layers(steps(a="b", b="a"))


def test_long_chains_and_long_circles_need_no_recursion() -> None:
    chain = [PlanStep(f"s{n}", "x", None, dependencies=(f"s{n - 1}",) if n else ()) for n in range(5_000)]
    assert layers(chain)["s4999"] == 4_999
    assert len(dependents(chain, "s0")) == 4_999
    circle = [PlanStep("s0", "x", None, dependencies=("s4999",)), *chain[1:]]
    assert len(find_cycles(circle)[0]) == 5_001
