"""Plans written as YAML. Only what YAML shares with JSON is read: no tags, no aliases, no dates, no `yes`."""

from __future__ import annotations

import re

import yaml  # type: ignore[import-untyped]  # the stubs are a package of their own

from agent.planning.key_names import GOAL, RATIONALE, STEPS, bare
from agent.planning.plain_json import NotPlainError, plain
from agent.records import JsonValue

CHARACTERS = 15_000
"""A longer text is not read as YAML: the parser is slow."""

_KEY = re.compile(r"([A-Za-z][\w -]{0,30}):(?:\s|$)")
_ENTRY = re.compile(r"-\s+[A-Za-z][\w -]{0,30}:\s")


class JsonLikeLoader(yaml.SafeLoader):  # type: ignore[misc]  # untyped base class
    """Reads scalars as JSON would, and refuses aliases, which can make a short text huge."""

    yaml_implicit_resolvers: dict[str, list[object]] = {}  # noqa: RUF012  # PyYAML fills in its own copy

    def compose_node(self, parent: object, index: object) -> object:
        """A node; ComposerError for an alias."""
        if self.check_event(yaml.events.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.composer.ComposerError(None, None, "aliases are not read", mark)
        return super().compose_node(parent, index)


for _tag, _pattern, _first in (
    ("bool", r"^(?:true|false|True|False)$", "tfTF"),
    ("null", r"^(?:null|~|None|)$", ["n", "~", "N", ""]),
    ("int", r"^-?(?:0|[1-9]\d*)$", "-0123456789"),
    ("float", r"^-?(?:0|[1-9]\d*)\.\d+(?:[eE][+-]?\d+)?$", "-0123456789"),
):
    JsonLikeLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


def yaml_value(text: str) -> JsonValue:
    """The mapping or list that begins with a plan's key or an entry with keys and ends with the text; else None."""
    lines = text.splitlines()
    start = next((place for place, line in enumerate(lines) if _begins(line)), None)
    if start is None or len(text) > CHARACTERS:
        return None
    end = len(lines)
    while end > start and not _belongs(lines[end - 1]):
        end -= 1
    try:
        return plain(yaml.load("\n".join(lines[start:end]), Loader=JsonLikeLoader), mend=True)  # noqa: S506  # see class
    except (yaml.YAMLError, ValueError, RecursionError, NotPlainError):
        return None


def _begins(line: str) -> bool:
    found = _KEY.match(line)
    return bool(_ENTRY.match(line)) or (found is not None and bare(found[1]) in (*STEPS, *GOAL, *RATIONALE))


def _belongs(line: str) -> bool:
    """Whether a last line is YAML rather than closing words."""
    return (line[:1] in (" ", "\t", "-") and bool(line.strip())) or bool(_KEY.match(line))
