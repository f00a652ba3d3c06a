"""Joining a replanner's steps with a plan that is under way. Pure.

Completed steps are kept as they are. A proposed step that repeats a completed one is merged into it; what is left has
to be something new, or there is no progress.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.errors import AgentError
from agent.planning.hashing import canonical_json
from agent.planning.ordering import dependents
from agent.planning.parsing import Outcome, ParsedPlan, check_plan, frozen, truncated
from agent.planning.reading import read_plan
from agent.planning.validation import PlanProblem, Tools, known_tools
from agent.records import JsonObject, JsonValue, Plan, PlanSource, PlanStep, StepStatus

Statuses = Mapping[str, StepStatus]


class NoProgressError(AgentError):
    """The new plan has nothing new: only finished steps, or the failed one as it was."""

    code = "no_progress"

    def __init__(self, step_id: str, message: str) -> None:
        super().__init__(message)
        self.step_id = step_id


def revise(
    plan: Plan,
    statuses: Statuses,
    answer: str | JsonValue,
    tools: Tools,
    *,
    adaptive: bool,
    trigger: str,
    max_steps: int,
) -> ParsedPlan:
    """The next version: completed steps, then the proposed ones in place of the failed step and what depends on it.

    Without `adaptive`, steps that depend on the failed one are kept word for word, whatever was proposed for them.
    NoProgressError where nothing is new.
    """
    read = read_plan(answer, known_tools(tools), goal=plan.goal)
    failed = [step for step in plan.steps if statuses.get(step.id) is StepStatus.BLOCKED]
    if read.draft is None:
        problems = (read.problem,) if read.problem else ()
        return ParsedPlan(None, read.repairs, problems, Outcome.INVALID, read.question)
    merged = _merged(plan, statuses, read.draft["steps"])
    _require_progress(merged, failed)
    kept = [step.to_json() for step in plan.steps if statuses.get(step.id) is StepStatus.COMPLETED]
    followers = _followers(plan, failed)
    rest = merged if adaptive else _with_followers(merged, followers, failed)
    return _checked(plan, [*kept, *rest], read.repairs, tools, trigger=trigger, max_steps=max_steps)


def extend(plan: Plan, answer: JsonValue, tools: Tools, *, max_steps: int) -> ParsedPlan:
    """The next version of a finished plan: all its steps, and the proposed ones after them."""
    read = read_plan(answer, known_tools(tools), goal=plan.goal)
    if read.draft is None:
        problems = (read.problem,) if read.problem else ()
        return ParsedPlan(None, read.repairs, problems, Outcome.INVALID)
    statuses = {step.id: StepStatus.COMPLETED for step in plan.steps}
    merged = _merged(plan, statuses, read.draft["steps"])
    if not merged:
        return ParsedPlan(None, read.repairs, (PlanProblem("empty_plan", None, "Nothing new."),), Outcome.INVALID)
    kept = [step.to_json() for step in plan.steps]
    return _checked(plan, [*kept, *merged], read.repairs, tools, trigger="not_enough", max_steps=max_steps)


def _checked(
    plan: Plan, steps: Sequence[JsonObject], repairs: tuple[str, ...], tools: Tools, *, trigger: str, max_steps: int
) -> ParsedPlan:
    checked = check_plan(
        plan.goal,
        plan.rationale,
        steps,
        tools,
        max_steps=len(steps),
        version=plan.version + 1,
        parent_hash=plan.hash,
        trigger=trigger,
        source=PlanSource.MODEL,
    )
    if checked.plan is None:
        return ParsedPlan(None, repairs, checked.errors, Outcome.INVALID)
    fitting, cut = truncated(checked.plan.steps, max_steps)
    told = (*repairs, *cut)
    return ParsedPlan(frozen(checked.plan, fitting, told), told, (), Outcome.REPAIRED if told else Outcome.OK)


def _merged(plan: Plan, statuses: Statuses, proposed: Sequence[JsonObject]) -> list[JsonObject]:
    """The proposed steps that are new, under ids of their own, depending on completed steps where they repeated one."""
    done = {step.id: step for step in plan.steps if statuses.get(step.id) is StepStatus.COMPLETED}
    names: dict[str, str] = {}
    new: list[JsonObject] = []
    taken = set(done) | {str(step["id"]) for step in proposed}
    for step in proposed:
        repeated = _repeats(step, done)
        if repeated is not None:
            names[str(step["id"])] = repeated
        elif step["id"] in done:
            names[str(step["id"])] = _free(str(step["id"]), taken)
            new.append(step)
        else:
            new.append(step)
    return [
        {
            **step,
            "id": names.get(str(step["id"]), step["id"]),
            "dependencies": _renamed(step["dependencies"], names),
        }
        for step in new
    ]


def _repeats(step: JsonObject, done: Mapping[str, PlanStep]) -> str | None:
    """The completed step that does the same: the same call, or for steps in words the same id and words."""
    for other in done.values():
        same_call = other.tool is not None and step["tool"] == other.tool and _same(step["args"], other.args)
        same_words = other.tool is None and step["tool"] is None and step["id"] == other.id
        if same_call or same_words:
            return other.id
    return None


def _same(one: JsonValue, other: JsonValue) -> bool:
    return canonical_json(one) == canonical_json(other)


def _free(name: str, taken: set[str]) -> str:
    number = 2
    while f"{name}-{number}" in taken:
        number += 1
    taken.add(f"{name}-{number}")
    return f"{name}-{number}"


def _renamed(dependencies: Sequence[str], names: Mapping[str, str]) -> list[str]:
    return list(dict.fromkeys(names.get(name, name) for name in dependencies))


def _require_progress(new: Sequence[JsonObject], failed: Sequence[PlanStep]) -> None:
    first = failed[0].id if failed else ""
    if not new:
        raise NoProgressError(first, "The new plan holds nothing but finished steps.")
    for step in failed:
        if any(_unchanged(step, other) for other in new):
            raise NoProgressError(step.id, "The new plan gives back the failed step unchanged.")


def _unchanged(failed: PlanStep, proposed: JsonObject) -> bool:
    if proposed["tool"] != failed.tool or not _same(proposed["args"], failed.args):
        return False
    if set(proposed["dependencies"]) != set(failed.dependencies):
        return False
    return failed.tool is not None or proposed["description"] == failed.description


def _followers(plan: Plan, failed: Sequence[PlanStep]) -> list[PlanStep]:
    after = {name for step in failed for name in dependents(plan.steps, step.id)}
    return [step for step in plan.steps if step.id in after and step not in failed]


def _with_followers(
    new: Sequence[JsonObject], followers: Sequence[PlanStep], failed: Sequence[PlanStep]
) -> list[JsonObject]:
    """The new steps, and the ones that waited for the failed step word for word.

    A follower of a failed step that is gone by name waits for the last of the new ones instead.
    """
    kept = {step.id for step in followers}
    fresh = [step for step in new if step["id"] not in kept]
    _require_progress(fresh, failed)
    ids = {str(step["id"]) for step in fresh}
    gone = {step.id for step in failed if step.id not in ids}
    last = str(fresh[-1]["id"])
    instead = dict.fromkeys(gone, last)
    return [*fresh, *({**step.to_json(), "dependencies": _renamed(step.dependencies, instead)} for step in followers)]
