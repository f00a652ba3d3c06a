"""Plans written as a Markdown table with a row for each step."""

from __future__ import annotations

import re

from agent.planning.key_names import bare, part_of
from agent.records import JsonObject

_ROW = re.compile(r"\s*\|(.+)\|\s*$")
_RULE = re.compile(r"\s*\|?[\s:|-]*-{3,}[\s:|-]*$")


def table_steps(text: str) -> list[JsonObject] | None:
    """The rows under the last heading row that has a column for what to do and another part of a step; else None."""
    lines = text.splitlines()
    for place in range(len(lines) - 2, 0, -1):
        if not _RULE.match(lines[place]):
            continue
        heads = _cells(lines[place - 1])
        parts = {part_of(head) for head in heads}
        if "description" in parts and len(parts - {None}) >= 2:
            return _rows(lines[place + 1 :], heads)
    return None


def _rows(lines: list[str], heads: list[str]) -> list[JsonObject]:
    rows: list[JsonObject] = []
    for line in lines:
        cells = _cells(line)
        if not cells:
            break
        rows.append({head: cell for head, cell in zip(heads, cells, strict=False) if cell and bare(head)})
    return rows


def _cells(line: str) -> list[str]:
    found = _ROW.match(line)
    if found is None:
        return []
    cells = re.split(r"(?<!\\)\|", found[1])
    return [cell.strip().strip("`*").replace("\\|", "|").strip() for cell in cells]
