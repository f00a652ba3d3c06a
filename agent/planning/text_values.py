"""A model's text: what is thinking, what is fenced, which JSON values stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent.planning.loose_json import NotJsonError, loose, region_at, value_at
from agent.planning.notes import Notes
from agent.records import JsonValue

_TAG = re.compile(
    r"<\|?(?P<closes>/)?(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis)(?:\s[^<>]{0,200})?>"
    r"|\[(?P<also_closes>/)?THINK\]",
    re.IGNORECASE,
)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s*final[^<]*<\|message\|>")
_FENCE = re.compile(
    r"^[ \t>]*(?:```|~~~)[ \t]*[\w+-]*[ \t]*\r?\n(.*?)(?:^[ \t>]*(?:```|~~~)|\Z)", re.DOTALL | re.MULTILINE
)
_FENCE_MARK = re.compile(r"(?:```|~~~)[ \t]*(?:json5?|jsonc|jsonl|python|py|text|markdown|md|yaml)?", re.IGNORECASE)
_START = re.compile(r"""\{(?=\s*(?:["'“}/#]|[\w$-]+\s*:))|\[(?=\s*(?:[\[{"'“/#\]]))""")


@dataclass(frozen=True, slots=True)
class Found:
    """A JSON value in a text."""

    value: JsonValue
    notes: Notes
    torn: bool
    """Whether the text ends inside the value's last part, which is therefore not whole."""
    start: int
    end: int


def without_thinking(text: str, notes: Notes) -> str:
    """The text without what a model only thought, decoys in there included.

    A block that is never closed reaches to the end of the text; but if a JSON value that begins on a line of its own
    is the last thing in it, the value is the answer and only the words before it were thoughts.
    """
    channels = list(_FINAL_CHANNEL.finditer(text))
    said = text[channels[-1].end() :] if channels else text
    kept: list[str] = []
    place, thinking = 0, False
    for tag in _TAG.finditer(said):
        if tag["closes"] or tag["also_closes"]:
            # One that closes nothing ends a thought whose beginning the model's template swallowed.
            kept = kept if thinking else []
            place, thinking = tag.end(), False
        elif not thinking:
            kept.append(said[place : tag.start()])
            place, thinking = tag.end(), True
    kept.append(_answer_after(said[place:]) if thinking else said[place:])
    visible = " ".join(kept)
    if visible != text:
        notes.add("thinking_removed")
    return visible


def _answer_after(thought: str) -> str:
    """The value that ends an unclosed thought, or nothing."""
    for found in re.finditer(r"^[ \t]*(?:```\w*\s*)?(?=[{\[])", thought, re.MULTILINE):
        try:
            _, end = value_at(thought, found.end(), Notes())
        except (ValueError, RecursionError):
            continue
        if not thought[end:].strip(" \t\r\n`"):
            return thought[found.end() :]
    return ""


def fenced(text: str) -> tuple[list[str], str]:
    """The insides of code fences that begin and end on lines of their own (the last may be open), and the rest."""
    return [found.group(1) for found in _FENCE.finditer(text)], _FENCE.sub("\n", text)


def without_fences(text: str) -> str:
    """The text with the marks of fences taken out."""
    return _FENCE_MARK.sub("", text)


def values_in(text: str) -> Iterator[Found]:
    """The outermost lists and objects that stand in a text, mended where needed.

    Brackets that only belong to words (`{anything}`, `[4]`) are passed by. The work is bounded by a few readings of
    the text, however many brackets never close.
    """
    left_to_read = 4 * len(text) + 10_000
    place = 0
    while left_to_read > 0 and (start := _START.search(text, place)):
        found, end = _value_from(text, start.start())
        left_to_read -= end - start.start() if found is None else 0
        if found is not None:
            yield found
        place = end if found is not None else start.end()


def _value_from(text: str, start: int) -> tuple[Found | None, int]:
    """The value that begins at `start` and where it ends; None and how far was read if there is none."""
    notes = Notes()
    try:
        value, end = value_at(text, start, notes)
    except (ValueError, RecursionError):
        return _mended_from(text, start)
    return Found(value, notes, torn=False, start=start, end=end), end


def _mended_from(text: str, start: int) -> tuple[Found | None, int]:
    notes = Notes()
    try:
        region = region_at(text, start)
    except NotJsonError:
        return None, len(text)
    if region.cut:
        notes.add("cut_off")
    try:
        value = loose(text[start : region.end], notes)
    except NotJsonError:
        return None, region.end
    return Found(value, notes, torn=region.torn, start=start, end=region.end), region.end
