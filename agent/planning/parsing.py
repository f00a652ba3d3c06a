"""From a planner's answer, or a person's edit, to a plan version that may be shown for approval. Pure.

Nothing leaves here but a plan that passed every check of `validation`, or the reasons why there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from agent.planning.hashing import plan_hash
from agent.planning.notes import Notes
from agent.planning.ordering import topological_order
from agent.planning.plain_json import NotPlainError, plain
from agent.planning.reading import read_plan
from agent.planning.validation import PlanProblem, Tools, known_tools, steps_of, validate_plan
from agent.records import JsonObject, JsonValue, Plan, PlanSource, PlanStep

MAX_STEPS = 8


class Outcome(StrEnum):
    """How reading ended."""

    OK = "ok"
    REPAIRED = "repaired"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class ParsedPlan:
    """A plan version, or why there is none: `plan` is None exactly if `outcome` is `invalid`."""

    plan: Plan | None
    repairs: tuple[str, ...]
    errors: tuple[PlanProblem, ...]
    outcome: Outcome
    question: str | None = None
    """What the planner asks the user instead of planning; only without a plan."""


def parse_plan(
    text_or_object: str | JsonValue,
    tools: Tools,
    *,
    max_steps: int = MAX_STEPS,
    version: int = 1,
    parent_hash: str | None = None,
    trigger: str | None = None,
    source: PlanSource = PlanSource.MODEL,
    goal: str | None = None,
) -> ParsedPlan:
    """Read a model's answer tolerantly, check it strictly, cut it to `max_steps`; never raises.

    `goal` (the task) stands in when the answer restates none.
    """
    known = known_tools(tools)
    read = read_plan(text_or_object, known, goal=goal)
    if read.draft is None:
        problems = (read.problem,) if read.problem else ()
        return ParsedPlan(None, read.repairs, problems, Outcome.INVALID, read.question)
    wrong = validate_plan(read.draft, known)
    if wrong:
        return ParsedPlan(None, read.repairs, tuple(wrong), Outcome.INVALID)
    steps, cut = truncated(steps_of(read.draft, known), max_steps)
    repairs = (*read.repairs, *_without_criterion(steps), *cut)
    plan = Plan(
        goal=read.draft["goal"],
        rationale=read.draft["rationale"],
        steps=steps,
        version=version,
        hash=plan_hash(read.draft["goal"], steps),
        parent_hash=parent_hash,
        trigger=trigger,
        repairs=repairs,
        source=source,
    )
    return ParsedPlan(plan, repairs, (), Outcome.REPAIRED if repairs else Outcome.OK)


def check_plan(
    goal: str,
    rationale: str,
    steps: Sequence[JsonObject],
    tools: Tools,
    *,
    max_steps: int = MAX_STEPS,
    version: int = 1,
    parent_hash: str | None = None,
    trigger: str | None = None,
    source: PlanSource = PlanSource.PERSON,
) -> ParsedPlan:
    """Check a person's edit: nothing is mended but spaces around texts, nothing is cut, types stay as they are.

    Each step is an object with `id, description, tool, args, dependencies, acceptance_criteria`; other keys (`effect`,
    `status`) are ignored, since effects are the registry's word. Never raises.
    """
    known = known_tools(tools)
    try:
        draft = _trimmed(plain({"goal": goal, "rationale": rationale, "steps": list(steps)}))
    except NotPlainError as error:
        return ParsedPlan(None, (), (PlanProblem("bad_shape", None, error.message),), Outcome.INVALID)
    wrong = validate_plan(draft, known, max_steps=max_steps)
    if wrong:
        return ParsedPlan(None, (), tuple(wrong), Outcome.INVALID)
    checked = steps_of(draft, known)
    plan = Plan(
        goal=draft["goal"],
        rationale=draft["rationale"],
        steps=checked,
        version=version,
        hash=plan_hash(draft["goal"], checked),
        parent_hash=parent_hash,
        trigger=trigger,
        source=source,
    )
    return ParsedPlan(plan, (), (), Outcome.OK)


def frozen(plan: Plan, steps: tuple[PlanStep, ...], repairs: tuple[str, ...]) -> Plan:
    """The plan with these steps and repairs, and the hash that belongs to them."""
    return replace(plan, steps=steps, repairs=repairs, hash=plan_hash(plan.goal, steps))


def truncated(steps: Sequence[PlanStep], max_steps: int) -> tuple[tuple[PlanStep, ...], tuple[str, ...]]:
    """At most `max_steps` of the steps, each with all that it depends on, and the repair that says how many are gone.

    Steps that fit stay in plan order; a cut plan is in an order that keeps dependencies.
    """
    if len(steps) <= max_steps:
        return tuple(steps), ()
    return tuple(topological_order(steps)[:max_steps]), (f"truncated: {len(steps) - max_steps} steps",)


def _without_criterion(steps: Sequence[PlanStep]) -> tuple[str, ...]:
    notes = Notes()
    for step in steps:
        if not step.acceptance_criteria:
            notes.add("no_acceptance_criteria", step.id)
    return notes.codes()


def _trimmed(draft: JsonObject) -> JsonObject:
    return {**_texts_trimmed(draft), "steps": [_step_trimmed(step) for step in draft["steps"]]}


def _step_trimmed(step: JsonValue) -> JsonValue:
    if not isinstance(step, dict):
        return step
    trimmed = _texts_trimmed(step)
    if isinstance(step.get("dependencies"), list):
        trimmed["dependencies"] = [item.strip() if isinstance(item, str) else item for item in step["dependencies"]]
    return trimmed


def _texts_trimmed(value: JsonObject) -> JsonObject:
    """Texts of the plan itself without spaces around them; the inside of `args` is never touched."""
    return {key: item.strip() if isinstance(item, str) else item for key, item in value.items()}
