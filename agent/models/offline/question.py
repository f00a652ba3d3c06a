"""What a task asks, once it is understood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from agent.models.offline.periods import Period
from agent.models.offline.tables import Column, Table


class Kind(StrEnum):
    """The kinds of question that are known."""

    TOP = "top"
    TOTAL = "total"
    COMPARISON = "comparison"
    TREND = "trend"
    OVER_LIMIT = "over_limit"
    DOCUMENTS = "documents"


class NotUnderstoodError(Exception):
    """The task is none that the offline model can take; the message says why, for the person."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """What rows are put together by: a column of the measured table, or of a table that it refers to."""

    table: Table
    column: Column
    via: Column | None = None
    """The column of the measured table that refers to `table`; None for its own columns."""

    @property
    def is_label(self) -> bool:
        """Whether it stands for the rows of its table themselves."""
        return self.column == self.table.label and (self.via is not None or self.table.label_named)

    @property
    def noun(self) -> str:
        """What one of them is called."""
        return " ".join(self.table.words if self.is_label else self.column.words)


@dataclass(frozen=True, slots=True)
class Filter:
    """Only rows whose column has one of these values."""

    dimension: Dimension
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit given as a number."""

    operator: str
    number: str
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A task that is understood."""

    kind: Kind
    table: Table | None = None
    measure: Column | None = None
    """None: rows are counted."""
    aggregate: str = "SUM"
    dimension: Dimension | None = None
    count: int = 1
    descending: bool = True
    period: Period | None = None
    month: Column | None = None
    """The column that says when a row was; None if nothing does, or it is not clear which."""
    filters: tuple[Filter, ...] = ()
    threshold: Threshold | None = None
    limit: tuple[Table, Column] | None = None
    """The table and column that hold each group's limit."""
    report: bool = False
    documents: bool = False
    search: str = ""
    """The words to look for in the documents."""


def dimensions_of(table: Table, tables: Sequence[Table]) -> list[Dimension]:
    """Everything that a table's rows can be grouped by."""
    by_name = {item.name: item for item in tables}
    found = [Dimension(table, column) for column in table.columns if column.groupable]
    for column in table.columns:
        target = by_name.get(column.target.split(".")[0]) if column.target else None
        if target is None:
            continue
        label = target.label
        others = [item for item in target.columns if item.groupable and item != label]
        found += [Dimension(target, item, via=column) for item in ([label] if label else []) + others]
    return found
