"""JSON as models write it. Strict JSON first, then what can be mended surely, and only then guessing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import json_repair

from agent.planning.notes import Notes
from agent.planning.plain_json import DEEPEST, NotPlainError, plain
from agent.records import JsonValue

GUESSED_CHARACTERS = 40_000
"""Longer broken JSON is not guessed at: `json-repair` needs quadratic time on some texts."""

_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\]|\\.)*")
      | (?P<single>'(?:[^'\\]|\\.)*')
      | (?P<open>["'].*)
      | (?P<comment>//[^\n]*|\#[^\n]*|/\*.*?(?:\*/|\Z))
      | (?P<space>\s+)
      | (?P<number>-?\d[\w.+-]*)
      | (?P<word>[^\W\d][\w$-]*)
      | (?P<mark>.)""",
    re.DOTALL | re.VERBOSE,
)
_PYTHON_WORDS = {"True": "true", "False": "false", "None": "null", "undefined": "null"}
_JSON_WORDS = frozenset(("true", "false", "null", "NaN", "Infinity"))
_CLOSES = {"}": "{", "]": "["}


class NotJsonError(ValueError):
    """A text cannot be read as a list or an object."""


@dataclass(frozen=True, slots=True)
class Region:
    """Where a list or object begins and ends in a text."""

    start: int
    end: int
    cut: bool
    """Whether the text ends before the list or object does."""
    torn: bool
    """Whether it was cut inside a value, so that the last value is not whole."""


def strict(text: str, notes: Notes) -> JsonValue:
    """The value of strict JSON, line breaks in strings allowed; ValueError or RecursionError if it is not JSON."""
    try:
        value = _decoder(notes, lines=False).decode(text)
    except ValueError:
        value = _decoder(notes, lines=True).decode(text)
        notes.add("raw_line_breaks")
    return _plain(value, notes)


def value_at(text: str, start: int, notes: Notes) -> tuple[JsonValue, int]:
    """The strict JSON value that begins at `start`, and where it ends; raises like `strict`."""
    try:
        value, end = _decoder(notes, lines=False).raw_decode(text, start)
    except ValueError:
        value, end = _decoder(notes, lines=True).raw_decode(text, start)
        notes.add("raw_line_breaks")
    return _plain(value, notes), end


def loose(text: str, notes: Notes) -> JsonValue:
    """The list or object that a text which is no strict JSON stands for; NotJsonError if there is none."""
    mended = Notes()
    try:
        value = strict(_mended(text, mended), mended)
        notes.take(mended)
    except (ValueError, RecursionError):
        value = _plain(_guessed(text), notes)
        notes.add("broken_json")
    if not isinstance(value, dict | list):
        raise NotJsonError("There is neither a list nor an object.")
    return value


def region_at(text: str, start: int) -> Region:
    """How far the list or object that begins at `start` reaches, brackets in strings and comments left aside.

    NotJsonError if it is nested deeper than any plan.
    """
    opened: list[str] = []
    torn = False
    for kind, piece, position in _tokens(text, start):
        if kind == "mark" and piece in "{[":
            opened.append(piece)
            if len(opened) > DEEPEST:
                raise NotJsonError("The text is nested too deeply.")
        elif kind == "mark" and piece in _CLOSES and _CLOSES[piece] in opened:
            while opened.pop() != _CLOSES[piece]:
                pass
            if not opened:
                return Region(start, position + 1, cut=False, torn=False)
        if kind not in ("space", "comment"):
            torn = kind in ("open", "word", "number") or piece == ":"
    ends_closed = text.rstrip()[-1:] in ("}", "]")
    return Region(start, len(text), cut=not ends_closed or not torn, torn=torn and not ends_closed)


def _plain(value: JsonValue, notes: Notes) -> JsonValue:
    try:
        cleaned = plain(value, mend=True)
    except NotPlainError as error:
        raise NotJsonError(error.message) from error
    if cleaned != value:
        notes.add("odd_characters")
    return cleaned


def _decoder(notes: Notes, *, lines: bool) -> json.JSONDecoder:
    def joined(pairs: list[tuple[str, JsonValue]]) -> JsonValue:
        value: dict[str, JsonValue] = {}
        for key, item in pairs:
            if key in value:
                notes.add("repeated_key", key)
            value[key] = _together(value[key], item) if key in value else item
        return value

    return json.JSONDecoder(strict=not lines, object_pairs_hook=joined)


def _together(first: JsonValue, second: JsonValue) -> JsonValue:
    """Objects under one repeated key (`"step": {…}, "step": {…}`) are a list; otherwise the later value holds."""
    if isinstance(second, dict) and isinstance(first, dict):
        return [first, second]
    if isinstance(second, dict) and isinstance(first, list) and first and isinstance(first[-1], dict):
        return [*first, second]
    return second


def _tokens(text: str, start: int = 0) -> Iterator[tuple[str, str, int]]:
    """(kind, piece, position). An apostrophe opens a string only where a value or key may begin."""
    position, before = start, ""
    while position < len(text):
        kind, piece = "mark", "'"
        if text[position] != "'" or before in ("", "{", "[", ",", ":", "("):
            found = _TOKEN.match(text, position)
            if found is None:
                return
            kind, piece = str(found.lastgroup), found.group()
        yield kind, piece, position
        position += len(piece)
        if kind not in ("space", "comment"):
            before = piece


def _mended(text: str, notes: Notes) -> str:
    """The text with comments, trailing commas, single quotes, bare keys and Python's literals made JSON."""
    parts: list[str] = []
    tokens = [(kind, piece) for kind, piece, _ in _tokens(text) if kind != "space"]
    if any(kind == "comment" for kind, _ in tokens):
        notes.add("comments")
    tokens = [(kind, piece) for kind, piece in tokens if kind != "comment"]
    for place, (kind, piece) in enumerate(tokens):
        following = tokens[place + 1][1] if place + 1 < len(tokens) else ""
        parts.append(_mended_token(kind, piece, following, notes))
    return " ".join(parts)


def _mended_token(kind: str, piece: str, following: str, notes: Notes) -> str:
    if piece == "," and following in ("}", "]"):
        notes.add("trailing_commas")
        return ""
    if kind == "single":
        notes.add("single_quotes")
        return '"' + re.sub(r"\\'|(?<!\\)\"", lambda found: "'" if found.group() == "\\'" else '\\"', piece[1:-1]) + '"'
    if kind != "word" or piece in _JSON_WORDS:
        return piece
    if following == ":":
        notes.add("bare_keys")
        return json.dumps(piece)
    if piece in _PYTHON_WORDS:
        notes.add("python_literals")
        return _PYTHON_WORDS[piece]
    return piece


def _guessed(text: str) -> JsonValue:
    if len(text) > GUESSED_CHARACTERS:
        raise NotJsonError("The text is too long to be guessed at.")
    try:
        return json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError) as error:
        raise NotJsonError("The text cannot be guessed at.") from error
