"""The plan for when the model makes none: generic, harmless, fitting the task's kind and the tools at hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeAlias

from agent.planning.validation import ToolLike
from agent.records import Effect, JsonObject

MOST_LOOKS = 2
GOAL_CHARACTERS = 400

_WORD = re.compile(r"[^\W\d_]{4,}")
_COMMON = frozenset(("with", "this", "that", "from", "which", "what", "each", "than", "there", "have", "show", "give"))
_WRITTEN = re.compile(r"\b(?:write|draft|compose|prepare|report|memo|note|letter|e-?mail|document)\b", re.IGNORECASE)
_KINDS: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = (
    (
        re.compile(
            r"\b(?:how many|how much|number of|sum|total|average|count|top|most|highest|lowest|spen[dt]|spending|"
            r"overspent|budgets?|costs?|amounts?|revenue|sales|orders?|stock|invoices?|months?|quarter|year)\b",
            re.IGNORECASE,
        ),
        frozenset(("data", "database", "table", "row", "ledger", "stock")),
    ),
    (
        re.compile(
            r"\b(?:polic(?:y|ies)|rules?|allow(?:s|ed)?|may (?:i|we|one)|procedures?|guidelines?|documents?)\b",
            re.IGNORECASE,
        ),
        frozenset(("policy", "document", "search", "searche", "paragraph", "file")),
    ),
)
"""Kinds of tasks (figures, rules) and the words by which a tool says that it serves them."""


class DescribedTool(ToolLike, Protocol):
    """A tool of the registry with its one-sentence summary."""

    @property
    def summary(self) -> str: ...  # noqa: D102  # the protocol's docstring says it


FallbackTools: TypeAlias = Mapping[str, tuple[Effect, JsonObject]] | Iterable[DescribedTool]


def fallback_plan(task: str, tools: FallbackTools) -> JsonObject:
    """A draft for `parse_plan` with source `fallback`: look at what there is, then answer in words.

    It looks with at most two reading tools whose names and summaries share words with the task (else with the first
    one), leaves their arguments open, writes with a drafting tool only if the task asks for something written, and
    never uses a graver tool.
    """
    described = _described(tools)
    looks = [_look(name) for name in _fitting(task, described, Effect.READ)]
    drafts = _fitting(task, described, Effect.DRAFT)[:1] if _WRITTEN.search(task) else []
    return {
        "goal": " ".join(task.split())[:GOAL_CHARACTERS] or "Answer the task",
        "rationale": "The model gave no usable plan, so this generic one looks at what there is and answers from it.",
        "steps": _numbered(looks, [*map(_write, drafts), _answer(found=bool(looks))]),
    }


def _described(tools: FallbackTools) -> dict[str, tuple[Effect, str]]:
    """Name to effect and the words that say what the tool is for."""
    if isinstance(tools, Mapping):
        return {
            name: (effect, " ".join((name, *schema.get("properties", {})))) for name, (effect, schema) in tools.items()
        }
    return {tool.name: (tool.effect, f"{tool.name} {tool.summary}") for tool in tools}


def _fitting(task: str, tools: Mapping[str, tuple[Effect, str]], effect: Effect) -> list[str]:
    """Names of the tools of that effect, those that share most words with the task first."""
    wanted = _words(task).union(*(words for kind, words in _KINDS if kind.search(task)))
    shared = {name: len(wanted & _words(words)) for name, (its, words) in tools.items() if its is effect}
    ranked = sorted(shared, key=lambda name: -shared[name])
    return [name for name in ranked if shared[name]][:MOST_LOOKS] or ranked[:1]


def _words(text: str) -> set[str]:
    """The telling words of a text without plural endings."""
    found = {word.casefold().removesuffix("s") for word in _WORD.findall(text.replace("_", " "))}
    return found - _COMMON


def _look(tool: str) -> JsonObject:
    return _step(
        f"Look with {tool} at what there is for the task", tool, f"{tool} shows something that the task is about"
    )


def _write(tool: str) -> JsonObject:
    return _step(f"Write with {tool} what was found", tool, "What was written states only what earlier steps found")


def _answer(*, found: bool) -> JsonObject:
    if found:
        return _step("Answer the task in words from what was found", None, "Every figure comes from an earlier step")
    return _step("Say in words what can be said without tools, and what cannot", None, "It is said what is not known")


def _step(description: str, tool: str | None, criterion: str) -> JsonObject:
    return {"description": description, "tool": tool, "args": {}, "acceptance_criteria": criterion}


def _numbered(looks: list[JsonObject], others: list[JsonObject]) -> list[JsonObject]:
    """Looks need nothing and may run side by side; everything else needs all looks."""
    ids = [f"s{place}" for place in range(1, len(looks) + len(others) + 1)]
    steps = [
        *({**step, "dependencies": []} for step in looks),
        *({**step, "dependencies": ids[: len(looks)]} for step in others),
    ]
    return [{"id": step_id, **step} for step_id, step in zip(ids, steps, strict=True)]
