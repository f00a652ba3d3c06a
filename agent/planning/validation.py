"""The strict check of a plan: what passes here may be shown for approval, whoever wrote it. Pure.

A draft is `{"goal", "rationale", "steps": [{"id", "description", "tool", "args", "dependencies",
"acceptance_criteria"}]}`; further keys are ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from agent.planning.hashing import NotHashableError, canonical_json
from agent.planning.ordering import find_cycles
from agent.records import Effect, JsonObject, JsonValue, PlanStep

MOST_STEPS_READ = 2_000
"""A longer plan is refused instead of cut: nobody can have meant it."""
ARGS_CHARACTERS = 50_000
PROBLEMS_TOLD = 20

DRAFT_SCHEMA: JsonObject = {
    "type": "object",
    "required": ["goal", "rationale", "steps"],
    "properties": {
        "goal": {"type": "string", "maxLength": 20_000},
        "rationale": {"type": "string", "maxLength": 20_000},
        "steps": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["id", "description", "tool", "args", "dependencies", "acceptance_criteria"],
                "properties": {
                    "id": {"type": "string", "minLength": 1, "maxLength": 100},
                    "description": {"type": "string", "minLength": 1, "maxLength": 4_000},
                    "tool": {"type": ["string", "null"]},
                    "args": {"type": "object"},
                    "dependencies": {"type": "array", "items": {"type": "string"}},
                    "acceptance_criteria": {"type": "string", "maxLength": 4_000},
                },
            },
        },
    },
}
"""What a draft has to be after tolerant reading, and what a person's edit has to be as it comes."""

_VALIDATOR = Draft202012Validator(DRAFT_SCHEMA)


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """One reason why a plan cannot be approved.

    `code` is one of `unknown_tool duplicate_id unknown_dependency self_dependency cycle empty_plan bad_shape
    bad_arguments too_long max_steps not_a_plan`.
    """

    code: str
    step: str | None
    """Id of the step that is meant, or its place such as `steps[2]` when it has no usable id; None for the plan."""
    message: str
    """One sentence that begins with the ids that are meant."""


@dataclass(frozen=True, slots=True)
class KnownTool:
    """What planning has to know of a tool."""

    effect: Effect
    schema: JsonObject
    """JSON Schema of its arguments; `{}` takes anything."""

    @property
    def properties(self) -> JsonObject:
        """Argument name to its schema; empty when the schema names none."""
        found: JsonObject = self.schema.get("properties") or {}
        return found


class ToolLike(Protocol):
    """A tool of the registry, seen from here."""

    @property
    def name(self) -> str: ...  # noqa: D102  # the protocol's docstring says it
    @property
    def effect(self) -> Effect: ...  # noqa: D102
    @property
    def schema(self) -> JsonObject: ...  # noqa: D102


Tools: TypeAlias = Mapping[str, tuple[Effect, JsonObject]] | Iterable[ToolLike]
"""The tools that a plan may name: a registry, or name to effect and argument schema."""


def known_tools(tools: Tools) -> dict[str, KnownTool]:
    """Either form of `Tools` by name."""
    if isinstance(tools, Mapping):
        return {name: KnownTool(effect, schema) for name, (effect, schema) in tools.items()}
    return {tool.name: KnownTool(tool.effect, tool.schema) for tool in tools}


def validate_plan(
    draft: JsonObject, tools: Mapping[str, KnownTool], *, max_steps: int | None = None
) -> list[PlanProblem]:
    """Everything that is wrong with a draft; an empty list means that it is a valid plan.

    At most PROBLEMS_TOLD are told one by one. `max_steps` None leaves the number of steps to truncation.
    """
    steps = draft.get("steps")
    if isinstance(steps, list) and len(steps) > MOST_STEPS_READ:
        return [_problem("too_long", None, f"The plan has {len(steps)} steps; at most {MOST_STEPS_READ} are read.")]
    return _limited(list(_shape_problems(draft)) or list(_meaning_problems(draft, tools, max_steps)))


def steps_of(draft: JsonObject, tools: Mapping[str, KnownTool]) -> tuple[PlanStep, ...]:
    """The steps of a draft of the right shape; effects are the tools', and `read` for a step in words."""
    return tuple(
        PlanStep(
            id=step["id"],
            description=step["description"],
            tool=step["tool"],
            args=step["args"],
            dependencies=tuple(step["dependencies"]),
            acceptance_criteria=step["acceptance_criteria"],
            effect=tools[step["tool"]].effect if step["tool"] in tools else Effect.READ,
        )
        for step in draft["steps"]
    )


def _problem(code: str, step: str | None, message: str) -> PlanProblem:
    return PlanProblem(code, step, message)


def _limited(problems: list[PlanProblem]) -> list[PlanProblem]:
    left = len(problems) - PROBLEMS_TOLD
    if left <= 0:
        return problems
    more = _problem(problems[PROBLEMS_TOLD].code, None, f"{left} further problems are not listed.")
    return [*problems[:PROBLEMS_TOLD], more]


def _shape_problems(draft: JsonObject) -> Iterator[PlanProblem]:
    if draft.get("steps") == []:
        yield _problem("empty_plan", None, "The plan has no steps; it needs at least one.")
    for error in sorted(_VALIDATOR.iter_errors(draft), key=lambda error: [str(part) for part in error.absolute_path]):
        path = list(error.absolute_path)
        step = _step_name(draft, path)
        where = f"{step or 'plan'}{''.join(f'.{part}' for part in path[2 if step else 0 :])}"
        code = "too_long" if error.validator == "maxLength" else "bad_shape"
        yield _problem(code, step, f"{where} {_said(error)}.")


def _step_name(draft: JsonObject, path: Sequence[str | int]) -> str | None:
    if len(path) < 2 or path[0] != "steps":
        return None
    step = draft["steps"][path[1]]
    name = step.get("id") if isinstance(step, dict) else None
    return name if isinstance(name, str) and name and len(name) <= 100 else f"steps[{path[1]}]"


def _said(error: ValidationError) -> str:
    """What jsonschema found, without repeating the value: it may be as long as the whole plan."""
    wanted: JsonValue = error.validator_value
    if error.validator == "required":
        found: JsonValue = error.instance
        return f"misses {', '.join(name for name in wanted if name not in found)}"
    if error.validator == "type":
        return f"must be {wanted if isinstance(wanted, str) else ' or '.join(wanted)}, not {_kind(error.instance)}"
    if error.validator == "minLength":
        return "must not be empty"
    if error.validator == "maxLength":
        return f"is longer than {wanted} characters"
    return error.message[:200]


def _kind(value: object) -> str:
    names = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def _meaning_problems(
    draft: JsonObject, tools: Mapping[str, KnownTool], max_steps: int | None
) -> Iterator[PlanProblem]:
    steps = steps_of(draft, tools)
    if max_steps is not None and len(steps) > max_steps:
        yield _problem("max_steps", None, f"The plan has {len(steps)} steps; at most {max_steps} are allowed.")
    yield from _tool_problems(steps, tools)
    duplicates = [step_id for step_id, count in Counter(step.id for step in steps).items() if count > 1]
    for step_id in duplicates:
        yield _problem("duplicate_id", step_id, f"{step_id}: several steps have this id; give each its own.")
    yield from _dependency_problems(steps)
    if not duplicates:
        for cycle in find_cycles(steps):
            yield _problem("cycle", cycle[0], f"{' -> '.join(cycle)}: these steps wait for each other.")


def _dependency_problems(steps: Sequence[PlanStep]) -> Iterator[PlanProblem]:
    known = {step.id for step in steps}
    for step in steps:
        for other in dict.fromkeys(step.dependencies):
            if other == step.id:
                yield _problem("self_dependency", step.id, f"{step.id}: the step depends on itself.")
            elif other not in known:
                there = f"{step.id} -> {other[:100]}: there is no step {other[:100]} in the plan."
                yield _problem("unknown_dependency", step.id, there)


def _tool_problems(steps: Sequence[PlanStep], tools: Mapping[str, KnownTool]) -> Iterator[PlanProblem]:
    checks = {name: _arguments_validator(tool) for name, tool in tools.items()}
    for step in steps:
        yield from _hash_problem(step)
        if step.tool is None:
            continue
        if step.tool not in tools:
            allowed = ", ".join(tools) or "none"
            message = f"{step.id} {step.tool[:100]}: there is no such tool; allowed are {allowed}."
            yield _problem("unknown_tool", step.id, message)
            continue
        for error in checks[step.tool].iter_errors(step.args):
            where = ".".join(str(part) for part in error.absolute_path) or "args"
            message = f"{step.id} {where}: {step.tool} does not take this ({error.message[:200]})."
            yield _problem("bad_arguments", step.id, message)


def _hash_problem(step: PlanStep) -> Iterator[PlanProblem]:
    try:
        characters = len(canonical_json(step.args).decode())
    except NotHashableError as error:
        yield _problem("bad_arguments", step.id, f"{step.id} args: {error.message}")
        return
    if characters > ARGS_CHARACTERS:
        message = f"{step.id} args: longer than {ARGS_CHARACTERS} characters; let the step read it instead."
        yield _problem("too_long", step.id, message)


def _arguments_validator(tool: KnownTool) -> Draft202012Validator:
    """Checks arguments that a plan fixes: what is missing is still open, what the tool does not know is wrong."""
    schema = {name: value for name, value in tool.schema.items() if name != "required"}
    if tool.properties and "patternProperties" not in schema:
        schema.setdefault("additionalProperties", False)
    return Draft202012Validator(schema)
