"""Reading a task.

A task is understood only if every word of it is taken: by a period, a number, a value or a name of the schema, the
words of a known kind of question, or as a word that changes nothing. One word left over, and the answer is "I cannot":
a wrong number is worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from agent.models.offline import vocabulary
from agent.models.offline.measures import GENERIC_DATES, Measured, find_measure, month_column
from agent.models.offline.naming import Names
from agent.models.offline.periods import Period, take_periods
from agent.models.offline.question import Dimension, Filter, Kind, NotUnderstoodError, Question, Threshold
from agent.models.offline.tables import Column, Table, stem, words_of
from agent.models.offline.taking import THRESHOLD, VALUES, Text, Word

LONGEST = 1_000
MOST_LISTED = 50
LISTED_WITHOUT_A_NUMBER = 3
ALLOWED = re.compile(r"[\w\s.,;:?!'\"()$€£%&-]*")
LOOSE_SIGN = re.compile(r"(?<!\w)-|-(?!\w)|[!?](?=\w)")


def understand(task: str, tables: Sequence[Table]) -> Question:
    """Read a task about these tables; NotUnderstoodError if it is none of the known kinds, or a word is unknown."""
    text = _clean(task)
    if not tables:
        raise NotUnderstoodError("no table is described to me")
    return _Reader(text, tables).read()


def search_words(text: str) -> str:
    """The words of a task that documents may hold."""
    found = re.findall(r"[^\W_][\w-]*", text.lower())
    return " ".join(word for word in found if word not in vocabulary.FILLERS | vocabulary.ABOUT_DOCUMENTS)


def wants_report(text: str) -> bool:
    """Whether lower-case words ask for a report."""
    return bool(vocabulary.REPORT.search(vocabulary.NO_REPORT.sub(" ", text)))


def _clean(task: str) -> str:
    if not task.strip():
        raise NotUnderstoodError("the task is empty")
    if len(task) > LONGEST:
        raise NotUnderstoodError(f"the task is longer than the {LONGEST:,} characters that I read")
    text = re.sub(r"\s+", " ", task.replace("’", "'").replace("“", '"').replace("”", '"').strip()).lower()
    text = text.replace(" & ", " and ").replace("vs.", "vs")
    if not ALLOWED.fullmatch(text) or LOOSE_SIGN.search(text):
        raise NotUnderstoodError("it holds signs that I do not read")
    return text


class _Reader:
    """Reads one task; each method takes what it understood out of the text."""

    def __init__(self, text: str, tables: Sequence[Table]) -> None:
        self.documents = bool(vocabulary.DOCUMENTS.search(text))
        self.report = wants_report(text)
        asked = vocabulary.DOCUMENT_CLAUSE.search(text)
        self.search = search_words(asked[0]) if asked else ""
        for clause in (vocabulary.NO_REPORT, vocabulary.REPORT_CLAUSE, vocabulary.DOCUMENT_CLAUSE):
            text = clause.sub(". ", text)
        self.text = Text(text)
        self.tables = tables

    def read(self) -> Question:
        """The question; NotUnderstoodError if it is none that is known."""
        limit = self.text.take(vocabulary.OVER_LIMIT)
        self.threshold = self._take_threshold()
        self.text.rest, period = take_periods(self.text.rest)
        self._one_question_only()
        self.words = self.text.words
        measured = find_measure(self.text, self.tables, self.threshold, limit["noun"] if limit else None)
        names = Names(self.text, measured.table, self.tables)
        self.filters = names.take_filters()
        count = names.take_count()
        self._refuse_counted_groups(measured, names)
        self._take_kind_words(measured)
        self.grouped, self.named = names.take_dimensions()
        self._nothing_is_left(measured)
        kind = self._kind(limit, period)
        found = Question(
            kind=kind,
            table=measured.table,
            measure=measured.column,
            aggregate=self._aggregate(kind, measured),
            dimension=self._dimension(kind),
            count=_listed(count, plural=names.plural),
            descending=not (self.top and self.top["low"]),
            period=period,
            month=month_column(measured.table, self.words),
            filters=self.filters,
            threshold=self.threshold,
            limit=self._limit(limit["noun"], limit["kind"], measured.table) if limit else None,
            report=self.report,
            documents=self.documents,
            search=self.search,
        )
        return _checked(found, count, self.words)

    # --- taking

    def _take_threshold(self) -> Threshold | None:
        found = self.text.take(vocabulary.OVER_NUMBER, THRESHOLD)
        if not found:
            return None
        unit = vocabulary.UNIT_OF.get((found["sign"] or found["unit"] or "").removesuffix("s"))
        follows = re.search(rf"{THRESHOLD}\s*([a-z]+)", self.text.rest)
        if (
            re.fullmatch(r"(?:19|20)\d\d", found["number"])
            and not (unit or found["scale"])
            and (not follows or follows[1] in vocabulary.FILLERS)
        ):
            raise NotUnderstoodError(f"{found['number']} could be a year or an amount")
        number = Decimal(found["number"].replace(",", "")) * vocabulary.SCALES.get(found["scale"] or "", 1)
        return Threshold(vocabulary.OPERATORS.get(found["words"], ">"), f"{number.normalize():f}", unit)

    def _one_question_only(self) -> None:
        sentences = [re.findall(r"[^\W\d_]+", part) for part in re.split(r"[.?!;](?:\s|$)", self.text.rest)]
        if sum(1 for found in sentences if set(found) - vocabulary.FILLERS) > 1:
            raise NotUnderstoodError("it asks more than one thing; ask one at a time")

    def _refuse_counted_groups(self, measured: Measured, names: Names) -> None:
        """`how many regions sold …` asks for the number of groups, which no known kind of question gives."""
        things = {dimension.noun.split()[-1] for dimension in names.dimensions}
        own = set(measured.column.words) if measured.column else set()
        for found in vocabulary.HOW_MANY.finditer(self.text.rest):
            following = [word.stem for word in self.text.words if word.start >= found.end()]
            first = next((word for word in following if word in things | own), None)
            if first in things - own:
                raise NotUnderstoodError(f"I do not count how many of a {first} there are")

    def _take_kind_words(self, measured: Measured) -> None:
        """The words that say which kind of question it is; a second one of a kind is left over and so refused."""
        text = self.text.rest
        first, top = vocabulary.SUMMED.search(text), vocabulary.TOP.search(text)
        if first and top and first.start() < top.start():
            raise NotUnderstoodError("it asks for the total of a ranking, and I only list rankings")
        self.calendar = bool(vocabulary.CALENDAR.search(text))
        self.together = bool(vocabulary.TOGETHER.search(text))
        # A task may say it twice ("how did monthly costs develop").
        self.trend = bool(self.text.take(vocabulary.TREND)) | bool(self.text.take(vocabulary.TREND))
        self.top = self.text.take(vocabulary.TOP)
        if self.top and vocabulary.BEST.fullmatch(self.top[0]) and not vocabulary.SELLING.search(text):
            raise NotUnderstoodError("best and worst can mean high or low; say highest or lowest")
        self.compare = self.text.take_all(vocabulary.COMPARE)
        self.average = bool(self.text.take(vocabulary.AVERAGE))
        if self.average and vocabulary.SUMMED.search(self.text.rest):
            raise NotUnderstoodError("it asks for an average and for a total at once")
        self.total = self.text.take_all(vocabulary.TOTAL)
        self.asked = self.text.take_all(vocabulary.ASKED) or measured.asked

    def _nothing_is_left(self, measured: Measured) -> None:
        table, column = measured.table, measured.column
        month = month_column(table, self.words)
        own = {*table.words, *(column.words if column else ()), *(words_of(column.name) if column else ())}
        verbs = {*table.words, *(month.words if month else ())}
        known = own.union(*(group for group in vocabulary.SYNONYMS if group & own))
        left = [word for word in self.text.words if not _is_known(word, known, verbs)]
        self._take_by(left, known)
        unknown = dict.fromkeys(word.written for word in left)
        if unknown:
            raise NotUnderstoodError(f"I do not know what {', '.join(map(repr, unknown))} means here")
        if re.search(r"[\d$€£%&]", self.text.rest):
            raise NotUnderstoodError("I do not know what the numbers in it mean")

    def _take_by(self, left: list[Word], known: set[str]) -> None:
        """`by revenue`, `by North`: nothing more than `of`."""
        for word in [word for word in left if word.written == "by"]:
            if re.match(rf"\s*(?:the )?(?:\s*[{VALUES[0]}-{VALUES[-1]}])", self.text.rest[word.end :]) or (
                (follows := re.match(r"[\s]*(?:the )?([^\W\d_]+)", self.text.rest[word.end :]))
                and stem(follows[1]) in known
            ):
                left.remove(word)

    # --- putting together

    def _kind(self, limit: re.Match[str] | None, period: Period | None) -> Kind:
        if limit or self.threshold:
            return self._kind_with_limit(limit)
        if self.top and (self.trend or self.compare):
            raise NotUnderstoodError("it asks for a ranking and for a course at once")
        if self.top:
            return Kind.TOP
        several = [item for item in self.filters if len(item.values) > 1]
        return self._trend_only(several) if self._is_course(period) else self._kind_of_sums(several)

    def _is_course(self, period: Period | None) -> bool:
        """Whether it is about months: in so many words, or since several are named and set side by side."""
        if self.trend or period is None or self.together or self.grouped:
            return self.trend
        if period.listed:
            return not (self.total or self.average)
        aside = any(len(item.values) > 1 for item in self.filters) or self.named
        return self.compare and not aside and not period.latest and period.first != period.last

    def _kind_of_sums(self, several: Sequence[Filter]) -> Kind:
        if not self.together and (self.grouped or several or (self.compare and self.named)):
            return Kind.COMPARISON
        if self.compare:
            raise NotUnderstoodError("I do not see what is to be compared")
        if self.total or self.average or self.asked:
            return Kind.TOTAL
        raise NotUnderstoodError("it is none of the kinds of question that I know")

    def _kind_with_limit(self, limit: re.Match[str] | None) -> Kind:
        mixed = self.trend or self.compare or self.asked or (limit and (self.threshold or self.average))
        if mixed or bool(self.top) != bool(limit and limit["also"]):
            raise NotUnderstoodError("it asks for more than which things are over a limit")
        return Kind.TOP if self.top else Kind.OVER_LIMIT

    def _trend_only(self, several: Sequence[Filter]) -> Kind:
        if self.grouped or (several and not self.together) or (self.compare and self.named):
            raise NotUnderstoodError("I can show the months of one figure at a time")
        if self.average and self.calendar:
            raise NotUnderstoodError("an average of months could mean of its rows or of its totals")
        return Kind.TREND

    def _dimension(self, kind: Kind) -> Dimension | None:
        if kind in (Kind.TOTAL, Kind.TREND):
            if self.grouped:
                raise NotUnderstoodError("it asks for one figure and for several at once")
            return None
        several = [item.dimension for item in self.filters if len(item.values) > 1]
        things = list(dict.fromkeys([*self.grouped, *self.named]))
        if kind is Kind.COMPARISON and several and not self.grouped:
            things = list(dict.fromkeys([*several, *things]))
        if len(things) > 1:
            raise NotUnderstoodError(
                f"I can group by one thing at a time, not by {' and '.join(item.noun for item in things)}"
            )
        return things[0] if things else None

    def _aggregate(self, kind: Kind, measured: Measured) -> str:
        column = measured.column
        if column is None:
            if self.average:
                raise NotUnderstoodError("an average of counts is none of the figures that I know")
            return "COUNT"
        if self.average:
            return "AVG"
        if not vocabulary.NOT_ADDITIVE & {column.words[-1], *column.words[:1]}:
            return "SUM"
        if kind is Kind.TOP and self.top and not self.total:
            return "MIN" if self.top["low"] else "MAX"
        raise NotUnderstoodError(f"{column.name} cannot be added up; ask for its average, highest or lowest")

    def _limit(self, noun: str, kind: str | None, table: Table) -> tuple[Table, Column]:
        found = []
        for other in self.tables:
            amounts = [column for column in other.columns if column.measurable]
            named = [column for column in amounts if noun in column.words]
            if named or (noun in other.words and len(amounts) == 1):
                found += [(other, column) for column in named or amounts]
        if kind:
            found = [(other, column) for other, column in found if stem(kind) in (*other.words, *column.words)]
        if len(found) != 1 or found[0][0] is table:
            raise NotUnderstoodError(f"I find no single table with a {' '.join(filter(None, (kind, noun)))} for it")
        return found[0]


def _listed(count: int | None, *, plural: bool) -> int:
    """How many of a ranking are shown: as many as asked for, else one, or a few where several are asked for."""
    if count is None:
        return LISTED_WITHOUT_A_NUMBER if plural else 1
    if not 1 <= count <= MOST_LISTED:
        raise NotUnderstoodError(f"I can list 1 to {MOST_LISTED} of something, not {count}")
    return count


def _is_known(word: Word, known: set[str], verbs: set[str]) -> bool:
    if word.written in vocabulary.FILLERS or word.stem in known | verbs or word.written in known | verbs:
        return True
    return len(word.written) > 3 and any(
        verb.startswith(word.stem) or (len(verb) > 3 and word.written.startswith(verb)) for verb in verbs
    )


def _checked(question: Question, count: int | None, words: Sequence[Word]) -> Question:
    """Refuse what would be a guess."""
    table, period = question.table, question.period
    if table is None:
        raise NotUnderstoodError("no table fits")
    if question.kind in (Kind.TOP, Kind.OVER_LIMIT, Kind.COMPARISON) and question.dimension is None:
        raise NotUnderstoodError("I do not see which things are to be ranked or checked")
    if count is not None and question.kind is not Kind.TOP:
        raise NotUnderstoodError("I do not know what the numbers in it mean")
    if period and period.first and period.last and period.first > period.last:
        raise NotUnderstoodError("the period ends before it begins")
    if (period or question.kind is Kind.TREND) and question.month is None:
        raise NotUnderstoodError(f"{table.name} has no single column that says in which month something was")
    if period and question.month and question.measure is None and not says_when(question.month, words):
        raise NotUnderstoodError(
            f"only {question.month.name} is known of {table.name}, and it does not say that this is meant"
        )
    if question.limit and question.dimension:
        group = question.dimension
        if group.via and not group.is_label:
            raise NotUnderstoodError(f"{question.limit[0].name} has no limit for each {group.noun}")
        if any((item.dimension.table, item.dimension.via) != (group.table, group.via) for item in question.filters):
            raise NotUnderstoodError("a part of the amounts cannot be held against the whole limit")
    return question


def says_when(month: Column, words: Sequence[Word]) -> bool:
    """Whether the task names the very date that the column holds, where it is not just the date of a row."""
    own = set(month.words) - {"on", "at"}
    return bool(own & GENERIC_DATES) or any(word.stem in own or word.written in own for word in words)
