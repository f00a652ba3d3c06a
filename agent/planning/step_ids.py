"""Ids of steps, and which step a dependency means: `1`, `"1"`, `step 1` and `s1` are the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from agent.planning.key_names import DEPENDENCIES, STEP_ID, bare, by_bare_name
from agent.planning.loose_json import NotJsonError, loose
from agent.planning.notes import Notes
from agent.planning.step_tools import is_nothing
from agent.records import JsonObject, JsonValue

_NUMBER = re.compile(
    r"[\W_]*(?:(?:steps?|tasks?|node|item|action|output|result|s|t|e|id|no)[\s_.#:-]*)?0*(\d{1,9})"
    r"(?:[.\[](?:output|result|value|data)\w*.*)?[\s\]}>)]*",
    re.IGNORECASE | re.DOTALL,
)
_BETWEEN = re.compile(r"[,;&+\n]|\band\b|\bund\b", re.IGNORECASE)
_PREVIOUS = frozenset(("previous", "previousstep", "thepreviousstep", "prior", "priorstep", "last", "laststep"))
_ALL_BEFORE = frozenset(
    ("all", "allprevious", "allprevioussteps", "previoussteps", "allprior", "allpriorsteps", "allsteps", "allabove")
)


@dataclass(slots=True)
class RawStep:
    """A step while it is read: the parts that were found, and by what else other steps may call it."""

    parts: JsonObject
    names: list[str] = field(default_factory=list)
    in_words: bool = False
    """Whether it was a text: then it comes after the step before it."""
    replaces: str | None = None
    """Id of the group that it was in; a dependency on the group is one on all its steps."""

    @property
    def id(self) -> str:
        """The id, after `give_ids`."""
        return str(self.parts["id"])


def id_text(value: JsonValue) -> str | None:
    """An id as text; None if the value is none."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value).strip() or None
    return None


def give_ids(steps: Sequence[RawStep], notes: Notes) -> None:
    """Make every id a text, and number the steps that have none."""
    texts = [id_text(step.parts.get("id")) for step in steps]
    used = {text for text in texts if text is not None}
    first = 0 if not used and any(_names_zero(step.parts.get("dependencies")) for step in steps) else 1
    free = (str(number) for number in count(len(steps) + 1))
    for place, (step, text) in enumerate(zip(steps, texts, strict=True), start=first):
        if text is None:
            notes.add("ids_assigned")
            step.parts["id"] = str(place) if str(place) not in used else next(n for n in free if n not in used)
        else:
            if text != step.parts["id"]:
                notes.add("ids_as_text")
            step.parts["id"] = text


def _names_zero(value: JsonValue) -> bool:
    items = value if isinstance(value, list) else [value]
    return any(item == 0 and not isinstance(item, bool) for item in items)


def resolve_dependencies(steps: Sequence[RawStep], notes: Notes) -> None:
    """Make every step's dependencies a list of ids; what names no step stays as it is, for validation to refuse."""
    stated = any("dependencies" in step.parts for step in steps)
    finder = _Finder(steps)
    for place, step in enumerate(steps):
        before = [other.id for other in steps[max(0, place - 1) : place]]
        if "dependencies" not in step.parts:
            in_order = not stated and len(steps) > 1
            notes.add("dependencies_in_order" if in_order else "dependencies_filled", None if in_order else step.id)
            step.parts["dependencies"] = before if not stated or step.in_words else []
            continue
        found = list(finder.ids(step.parts["dependencies"], place))
        once = list(dict.fromkeys(found))
        if once != step.parts["dependencies"]:
            notes.add("dependencies_read", step.id)
        step.parts["dependencies"] = once


class _Finder:
    """Finds the step that a reference means: by id, then by id in another case, by number, by name."""

    def __init__(self, steps: Sequence[RawStep]) -> None:
        self._order = [step.id for step in steps]
        self._ids = set(self._order)
        self._groups: dict[str, list[str]] = {}
        self._alike: list[dict[str, set[str]]] = [{}, {}, {}]
        for step in steps:
            if step.replaces is not None:
                self._groups.setdefault(step.replaces, []).append(step.id)
            keys = [step.id.casefold(), _number(step.id)]
            for table, key in zip(self._alike, keys, strict=False):
                if key is not None:
                    table.setdefault(key, set()).add(step.id)
            for name in step.names:
                self._alike[2].setdefault(bare(name), set()).add(step.id)

    def ids(self, value: JsonValue, place: int) -> Iterator[str]:
        """Every step that a dependencies value of the step at `place` names."""
        if isinstance(value, list):
            for item in value:
                yield from self.ids(item, place)
        elif isinstance(value, dict):
            yield from self._of_object(value, place)
        elif value in self._ids:
            yield value
        elif not is_nothing(value):
            yield from self._of_text(id_text(value) or str(value), place)

    def _of_object(self, value: JsonObject, place: int) -> Iterator[str]:
        names = by_bare_name(value)
        key = next((key for key in (*STEP_ID, "step", "task", *DEPENDENCIES) if key in names), None)
        yield from self.ids(list(value) if key is None else names[key][1], place)

    def _of_text(self, text: str, place: int) -> Iterator[str]:
        found = self._one(text)
        if found:
            yield from found
        elif bare(text) in _PREVIOUS:
            yield from self._order[max(0, place - 1) : place]
        elif bare(text) in _ALL_BEFORE:
            yield from self._order[:place]
        elif (listed := _listed(text)) is not None:
            yield from self.ids(listed, place)
        else:
            yield text

    def _one(self, text: str) -> list[str]:
        if text in self._ids:
            return [text]
        if text in self._groups:
            return self._groups[text]
        keys = (text.casefold(), _number(text), bare(text))
        for table, key in zip(self._alike, keys, strict=True):
            if key and len(alike := table.get(key, set())) == 1:
                return list(alike)
        return []


def _number(text: str) -> str | None:
    found = _NUMBER.fullmatch(text) if len(text) <= 60 else None
    return found.group(1) if found else None


def _listed(text: str) -> list[JsonValue] | None:
    """`["s1"]` as text, or `s1, s2 and s3`."""
    if text.startswith("["):
        try:
            value = loose(text, Notes())
        except NotJsonError:
            return None
        return value if isinstance(value, list) else None
    parts = [part.strip() for part in _BETWEEN.split(text) if part.strip()]
    return list(parts) if parts and parts != [text] else None
