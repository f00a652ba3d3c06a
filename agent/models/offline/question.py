"""What a task asks, as far as the offline model understands it.

A task is understood only if every word of it is: words of the schema, values in it, periods, numbers, the words of the
known kinds of question, and words that carry nothing. One word that is none of these, and the answer is "I cannot":
a wrong number is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from agent.models.offline.periods import Period, take_periods
from agent.models.offline.tables import Column, Table, stem


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
    def noun(self) -> str:
        """What one of them is called."""
        return (
            " ".join(self.table.words) if self.via and self.column == self.table.label else " ".join(self.column.words)
        )


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
    filters: tuple[Filter, ...] = ()
    threshold: Threshold | None = None
    limit: tuple[Table, Column] | None = None
    """The table and column that hold each group's limit."""
    report: bool = False
    documents: bool = False
    search: str = ""
    """The words to look for in the documents."""
    notes: tuple[str, ...] = field(default=())


NUMBERS = {
    word: n
    for n, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), start=1
    )
}
SYNONYMS = (
    {
        "cost",
        "spend",
        "spent",
        "spending",
        "expense",
        "expenditure",
        "amount",
        "expensive",
        "cheap",
        "cheapest",
        "dear",
        "dearest",
        "costly",
        "outlay",
        "charge",
        "paid",
        "pay",
    },
    {"revenue", "sale", "sold", "sell", "selling", "turnover", "income", "earn", "earned", "earning", "earner", "made"},
    {"unit", "quantity", "qty", "piece", "volume", "item"},
    {"weight", "heavy", "heavier", "heaviest", "weigh", "weighed", "lightest", "light"},
    {"duration", "long", "longest", "took", "taken", "lasted", "last"},
    {"distance", "far", "farthest", "length"},
    {"price", "priced", "pricey"},
    {"consumption", "consumed", "consume", "used", "usage", "use"},
    {"hour", "hr", "time"},
    {"ticket", "case", "issue"},
    {"salary", "wage", "earn"},
    {"headcount", "employee", "staff"},
)
NOT_ADDITIVE = {"price", "rate", "temperature", "score", "rating", "ratio", "share", "age", "margin", "level", "index"}
HIGH = r"most|highest|largest|biggest|greatest|best|top|maximum|max|heaviest|longest|dearest|strongest|leading"
LOW = r"least|lowest|smallest|fewest|worst|bottom|minimum|min|lightest|shortest|cheapest|weakest"
TOP = re.compile(rf"\b(?:{HIGH}|{LOW}|rank(?:ing|ed)?)\b")
LOWEST = re.compile(rf"\b(?:{LOW})\b")
COUNT_WORD = "|".join((*NUMBERS, r"\d{1,2}"))
OVER = re.compile(
    r"\b(?:exceed(?:s|ed|ing)?|over(?:run|ran|spent|spend)?|above|beyond|more than|greater than|higher than|at least|"
    r"under|below|less than|fewer than|lower than|at most|within)\b"
)
LIMIT_NOUN = r"budget|limit|quota|target|cap|allowance|ceiling|plan|goal|threshold"
OVER_TABLE = re.compile(
    rf"\b(?:did (?:any|one|some)(?: of (?:them|these|those))?\s+)?(?:exceed\w*|over(?:ran|run|spent)?|above|beyond|"
    rf"went over|go over|more than|broke|(?:stay\w* )?within)\s+(?:its|their|the|his|her|each|own|a|\s)*"
    rf"(?:monthly |yearly |annual |own )?(?P<noun>{LIMIT_NOUN})s?\b"
    rf"|\b(?P<noun2>budget|limit|quota|target|cap)\s*(?:overruns?|exceeded|overspend\w*)\b"
)
OVER_NUMBER = re.compile(
    r"\b(?P<words>exceed(?:s|ed|ing)?|over|above|beyond|more than|greater than|higher than|at least|under|below|less than|"
    r"fewer than|lower than|at most)\s+(?:of\s+)?[$€£]?\s?(?P<number>\d[\d,]*(?:\.\d+)?)\s?(?P<scale>k|m|thousand|million)?\b"
    r"(?:\s?(?:dollars|usd|eur|euros|kg|units|hours|%))?"
)
OPERATORS = {
    "at least": ">=",
    "under": "<",
    "below": "<",
    "less than": "<",
    "fewer than": "<",
    "lower than": "<",
    "at most": "<=",
}
TREND = re.compile(
    r"\b(?:trends?|over time|(?:by|per|each|every) month|month (?:by|to|over) month|monthly (?:development|course)|"
    r"develop(?:ed|ment|s)?|evolv(?:e|ed|es)|chang(?:e|ed|es) (?:over|from month)|month-by-month|monthly|grow(?:n|th|ing)?|"
    r"grew|rising|falling|rise|fall|going up|going down)\b"
)
COMPARE = re.compile(
    r"\b(?:compar(?:e|es|ed|ing|ison)|versus|vs\.?|against|differ(?:s|ence|ences|ent)?|break(?:down| down)|split|"
    r"distribut(?:ed|ion)|(?:by|per|for each|for every|across|each)\s+(?=\w))"
)
TOTAL = re.compile(
    r"\b(?:total(?:s|led)?|sum|how (?:much|many|heavy|long)|altogether|in all|overall|combined|average|mean|avg|"
    r"number of|count|what (?:is|was|were|are|did)|add(?:ed)? up)\b"
)
AVERAGE = re.compile(r"\b(?:averages?|mean|avg|on average)\b")
COUNTING = re.compile(r"\b(?:how many|number of|count(?: of)?)\b")
REPORT = re.compile(
    r"\b(?:write|make|create|produce|prepare|draft|save|give|put|with)?\b[^.?!]{0,40}\b(?:report|file|memo|summary)\b"
)
NO_REPORT = re.compile(
    r"\b(?:no|without (?:a|the)?|drop the|skip the|don'?t write (?:a|the)?)\s*(?:report|file|memo)\b"
)
DOCUMENTS = re.compile(
    r"\b(?:polic(?:y|ies)|rules?|guidelines?|regulations?|documents?|allowed|permitted|(?:fin|trv|pro|sec|hr|sal)-\d+)\b"
)
CARRIES_NOTHING = set(
    """a an and any are as at be been by can could did do does done each every find for from get give gives had has have
    how i in is it its just kindly know let like list look many me much my need now of on or our out please say see
    short brief quick show shows so some tell than that the their them then there these they this those to us using want
    was we were what when where which who whose will with within without would you your about all also both per across
    between among during more most less least top bottom high higher highest large larger largest big bigger biggest
    great greatest small smaller smallest low lower lowest few fewer fewest good best bad worst total sum overall
    altogether combined average mean avg number count amount figure value data database table one row record rank
    ranking ranked order ordered sorted first compare comparison compared versus vs against difference different differ
    trend over time month monthly year yearly development develop developed change changed evolve evolved grow grew growth
    rise fall up down exceed exceeded above below under beyond report write make create produce prepare draft file
    summary memo save result answer question work go went come add added based according business company calculate
    compute determine identify break breakdown split distribution respectively only still really exactly entire whole
    far here not no if else analyse analyze analysis explain result dollar usd euro kg leading maximum minimum max min
    been being perform performed performance had against put together well per each own during course run""".split()
)


def understand(task: str, tables: Sequence[Table]) -> Question:
    """Read a task about these tables; NotUnderstoodError if it is none of the known kinds, or a word is unknown."""
    text = _clean(task)
    if not tables:
        raise NotUnderstoodError("no table is described to me")
    rest, period = take_periods(text)
    question = Question(
        kind=Kind.TOTAL,
        period=period,
        report=bool(REPORT.search(text)) and not NO_REPORT.search(text),
        documents=bool(DOCUMENTS.search(text)),
    )
    rest = REPORT_CLAUSE.sub(" ", DOCUMENT_CLAUSE.sub(" ", rest))
    return _Reader(rest, tables, question).read()


REPORT_CLAUSE = re.compile(
    r"\b(?:and |then |also |please )*(?:write|make|create|produce|prepare|draft|save|put|give|with|as)\b[^.?!,;]{0,60}?"
    r"\b(?:report|file|memo|summary)\b(?: (?:about|on|of|for|with) (?:it|this|that|them|the results?|the findings?))?"
)
DOCUMENT_CLAUSE = re.compile(
    r"\b(?:and )?(?:what (?:does|do|says?)|check|look up|cite|quote|according to|see|mention|include)\b[^.?!;]{0,60}?"
    r"\b(?:polic(?:y|ies)|rules?|guidelines?)\b[^.?!;]*"
)


def _clean(task: str) -> str:
    return re.sub(r"\s+", " ", task.replace("’", "'").strip()).lower()


class _Reader:
    """Reads one task; each method takes the words that it understood out of `rest`."""

    def __init__(self, text: str, tables: Sequence[Table], question: Question) -> None:
        self.text = text
        self.rest = f" {text} "
        self.tables = tables
        self.question = question

    def read(self) -> Question:
        limit_noun = self._take_limit_noun()
        threshold = self._take_threshold() if limit_noun is None else None
        count = self._take_count()
        table, measure = self._measure(limit_noun)
        aggregate = self._aggregate(table, measure)
        filters = tuple(self._take_filters(table))
        dimensions = self._dimensions(table)
        self._check_understood(table, measure, dimensions)
        kind = self._kind(limit_noun, threshold, filters, dimensions)
        question = replace(
            self.question,
            kind=kind,
            table=table,
            measure=measure,
            aggregate=aggregate,
            dimension=self._dimension(kind, dimensions, filters),
            count=count,
            descending=not LOWEST.search(self.text),
            filters=filters,
            threshold=threshold,
            limit=self._limit(limit_noun, table) if limit_noun else None,
        )
        return _checked(question)

    # --- parts

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.search(self.rest)
        if found:
            self.rest = f"{self.rest[: found.start()]} {self.rest[found.end() :]}"
        return found

    def _take_limit_noun(self) -> str | None:
        found = self._take(OVER_TABLE)
        return stem(found["noun"] or found["noun2"]) if found else None

    def _take_threshold(self) -> Threshold | None:
        found = self._take(OVER_NUMBER)
        if not found:
            return None
        number = float(found["number"].replace(",", ""))
        number *= {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6}.get(found["scale"] or "", 1)
        return Threshold(OPERATORS.get(found["words"], ">"), f"{number:.10g}" if number % 1 else str(int(number)))

    def _take_count(self) -> int:
        for pattern in (rf"\b(?:top|bottom|first|best|worst)\s+(?P<n>{COUNT_WORD})\b", rf"\b(?P<n>{COUNT_WORD})\b"):
            if found := self._take(re.compile(pattern)):
                number = NUMBERS.get(found["n"]) or int(found["n"])
                if not 1 <= number <= 50:
                    raise NotUnderstoodError(f"I can list 1 to 50 of something, not {number}")
                return number
        if re.search(r"\d", self.rest):
            raise NotUnderstoodError("I do not know what the numbers in the task mean")
        return 0

    def _words(self) -> list[str]:
        return [stem(word) for word in re.findall(r"[a-z][a-z_'-]*", self.rest)]

    def _measure(self, limit_noun: str | None) -> tuple[Table, Column | None]:
        """The column that the task is about; rows are counted where it asks how many there are of a table's things."""
        words = set(self._words())
        counted = [table for table in self.tables if COUNTING.search(self.text) and _named(table, words)]
        scored = sorted(
            (
                (_score(table, column, words), table, column)
                for table in self.tables
                for column in table.columns
                if column.measurable
            ),
            key=lambda item: -item[0],
        )
        direct = [item for item in scored if item[0] >= COLUMN_SCORE]
        if counted and not direct:
            if len(counted) > 1:
                raise NotUnderstoodError(f"{' and '.join(table.name for table in counted)} could both be meant")
            return counted[0], None
        best = [item for item in scored if item[0] == scored[0][0]] if scored else []
        if limit_noun and (not best or best[0][0] <= 0):
            best = self._limited_by(limit_noun)
        if not best or best[0][0] <= 0:
            raise NotUnderstoodError("I find no column of numbers that the task is about")
        if len(best) > 1:
            options = ", ".join(f"{table.name}.{column.name}" for _, table, column in best[:4])
            raise NotUnderstoodError(f"several columns could be meant ({options})")
        return best[0][1], best[0][2]

    def _limited_by(self, noun: str) -> list[tuple[int, Table, Column]]:
        """The amounts that a limit of this name can only be meant for: those with a reference in common with it."""
        limits = [table for table in self.tables if noun in table.words]
        keys = {column.target for table in limits for column in table.columns if column.target}
        return [
            (1, table, column)
            for table in self.tables
            if table not in limits and keys & {column.target for column in table.columns if column.target}
            for column in table.columns
            if column.measurable
        ]

    def _aggregate(self, table: Table, measure: Column | None) -> str:
        if measure is None:
            return "COUNT"
        if AVERAGE.search(self.text):
            return "AVG"
        if NOT_ADDITIVE & set(measure.words):
            if TOP.search(self.text):
                return "MIN" if LOWEST.search(self.text) else "MAX"
            raise NotUnderstoodError(f"{measure.name} cannot be added up; ask for its average, highest or lowest")
        return "SUM"

    def _take_filters(self, table: Table) -> Iterator[Filter]:
        found: dict[str, tuple[Dimension, list[str]]] = {}
        for dimension in dimensions_of(table, self.tables):
            for value in dimension.column.values:
                if len(value) < 2 or not self._take(
                    re.compile(rf"(?<![\w-]){re.escape(value.lower())}(?:'s)?(?![\w-])")
                ):
                    continue
                found.setdefault(dimension.column.name, (dimension, []))[1].append(value)
        for dimension, values in found.values():
            yield Filter(dimension, tuple(values))

    def _dimensions(self, table: Table) -> list[Dimension]:
        """The things that the task names and rows can be grouped by, in the order in which it names them."""
        words = self._words()
        named: list[tuple[int, Dimension]] = []
        for dimension in dimensions_of(table, self.tables):
            names = [stem(part) for part in dimension.noun.split()]
            positions = [n for n, word in enumerate(words) if word == names[-1] or "-".join(names) == word]
            if positions:
                named.append((positions[0], dimension))
        return [dimension for _, dimension in sorted(named, key=lambda item: item[0])]

    def _check_understood(self, table: Table, measure: Column | None, dimensions: Sequence[Dimension]) -> None:
        known = set(table.words) | {word for column in table.columns for word in column.words}
        known |= {word for dimension in dimensions for word in dimension.noun.split()}
        known |= {stem(word) for word in CARRIES_NOTHING} | CARRIES_NOTHING
        for group in SYNONYMS:
            if group & ({*table.words} | set(measure.words if measure else ())):
                known |= group
        unknown = [word for word in self._words() if word not in known and word.rstrip("'") not in known]
        if unknown:
            raise NotUnderstoodError(
                f"I do not know what {', '.join(repr(word) for word in dict.fromkeys(unknown))} means here"
            )

    def _kind(
        self,
        limit_noun: str | None,
        threshold: Threshold | None,
        filters: Sequence[Filter],
        dimensions: Sequence[Dimension],
    ) -> Kind:
        if TOP.search(self.text) and dimensions:
            return Kind.TOP
        if limit_noun or threshold:
            return Kind.OVER_LIMIT
        if TREND.search(self.text):
            return Kind.TREND
        if any(len(item.values) > 1 for item in filters) or (COMPARE.search(self.text) and dimensions):
            return Kind.COMPARISON
        if TOTAL.search(self.text):
            return Kind.TOTAL
        raise NotUnderstoodError("it is none of the kinds of question that I know")

    def _dimension(self, kind: Kind, dimensions: Sequence[Dimension], filters: Sequence[Filter]) -> Dimension | None:
        if kind is Kind.COMPARISON and not dimensions:
            return next(item.dimension for item in filters if len(item.values) > 1)
        if kind in (Kind.TOTAL, Kind.TREND):
            return None
        free = [item for item in dimensions if item not in [entry.dimension for entry in filters]] or list(dimensions)
        if len({item.column.name for item in free}) > 1 and kind is Kind.COMPARISON:
            raise NotUnderstoodError("I can group by one thing at a time")
        return free[0] if free else None

    def _limit(self, noun: str, table: Table) -> tuple[Table, Column]:
        for other in self.tables:
            if other is table:
                continue
            amounts = [column for column in other.columns if column.measurable]
            named = [column for column in amounts if noun in column.words]
            if named or (noun in other.words and len(amounts) == 1):
                return other, (named or amounts)[0]
        own = [column for column in table.columns if column.measurable and noun in column.words]
        if own:
            return table, own[0]
        raise NotUnderstoodError(f"I find no table with a {noun}")


COLUMN_SCORE = 10


def _score(table: Table, column: Column, words: set[str]) -> int:
    """How much the words speak for a column: its own name most, then its table's, then what means the same."""
    own = COLUMN_SCORE * len(words & set(column.words))
    of_table = 4 * len(words & set(table.words))
    alike = sum(3 for group in SYNONYMS if group & set(column.words) and group & words and not own)
    alike_table = sum(2 for group in SYNONYMS if group & set(table.words) and group & words and not of_table)
    return own + of_table + alike + alike_table


def _named(table: Table, words: set[str]) -> bool:
    return table.words[-1] in words


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


def _checked(question: Question) -> Question:
    """Refuse what would be a guess."""
    table = question.table
    if question.kind in (Kind.TOP, Kind.OVER_LIMIT) and question.dimension is None and question.measure is not None:
        raise NotUnderstoodError("I do not see which things are to be ranked or checked")
    if (question.period or question.kind is Kind.TREND) and table and table.month is None:
        raise NotUnderstoodError(f"{table.name} has no single column that says in which month something was")
    return question
