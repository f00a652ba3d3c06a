"""Steps before they have their numbers, and the tools that they may use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agent.models.offline.request import ChatRequest, OfferedTool

ESSENTIAL, USEFUL, EXTRA = 0, 1, 2
"""How much a plan loses with a step; what is lost least is left out first when there are too many."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A step before it has its number; `after` are the names of the drafts that it needs."""

    name: str
    description: str
    tool: str | None
    args: dict[str, Any]
    criterion: str
    after: tuple[str, ...] = ()
    weight: int = ESSENTIAL


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools at hand, known by what they take, not by what they are called."""

    sql: OfferedTool | None
    search: OfferedTool | None
    calculator: OfferedTool | None
    report: OfferedTool | None

    @classmethod
    def of(cls, request: ChatRequest) -> Tools:
        """The tools that a planning prompt lists."""
        tools = request.tools.values()
        report = _taking(tools, "filename", "body")
        return cls(_taking(tools, "sql"), _taking(tools, "query", "limit"), _taking(tools, "expression"), report)


def _taking(tools: Iterable[OfferedTool], *arguments: str) -> OfferedTool | None:
    return next((tool for tool in tools if tool.schema.get("properties", {}).keys() >= set(arguments)), None)


def cut(drafts: Sequence[Draft], most: int) -> list[Draft]:
    """At most so many steps: what is least needed goes first."""
    kept = list(drafts)
    for weight in (EXTRA, USEFUL, ESSENTIAL):
        for item in reversed(list(kept)):
            if len(kept) > most and item.weight == weight and item.name != "main":
                kept.remove(item)
    return kept[:most]


def numbered(drafts: Sequence[Draft]) -> list[dict[str, Any]]:
    """The steps as a plan has them, with ids in their order."""
    ids = {item.name: f"s{n}" for n, item in enumerate(drafts, start=1)}
    steps = []
    for item in drafts:
        before = [name for name in ids if name != item.name] if item.after == ("*",) else item.after
        steps.append(
            {
                "id": ids[item.name],
                "description": " ".join(item.description.format_map(ids).split())
                if "{" in item.description
                else item.description,
                "tool": item.tool,
                "args": item.args,
                "dependencies": [ids[name] for name in before if name in ids],
                "acceptance_criteria": item.criterion,
            }
        )
    return steps
