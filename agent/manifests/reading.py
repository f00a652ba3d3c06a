"""Reads a manifest and says what is wrong with it: file, line, field and the choices, a sentence a fault."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar, get_args

import yaml  # type: ignore[import-untyped]  # the stubs are a package of their own
from pydantic import BaseModel, ValidationError

from agent.errors import ConfigurationError
from agent.manifests.manifest import NAME_PATTERN, Manifest
from agent.models.providers import PROVIDERS
from agent.planning.plain_json import UNSTORABLE
from agent.planning.yaml_text import JsonLikeLoader
from agent.records import JsonObject, JsonValue
from agent.tools.registry import ToolRegistry

MAX_BYTES = 64 * 1024
TOLD_AT_ONCE = 5
SHOWN_CHARACTERS = 60
NAME = re.compile(NAME_PATTERN)
LEAVES_OF_JSON = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null")}
KINDS = {
    "string_type": "a text",
    "int_type": "a whole number",
    "float_type": "a number",
    "decimal_type": "an amount in dollars",
    "decimal_parsing": "an amount in dollars",
    "bool_type": "true or false",
    "model_type": "a mapping of fields",
    "model_attributes_type": "a mapping of fields",
    "tuple_type": "a list",
}
"""What pydantic's kinds of fault mean should have been there."""

Path = tuple[str | int, ...]
Lines = dict[Path, int]
T = TypeVar("T")


class ManifestError(ConfigurationError):
    """A manifest that cannot be used; the message says every fault in one sentence."""

    code = "manifest"

    def __init__(self, message: str, agent: str | None = None) -> None:
        super().__init__(message)
        self.agent = agent
        """The name in the manifest, where that could be read."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, as the rest of the sentence that begins with file and line."""

    line: int
    words: str


def read_manifest(content: bytes, file: str, registry: ToolRegistry) -> Manifest:
    """The manifest of a file's content; `file` is its name in messages. ManifestError with every fault otherwise."""
    try:
        document, lines = _document(content)
    except _UnreadableError as error:
        raise _refused(file, [error.fault]) from error
    try:
        manifest = Manifest.model_validate_json(json.dumps(document))
    except ValidationError as error:
        raise _refused(file, [_fault(item, lines) for item in error.errors()], document) from error
    faults = [*_provider_faults(manifest, lines), *_tool_faults(manifest, lines, registry)]
    if faults:
        raise _refused(file, faults, document)
    return manifest


def _refused(file: str, faults: list[Fault], document: JsonObject | None = None) -> ManifestError:
    in_order = sorted(dict.fromkeys(faults), key=lambda fault: fault.line)
    sentences = [f"{file}, line {fault.line}: {fault.words}." for fault in in_order[:TOLD_AT_ONCE]]
    if len(in_order) > TOLD_AT_ONCE:
        sentences.append(f"{len(in_order) - TOLD_AT_ONCE} more faults.")
    name = (document or {}).get("name")
    return ManifestError(" ".join(sentences), name if isinstance(name, str) and NAME.fullmatch(name) else None)


# --- YAML -----------------------------------------------------------------------------------------------------------


class _UnreadableError(Exception):
    """The content is no YAML that a manifest may consist of."""

    def __init__(self, line: int, words: str) -> None:
        super().__init__(words)
        self.fault = Fault(line, words)


@lru_cache(maxsize=64)
def _document(content: bytes) -> tuple[JsonObject, Lines]:
    """The content as JSON, and the line of each of its fields."""
    if len(content) > MAX_BYTES:
        raise _UnreadableError(1, f"the file has {len(content):,} bytes, and {MAX_BYTES:,} is the limit")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _UnreadableError(content[: error.start].count(b"\n") + 1, "the text is not UTF-8") from error
    try:
        root = yaml.compose(text, Loader=JsonLikeLoader)
        lines = dict(_lines(root, ()))
        document = yaml.constructor.SafeConstructor().construct_document(root) if root is not None else None
    except yaml.YAMLError as error:
        raise _UnreadableError(
            _line_of(error, text), f"this is not the YAML of a manifest, {_problem(error)}"
        ) from error
    except (RecursionError, ValueError) as error:
        raise _UnreadableError(1, "something is nested too deeply or too long to be read") from error
    if not isinstance(document, dict):
        raise _UnreadableError(1, f"a manifest is a mapping of fields: {', '.join(Manifest.model_fields)}")
    return document, lines


def _lines(node: Any, path: Path) -> Iterator[tuple[Path, int]]:
    """Path and line, 1 for the first, of a node and everything in it; _UnreadableError for what JSON does not have."""
    if node is None:
        return
    line = node.start_mark.line + 1
    yield path, line
    if isinstance(node, yaml.MappingNode) and node.tag == "tag:yaml.org,2002:map":
        yield from _lines_of_mapping(node, path)
    elif isinstance(node, yaml.SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
        for index, item in enumerate(node.value):
            yield from _lines(item, (*path, index))
    elif node.tag not in LEAVES_OF_JSON:
        raise _UnreadableError(line, f"the tag {node.tag} is not read; leave it out")
    elif UNSTORABLE.search(node.value):
        raise _UnreadableError(line, f"{_name(path)} holds a character that cannot be stored")


def _lines_of_mapping(node: Any, path: Path) -> Iterator[tuple[Path, int]]:
    seen: set[str] = set()
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise _UnreadableError(line, "the name of a field is a text")
        if key.value in seen:
            raise _UnreadableError(line, f"{_name((*path, key.value))} is there twice; keep one")
        seen.add(key.value)
        yield from _lines(value, (*path, key.value))
        # The line of the name, which is where a person looks for the field.
        yield (*path, key.value), line


def _line_of(error: yaml.YAMLError, text: str) -> int:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        return int(mark.line) + 1
    position = getattr(error, "position", 0)
    return text[:position].count("\n") + 1


def _problem(error: yaml.YAMLError) -> str:
    words = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    return str(words).rstrip(".")


# --- shape ----------------------------------------------------------------------------------------------------------


def _fault(item: Any, lines: Lines) -> Fault:
    """One of pydantic's faults in our words."""
    path: Path = tuple(item["loc"])
    kind, name = item["type"], _name(path)
    if kind == "missing":
        return Fault(_line(path[:-1], lines), f"{name} is missing")
    if kind == "extra_forbidden":
        where = _name(path[:-1]) or "a manifest"
        fields = ", ".join(_model_at(path[:-1]).model_fields)
        return Fault(_line(path, lines), f"{where} has no field {path[-1]!r}; the fields are {fields}")
    return Fault(_line(path, lines), f"{name} is {_shown(item['input'])} and should {_wanted(item, path)}")


def _wanted(item: Any, path: Path) -> str:
    """What a value should do or be, after the word `should`."""
    kind = item["type"]
    if kind == "enum":
        return f"be one of {_choices(path)}"
    if kind == "string_pattern_mismatch":
        named = "begin with a small letter and go on with small letters, digits, - and _"
        return named if path == ("name",) else "be one line of text"
    if path[:1] == ("tools",) and len(path) == 2:
        return "be a tool's name, or its name and version such as sql_query: 1"
    if kind in KINDS:
        return f"be {KINDS[kind]}"
    return str(item["msg"]).partition("should ")[2] or f"be right ({kind})"


def _model_at(path: Path) -> type[BaseModel]:
    """The part of the manifest that is at a path of fields."""
    model: type[BaseModel] = Manifest
    for part in path:
        if isinstance(part, str) and part in model.model_fields:
            model = next(_inside(model.model_fields[part].annotation, BaseModel), model)
    return model


def _choices(path: Path) -> str:
    annotation = _model_at(path[:-1]).model_fields[str(path[-1])].annotation
    words = next(_inside(annotation, Enum))
    return ", ".join(str(word.value) for word in words)


def _inside(annotation: Any, wanted: type[T]) -> Iterator[type[T]]:
    """The classes of that kind in a type such as `tuple[ToolChoice, ...] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, wanted):
        yield annotation
    for part in get_args(annotation):
        yield from _inside(part, wanted)


def _name(path: Path) -> str:
    """A path as a person writes it: `limits.max_steps`, `tools[2]`."""
    words = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in path)
    return words.removeprefix(".")


def _line(path: Path, lines: Lines) -> int:
    """The line of a field, or of what it would be in."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def _shown(value: JsonValue) -> str:
    words = json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else repr(value)
    return words if len(words) <= SHOWN_CHARACTERS else f"{words[:SHOWN_CHARACTERS]}…"


# --- what it names --------------------------------------------------------------------------------------------------


def _provider_faults(manifest: Manifest, lines: Lines) -> Iterator[Fault]:
    for role in type(manifest.models).model_fields:
        provider = getattr(manifest.models, role).provider
        if provider is not None and provider not in PROVIDERS:
            path = ("models", role, "provider")
            yield Fault(_line(path, lines), f"{_name(path)} is {provider!r}; choose from {', '.join(PROVIDERS)}")


def _tool_faults(manifest: Manifest, lines: Lines, registry: ToolRegistry) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, choice in enumerate(manifest.tools or ()):
        line = _line(("tools", index), lines)
        tool = registry.get(choice.name)
        if tool is None:
            yield Fault(line, f"there is no tool {choice.name!r}; choose from {', '.join(registry.names)}")
        elif choice.version not in (None, tool.version):
            yield Fault(
                line, f"the tool {choice.name} is there in version {tool.version}, not in version {choice.version}"
            )
        if choice.name in seen:
            yield Fault(line, f"the tool {choice.name} is there twice; keep one")
        seen.add(choice.name)
