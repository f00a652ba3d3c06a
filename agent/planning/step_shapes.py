"""One step as a model wrote it, taken apart into our parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import UnionType

from agent.planning.key_names import (
    ARGS,
    CRITERIA,
    DEPENDENCIES,
    DESCRIPTION,
    STEP_ID,
    STEPS,
    WEAK,
    bare,
    by_bare_name,
)
from agent.planning.notes import Notes
from agent.planning.numbered_text import step_of_words
from agent.planning.step_ids import RawStep, id_text
from agent.planning.step_tools import args_object, fits, is_nothing, known_name, tool_and_args, tool_key
from agent.planning.validation import KnownTool
from agent.records import JsonObject, JsonValue

_ID_LIKE = re.compile(r"(?:(?:step|task|s|t)[\s_#-]*)?\d{1,4}", re.IGNORECASE)
_NUMBERED = re.compile(r"\s*(?:(?:step|task)\s*)?#?(\d{1,4})\s*[.):\-]\s+(.*)", re.IGNORECASE | re.DOTALL)
_DETAILS = ("substeps", "subtasks", "actions", "todo", "todos", "items", "actionitems")
_REFERENCE = re.compile(
    r"\s*(?:\{\{.+\}\}|\$\{.+\}|\$[A-Za-z_]\w*(?:[.\[].*)?|#E\d+|<[^<>]*\b(?:result|output|from|step|previous)\b[^<>]*>)\s*",
    re.IGNORECASE | re.DOTALL,
)


def looks_like_step(value: JsonValue, tools: Mapping[str, KnownTool]) -> bool:
    """Whether an object by itself can be nothing but a step: it says what to do, and says it in a step's words.

    `{"id": 1, "name": "Bo"}` is data and `{"name": "f", "arguments": {}}` the call of some function.
    """
    if not isinstance(value, dict):
        return False
    names = by_bare_name(value)
    if tool_key(names, tools) is not None:
        return True
    says = [name for name in DESCRIPTION if name in names]
    return any(name not in WEAK for name in says) or bool(
        says and any(name in names and name not in WEAK for name in (*DEPENDENCIES, *CRITERIA))
    )


def raw_steps(values: Sequence[JsonValue], tools: Mapping[str, KnownTool], notes: Notes) -> list[RawStep]:
    """Every entry of a steps list as parts; groups of steps are replaced by their steps."""
    return [
        _raw_step(value, f"steps[{place}]", tools, notes, group)
        for place, (value, group) in enumerate(_flat(values, notes, None))
    ]


def _flat(values: Sequence[JsonValue], notes: Notes, group: str | None) -> Iterator[tuple[JsonValue, str | None]]:
    """(entry, id of its group) without empty entries and without nesting."""
    for value in values:
        if is_nothing(value):
            notes.add("empty_entries")
        elif isinstance(value, list):
            notes.add("nested_steps")
            yield from _flat(value, notes, group)
        elif (children := _children(value)) is not None:
            notes.add("nested_steps")
            yield from _flat(children, notes, id_text(value.get("id")) or group)
        else:
            yield value, group


def _children(value: JsonValue) -> list[JsonValue] | None:
    """The steps inside a group, which wait for what the group waits for; None if it is a step itself.

    It is a step if it names a tool, or if what it lists are words that only tell it in more detail.
    """
    if not isinstance(value, dict):
        return None
    names = by_bare_name(value)
    if any(not is_nothing(names[name][1]) for name in ("tool", "toolname", "function", "args") if name in names):
        return None
    lists = [(name, names[name][1]) for name in STEPS if name in names and isinstance(names[name][1], list)]
    if not lists or not lists[0][1] or not all(isinstance(item, dict | str) for item in lists[0][1]):
        return None
    name, children = lists[0]
    if name in _DETAILS and all(isinstance(item, str) for item in children):
        return None
    waits = next((names[alias] for alias in DEPENDENCIES if alias in names), None)
    return children if waits is None or is_nothing(waits[1]) else [_waiting(child, waits[1]) for child in children]


def _waiting(child: JsonValue, waits: JsonValue) -> JsonValue:
    if isinstance(child, str):
        return {"description": child, "dependencies": waits}
    return child if any(alias in by_bare_name(child) for alias in DEPENDENCIES) else {**child, "dependencies": waits}


def _raw_step(value: JsonValue, place: str, tools: Mapping[str, KnownTool], notes: Notes, group: str | None) -> RawStep:
    if isinstance(value, str):
        return RawStep(_parts_of_text(value, place, tools, notes), in_words=True, replaces=group)
    if not isinstance(value, dict):
        return RawStep({"description": value, "tool": None, "args": {}}, replaces=group)
    keyed = _keyed(value)
    if keyed is not None:
        notes.add("key_names", keyed[0])
        inner = _raw_step(keyed[1], place, tools, notes, group)
        inner.parts.setdefault("id", keyed[0])
        return inner
    return RawStep(_parts(value, place, tools, notes), _names(value), replaces=group)


def _keyed(value: JsonObject) -> tuple[str, JsonValue] | None:
    """`{"step1": {…}}` or `{"s1": "Look up"}`: the only key is the id."""
    if len(value) != 1:
        return None
    key, inner = next(iter(value.items()))
    if isinstance(inner, dict | str) and _ID_LIKE.fullmatch(key.strip()):
        return key.strip(), inner
    return ("", inner) if isinstance(inner, dict) and bare(key) in ("step", "task") else None


def _parts_of_text(text: str, place: str, tools: Mapping[str, KnownTool], notes: Notes) -> JsonObject:
    notes.add("text_steps")
    name = known_name(text, tools) if text.strip() in tools else None
    if name is not None:
        return {"description": f"Call {name}", "tool": name, "args": {}}
    numbered = _NUMBERED.fullmatch(text)
    words = step_of_words(numbered[2] if numbered else text, tools)
    quiet = Notes()
    parts = _parts(words, place, tools, quiet)
    return {**parts, "id": numbered[1]} if numbered else parts


def _names(value: JsonObject) -> list[str]:
    """By what else a dependency may call the step."""
    names = by_bare_name(value)
    return [names[name][1] for name in DESCRIPTION if name in names and isinstance(names[name][1], str)]


def _parts(value: JsonObject, place: str, tools: Mapping[str, KnownTool], notes: Notes) -> JsonObject:
    return _OneStep(value, place, tools, notes).parts


class _OneStep:
    """Takes one object apart; `parts` holds what is there, args is an object or what validation has to refuse."""

    def __init__(self, value: JsonObject, place: str, tools: Mapping[str, KnownTool], notes: Notes) -> None:
        self._names = by_bare_name(value)
        self._taken: dict[str, str] = {}
        self._notes = notes
        self.parts: JsonObject = {}
        self._take("id", _id_key(self._names))
        self._label = id_text(self.parts.get("id")) or place
        inner_args = self._read_tool(tools)
        self._take("args", self._first(ARGS))
        self._take("dependencies", self._first(DEPENDENCIES))
        self._take("acceptance_criteria", self._first(CRITERIA, str | list | dict))
        name = self.parts["tool"]
        self._tool = tools.get(name) if isinstance(name, str) else None
        self.parts["args"] = self._args(inner_args)
        self.parts["description"] = self._description()
        self._note_keys()

    def _take(self, part: str, name: str | None) -> None:
        if name is not None:
            self._taken[name] = part
            self.parts[part] = self._names[name][1]

    def _first(self, aliases: Sequence[str], kinds: type | UnionType = object) -> str | None:
        there = (name for name in aliases if name in self._names and name not in self._taken)
        return next((name for name in there if isinstance(self._names[name][1], kinds)), None)

    def _read_tool(self, tools: Mapping[str, KnownTool]) -> JsonValue:
        """Fill in the tool; returns the arguments that its value held, if any."""
        key = tool_key(self._names, tools)
        self._take("tool", key)
        if key is None:
            self._notes.add("tool_filled", self._label)
        self.parts["tool"], inner = tool_and_args(self.parts.get("tool"), tools, self._notes, self._label)
        return inner

    def _args(self, inner: JsonValue) -> JsonValue:
        stated = self.parts.get("args")
        if "args" in self.parts and not (is_nothing(stated) and inner is not None):
            return args_object(stated, self._tool, self._notes, self._label)
        if inner is not None:
            return args_object(inner, self._tool, self._notes, self._label)
        known = self._tool.properties if self._tool else {}
        beside = {key: item for name, (key, item) in self._names.items() if name not in self._taken and key in known}
        self._notes.add("args_collected" if beside else "args_filled", self._label)
        self._taken.update({bare(key): "args" for key in beside})
        return beside

    def _description(self) -> JsonValue:
        """What the step says that it does; a bare tool call does that; else '' for validation to refuse."""
        there = [name for name in DESCRIPTION if name in self._names and name not in self._taken]
        for name in there:
            value = self._names[name][1]
            if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
                value = " ".join(value)
            if isinstance(value, str) and value.strip():
                self._taken[name] = "description"
                return self._with_details(value.strip())
        tool = self.parts["tool"]
        if isinstance(tool, str) and not there:
            self._notes.add("description_filled", self._label)
            return f"Call {tool}"
        return self._names[there[0]][1] if there else ""

    def _with_details(self, words: str) -> str:
        """The words, and the texts of a list that tells them in more detail."""
        for name in _DETAILS:
            _, value = self._names.get(name, ("", None))
            if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
                self._taken[name] = "description"
                return f"{words}: {'; '.join(value)}"
        return words

    def _note_keys(self) -> None:
        for name, (key, value) in self._names.items():
            part = self._taken.get(name)
            if name == "effect" and part is None:
                if self._tool is not None and value != str(self._tool.effect):
                    self._notes.add("effect_from_registry", self._label)
            elif part is None:
                self._notes.add("ignored_keys", key)
            elif key != part and not (part == "args" and self._tool and key in self._tool.properties):
                self._notes.add("key_names", key)


def _id_key(names: Mapping[str, tuple[str, JsonValue]]) -> str | None:
    for name in STEP_ID:
        if name in names and id_text(names[name][1]) is not None:
            return name
    for name in ("step", "task"):
        text = id_text(names[name][1]) if name in names else None
        if text is not None and _ID_LIKE.fullmatch(text):
            return name
    return None


def open_references(step: RawStep, tools: Mapping[str, KnownTool], notes: Notes) -> None:
    """Leave out arguments that only stand for a value to come (`{{s1.result}}`, null): the step fills them in."""
    tool = tools.get(step.parts["tool"]) if isinstance(step.parts["tool"], str) else None
    args = step.parts["args"]
    if tool is None or not isinstance(args, dict):
        return
    for name, value in list(args.items()):
        placeholder = isinstance(value, str) and len(value) <= 200 and _REFERENCE.fullmatch(value)
        unknown = value is None and name in tool.properties and not fits(tool, name, None)
        if placeholder or unknown:
            notes.add("open_argument", f"{step.id}.{name}")
            del args[name]
