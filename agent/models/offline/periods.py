"""Periods that a task names, and the SQL that keeps to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agent.models.offline.tables import MONTHS
from agent.models.offline.words import NUMBER_WORDS

_NAME = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_YEAR = r"(?:19|20)\d\d"
_MONTH = rf"(?:{_NAME}\.?,?\s+(?:of\s+)?{_YEAR}|{_YEAR}-(?:0[1-9]|1[0-2])(?![-\d])|(?:0[1-9]|1[0-2])/{_YEAR})"
_IN = r"(?:\b(?:in|for|during|of|over|throughout|within|on|from)\s+)?(?:the\s+)?"
_DATA = (
    r"(?:\s+(?:with|that\s+has|that\s+have|having|which\s+has|for\s+which\s+(?:there\s+is|we\s+have)|we\s+have|there\s+is|"
    r"in\s+the|of\s+the|on\s+record|available)\b(?:\s+(?:any|data|figures|records|database|for))*)?"
)
_LATEST = r"(?:latest|most\s+recent|newest|last\s+available|latest\s+available|last\s+recorded)"
_COUNT = rf"(?:{'|'.join(NUMBER_WORDS)}|\d{{1,2}})"
_ORDINALS = ("first", "second", "third", "fourth")


@dataclass(frozen=True, slots=True)
class Period:
    """Months as 'YYYY-MM', or the last ones in the data."""

    first: str | None = None
    last: str | None = None
    latest: int = 0
    """So many of the latest months that have data; 0: by date."""
    listed: tuple[str, ...] = ()
    """Single months or years ('YYYY') that are set against each other."""

    @property
    def words(self) -> str:
        """The period in a sentence, with its preposition."""
        if self.latest:
            return (
                "in the latest month with data" if self.latest == 1 else f"in the latest {self.latest} months with data"
            )
        if self.listed:
            return "in " + " and ".join(self.listed)
        if self.first and self.last:
            whole_year = self.first[:4] == self.last[:4] and self.first[5:] == "01" and self.last[5:] == "12"
            if whole_year:
                return f"in {self.first[:4]}"
            return f"in {self.first}" if self.first == self.last else f"from {self.first} to {self.last}"
        return f"since {self.first}" if self.first else f"until {self.last}"

    @property
    def one_month(self) -> bool:
        """Whether it is a single month."""
        return self.latest == 1 or (self.first is not None and self.first == self.last)

    @property
    def one_year(self) -> bool:
        """Whether it is a single whole year."""
        return bool(
            self.first and self.last and f"{self.first}|{self.last}" == f"{self.first[:4]}-01|{self.first[:4]}-12"
        )

    def condition(self, key: str, any_key: str, source: str) -> str:
        """SQL over `key`, an expression for the month; `any_key` from `source` are the months that there are."""
        if self.latest == 1:
            return f"{key} = (SELECT MAX({any_key}) {source})"
        if self.latest:
            return f"{key} IN (SELECT DISTINCT {any_key} {source} ORDER BY 1 DESC LIMIT {self.latest})"
        if self.listed:
            part = f"substr({key}, 1, 4)" if len(self.listed[0]) == 4 else key
            return f"{part} IN ({', '.join(repr(item) for item in self.listed)})"
        if self.first and self.last:
            return (
                f"{key} = '{self.first}'"
                if self.first == self.last
                else f"{key} BETWEEN '{self.first}' AND '{self.last}'"
            )
        return f"{key} >= '{self.first}'" if self.first else f"{key} <= '{self.last}'"


class UnclearPeriodError(Exception):
    """A period that needs today's date, or more than one period."""


Span = tuple[int, int]
Maker = Callable[[re.Match[str]], Period]


def find_period(text: str) -> tuple[Period | None, list[Span]]:
    """The period that a text in lower case names, and where; UnclearPeriodError if it names several."""
    period: Period | None = None
    spans: list[Span] = []
    left = text
    for pattern, make in PATTERNS:
        found = pattern.search(left)
        if not found:
            continue
        if period is not None:
            raise UnclearPeriodError("more than one period is named")
        period = make(found)
        spans.append(found.span())
        left = left[: found.start()] + " " * (found.end() - found.start()) + left[found.end() :]
    singles = list(SINGLE.finditer(left))
    if any(
        re.search(r"\b(?:to|by|until|till|up\s+to|towards?)\s*$", left[: found.start("when")].rstrip("§ "))
        for found in singles
    ):
        raise UnclearPeriodError("I do not know where the period begins, or whether its last month counts")
    if singles and period is not None:
        raise UnclearPeriodError("more than one period is named")
    if singles:
        period = _of_singles([_month_or_year(found["when"]) for found in singles])
        spans = [found.span() for found in singles]
    if period and period.first and period.last and period.first > period.last:
        raise UnclearPeriodError("the period ends before it begins")
    return period, spans


def _of_singles(when: list[str]) -> Period:
    if len({len(item) for item in when}) > 1:
        raise UnclearPeriodError("a month and a year are named beside each other")
    if len(set(when)) > 1:
        return Period(listed=tuple(sorted(set(when))))
    return _whole(when[0], when[0])


def _whole(first: str, last: str) -> Period:
    """From the beginning of a month or year to the end of another."""
    return Period(first if len(first) == 7 else f"{first}-01", last if len(last) == 7 else f"{last}-12")


def _month_or_year(words: str, year: str = "") -> str:
    words = words.strip()
    if re.fullmatch(r"\d{4}(-\d\d)?", words):
        return words
    if re.fullmatch(r"\d\d/\d{4}", words):
        return f"{words[3:]}-{words[:2]}"
    return f"{year or words[-4:]}-{MONTHS.index(words[:3]) + 1:02d}"


def _quarter(found: re.Match[str]) -> Period:
    n = int(found["q"]) if found["q"] else _ORDINALS.index(found["w"]) + 1
    return Period(f"{found['y']}-{3 * n - 2:02d}", f"{found['y']}-{3 * n:02d}")


def _half(found: re.Match[str]) -> Period:
    second = (found["h"] or found["w"]) in ("2", "second")
    return Period(f"{found['y']}-{'07' if second else '01'}", f"{found['y']}-{'12' if second else '06'}")


def _latest(found: re.Match[str]) -> Period:
    count = found["n"]
    return Period(latest=NUMBER_WORDS.get(count) or int(count))


def _compiled(patterns: Iterable[tuple[str, Maker]]) -> list[tuple[re.Pattern[str], Maker]]:
    return [(re.compile(pattern), make) for pattern, make in patterns]


_EITHER = rf"(?:{_MONTH}|{_YEAR})"
PATTERNS = _compiled(
    (
        (rf"{_IN}\b(?:{_LATEST}\s+month\b|last\s+month\b){_DATA}",
         lambda _: Period(latest=1)),
        (rf"{_IN}\b{_LATEST}\s+(?P<n>{_COUNT})\s+months\b{_DATA}", _latest),
        (rf"{_IN}\b(?:last|past)\s+(?P<n>{_COUNT})\s+months\b(?=\s+(?:with|that\s+have|on\s+record)\b){_DATA}",
         _latest),
        (rf"{_IN}\b(?P<n>{_COUNT})\s+(?:{_LATEST})\s+months\b{_DATA}", _latest),
        (rf"\b(?:from|between)\s+(?P<a>{_NAME})\s+(?:to|and|until|till|through|-|–)\s*(?P<b>{_NAME}\.?,?\s+(?P<y>{_YEAR}))\b",
         lambda m: _whole(_month_or_year(m["a"], m["y"]), _month_or_year(m["b"]))),
        (rf"\b(?:from|between)\s+(?P<a>{_EITHER})\s+(?:to|and|until|till|through|up\s+to|-|–)\s*(?P<b>{_EITHER})\b",
         lambda m: _whole(_month_or_year(m["a"]), _month_or_year(m["b"]))),
        (rf"\b(?P<a>{_EITHER})\s+(?:to|until|till|through|-|–)\s*(?P<b>{_EITHER})\b",
         lambda m: _whole(_month_or_year(m["a"]), _month_or_year(m["b"]))),
        (rf"{_IN}\b(?P<a>{_NAME})\s+(?:and|or|vs\.?|versus|with|against)\s+(?:in\s+)?(?P<b>{_NAME}\.?,?\s+(?P<y>{_YEAR}))\b",
         lambda m: _of_singles([_month_or_year(m["a"], m["y"]), _month_or_year(m["b"])])),
        (rf"{_IN}\b(?:q(?P<q>[1-4])|(?P<w>first|second|third|fourth)\s+quarter)\s*(?:of\s+)?(?P<y>{_YEAR})\b",
         _quarter),
        (rf"{_IN}\b(?:h(?P<h>[12])|(?P<w>first|second)\s+half)\s*(?:of\s+)?(?P<y>{_YEAR})\b", _half),
        (rf"\b(?:since|from)\s+(?P<a>{_EITHER})(?:\s+on(?:wards?)?)\b|\bsince\s+(?:the\s+beginning\s+of\s+)?(?P<c>{_EITHER})\b",
         lambda m: Period(first=_whole(w := _month_or_year(m["a"] or m["c"]), w).first)),
        (rf"\b(?:through|(?:until|up\s+to|to|till|by)\s+the\s+end\s+of)\s+(?P<a>{_EITHER})\b",
         lambda m: Period(last=_whole(w := _month_or_year(m["a"]), w).last)),
    )
)  # fmt: skip
SINGLE = re.compile(
    rf"{_IN}(?:(?:whole|entire|full|calendar)\s+)?(?:month\s+of\s+|year\s+(?:of\s+)?)?\b(?P<when>{_MONTH}|{_YEAR})(?![-/\d]|,\d)\b"
)
