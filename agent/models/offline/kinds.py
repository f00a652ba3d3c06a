"""Which kind of question a task asks, and refusals of what would be two questions in one."""

from __future__ import annotations

import re

from agent.models.offline.grouping import Grouping
from agent.models.offline.question import Dimension, Filter, Kind
from agent.models.offline.reading import Reading, matches, says_total
from agent.models.offline.signals import MORE, NotUnderstoodError
from agent.models.offline.words import root

EACH_MONTH = re.compile(r"(?:per|each|every|by)\s+month|monthly", re.IGNORECASE)
WHETHER = re.compile(
    r"\W*(?:(?:check|tell me|see|find out)\s+)?(?:did|does|do|is|was|were|are|has|have|had|whether|if)\b", re.I
)
COURSE = re.compile(r"trend|develop|over time|per month|by month|each month|evol|month by month|chang|gr[oe]w", re.I)
AGGREGATE_FIRST = re.compile(
    r"(?:what(?:'s)?|is|was|were|are|show|give|tell|me|us|please|find|work|out|calculate|the|\W)*\b"
    r"(?:totals?|sum|average|avg|mean|how\s+(?:much|many)|(?:number|count|amount)\s+of|count)\b",
    re.IGNORECASE,
)
RANKED_WHEN_NONE_IS_SAID = 5


def kind_of(reading: Reading, grouping: Grouping, filters: list[Filter]) -> tuple[Kind, Dimension | None, bool]:
    """The kind, what rows are put together by, and whether by month; NotUnderstoodError if there is no one kind."""
    signals, group, by_month = reading.signals, grouping.group, grouping.by_month
    several = [item.dimension for item in filters if len(item.values) > 1]
    _check_one_question(reading, grouping, several)
    if signals.limit and not (signals.direction and grouping):
        return Kind.LIMIT, group, by_month
    if signals.direction and grouping:
        return Kind.RANKING, group, by_month
    if signals.trend and not (_is_monthly_table(reading) and (group or several)):
        return Kind.TREND, None, True
    if group or by_month or (signals.period and signals.period.listed):
        return Kind.COMPARISON, group, by_month or group is None
    if several and (signals.compare or _says_more(reading) or not signals.total):
        return Kind.COMPARISON, several[0], False
    return _total(reading, filters), None, False


def _total(reading: Reading, filters: list[Filter]) -> Kind:
    signals = reading.signals
    asked = signals.total or signals.average or signals.share or signals.counting is not None or signals.direction
    if not (asked or filters or signals.period):
        raise NotUnderstoodError("it is none of the kinds of question that I know")
    if signals.share and not filters:
        raise NotUnderstoodError("I do not know whose share is meant")
    return Kind.TOTAL


def _check_one_question(reading: Reading, grouping: Grouping, several: list[Dimension]) -> None:
    signals, is_course = reading.signals, bool(reading.signals.trend) and not _is_monthly_table(reading)
    if len(several) > 1:
        raise NotUnderstoodError("values of several columns are set against each other; compare one kind of thing")
    if signals.average and EACH_MONTH.search(signals.text):
        raise NotUnderstoodError("I do not know whether rows or months are to be averaged")
    if is_course and (grouping.group or signals.direction or grouping.by_month):
        raise NotUnderstoodError("a trend is shown for one figure, not for several things or their order")
    if is_course and several:
        raise NotUnderstoodError("a trend is shown for one figure; name one value")
    if signals.who and not (grouping.group or several):
        raise NotUnderstoodError("I do not know which column says who")
    _check_limit(reading, grouping)


def _check_limit(reading: Reading, grouping: Grouping) -> None:
    """Refuse 'customers with invoices over 1,000' (each, or all of one?) and sums of what is beyond a limit."""
    limit, group = reading.signals.limit, grouping.group
    if limit is None:
        return
    if AGGREGATE_FIRST.match(reading.signals.text):
        raise NotUnderstoodError("I say what is over a limit, but neither count that nor add it up")
    if reading.column is None or grouping.by_row or limit.number is None or says_total(reading.signals.text):
        return
    names_rows = any(reading.is_table_noun(token) for token in reading.signals.left)
    if names_rows and group is not None and not reading.table.repeats_its_noun:
        raise NotUnderstoodError(
            f"I do not know whether single {reading.table.name} are meant, or all of one {group.noun}"
        )
    if not grouping and not WHETHER.match(reading.signals.text):
        raise NotUnderstoodError("I do not know what is to be held against the limit: single rows, or all together")


def _is_monthly_table(reading: Reading) -> bool:
    """Whether 'monthly' only belongs to the table's name, as in 'monthly costs'."""
    return "monthly" in reading.table.words and not COURSE.search(reading.signals.text)


def _says_more(reading: Reading) -> bool:
    return any(MORE.fullmatch(token.text.lower()) for token in reading.signals.left)


def aggregate(reading: Reading, kind: Kind, grouping: Grouping) -> str:
    """The aggregate; NotUnderstoodError where it would be nonsense."""
    column, signals = reading.column, reading.signals
    if column is None:
        return "COUNT"
    if signals.average:
        if column.roots & {root("total"), root("sum")}:
            raise NotUnderstoodError(f"{column.name} holds totals, and I do not know over what they are to be averaged")
        return "AVG"
    if kind is Kind.TOTAL and signals.direction:
        return "MAX" if signals.direction == "highest" else "MIN"
    over = kind is Kind.LIMIT and signals.limit is not None and signals.limit.operator in (">", ">=")
    one_time = grouping.by_month or not reading.table.has_time or bool(signals.period and signals.period.one_month)
    if grouping.by_row or (column.adds_up and (one_time or not column.is_stock)):
        return "SUM"
    if over:
        return "MAX"
    raise NotUnderstoodError(f"{column.name} cannot be added up; ask for its average")


def count_of(reading: Reading, kind: Kind, group: Dimension | None) -> int | None:
    """How many of a ranking: as many as the task says, else one, or five of several."""
    asked = reading.signals.count
    if kind is not Kind.RANKING:
        if asked is not None:
            raise NotUnderstoodError(f"I do not know what {asked} means here")
        return None
    if asked is not None:
        return asked
    nouns = group.roots if group else {"month", root(reading.table.words[-1])}
    plural = any(
        matches(token, nouns) and token.text.lower().endswith("s") and not token.text.endswith("'s")
        for token in reading.signals.left
    )
    return RANKED_WHEN_NONE_IS_SAID if plural else 1
