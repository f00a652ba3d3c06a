"""The tables that a SQL tool's description shows, and how their columns may be used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from agent.models.offline.words import GENERIC, NOT_ADDED_UP, STOCKS, UNITS, name_words, root, singular

TABLE = re.compile(r"^(?:Table|View) (\"(?:[^\"]|\"\")*\"|\S+) \(([\d,]+) rows?\)$")
COLUMN = re.compile(
    r"^  (?P<name>\"(?:[^\"]|\"\")*\"|\S+) (?P<type>.*?)(?P<primary> primary key)?(?: → (?P<target>\S+))?"
    r"(?: (?P<how>one of|e\.g\.) (?P<values>.*)| no values)?$"
)
VALUE = re.compile(r"'((?:[^']|'')*)'|([^,\s][^,]*)")
NUMERIC = re.compile(r"INT|REAL|NUM|DEC|FLOA|DOUB|MONEY", re.IGNORECASE)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
ENGLISH_MONTH = re.compile(
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)[ -]\d{4}",
    re.IGNORECASE,
)
_MONTH = r"(?:0[1-9]|1[0-2])"
MONTH_FORMS = (
    (re.compile(rf"\d{{4}}-{_MONTH}([- T].*)?"), "substr({0}, 1, 7)", False),
    (re.compile(rf"\d{{4}}/{_MONTH}(/.*)?"), "replace(substr({0}, 1, 7), '/', '-')", False),
    (re.compile(rf"{_MONTH}/\d{{4}}"), "substr({0}, 4, 4) || '-' || substr({0}, 1, 2)", False),
    (re.compile(rf"(19|20)\d\d{_MONTH}"), "substr({0}, 1, 4) || '-' || substr({0}, 5, 2)", True),
    (ENGLISH_MONTH,
     f"substr({{0}}, -4) || '-' || "
     f"substr('0' || ((instr('{''.join(MONTHS)}', lower(substr({{0}}, 1, 3))) + 2) / 3), -2)", False),
)  # fmt: skip
"""How months are written, the SQL that makes them 'YYYY-MM', and whether they need a column that is named for time."""
IDENTIFIERS = {"id", "year", "month", "day", "week", "code", "no", "nr", "zip", "phone", "key", "version", "rank"}
TIME_WORDS = {"month", "date", "period", "day", "on", "at", "time", "when", "timestamp"}


@dataclass(frozen=True)
class Column:
    """A column as it is described."""

    name: str
    """As SQL needs it, quotes included."""
    type: str
    primary: bool
    target: str | None
    """`table.column` that it refers to."""
    values: tuple[str, ...]
    complete: bool
    """Whether `values` are all that there are."""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the name, without units where there are others."""
        words = name_words(self.name)
        return tuple(word for word in words if word not in UNITS) or words

    @cached_property
    def roots(self) -> frozenset[str]:
        """The roots of these words."""
        return frozenset(root(word) for word in self.words)

    @cached_property
    def specific(self) -> frozenset[str]:
        """The roots that say what the column holds."""
        return self.roots - GENERIC

    @property
    def unit(self) -> str | None:
        """The unit that the name gives."""
        words = name_words(self.name)
        return next((word for word in words[1:] if word in UNITS), None)

    @cached_property
    def month_key(self) -> str | None:
        """SQL that turns the column into 'YYYY-MM', where `{0}` stands for the column; None if it holds no months."""
        when = bool(TIME_WORDS & set(name_words(self.name)))
        forms = [key for form, key, bare in MONTH_FORMS if (when or not bare) and _all_match(form, self.values)]
        return next(iter(forms), None)

    @cached_property
    def numeric(self) -> bool:
        """Whether it holds numbers, by its type or, where that says nothing, by its values."""
        if self.month_key:
            return False
        return all(re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", value) for value in self.values) and (
            bool(NUMERIC.search(self.type)) or self.type in ("ANY", "")
        )

    @cached_property
    def measurable(self) -> bool:
        """Whether it holds amounts that can be averaged or compared."""
        return self.numeric and not (self.primary or self.target or IDENTIFIERS & set(name_words(self.name)))

    @cached_property
    def adds_up(self) -> bool:
        """Whether a sum of it means something."""
        return not self.roots & NOT_ADDED_UP and not {"pct", "percent"} & set(name_words(self.name))

    @property
    def is_stock(self) -> bool:
        """Whether it says how much there is at a time, so that a sum over months means nothing."""
        return bool(self.roots & STOCKS)

    @cached_property
    def groupable(self) -> bool:
        """Whether rows can be put together by it."""
        if self.month_key or self.numeric or _like_dates(self) or NUMERIC.search(self.type):
            return False
        return bool(self.values) or self.primary  # the values of a primary key are not shown


def _all_match(form: re.Pattern[str], values: tuple[str, ...]) -> bool:
    return bool(values) and all(form.fullmatch(value) for value in values)


def _like_dates(column: Column) -> bool:
    return column.type.upper() in ("DATE", "DATETIME", "TIMESTAMP", "TIME", "BLOB") or (
        bool(column.values) and all(re.match(r"\d{1,4}[-/.:]\d{1,2}", value) for value in column.values)
    )


@dataclass(frozen=True)
class Table:
    """A table as it is described."""

    name: str
    rows: int
    columns: tuple[Column, ...]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the name."""
        return name_words(self.name)

    @cached_property
    def roots(self) -> frozenset[str]:
        """The roots of these words."""
        return frozenset(root(word) for word in self.words)

    @property
    def noun(self) -> str:
        """What one row is called: the last word of the name, in the singular."""
        return singular(self.words[-1])

    @property
    def months(self) -> tuple[Column, ...]:
        """The columns that say when."""
        return tuple(column for column in self.columns if column.month_key)

    @property
    def has_time(self) -> bool:
        """Whether rows belong to different times, in whatever way the table says so."""
        return any(
            column.month_key or _like_dates(column) or {"year", "quarter", *TIME_WORDS} & set(name_words(column.name))
            for column in self.columns
        )

    @property
    def repeats_its_noun(self) -> bool:
        """Whether a row is no single thing of the table's name: a log called `machines` with a column `machine`."""
        noun = root(self.words[-1])
        return any(
            column.groupable and not column.primary and column.roots - {"nam"} == {noun} and column.complete
            and len(column.values) < self.rows
            for column in self.columns
        )  # fmt: skip

    @property
    def measures(self) -> tuple[Column, ...]:
        """The columns that hold amounts."""
        return tuple(column for column in self.columns if column.measurable)

    @property
    def key(self) -> Column | None:
        """The single column that identifies a row; None if there is none, or several together."""
        primary = [column for column in self.columns if column.primary]
        return primary[0] if len(primary) == 1 else None

    @property
    def label(self) -> Column | None:
        """The column that names a row to a person."""
        texts = [column for column in self.columns if column.groupable]
        named = [column for column in texts if {"name", "title", "label"} & set(column.words)]
        own = [column for column in texts if column.roots & {root(self.words[-1])}]
        keys = [column for column in texts if column.primary]
        return next(iter(named or own or keys), None)


def read_tables(description: str) -> list[Table]:
    """The tables in a tool's description; lines that are none are passed over."""
    tables: list[Table] = []
    for line in description.splitlines():
        if head := TABLE.match(line):
            tables.append(Table(head[1], int(head[2].replace(",", "")), ()))
        elif tables and (found := COLUMN.match(line)):
            last = tables[-1]
            tables[-1] = Table(last.name, last.rows, (*last.columns, _column(found)))
    return [_with_references(table, tables) for table in tables]


@dataclass(frozen=True, slots=True)
class Names:
    """What stands in a task because tables, columns or values are called so."""

    words: frozenset[str]
    """The words of tables and columns, in the singular."""
    values: tuple[str, ...]
    """Values of several words, 'Hill Top' among them."""


NO_NAMES = Names(frozenset(), ())


def names_in(tables: list[Table]) -> Names:
    """Everything that these tables name."""
    columns = [column for table in tables for column in table.columns]
    words = [word for table in tables for word in table.words]
    words += [word for column in columns for word in name_words(column.name)]
    values = {value for column in columns if column.groupable for value in column.values if " " in value}
    return Names(frozenset(singular(word) for word in words), tuple(sorted(values, key=lambda item: -len(item))))


def _column(found: re.Match[str]) -> Column:
    values = tuple(
        quoted.replace("''", "'") if quoted or not bare else bare.strip()
        for quoted, bare in VALUE.findall(found["values"] or "")
    )
    return Column(
        name=found["name"],
        type=found["type"],
        primary=bool(found["primary"]),
        target=found["target"],
        values=values,
        complete=found["how"] == "one of",
    )


def _with_references(table: Table, tables: list[Table]) -> Table:
    """References that the database does not declare but names: `project_id` beside a table `projects` with an `id`."""
    columns = tuple(
        Column(c.name, c.type, c.primary, c.target or _named_target(c, table, tables), c.values, c.complete)
        for c in table.columns
    )
    return Table(table.name, table.rows, columns)


def _named_target(column: Column, table: Table, tables: list[Table]) -> str | None:
    words = name_words(column.name)
    if len(words) < 2 or words[-1] not in ("id", "code", "key"):
        return None
    for other in tables:
        if other.name != table.name and root(other.words[-1]) == root(words[-2]) and other.key:
            key_words = name_words(other.key.name)
            if key_words in (words, words[-1:]):
                return f"{other.name}.{other.key.name}"
    return None
