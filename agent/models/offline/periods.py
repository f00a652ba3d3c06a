"""Periods that a task names."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from agent.models.offline.tables import MONTHS

MONTH_NAME = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
MONTH = rf"(?:{MONTH_NAME}\.?,? \d{{4}}|\d{{4}}-(?:0[1-9]|1[0-2]))(?![\d-]|[.,]\d)"
LATEST = re.compile(
    r"\b(?:in|for|during|of|over)?\s*(?:the\s+)?(?:latest|last|most recent|newest) month"
    r"(?: (?:with|that has|having|of|in the|there is|for which there is)(?: any)?(?: the)? (?:data|figures|records))?\b"
)
BOUND = re.compile(r"\b(?:to|by|at|with|from|as|than|over)(?: the)?\s*$")
BETWEEN = re.compile(rf"\b(?:between|from) (?P<a>{MONTH}) (?:and|to|until|through|till) (?P<b>{MONTH})")
SINCE = re.compile(rf"\b(?:since|from|starting(?: in| from)?) (?P<a>{MONTH})(?: on(?:wards?)?\b)?")
SINCE_YEAR = re.compile(r"\bsince (?P<y>(?:19|20)\d\d)(?![\d-]|[.,]\d)")
QUARTER = re.compile(
    r"\b(?:in|for|during|of)?\s*(?:the )?(?:q(?P<q>[1-4])|(?P<w>first|second|third|fourth) quarter)(?: of)? "
    r"(?P<y>\d{4})\b"
)
ONE = re.compile(rf"(?<![\w-])(?:(?:in|for|during|of) )?(?:the month of )?(?<![\w-])(?P<a>{MONTH})")
YEAR = re.compile(
    r"(?<![\w$€£.,-])(?:(?:in|for|during|of|throughout) )?(?:the (?:whole )?year )?"
    r"(?P<y>(?:19|20)\d\d)(?![\d-]|[.,]\d|\s?%)"
)


@dataclass(frozen=True, slots=True)
class Period:
    """Months from `first` to `last`, both 'YYYY-MM' and included; None is open. Or the latest month in the data."""

    first: str | None = None
    last: str | None = None
    latest: bool = False
    listed: tuple[str, ...] = ()
    """Single months, where several were named."""

    @property
    def words(self) -> str:
        """The period as it stands in a sentence, with its preposition."""
        if self.latest:
            return "in the latest month with data"
        if self.listed:
            return "in " + " and ".join((", ".join(self.listed[:-1]), self.listed[-1]))
        if self.first == self.last:
            return f"in {self.first}"
        if (
            self.first
            and self.last
            and self.first[:4] == self.last[:4]
            and (self.first[4:], self.last[4:]) == ("-01", "-12")
        ):
            return f"in {self.first[:4]}"
        if self.last is None:
            return f"since {self.first}"
        return f"from {self.first} to {self.last}"


def take_periods(text: str) -> tuple[str, Period | None]:
    """The text without its period, and the period; text in lower case."""
    for pattern, make in FIRST_PATTERNS:
        if found := pattern.search(text):
            return _without(text, found), make(found)
    months = list(ONE.finditer(text))
    if len(months) > 1:
        return ONE.sub(" ", text), Period(listed=tuple(sorted({_month(found["a"]) for found in months})))
    for pattern, make in LAST_PATTERNS:
        if found := pattern.search(text):
            return _without(text, found), make(found)
    return text, None


def _without(text: str, found: re.Match[str]) -> str:
    if BOUND.search(text[: found.start()]):
        return text  # up to or after the period, which is not in it: what stays there is not understood
    return f"{text[: found.start()]} {text[found.end() :]}"


def _month(words: str) -> str:
    if re.fullmatch(r"\d{4}-\d\d", words):
        return words
    return f"{words[-4:]}-{MONTHS.index(words[:3]) + 1:02d}"


def _quarter(found: re.Match[str]) -> Period:
    number = int(found["q"]) if found["q"] else ("first", "second", "third", "fourth").index(found["w"]) + 1
    return Period(f"{found['y']}-{3 * number - 2:02d}", f"{found['y']}-{3 * number:02d}")


def _one(found: re.Match[str]) -> Period:
    return Period(_month(found["a"]), _month(found["a"]))


Patterns = tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Period]], ...]

FIRST_PATTERNS: Patterns = (
    (BETWEEN, lambda found: Period(_month(found["a"]), _month(found["b"]))),
    (LATEST, lambda _: Period(latest=True)),
    (QUARTER, _quarter),
)
LAST_PATTERNS: Patterns = (
    (SINCE, lambda found: Period(_month(found["a"]))),
    (ONE, _one),
    (SINCE_YEAR, lambda found: Period(f"{found['y']}-01")),
    (YEAR, lambda found: Period(f"{found['y']}-01", f"{found['y']}-12")),
)
