"""Where in a value the plan is: under which key, in which envelope."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agent.planning.key_names import ENVELOPES, QUESTION, STEPS, bare, by_bare_name
from agent.planning.notes import Notes
from agent.planning.step_shapes import looks_like_step
from agent.planning.step_tools import known_name
from agent.planning.validation import KnownTool
from agent.records import JsonObject, JsonValue

DEEPEST_ENVELOPE = 8
_VAGUE = frozenset(("items", "nodes", "step", "sequence", "workflow", "actions"))
_STEP_KEY = re.compile(r"(?:step|task|s|t)?\d{1,4}")
_REPLIES = frozenset(("question", "cannot", "clarification", "ask", "clarify", "refusal", "refuse"))


@dataclass(frozen=True, slots=True)
class RawPlan:
    """A plan as it stood in a value: entries of its steps list, and everything that stood beside the list."""

    steps: list[JsonValue]
    beside: JsonObject = field(default_factory=dict)
    single: bool = False
    """Whether it is a lone step object; several of those make one plan."""
    torn: bool = False
    """Whether a last step that was not whole has been left out."""


TextReader = Callable[[str], RawPlan | None]
"""Reads a plan that stands as text inside a value."""


@dataclass(frozen=True, slots=True)
class Shapes:
    """Finds the plan in a value."""

    tools: Mapping[str, KnownTool]
    notes: Notes
    read_text: TextReader

    def plan_in(self, value: JsonValue, depth: int = 0) -> RawPlan | None:
        """The plan that a value is or wraps, or None. An empty list is a plan without steps."""
        if depth > DEEPEST_ENVELOPE:
            return None
        if isinstance(value, str):
            return self._in_text(value)
        if isinstance(value, list):
            return self._in_list(value, depth)
        if isinstance(value, dict):
            return self._in_object(value, depth)
        return None

    def _in_text(self, text: str) -> RawPlan | None:
        found = self.read_text(text)
        if found is not None:
            self.notes.add("json_in_text")
        return found

    def _in_list(self, value: list[JsonValue], depth: int) -> RawPlan | None:
        if not value:
            return RawPlan([])
        if all(isinstance(item, str) for item in value):
            named = all(known_name(item, self.tools) for item in value)
            return None if named else RawPlan(list(value))
        wrapped = [plan for item in value if isinstance(item, dict) and (plan := self._in_object(item, depth + 1))]
        whole = [plan for plan in wrapped if not plan.single]
        if whole and len(value) == 1:
            self.notes.add("envelope")
            return whole[-1]
        if any(looks_like_step(item, self.tools) or _keyed_step(item) for item in value) or whole:
            return RawPlan(list(value))
        if all(isinstance(item, list) for item in value):
            inner = [self._in_list(item, depth + 1) for item in value]
            return RawPlan(list(value)) if all(plan is not None for plan in inner) else None
        return None

    def _in_object(self, value: JsonObject, depth: int) -> RawPlan | None:
        names = by_bare_name(value)
        kind = names.get("kind", names.get("type", ("", None)))[1]
        if isinstance(kind, str) and bare(kind) in _REPLIES:
            return None
        return (
            self._under_steps(value, names, depth)
            or self._keyed_steps(value)
            or self._in_envelope(value, names, depth)
            or (RawPlan([value], single=True) if looks_like_step(value, self.tools) else None)
        )

    def _under_steps(self, value: JsonObject, names: Mapping[str, tuple[str, JsonValue]], depth: int) -> RawPlan | None:
        for name in STEPS:
            if name not in names:
                continue
            key, inner = names[name]
            found = self._steps_in(inner, name, depth)
            if found is None:
                continue
            if key != "steps":
                self.notes.add("key_names", key)
            beside = {other: item for other, item in value.items() if other != key}
            return RawPlan(found.steps, {**beside, **found.beside})
        return None

    def _steps_in(self, inner: JsonValue, name: str, depth: int) -> RawPlan | None:
        """What stands under a key that usually holds the steps."""
        if inner is None:
            return RawPlan([]) if name == "steps" else None
        if isinstance(inner, list):
            vague = name in _VAGUE and not all(looks_like_step(item, self.tools) for item in inner)
            return None if vague else self._wrapped_in_list(inner, depth) or RawPlan(list(inner))
        return self._steps_in_object(inner, name, depth) if isinstance(inner, dict) else self.plan_in(inner, depth + 1)

    def _steps_in_object(self, inner: JsonObject, name: str, depth: int) -> RawPlan | None:
        found = self._in_object(inner, depth + 1)
        if found is not None and (not found.single or name not in _VAGUE or name == "step"):
            self.notes.add("envelope")
            return found
        if inner and name not in _VAGUE and all(isinstance(item, dict | str) for item in inner.values()):
            return self._mapping(inner) if name != "plan" or all(map(_is_object, inner.values())) else None
        return None

    def _wrapped_in_list(self, value: list[JsonValue], depth: int) -> RawPlan | None:
        """`"plan": [{"steps": […]}]`: a plan in a list of one."""
        if len(value) != 1 or not isinstance(value[0], dict) or looks_like_step(value[0], self.tools):
            return None
        return self._in_object(value[0], depth + 1)

    def _keyed_steps(self, value: JsonObject) -> RawPlan | None:
        """`{"step1": {…}, "step2": {…}}`, other keys beside."""
        keyed = {key: item for key, item in value.items() if _STEP_KEY.fullmatch(bare(key))}
        if not keyed or not all(isinstance(item, dict | str) for item in keyed.values()):
            return None
        mapped = self._mapping(keyed)
        return RawPlan(mapped.steps, {key: item for key, item in value.items() if key not in keyed})

    def _mapping(self, value: JsonObject) -> RawPlan:
        self.notes.add("steps_by_key")
        return RawPlan([_with_id(key, item) for key, item in value.items()])

    def _in_envelope(self, value: JsonObject, names: Mapping[str, tuple[str, JsonValue]], depth: int) -> RawPlan | None:
        calls_tool = any(known_name(item, self.tools) for key, item in value.items() if bare(key) != "description")
        keys = [name for name in ENVELOPES if name in names and not calls_tool]
        if len(value) == 1 and not keys:
            keys = list(names)
        for name in keys:
            inner = names[name][1]
            if not isinstance(inner, dict | list | str) or not inner:
                continue
            found = self.plan_in(inner, depth + 1)
            if found is not None and not (found.single and looks_like_step(value, self.tools)):
                self.notes.add("envelope")
                return found
        return None


def message_in(value: JsonValue) -> str | None:
    """The words of a value that is no plan: a question, a refusal, an error."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, list):
        said = [text for item in value if (text := message_in(item))]
        return "\n".join(said) or None
    if not isinstance(value, dict):
        return None
    names = by_bare_name(value)
    for name in (*QUESTION, *ENVELOPES):
        said_here = message_in(names[name][1]) if name in names else None
        if said_here:
            return said_here
    return None


def asks(value: JsonValue) -> bool:
    """Whether an object says of itself that it is a question."""
    if not isinstance(value, dict):
        return False
    names = by_bare_name(value)
    kind = names.get("kind", names.get("type", ("", None)))[1]
    if isinstance(kind, str) and bare(kind) in _REPLIES:
        return bare(kind) not in ("cannot", "refusal", "refuse")
    return any(name in names and message_in(names[name][1]) for name in QUESTION[:6])


def _is_object(value: JsonValue) -> bool:
    return isinstance(value, dict)


def _keyed_step(value: JsonValue) -> bool:
    return isinstance(value, dict) and len(value) == 1 and bool(_STEP_KEY.fullmatch(bare(next(iter(value)))))


def _with_id(key: str, value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {"id": key, **value}
    return {"id": key, "description": value}
