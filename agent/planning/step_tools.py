"""Which tool a step of a model means, and with which arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from jsonschema import Draft202012Validator

from agent.planning.key_names import ARGS, TOOL, bare, by_bare_name
from agent.planning.loose_json import NotJsonError, loose, strict
from agent.planning.notes import Notes
from agent.planning.plain_json import NotPlainError, plain
from agent.planning.validation import KnownTool
from agent.records import JsonObject, JsonValue

NOTHING = frozenset(("", "none", "null", "nil", "na", "notool", "notapplicable", "nothing"))
"""Bare words by which models say that there is no tool, dependency or argument."""

_IDENTIFIER = re.compile(r"[A-Za-z][\w.-]*")
_CALL = re.compile(r"\s*`?([A-Za-z][\w.-]*)\((.*)\)`?\s*", re.DOTALL)
_MAYBE_TOOL = ("action", "name", "command", "method", "operation", "type")
_LONGEST_CALL = 4_000


def is_nothing(value: JsonValue) -> bool:
    """Whether a value says in some way that there is none."""
    return value is None or value is False or value in ([], {}) or (isinstance(value, str) and bare(value) in NOTHING)


def known_name(value: JsonValue, tools: Mapping[str, KnownTool]) -> str | None:
    """The known tool that a text names, whatever its case and punctuation (`functions.Lookup()`); else None."""
    if not isinstance(value, str) or len(value) > 200:
        return None
    if value in tools:
        return value
    wanted = bare(re.sub(r"\(\s*\)$", "", value.strip().strip("`\"'")).rsplit(".", 1)[-1].rsplit("/", 1)[-1])
    alike = [name for name in tools if bare(name) == wanted]
    return alike[0] if len(alike) == 1 else None


def tool_key(names: Mapping[str, tuple[str, JsonValue]], tools: Mapping[str, KnownTool]) -> str | None:
    """The bare key that holds a step's tool. `action` and the like do only if a tool is meant, not words."""
    stated = [name for name in TOOL if name in names]
    for name in stated:
        if not is_nothing(names[name][1]):
            return name
    for name in _MAYBE_TOOL:
        if name in names and known_name(names[name][1], tools):
            return name
    for name in _MAYBE_TOOL[:1] + _MAYBE_TOOL[2:5]:
        if name in names and not stated and _like_a_tool(names, name):
            return name
    return stated[0] if stated else None


def _like_a_tool(names: Mapping[str, tuple[str, JsonValue]], key: str) -> bool:
    """An unknown name that can only be a tool's: to be refused by validation, not to be read as words."""
    value = names[key][1]
    told = any(name in names for name in ("description", "title", "task", "what", "step"))
    if not isinstance(value, str) or not _IDENTIFIER.fullmatch(value) or not told:
        return False
    return "_" in value or any(name in names for name in ARGS)


def tool_and_args(
    value: JsonValue, tools: Mapping[str, KnownTool], notes: Notes, step: str
) -> tuple[JsonValue, JsonValue]:
    """The tool's name (known or not), or None for a step in words, and the arguments if the value holds them."""
    if is_nothing(value):
        if value is not None:
            notes.add("tool_name", step)
        return None, None
    if isinstance(value, list) and len(value) == 1:
        notes.add("tool_name", step)
        return tool_and_args(value[0], tools, notes, step)
    if isinstance(value, dict):
        return _from_object(value, tools, notes, step)
    name = known_name(value, tools)
    if name is None and isinstance(value, str):
        return _from_call(value, tools, notes, step)
    if name != value:
        notes.add("tool_name", step)
    return (value if name is None else name), None


def _from_object(
    value: JsonObject, tools: Mapping[str, KnownTool], notes: Notes, step: str
) -> tuple[JsonValue, JsonValue]:
    names = by_bare_name(value)
    name_key = next((key for key in ("name", *TOOL) if key in names), None)
    if name_key is None or isinstance(names[name_key][1], dict | list):
        return value, None
    notes.add("tool_name", step)
    args = next((names[key][1] for key in ARGS if key in names), None)
    name, inner = tool_and_args(names[name_key][1], tools, notes, step)
    return name, inner if args is None else args


def _from_call(value: str, tools: Mapping[str, KnownTool], notes: Notes, step: str) -> tuple[JsonValue, JsonValue]:
    """`lookup(sku='B-7')` or `lookup({"sku": "B-7"})`; any other text is the tool's name as it stands."""
    called = read_call(value, tools)
    if called is None:
        return value.strip(), None
    notes.add("tool_name", step)
    return called


def read_call(text: str, tools: Mapping[str, KnownTool]) -> tuple[str, JsonObject] | None:
    """Tool and arguments of a call of a known tool in Python's or JSON's notation; None if it is not one."""
    found = _CALL.fullmatch(text) if len(text) <= _LONGEST_CALL else None
    name = known_name(found.group(1), tools) if found else None
    if found is None or name is None:
        return None
    inside = found.group(2).strip()
    args = {} if not inside else _object(inside) or _keywords(inside)
    return None if args is None else (name, args)


def _object(text: str) -> JsonObject | None:
    try:
        value = loose(text, Notes()) if text.startswith("{") else None
    except NotJsonError:
        return None
    return value if isinstance(value, dict) else None


def _keywords(text: str) -> JsonObject | None:
    try:
        call = ast.parse(f"f({text})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            return None
        found = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg}
        return dict(plain(found, mend=True))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, NotPlainError):
        return None


def args_object(value: JsonValue, tool: KnownTool | None, notes: Notes, step: str) -> JsonValue:
    """The arguments as an object where they can be read as one; else the value as it is, for validation to refuse."""
    if isinstance(value, dict):
        return value
    if is_nothing(value):
        notes.add("args_filled", step)
        return {}
    if tool is None:
        notes.add("args_dropped", step)
        return {}
    found = _from_text(value) if isinstance(value, str) else _from_pairs(value)
    if found is None:
        found = _only_argument(value, tool)
    if found is None:
        return value
    notes.add("args_read", step)
    return found


def _from_text(text: str) -> JsonObject | None:
    try:
        value = strict(text, Notes())
    except (ValueError, RecursionError):
        return _object(text.strip()) or (_keywords(text) if len(text) <= _LONGEST_CALL else None) or None
    return value if isinstance(value, dict) else None


def _from_pairs(value: JsonValue) -> JsonObject | None:
    """`[{"name": "sku", "value": "B-7"}]`, or a list around one object."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return None
    if all(set(item) == {"name", "value"} and isinstance(item["name"], str) for item in value):
        return {item["name"]: item["value"] for item in value}
    return dict(value[0]) if len(value) == 1 else None


def _only_argument(value: JsonValue, tool: KnownTool) -> JsonObject | None:
    """A bare value, when it fits the one argument that it can be."""
    required = tool.schema.get("required") or []
    names = required if len(required) == 1 else list(tool.properties)
    if len(names) != 1 or not fits(tool, names[0], value):
        return None
    return {names[0]: value}


def fits(tool: KnownTool, name: str, value: JsonValue) -> bool:
    """Whether a tool's schema allows a value for one argument."""
    schema = {key: item for key, item in tool.schema.items() if key != "required"}
    return Draft202012Validator(schema).is_valid({name: value})
