"""What the queries of a run showed, known by the names of their columns.

Nothing here reads the wording of a step: a person may have changed it, and the figures stay what they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent.models.offline.documents import split_task
from agent.models.offline.naming import is_number, noun_of
from agent.models.offline.signals import NotUnderstoodError, read_signals

VERDICTS = {"exceeded": "exceed", "reached": "reach", "below": "stay below", "within": "stay within"}
LOOK = {"first_month", "last_month", "latest_month", "row_count"}
SHARE = re.compile(r"round\(100 \* \(.+\) / .+, 2\)")
DIFFERENCE = re.compile(r"-?[\d.e+]+ - -?[\d.e+]+")


@dataclass(frozen=True, slots=True)
class Found:
    """The rows that one query showed."""

    n: int
    """The number by which it is cited."""
    step_id: str
    columns: list[str]
    rows: list[list[Any]]
    row_count: int

    def cell(self, name: str, row: int = 0) -> Any:
        """A cell; None if there is none."""
        return self.rows[row][self.columns.index(name)] if len(self.rows) > row and name in self.columns else None

    def column(self, prefix: str) -> str | None:
        """The first column whose name begins like this."""
        return next((name for name in self.columns if name.startswith(prefix)), None)

    @property
    def is_look(self) -> bool:
        """Whether it says what data there is: how many rows, of which months, about what."""
        others = [value for name, value in self.scope if not isinstance(value, str)]
        return self.columns[-1] == "row_count" and len(self.rows) == 1 and not others

    @property
    def scope(self) -> list[tuple[str, Any]]:
        """What a look is restricted to: `crop` and `wheat`."""
        if not self.rows:
            return []
        return [(name, value) for name, value in zip(self.columns, self.rows[0], strict=False) if name not in LOOK]

    @property
    def verdict(self) -> str | None:
        """The column that says yes or no about a limit."""
        return next((name for name in self.columns if name in VERDICTS), None)

    @property
    def distance(self) -> str | None:
        """The column that says by how much a limit is exceeded or kept."""
        return next((name for name in self.columns if name in ("over_by", "under_by")), None)

    @property
    def figure(self) -> int | None:
        """The last column of numbers; None if there is none."""
        numbers = [n for n, name in enumerate(self.columns) if name != "row_count" and self.is_numeric(n)]
        return numbers[-1] if numbers else None

    def is_numeric(self, column: int) -> bool:
        """Whether a column holds figures."""
        return any(is_number(row[column]) for row in self.rows)

    @property
    def thing(self) -> str:
        """What one row is about: `trip` for `trip_id`."""
        return noun_of(self.columns[0].removesuffix("_id"))

    def name(self, row: list[Any]) -> str:
        """What a row is called: its first cell, with the month if that is the second."""
        first = "no name" if row[0] is None else str(row[0])
        if self.columns[0].endswith("_id"):
            first = f"{self.thing} {first}"
        return f"{first} in {row[1]}" if self.columns[1:2] == ["month"] else first

    @property
    def cite(self) -> str:
        """How it is cited."""
        return f"[{self.n}]"


@dataclass(frozen=True, slots=True)
class Material:
    """What an answer is written from."""

    task: str
    found: list[Found]
    observations: list[dict[str, Any]]

    @classmethod
    def of(cls, task: str, observations: Sequence[dict[str, Any]]) -> Material:
        """Sort observations by what they hold."""
        return cls(task, [item for item in map(_found, observations) if item], list(observations))

    @property
    def look(self) -> Found | None:
        """The first observation, if it says what data there is."""
        return self.found[0] if len(self.found) > 1 and self.found[0].is_look else None

    @property
    def main(self) -> Found | None:
        """The observation that answers the question: the first that is more than a look at what data there is."""
        left = [item for item in self.found if item is not self.look]
        return left[0] if left else None

    @property
    def others(self) -> list[Found]:
        """The observations that are neither."""
        return [item for item in self.found if item is not self.look and item is not self.main]

    @property
    def order(self) -> str | None:
        """`highest` or `lowest` if the main rows are a ranking; None if they are none."""
        main, task = self.main, _direction(self.task)
        if main is None or main.figure is None or not main.rows or len(main.columns) < 2:
            return None
        beyond = [(item, name) for item in self.others if (name := item.column("next_"))]
        if not beyond:
            return task
        following, last = beyond[0][0].cell(beyond[0][1]), main.rows[-1][main.figure]
        if not is_number(following) or not is_number(last) or following == last:
            return task or "highest"
        return "highest" if following < last else "lowest"


def _direction(task: str) -> str | None:
    try:
        return read_signals(split_task(task, "")[0]).direction
    except NotUnderstoodError:
        return None


def calculation(entry: dict[str, Any]) -> str | None:
    """`share` or `difference`, as the expression of a calculator says; None for any other observation."""
    data = entry.get("data")
    expression = str(data.get("expression", "")) if isinstance(data, dict) else ""
    return "share" if SHARE.fullmatch(expression) else "difference" if DIFFERENCE.fullmatch(expression) else None


def _found(entry: dict[str, Any]) -> Found | None:
    data = entry.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("rows"), list) or not data.get("columns"):
        return None
    rows = [list(row) for row in data["rows"]]
    columns = [str(name) for name in data["columns"]]
    return Found(entry["n"], str(entry["step_id"]), columns, rows, data.get("row_count", len(rows)))
