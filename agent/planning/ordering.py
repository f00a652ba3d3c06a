"""The order in which steps can run, and how a plan is drawn. No recursion: plans of hundreds of steps are read too.

Dependencies on steps that are not in the plan, and of a step on itself, order nothing; validation refuses them.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence

from agent.errors import AgentError
from agent.records import PlanStep, StepStatus


class CycleError(AgentError):
    """Steps wait for each other, so they have no order."""

    code = "cycle"


def topological_order(steps: Sequence[PlanStep]) -> list[PlanStep]:
    """Every step after its dependencies, otherwise in plan order; CycleError if steps wait for each other."""
    ordered = _runnable(steps)
    if len(ordered) < len(steps):
        raise CycleError(f"Steps wait for each other: {' -> '.join(find_cycles(steps)[0])}.")
    return ordered


def find_cycles(steps: Sequence[PlanStep]) -> list[list[str]]:
    """Circles of dependencies, each as ids from its first step in plan order round to that step again.

    Every returned circle is real, and there is one exactly if the steps have no order; circles that share a step
    with a returned one are not listed.
    """
    cycles: list[list[str]] = []
    left = list(steps)
    while True:
        done = {step.id for step in _runnable(left)}
        left = [step for step in left if step.id not in done]
        if not left:
            return cycles
        cycle = _one_cycle(left)
        cycles.append(cycle)
        left = [step for step in left if step.id not in cycle]


def layers(steps: Sequence[PlanStep]) -> dict[str, int]:
    """Column of each step in a drawing from left to right: 0 without dependencies, else one right of the last one."""
    column: dict[str, int] = {}
    for step in topological_order(steps):
        column[step.id] = max((column[other] + 1 for other in _waits_for(step, column)), default=0)
    return column


def ready_steps(steps: Sequence[PlanStep], statuses: Mapping[str, StepStatus]) -> list[PlanStep]:
    """The pending steps whose dependencies are all completed, in plan order; a step without status is pending."""
    return [
        step
        for step in steps
        if statuses.get(step.id, StepStatus.PENDING) is StepStatus.PENDING
        and all(statuses.get(other) is StepStatus.COMPLETED for other in step.dependencies)
    ]


def dependents(steps: Sequence[PlanStep], step_id: str) -> list[str]:
    """Ids of all steps that directly or indirectly depend on the given one, in plan order."""
    followers = _followers(steps)
    found: set[str] = set()
    todo = [step_id]
    while todo:
        new = [other for other in followers[todo.pop()] if other not in found and other != step_id]
        found.update(new)
        todo.extend(new)
    return [step.id for step in steps if step.id in found]


def _runnable(steps: Sequence[PlanStep]) -> list[PlanStep]:
    """The steps that come to run if each waits for its dependencies, the earliest in the plan first."""
    known = {step.id for step in steps}
    waiting = [len(_waits_for(step, known)) for step in steps]
    followers: dict[str, list[int]] = defaultdict(list)
    for position, step in enumerate(steps):
        for other in _waits_for(step, known):
            followers[other].append(position)
    free = [position for position, count in enumerate(waiting) if count == 0]
    ordered: list[PlanStep] = []
    while free:
        step = steps[heapq.heappop(free)]
        ordered.append(step)
        for position in followers.pop(step.id, ()):
            waiting[position] -= 1
            if waiting[position] == 0:
                heapq.heappush(free, position)
    return ordered


def _waits_for(step: PlanStep, known: Mapping[str, object] | set[str]) -> set[str]:
    return {other for other in step.dependencies if other in known and other != step.id}


def _followers(steps: Sequence[PlanStep]) -> dict[str, list[str]]:
    followers: dict[str, list[str]] = defaultdict(list)
    for step in steps:
        for other in step.dependencies:
            followers[other].append(step.id)
    return followers


def _one_cycle(steps: Sequence[PlanStep]) -> list[str]:
    """Follow dependencies until a step comes again; each of these steps waits for another of them."""
    place = {step.id: position for position, step in enumerate(steps)}
    path: list[str] = []
    seen: dict[str, int] = {}
    here = steps[0].id
    while here not in seen:
        seen[here] = len(path)
        path.append(here)
        here = min(_waits_for(steps[place[here]], place), key=place.__getitem__)
    circle = path[seen[here] :]
    start = circle.index(min(circle, key=place.__getitem__))
    return [*circle[start:], *circle[:start], circle[start]]
