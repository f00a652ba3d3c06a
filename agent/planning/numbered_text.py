"""Plans written as lists in words: `1. Do x (tool: y)`, `- …`, `Step 2: …`, with details in lines below."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agent.planning.key_names import GOAL, RATIONALE, bare, part_of
from agent.planning.loose_json import NotJsonError, loose, region_at
from agent.planning.notes import Notes
from agent.planning.step_tools import known_name, read_call
from agent.planning.validation import KnownTool
from agent.records import JsonObject

_ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?:>\s*)?(?:#{1,6}\s+)?(?:[-*•]\s+)?(?:\*\*|__)?\s*"
    r"(?:(?:step|task|phase)\s*#?\s*(?P<named>\d{1,4})\s*(?:[:.)\-–—]|\*\*|$)|[\[(]?(?P<number>\d{1,4})\s*[.):\]](?=\s|\*|$))"
    r"\s*[:.)\-–—]*\s*(?P<words>.*)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"(?P<indent>[ \t]*)(?:[-*•–]|\[[ xX]?\])\s+(?:\[[ xX]?\]\s+)?(?P<words>.*)")
_LEADING_BULLET = re.compile(r"^[-*•–]\s+")
_DETAIL = re.compile(r"\s*(?:[-*•–]\s+)?[*_`]*(?P<key>[A-Za-z][A-Za-z _-]{0,30}?)[*_`]*\s*[:=][*_`]*\s*(?P<value>.*)")
_GROUP = re.compile(r"[(\[]([^()\[\]]{1,400})[)\]]")
_AFTER = re.compile(r"(?:depends?\s+on|depending\s+on|after|needs?|requires?)\s+(.+)", re.IGNORECASE)
_ARGS = re.compile(r"\b(?:args|arguments|parameters|params|input)\s*[:=]\s*(?=\{)", re.IGNORECASE)
_QUOTED = re.compile(r"`([A-Za-z][\w.-]*)(?:\(\))?`")
_PLAN_WORD = re.compile(r"\b(?:plan|steps?|to-?do|tasks?|procedure|workflow)\b", re.IGNORECASE)
_REFUSAL = re.compile(
    r"\b(?:sorry|apologi[sz]e|cannot|can't|can not|unable|before i (?:can )?plan|i need|need more|could you|which of|"
    r"options?|please (?:tell|provide|clarify|specify|share|confirm|give))\b",
    re.IGNORECASE,
)
LONGEST_LINE = 4_000
MOST_IN_A_LINE = 100


@dataclass(slots=True)
class Item:
    """One entry of a list, while it is read."""

    number: int | None
    indent: int
    lines: list[str]
    details: dict[str, str] = field(default_factory=dict)
    open: bool = True
    """Whether a line below may still belong to its words."""

    @property
    def words(self) -> str:
        """What the item says, as one line."""
        return " ".join(self.lines).strip()


@dataclass(frozen=True, slots=True)
class Listed:
    """What a text with a list says."""

    steps: list[JsonObject]
    goal: str | None
    rationale: str | None


def listed_plan(text: str, tools: Mapping[str, KnownTool]) -> Listed | None:
    """The plan that a list in words stands for, or None if there is no list or it is no plan.

    A list is a plan if it is numbered from 0 or 1, or has bullets and the text speaks of a plan or an item names a
    tool; never if its items are questions, or if the text around it asks or refuses and no item names a tool.
    """
    lines = [line.rstrip() for line in _own_lines(text).splitlines()]
    numbered = any(_ITEM.match(line) for line in lines)
    items, around = _items(lines, numbered=numbered)
    run = _last_run(items) if numbered else items
    steps = [step_of_words(item.words, tools, item.number, item.details) for item in run]
    if not _is_plan(run, steps, "\n".join(around), numbered=numbered):
        return None
    return Listed(steps, _headline(around, GOAL), _headline(around, RATIONALE))


def step_of_words(
    words: str, tools: Mapping[str, KnownTool], number: int | None = None, details: Mapping[str, str] | None = None
) -> JsonObject:
    """A step in our names from one item's words; only what the words really say is in it."""
    step: JsonObject = {} if number is None else {"id": str(number)}
    left, step_args = _without_args(words.strip())
    step.update(step_args)
    for found in _GROUP.findall(left):
        said = _said_in_group(found, tools)
        if said:
            step.update(said)
            left = left.replace(f"({found})", "").replace(f"[{found}]", "")
    step.update({key: value for key, value in (details or {}).items() if key != "description"})
    step.update({key: value for key, value in _tool_in_words(left, tools).items() if key not in step})
    words_left = " ".join(_plain_words(step.pop("words", left)).split())
    more = (details or {}).get("description")
    step["description"] = ". ".join(part.rstrip(".") for part in (words_left, more) if part) if more else words_left
    return step


def _own_lines(text: str) -> str:
    """The text with `1. … 2. … 3. …` in one line taken apart."""
    if sum(bool(_ITEM.match(line)) for line in text.splitlines()) > 1:
        return text
    parts, rest, number = [], text, 1
    while number <= MOST_IN_A_LINE and (found := re.search(rf"(?:^|(?<=\s)){number}[.)]\s", rest)):
        parts.append(rest[: found.start()])
        rest, number = rest[found.start() :], number + 1
    return "\n".join([*parts, rest]) if number > 2 else text


def _items(lines: Sequence[str], *, numbered: bool) -> tuple[list[Item], list[str]]:
    items: list[Item] = []
    around: list[str] = []
    for line in lines:
        started = _started(line, items, numbered=numbered)
        if started is not None:
            items.append(started)
        elif not items or not _belongs(line, items[-1]):
            around.append(line)
    return items, around


def _started(line: str, items: Sequence[Item], *, numbered: bool) -> Item | None:
    """The item that a line begins; deeper ones than the first are details."""
    found = (_ITEM if numbered else _BULLET).match(line)
    if found is None:
        return None
    indent = len(found["indent"].expandtabs(4))
    if items and indent > items[0].indent + 1:
        return None
    number = None if not numbered else int(found["named"] or found["number"])
    return Item(number, indent, [found["words"]])


def _belongs(line: str, item: Item) -> bool:
    """Take a line below an item as its detail or as more words of it, if it is that."""
    if not line.strip():
        item.open = False
        return True
    detail = _DETAIL.fullmatch(line)
    part = part_of(detail["key"]) if detail else None
    if detail and part is not None and bare(detail["key"]) not in ("goal", "summary"):
        item.details[part] = _plain_words(detail["value"]) if part != "args" else detail["value"].strip(" `")
        return True
    indented = line[:1] in (" ", "\t") and len(line) - len(line.lstrip()) > item.indent
    if not indented and not (item.open and (item.lines == [""] or not _BULLET.match(line))):
        return False
    item.lines.append(_LEADING_BULLET.sub("", line.strip()))
    return True


def _last_run(items: Sequence[Item]) -> list[Item]:
    """The last list, when a text has several that each begin with 0 or 1."""
    starts = [place for place, item in enumerate(items) if item.number in (0, 1)]
    if not starts or len(starts) == len(items):
        return list(items)
    return list(items[starts[-1] :])


def _is_plan(items: Sequence[Item], steps: Sequence[JsonObject], around: str, *, numbered: bool) -> bool:
    names_tool = any("tool" in step for step in steps)
    if not items or (len(items) == 1 and not names_tool) or not any(step["description"] for step in steps):
        return False
    if any(item.words.rstrip(' *_"').endswith("?") for item in items):
        return False
    if names_tool:
        return True
    if "?" in around or _REFUSAL.search(around):
        return False
    return items[0].number in (0, 1) if numbered else bool(_PLAN_WORD.search(around))


def _headline(lines: Sequence[str], names: Sequence[str]) -> str | None:
    for line in lines:
        found = _DETAIL.fullmatch(line.lstrip("# "))
        if found and bare(found["key"]) in names and found["value"].strip():
            return _plain_words(found["value"]).strip()
    return None


def _without_args(words: str) -> tuple[str, JsonObject]:
    """`… args: {"sku": "B-7"} …` taken out of the words."""
    found = _ARGS.search(words)
    if found is None:
        return words, {}
    try:
        region = region_at(words, found.end())
        value = loose(words[region.start : region.end], Notes())
    except NotJsonError:
        return words, {}
    left = words[: found.start()].rstrip(" ,;") + words[region.end :]
    return re.sub(r"[(\[]\s*[)\]]", "", left), {"args": value}


def _said_in_group(group: str, tools: Mapping[str, KnownTool]) -> JsonObject:
    """What brackets in an item say: `tool: y; depends on 1`; empty if they are only words."""
    said: JsonObject = {}
    for piece in re.split(r"[;|]|,\s*(?=[A-Za-z][A-Za-z _-]*(?:[:=]| on |\s+\d))", group):
        detail = _DETAIL.fullmatch(piece)
        part = part_of(detail["key"]) if detail else None
        after = _AFTER.fullmatch(piece.strip())
        if detail and part in ("tool", "dependencies", "acceptance_criteria", "id"):
            said[str(part)] = _plain_words(detail["value"])
        elif after and re.search(r"\d", after[1]):
            said["dependencies"] = after[1]
        elif name := known_name(re.sub(r"^(?:using|use|via|with)\s+", "", piece.strip()), tools):
            said["tool"] = name
    return said


def _tool_in_words(words: str, tools: Mapping[str, KnownTool]) -> JsonObject:
    """A tool that the words name beyond doubt: a call, `lookup: …`, `… -> lookup`, or one name in backticks."""
    if len(words) > LONGEST_LINE:
        return {}
    called = read_call(words, tools)
    if called is not None:
        return {"tool": called[0], "args": called[1], "words": f"Call {called[0]}"}
    head = re.match(r"[*_`]*([A-Za-z][\w.-]*)[*_`]*\s*(?::|->|→|–|—| - )[*_`]*\s*(.+)", words, re.DOTALL)
    if head and head[1] in tools:
        return {"tool": head[1], "words": head[2]}
    tail = re.fullmatch(r"(.+?)\s*(?:->|→|=>)\s*[*_`]*([A-Za-z][\w.-]*)[*_`]*\.?", words, re.DOTALL)
    if tail and tail[2] in tools:
        return {"tool": tail[2], "words": tail[1]}
    quoted = {name for name in _QUOTED.findall(words) if name in tools}
    return {"tool": quoted.pop()} if len(quoted) == 1 else {}


def _plain_words(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"\1", re.sub(r"\*\*|__(?=\s|$)|(?<!\S)__", "", text)).strip()
