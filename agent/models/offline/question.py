"""A task that is understood, in the terms of the tables."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agent.models.offline.naming import in_front_of_unit, plural
from agent.models.offline.periods import Period
from agent.models.offline.tables import Column, Table
from agent.models.offline.words import AMOUNTS, GENERIC, UNITS, name_words, root, singular


class Kind(StrEnum):
    """The kinds of question that are known."""

    RANKING = "ranking"
    TOTAL = "total"
    COMPARISON = "comparison"
    TREND = "trend"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class Dimension:
    """What rows are put together or chosen by: a column of the measured table, or of one that it refers to."""

    table: Table
    column: Column
    via: Column | None = None
    """The column of the measured table that refers to `table`; None for its own columns."""

    @property
    def names_its_table(self) -> bool:
        """Whether it stands for the things of the table that is referred to, by their names."""
        return self.via is not None and self.column == self.table.label

    @property
    def noun(self) -> str:
        """What one of them is called."""
        if self.names_its_table:
            return self.table.noun
        words = [*self.column.words]
        if len(words) > 1 and words[-1] in ("name", "id", "code"):
            words = words[:-1]
        return " ".join([*words[:-1], singular(words[-1])])

    @property
    def roots(self) -> frozenset[str]:
        """The roots by which a task names it."""
        if self.names_its_table:
            via = frozenset(self.via.roots - {"id", "cod", "key"}) if self.via else frozenset()
            return frozenset({root(self.table.words[-1])}) | via
        own = frozenset(root(word) for word in self.noun.split())
        return own - self.table.roots or own


@dataclass(frozen=True, slots=True)
class Filter:
    """Only rows whose column has one of these values."""

    dimension: Dimension
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Measure:
    """What is worked out: an aggregate of a column, or how many rows there are."""

    table: Table
    column: Column | None
    """None: rows are counted."""
    how: str
    """SUM, AVG, MAX, MIN or COUNT."""

    @property
    def noun(self) -> str:
        """What is measured, in snake case with its unit: `cost_usd` for `monthly_costs.amount_usd`."""
        if self.column is None:
            return "_".join(("number_of", *self.table.words[:-1], plural(self.table.noun)))
        words = list(name_words(self.column.name))
        if root(words[0]) in GENERIC and all(root(word) in GENERIC or word in UNITS for word in words):
            says_amount = root(self.table.noun) in AMOUNTS
            words = [self.table.noun, *(word for word in words if word in UNITS or not says_amount)]
        return "_".join(words)

    @property
    def name(self) -> str:
        """The name of the figure's column in a result."""
        prefix = {"SUM": "total_", "AVG": "average_", "MAX": "highest_", "MIN": "lowest_"}.get(self.how, "")
        name = self.noun if prefix.rstrip("_") in self.noun.split("_") else prefix + self.noun
        return in_front_of_unit(name, f"per_{self.table.noun}") if self._is_per_row else name

    @property
    def _is_per_row(self) -> bool:
        """Whether an average can be said to be of single things of the table: 'per booking'."""
        is_amount = root(self.table.words[-1]) in AMOUNTS or self.table.repeats_its_noun
        return self.how == "AVG" and self.column is not None and self.column.adds_up and not is_amount


@dataclass(frozen=True, slots=True)
class Bound:
    """What figures are held against: a number, or a column of limits."""

    operator: str
    """`>` for 'exceeds', `<=` for 'within' and so on."""
    number: str | None = None
    table: Table | None = None
    column: Column | None = None
    key: Column | None = None
    """The column by which the table of limits names the group; None if the limits stand in the measured rows."""
    month: Column | None = None
    """The column by which it names the month; None if a limit does not depend on the month."""
    monthly: bool = False
    """Whether a limit holds for the figure of one month."""

    @property
    def noun(self) -> str:
        """What the limit is called: `budget` for a table of budgets."""
        if self.table is None or self.column is None:
            return "threshold"
        return Measure(self.table, self.column, "COUNT").noun


@dataclass(frozen=True, slots=True)
class Question:
    """A task that is understood."""

    kind: Kind
    measure: Measure
    group: Dimension | None = None
    by_month: bool = False
    """Whether rows are put together by month."""
    by_row: bool = False
    """Whether single rows are meant."""
    month: Column | None = None
    """The column that says when; None if no period and no month is asked for."""
    count: int | None = None
    """How many of a ranking; None for all."""
    highest: bool = True
    period: Period | None = None
    filters: tuple[Filter, ...] = ()
    bound: Bound | None = None
    difference: bool = False
    share: bool = False

    @property
    def by_year(self) -> bool:
        """Whether rows are put together by year: several years are set against each other."""
        return bool(self.by_month and self.period and self.period.listed and len(self.period.listed[0]) == 4)

    @property
    def covered_month(self) -> Column | None:
        """The column whose first and last month say of when the figures are; None where that says nothing.

        How many things there are is of no month, unless the task says when.
        """
        months = self.measure.table.months
        is_count = self.measure.column is None
        return self.month or (months[0] if len(months) == 1 and not is_count else None)

    @property
    def noun(self) -> str:
        """What one row of the result is called."""
        if self.by_month:
            return "year" if self.by_year else "month"
        if self.group:
            return self.group.noun
        return self.measure.table.noun


def dimensions_of(table: Table, tables: list[Table]) -> list[Dimension]:
    """Everything that a table's rows can be put together by, at most one reference away."""
    by_name = {item.name: item for item in tables}
    found = [Dimension(table, column) for column in table.columns if column.groupable]
    seen = {item.column.name for item in found}
    for column in table.columns:
        other = by_name.get(column.target.split(".")[0]) if column.target else None
        if other is None or other.name == table.name:
            continue
        found += [
            Dimension(other, item, via=column)
            for item in other.columns
            if item.groupable and not (column.name in seen and f"{other.name}.{item.name}" == column.target)
        ]
    return found
