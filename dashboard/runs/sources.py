"""What an observation showed, for the list of sources below an answer. Pure; texts are plain."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from agent.records import Source
from dashboard.look.formats import cut

WORDS = 200
ROWS = 4
NARROW = 3
"""How many columns fit beside an answer."""
KEPT = 400
"""What is kept of an observation at most; a text of this length may end in the middle of a row."""
_ROWS_FOLLOW = re.compile(r"(?:The first )?[\d,]+ rows?\b.*:")


@dataclass(frozen=True, slots=True)
class Told:
    """An observation as words and perhaps a table, or as a sentence a row where it is too wide for one."""

    words: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    sentences: tuple[str, ...] = ()
    more: bool = False
    """Whether rows were left out."""


def numbers(shown: Told) -> dict[str, tuple[float, ...]]:
    """The columns that hold nothing but numbers."""
    columns = zip(*shown.rows, strict=True)
    found = {name: [_number(cell) for cell in cells] for name, cells in zip(shown.columns, columns, strict=False)}
    return {name: tuple(n for n in cells if n is not None) for name, cells in found.items() if None not in cells}


def wording(shown: Told) -> dict[str, Callable[[float], str]]:
    """How each column of numbers is worded: with its thousands apart where any of them has decimals."""
    decimal = {name for place, name in enumerate(shown.columns) if any("." in row[place] for row in shown.rows)}
    return {name: grouped if name in decimal else "{:.15g}".format for name in numbers(shown)}


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    # What a float would change, an id of many digits for example, stays as it is written.
    return value if math.isfinite(value) and len(cell.strip("-")) <= 15 and "_" not in cell else None


def told(source: Source) -> Told:
    """What a source says; rows of a query are read back from its text."""
    head, _, rest = source.text.partition("\n")
    lines = [tuple(cell.strip() for cell in line.split(" | ")) for line in rest.splitlines()]
    if not _ROWS_FOLLOW.fullmatch(head.strip()) or len(lines) < 2:
        return Told(cut(source.text, WORDS))
    columns, *rows = lines
    if len(source.text) >= KEPT:
        rows.pop()
    if not rows or any(len(row) != len(columns) for row in rows):
        return Told(cut(source.text, WORDS))
    return _table(head.strip().removesuffix(":"), tuple(map(_name, columns)), rows, len(lines) - 1)


def _table(words: str, columns: tuple[str, ...], rows: list[tuple[str, ...]], count: int) -> Told:
    shown = tuple(rows[:ROWS])
    more = count > len(shown)
    if len(rows) == 1:
        return Told(words, sentences=(_pairs(columns, rows[0]),), more=more)
    if len(columns) > NARROW:
        sentences = tuple(f"{row[0]}: {_pairs(columns[1:], row[1:])}" for row in shown)
        return Told(words, sentences=sentences, more=more)
    return Told(words, columns, shown, more=more)


def _pairs(columns: tuple[str, ...], row: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {figure(value)}" for name, value in zip(columns, row, strict=True))


def figure(cell: str) -> str:
    """A decimal number with its thousands apart; a whole one stays as it is, since it may be a year or an id."""
    value = _number(cell) if "." in cell else None
    return cell if value is None else grouped(value)


def grouped(value: float) -> str:
    """A figure with its thousands apart and all its digits."""
    return f"{value:,.15g}"


def _name(column: str) -> str:
    return column.replace("_", " ")
