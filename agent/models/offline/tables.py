"""The tables that a SQL tool's description shows, and how their columns may be used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

TABLE = re.compile(r"^(?:Table|View) (\"(?:[^\"]|\"\")*\"|\S+) \(([\d,]+) rows?\)$")
COLUMN = re.compile(
    r"^  (?P<name>\"(?:[^\"]|\"\")*\"|\S+) (?P<type>.*?)(?P<primary> primary key)?"
    r"(?: → (?P<target>(?:\"(?:[^\"]|\"\")*\"|[^\s.\"]+)(?:\.(?:\"(?:[^\"]|\"\")*\"|\S+))?))?"
    r"(?: (?P<how>one of|e\.g\.) (?P<values>.*)| no values)?$"
)
VALUE = re.compile(r"'((?:[^']|'')*)'|([^,\s][^,]*)")
NUMERIC = re.compile(r"INT|REAL|NUM|DEC|FLOA|DOUB|MONEY", re.IGNORECASE)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH_VALUE = re.compile(
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)[ -]\d{4}",
    re.IGNORECASE,
)
UNITS = {
    "usd",
    "eur",
    "gbp",
    "kg",
    "g",
    "km",
    "m",
    "h",
    "kwh",
    "mwh",
    "min",
    "hrs",
    "hr",
    "sec",
    "ms",
    "l",
    "pct",
    "percent",
    "amt",
}


UNIT_NAMES = {
    "usd": "USD", "eur": "EUR", "gbp": "GBP", "kg": "kg", "g": "g", "km": "km", "kwh": "kWh", "mwh": "MWh", "h": "h",
    "min": "min", "ms": "ms",
}  # fmt: skip
"""How units are written."""


def stem(word: str) -> str:
    """A word without its ending, the same for singular and plural."""
    word = word.lower()
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def words_of(name: str) -> tuple[str, ...]:
    """The stems of a column's or table's name."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.strip('"'))
    return tuple(stem(part) for part in re.split(r"[^A-Za-z0-9]+", spaced) if part)


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
        """The stems of the name, without units."""
        words = words_of(self.name)
        return tuple(word for word in words if word not in UNITS) or words

    @cached_property
    def unit(self) -> str | None:
        """The unit that the name ends with."""
        last = words_of(self.name)[-1:]
        return last[0] if last and last[0] in UNITS and last != self.words[-1:] else None

    @cached_property
    def said(self) -> str:
        """The name in words, without units."""
        parts = [part.lower() for part in re.split(r"[^A-Za-z0-9]+", self.name.strip('"')) if part]
        return " ".join(part for part in parts if stem(part) not in UNITS) or " ".join(parts)

    @cached_property
    def month_key(self) -> str | None:
        """SQL that turns the column into 'YYYY-MM', where `{0}` stands for the column; None if it holds no months."""
        if not self.values:
            return None
        if all(re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])([- T].*)?", value) for value in self.values):
            return "substr({0}, 1, 7)"
        if all(re.fullmatch(r"(0[1-9]|1[0-2])/\d{4}", value) for value in self.values):
            return "substr({0}, 4, 4) || '-' || substr({0}, 1, 2)"
        if all(_is_english_month(value) for value in self.values):
            cases = " ".join(f"WHEN '{name}' THEN '{n:02d}'" for n, name in enumerate(MONTHS, start=1))
            return f"substr({{0}}, -4) || '-' || CASE lower(substr({{0}}, 1, 3)) {cases} END"
        return None

    @cached_property
    def measurable(self) -> bool:
        """Whether it holds amounts that can be added up, averaged or compared."""
        if self.primary or self.target or self.month_key or not NUMERIC.search(self.type):
            return False
        return not {"id", "year", "month", "code", "number", "no", "zip", "phone"} & {self.words[-1]}

    @cached_property
    def groupable(self) -> bool:
        """Whether rows can be put together by it."""
        return not (self.primary or self.target or self.month_key or NUMERIC.search(self.type))


def _is_english_month(value: str) -> bool:
    return bool(MONTH_VALUE.fullmatch(value))


@dataclass(frozen=True)
class Table:
    """A table as it is described."""

    name: str
    rows: int
    columns: tuple[Column, ...]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The stems of the name."""
        return words_of(self.name)

    @property
    def month(self) -> Column | None:
        """The column that says when; None without exactly one (more than one is ambiguous)."""
        found = [column for column in self.columns if column.month_key]
        named = [column for column in found if set(column.words) <= {"month", "date", "period", "day"}]
        for choice in (found, named):
            if len(choice) == 1:
                return choice[0]
        return None

    @property
    def label(self) -> Column | None:
        """The column that names a row to a person."""
        groupable = [column for column in self.columns if column.groupable]
        named = [column for column in groupable if {"name", "title", "label"} & set(column.words)]
        own = [column for column in groupable if set(column.words) & set(self.words)]
        return next(iter(named or own or groupable), None)

    @property
    def label_named(self) -> bool:
        """Whether the label is the rows' own name, so that it stands for them."""
        return bool(self.label and {"name", "title", "label"} & set(self.label.words))

    @property
    def key(self) -> Column | None:
        """The single column that identifies a row; None if there is none, or several together."""
        primary = [column for column in self.columns if column.primary]
        return primary[0] if len(primary) == 1 else None


def read_tables(description: str) -> list[Table]:
    """The tables in a tool's description; lines that are none are passed over."""
    tables: list[Table] = []
    columns: list[Column] = []
    for line in description.splitlines():
        if head := TABLE.match(line):
            columns = []
            tables.append(Table(head[1], int(head[2].replace(",", "")), ()))
        elif tables and (found := COLUMN.match(line)):
            columns.append(_column(found))
            tables[-1] = Table(tables[-1].name, tables[-1].rows, tuple(columns))
    return tables


def _column(found: re.Match[str]) -> Column:
    values = tuple(
        (quoted.replace("''", "'") if quoted or not bare else bare.strip())
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
