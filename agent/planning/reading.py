"""Tolerant reading: from whatever a planner answered to a draft in our names, and what was mended on the way. Pure.

What is mended is only the form. Nothing is read out of prose, no tool or argument is made up, and what cannot be
understood stays as it is for validation to refuse.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.planning.key_names import GOAL, RATIONALE, by_bare_name
from agent.planning.loose_json import strict
from agent.planning.notes import Notes
from agent.planning.numbered_text import listed_plan
from agent.planning.plain_json import NotPlainError, plain
from agent.planning.plan_shapes import RawPlan, Shapes, asks, message_in
from agent.planning.step_ids import RawStep, give_ids, resolve_dependencies
from agent.planning.step_shapes import open_references, raw_steps
from agent.planning.table_text import table_steps
from agent.planning.text_values import Found, fenced, values_in, without_fences, without_thinking
from agent.planning.validation import MOST_STEPS_READ, KnownTool, PlanProblem
from agent.planning.yaml_text import yaml_value
from agent.records import JsonObject, JsonValue

TEXT_CHARACTERS = 200_000
"""A longer text is not read at all."""
QUESTION_CHARACTERS = 4_000

# Also the full-width and the Arabic question mark.
_ASKS = re.compile(r"[?\uff1f\u061f](?=[\s\"'”’)*_`]|$)")
_ASKS_POLITELY = re.compile(
    r"\b(?:please\s+(?:provide|tell|specify|clarify|share|upload|give|send|confirm|let me know|answer|name)"
    r"|let me know (?:which|what|who|when|where|how|whether)|(?:can|could) you (?:tell|provide|clarify|specify|confirm)"
    r"|need to know|need more (?:information|details))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """What was found in a planner's answer."""

    draft: JsonObject | None
    """`{goal, rationale, steps}` as validation takes it; None if there is no plan in the answer."""
    repairs: tuple[str, ...] = ()
    problem: PlanProblem | None = None
    """Why there is no draft."""
    question: str | None = None
    """What the planner asks instead of planning."""


def read_plan(source: str | JsonValue, tools: Mapping[str, KnownTool], *, goal: str | None = None) -> ReadPlan:
    """Read a plan from a text or an already parsed value; never raises, whatever it is given.

    `goal` stands in when the answer names none.
    """
    if isinstance(source, str):
        return _read_text(source, tools, goal)
    try:
        value = plain(source, mend=True)
    except NotPlainError as error:
        return ReadPlan(None, problem=PlanProblem("bad_shape", None, error.message))
    notes = Notes()
    if value != source:
        notes.add("odd_characters")
    return _read_value(value, notes, tools, goal)


def _read_text(text: str, tools: Mapping[str, KnownTool], goal: str | None) -> ReadPlan:
    if len(text) > TEXT_CHARACTERS:
        message = f"The answer has {len(text)} characters; at most {TEXT_CHARACTERS} are read."
        return ReadPlan(None, problem=PlanProblem("too_long", None, message))
    body = _words(text).lstrip("\ufeff").strip()
    notes = Notes()
    if "\ufffd" in body and "\ufffd" not in text:
        notes.add("odd_characters")
    try:
        value = strict(body, notes)
    except (ValueError, RecursionError):
        return _read_words(body, notes, tools, goal)
    if isinstance(value, str):
        notes.add("json_in_text")
        return _read_words(value, notes, tools, goal)
    return _read_value(value, notes, tools, goal)


def _read_value(value: JsonValue, notes: Notes, tools: Mapping[str, KnownTool], goal: str | None) -> ReadPlan:
    raw = _shapes(tools, notes).plan_in(value)
    if raw is not None and (raw.steps or not asks({**raw.beside})):
        return _drafted(raw, notes, tools, goal)
    said = message_in(value) or ""
    return _no_plan(said, "The answer is JSON without a list of steps.", asked=asks(value))


def _read_words(text: str, notes: Notes, tools: Mapping[str, KnownTool], goal: str | None) -> ReadPlan:
    visible = without_thinking(text, notes)
    raw = _raw_in_words(visible, tools, notes)
    if raw is not None and (raw.steps or not asks({**raw.beside})):
        return _drafted(raw, notes, tools, goal)
    replies = [found.value for found in values_in(visible) if message_in(found.value)]
    if raw is not None:
        replies.append(raw.beside)
    said = (message_in(replies[-1]) or "") if replies else visible.strip()
    return _no_plan(said, "The answer is prose, not a plan.", asked=any(asks(reply) for reply in replies))


def _no_plan(said: str, otherwise: str, *, asked: bool) -> ReadPlan:
    """Words instead of a plan: a question to the user if they ask something."""
    words = said[:QUESTION_CHARACTERS]
    question = words if words and (asked or _ASKS.search(words) or _ASKS_POLITELY.search(words)) else None
    told = f"{otherwise} It says: {' '.join(words.split())[:300]}" if words else "The answer holds no plan."
    return ReadPlan(None, problem=PlanProblem("not_a_plan", None, told), question=question)


def _raw_in_words(text: str, tools: Mapping[str, KnownTool], notes: Notes) -> RawPlan | None:
    """The plan in a text: JSON in a fence, JSON elsewhere, escaped JSON, YAML, a table, then a list in words."""
    for code, part, around in _readings(text):
        raw = _raw_in_json(part, tools, notes)
        if raw is not None:
            if code is not None:
                notes.add(code)
            if around.strip():
                notes.add("surrounding_text")
            return raw
    inside, _ = fenced(text)
    words = "\n".join(inside) or without_fences(text)
    return _raw_in_yaml(words, tools, notes) or _raw_in_table(words, notes) or _raw_in_list(words, tools, notes)


def _readings(text: str) -> Iterator[tuple[str | None, str, str]]:
    """(repair code, text, words around it) in the order in which they are tried."""
    inside, around = fenced(text)
    if inside:
        yield "code_fence", "\n".join(inside), around
    yield ("code_fence" if "```" in text else None), text, ""
    if '\\"' in text:
        yield "escaped_json", text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\"), ""
    if "&quot;" in text or "&#34;" in text:
        yield "escaped_json", html.unescape(text), ""


def _raw_in_yaml(text: str, tools: Mapping[str, KnownTool], notes: Notes) -> RawPlan | None:
    value = yaml_value(text)
    own = Notes()
    own.add("yaml")
    raw = _shapes(tools, own).plan_in(value) if isinstance(value, dict | list) else None
    if raw is None or raw.single or not any(isinstance(step, dict) for step in raw.steps):
        return None
    notes.take(own)
    return raw


def _raw_in_table(text: str, notes: Notes) -> RawPlan | None:
    rows = table_steps(text)
    if not rows:
        return None
    notes.add("table")
    return RawPlan(list(rows))


def _raw_in_list(text: str, tools: Mapping[str, KnownTool], notes: Notes) -> RawPlan | None:
    listed = listed_plan(text, tools)
    if listed is None:
        return None
    notes.add("numbered_text")
    beside = {"goal": listed.goal, "rationale": listed.rationale}
    return RawPlan(list(listed.steps), {name: said for name, said in beside.items() if said})


def _raw_in_json(text: str, tools: Mapping[str, KnownTool], notes: Notes) -> RawPlan | None:
    read: list[tuple[RawPlan, Notes]] = []
    others: list[JsonValue] = []
    values = list(values_in(text))
    around = _around(text, values)
    for found in values:
        own = Notes()
        own.take(found.notes)
        raw = _shapes(tools, own).plan_in(found.value)
        if raw is None or not _is_meant(raw, found, alone=len(values) == 1 and not around):
            others.append(found.value)
        else:
            read.append((_without_torn(raw, found, own), own))
    chosen = _chosen(read, others)
    if chosen is None:
        return None
    notes.take(chosen[1])
    if around:
        notes.add("surrounding_text")
    return chosen[0]


def _around(text: str, values: Sequence[Found]) -> str:
    """The words between and beside the values."""
    ends = [0, *(found.end for found in values)]
    starts = [*(found.start for found in values), len(text)]
    between = "".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    return without_fences(between).strip(" \t\r\n,;`~")


def _shapes(tools: Mapping[str, KnownTool], notes: Notes) -> Shapes:
    return Shapes(tools, notes, lambda text: _raw_in_words(text, tools, notes))


def _is_meant(raw: RawPlan, found: Found, *, alone: bool) -> bool:
    """Lists of texts and empty lists are plans only where nothing else stands beside them."""
    words_only = isinstance(found.value, list) and all(isinstance(step, str) for step in raw.steps)
    return alone or not words_only


def _without_torn(raw: RawPlan, found: Found, notes: Notes) -> RawPlan:
    """Without the last step, if the text ends in the middle of it."""
    if not found.torn or not raw.steps:
        return raw
    notes.add("torn_step_dropped")
    return RawPlan(raw.steps[:-1], raw.beside, raw.single, torn=True)


def _chosen(read: list[tuple[RawPlan, Notes]], others: list[JsonValue]) -> tuple[RawPlan, Notes] | None:
    """The last plan that has steps, since models correct themselves downwards; lone step objects are one plan."""
    whole = [entry for entry in read if not entry[0].single]
    if whole:
        filled = [entry for entry in whole if entry[0].steps] or whole
        raw, notes = filled[-1]
        if any(other.steps != raw.steps for other, _ in filled):
            notes.add("last_of_several_plans")
        return raw, notes
    if not read:
        return None
    notes = Notes()
    for _, own in read:
        notes.take(own)
    notes.add("several_objects" if len(read) > 1 else "lone_step")
    beside: JsonObject = {}
    for other in others:
        beside.update(other if isinstance(other, dict) else {})
    return RawPlan([step for raw, _ in read for step in raw.steps], beside), notes


def _drafted(raw: RawPlan, notes: Notes, tools: Mapping[str, KnownTool], goal: str | None) -> ReadPlan:
    if raw.torn and not raw.steps:
        message = "The answer ends in the middle of its first step; give a shorter plan."
        return ReadPlan(None, notes.codes(), PlanProblem("bad_shape", None, message))
    if len(raw.steps) > MOST_STEPS_READ:
        message = f"The plan has {len(raw.steps)} steps; at most {MOST_STEPS_READ} are read."
        return ReadPlan(None, notes.codes(), PlanProblem("too_long", None, message))
    beside = by_bare_name(raw.beside)
    steps = raw_steps(raw.steps, tools, notes)
    give_ids(steps, notes)
    _spread_dependencies(steps, beside)
    resolve_dependencies(steps, notes)
    for step in steps:
        open_references(step, tools, notes)
        _fill_criterion(step, notes)
    draft = {
        "goal": _headline("goal", GOAL, beside, notes) or _words(goal),
        "rationale": _headline("rationale", RATIONALE, beside, notes),
        "steps": [step.parts for step in steps],
    }
    return ReadPlan(draft, notes.codes())


def _words(text: str | None) -> str:
    return str(plain(text or "", mend=True)).strip()


def _headline(part: str, aliases: tuple[str, ...], beside: Mapping[str, tuple[str, JsonValue]], notes: Notes) -> str:
    for name in aliases:
        key, value = beside.get(name, ("", None))
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            value = " ".join(value)
        if isinstance(value, str) and value.strip():
            if key != part:
                notes.add("key_names", key)
            return value.strip()
    notes.add(f"no_{part}")
    return ""


def _spread_dependencies(steps: list[RawStep], beside: Mapping[str, tuple[str, JsonValue]]) -> None:
    """`"dependencies": {"s2": ["s1"]}` beside the steps belongs to the steps."""
    _, value = beside.get("dependencies", ("", None))
    if isinstance(value, dict):
        for step in steps:
            step.parts.setdefault("dependencies", value.get(step.id, []))


def _fill_criterion(step: RawStep, notes: Notes) -> None:
    """A criterion as one text; '' for the reviewer to fill in when there is none, which `parsing` notes."""
    value = step.parts.get("acceptance_criteria", "")
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        notes.add("criteria_joined", step.id)
        value = "; ".join(item.strip() for item in value)
    elif isinstance(value, list | dict):
        notes.add("criteria_joined", step.id)
        value = json.dumps(value, ensure_ascii=False)
    step.parts["acceptance_criteria"] = value.strip()
