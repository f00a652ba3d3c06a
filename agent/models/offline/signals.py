"""What a task says whatever the tables are (period, direction, limit, count, report), and the words that are left."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agent.models.offline.periods import Period, Span, UnclearPeriodError, find_period
from agent.models.offline.tables import NO_NAMES, Names
from agent.models.offline.words import CARRY_NOTHING, GRAMMAR, NUMBER_WORDS, root, singular

WRITTEN_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
QUOTES = "\"'“”\u2018\u2019"
TASK_CHARACTERS = 2_000
MOST_RANKED = 20
"""As many rows as an observation shows."""


class NotUnderstoodError(Exception):
    """The task is none that the offline model can take; the message says why, for the person."""


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or quoted text of the task."""

    text: str
    start: int
    end: int
    named: bool = False
    """Whether a table or a column is called so, so that it carries something."""

    @property
    def root(self) -> str:
        """The root of the word."""
        return root(self.text)

    @property
    def number(self) -> float | None:
        """The number that it is; None for a word."""
        if self.text.lower() in NUMBER_WORDS:
            return NUMBER_WORDS[self.text.lower()]
        return float(self.text.replace(",", "")) if re.fullmatch(WRITTEN_NUMBER, self.text) else None

    @property
    def quoted(self) -> bool:
        """Whether it stands in quotes."""
        return self.text[0] in QUOTES

    @property
    def carries_nothing(self) -> bool:
        """Whether a task means the same without it."""
        nothing = GRAMMAR if self.named else CARRY_NOTHING
        return self.root in nothing and not self.quoted


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that is exceeded or kept: a number, or a noun that the tables have to explain."""

    operator: str
    number: str | None
    around: tuple[int, int]
    """Where in the text the noun stands if there is no number; with a number, where the phrase stands."""
    words: str = ""


@dataclass(frozen=True, slots=True)
class Signals:
    """The parts of a task that need no table."""

    text: str
    period: Period | None
    count: int | None
    direction: str | None
    """`highest` or `lowest`."""
    average: bool
    limit: Limit | None
    trend: bool
    compare: bool
    total: bool
    how_much: bool
    counting: int | None
    """Where 'how many' or 'number of' ends."""
    difference: bool
    share: bool
    report: bool
    file: str | None
    who: bool
    """Whether a person is asked for."""
    tokens: tuple[Token, ...]
    """Every word, those that were understood included."""
    left: tuple[Token, ...]
    """The words that tables have to explain."""
    understood: tuple[Span, ...]
    """Where the phrases stood that need no table."""
    period_at: int | None
    """Where the period begins."""


_COUNT = rf"(?:{'|'.join(NUMBER_WORDS)}|\d{{1,3}})"
_FILLER = (
    r"(?:\s+(?:me|us|a|an|the|it|this|that|them|these|up|short|brief|quick|small|concise|one-page|markdown|written|"
    r"results?|findings?|figures|everything|all|down|to|into|in|as|with|for|and|your|my))*"
)
REPORT = re.compile(
    rf"\b(?:(?:and|then|also|please|finally)\s+)*(?:write|make|create|produce|prepare|draft|save|put|give|compile|file|"
    rf"generate|summari[sz]e|need|want|get|as|in|with|into|include|add)\b{_FILLER}\s+(?:reports?|memo|files?)\b"
    r"(?:\s+(?:about|on|of|for|with|from|showing)\b(?:\s+(?:it|this|that|them|these)\b)?)?"
    r"|\b(?:a|the)\s+(?:short\s+|brief\s+|written\s+)?report\b(?:\s+(?:about|on|of|showing)\b)?"
)
FILE = re.compile(r"\b(?:(?:called|named|to|into|as|in)\s+)?(?P<name>[\w-]+\.(?:md|txt))\b")
SUMMARY = re.compile(
    r"\b(?:give|write|show|make)?(?:\s+(?:me|us))?\s*\b(?:a|an|the)\s+(?:short\s+|brief\s+)?(?:summary|overview)\b(?:\s+of)?"
)
_OVER = (
    r"exceed(?:s|ed|ing)?|exceeds|surpass(?:es|ed)?|over(?:ran|run|runs|shot|shoot|spent|spend|spends)?|above|beyond|"
    r"more\s+than|greater\s+than|higher\s+than|larger\s+than|bigger\s+than|at\s+least|broke|breach(?:es|ed)?|past"
)
_UNDER = r"under|below|less\s+than|fewer\s+than|lower\s+than|smaller\s+than|at\s+most|within"
_WENT = r"(?:(?:went|go|goes|gone|going|was|were|is|are|ran|stayed|stay|kept|come|came)\s+)?"
_UNIT = r"(?:\s?(?:dollars?|usd|eur|euros?|gbp|pounds))?"
OVER_NUMBER = re.compile(
    rf"\b{_WENT}(?P<words>{_OVER}|{_UNDER})\s+(?:a\s+total\s+of\s+|of\s+)?[$€£]?\s?"
    rf"(?P<number>{WRITTEN_NUMBER})(?![\d,])\s?(?P<scale>k|m|thousand|million)?\b{_UNIT}(?P<next>\s+[a-z]+)?"
)
OVER_NOUN = re.compile(
    rf"\b{_WENT}(?P<words>{_OVER}|{_UNDER})(?:\s+(?:of|its|their|the|his|her|a|an|own|respective|set|agreed|planned|"
    r"allowed|given|any|monthly|yearly|annual))*(?=\s+[a-z])"
)
NOUN_OVER = re.compile(
    r"\b(?:over(?:run|ran|spend|spent|shoot|shot)s?|(?:was|were|is|are|been|got)\s+(?:exceeded|broken|breached)|breach(?:es)?)\b"
)
OPERATORS = {"at least": ">=", "under": "<", "below": "<", "less than": "<", "fewer than": "<", "lower than": "<",
             "smaller than": "<", "at most": "<=", "within": "<="}  # fmt: skip
HIGHEST = re.compile(r"\b(?:the\s+)?(?:most|highest|largest|biggest|greatest|top|maximum|max|leading)\b")
LIMIT_WORD = re.compile(r"\s+(?:max|maximum|min|minimum)\b")
LOWEST = re.compile(r"\b(?:the\s+)?(?:least|lowest|smallest|fewest|bottom|minimum|min)\b")
HIGH_WORDS = re.compile(r"\b(?:heaviest|costliest|priciest|longest|dearest|hottest)\b")
LOW_WORDS = re.compile(r"\b(?:lightest|cheapest|shortest|coldest)\b")
AVERAGE = re.compile(r"\b(?:on\s+average|averages?|averaged|mean|avg)\b")
TREND = re.compile(
    r"\b(?:trend(?:s|ed|ing)?|over\s+time|over\s+the\s+(?:months|years)|month[\s-](?:by|over|to|on)[\s-]month|monthly|"
    r"from\s+month\s+to\s+month|(?:by|per|each|every|for\s+each|for\s+every|across)\s+(?:calendar\s+)?months?|"
    r"across\s+the\s+months|develop(?:s|ed|ing|ment)?|evol(?:ve|ves|ved|ution)|chang(?:e|es|ed|ing)|"
    r"grow(?:s|n|ing)?|grew|growth|time\s+series|course|timeline|history)\b"
)
DIFFERENCE = re.compile(
    r"\b(?:differences?|differ|differs|how\s+much\s+(?:more|less|higher|lower)|by\s+how\s+much|how\s+far)\b"
)
COMPARE = re.compile(
    r"\b(?:compar(?:e|es|ed|ing|isons?)(?:\s+(?:to|with|of))?|versus|vs\b\.?|against|break(?:\s|-)?down|broken\s+down|"
    r"split|distribut(?:ed|ion)|rank(?:ing|ed|s)?|sort(?:ed)?|order(?:ed)?\s+by)"
)
WHO = re.compile(r"\bwho(?:'s)?\b")
GROUPING = re.compile(r"\b(?:by|per|each|every|across|between)\b")
MORE = re.compile(r"\b(?:more|less|than|higher|lower|fewer|bigger|larger|smaller)\b")
TOTAL = re.compile(
    r"\b(?:in\s+total|totals?|totalled|the\s+sum|sum|summed|altogether|together|in\s+all|combined|how\s+much)\b"
)
ASKING = re.compile(
    r"\b(?:what\s+(?:is|was|were|are|did|does|do)|what's|how\s+\w+\s+(?:is|was|were|are|did|does|do))\b"
)
COUNTING = re.compile(r"\b(?:how\s+many|(?:the\s+)?number\s+of|(?:the\s+)?count\s+of|count)\b")
SHARE = re.compile(
    r"\b(?:what\s+)?(?:share|percentage|percent|proportion|fraction)\b(?:\s+of\b)?(?:\s+(?:the\s+)?total\b)?|\bof\s+the\s+total\b"
)
RELATIVE = re.compile(
    r"\b(?:last|this|next|previous|past|current|prior)\s+(?:\w+\s+)?(?:week|month|year|quarter|day)s?\b|\b(?:today|yesterday|now|recently|ago)\b"
)
MONTH_ALONE = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
TOKEN = re.compile(
    r"\"[^\"]+\"|“[^”]+”|(?<!\w)'[^']+'(?!\w)|\d{4}-\d\d-\d\d|\d[\d,]*(?:\.\d+)?(?![\w.]*\w)|[^\W_]+(?:['’._&/-][^\W_]+)*|%"
)


def read_signals(task: str, names: Names = NO_NAMES) -> Signals:
    """Take apart a task; NotUnderstoodError if its period is unclear or its numbers contradict each other.

    No word by which a table or column is called is passed over, and no value that is a name is taken apart.
    """
    text = " ".join(task.replace("’", "'").split())
    if len(text) > TASK_CHARACTERS:
        raise NotUnderstoodError(f"the task is longer than the {TASK_CHARACTERS:,} characters that I read")
    if found := re.search(r"[!≠~<>=]+(?=\w)", text):
        raise NotUnderstoodError(f"I do not read signs such as {found[0]!r}; say it in words")
    if re.search(r"\bof\s+the\s+(?:top|bottom)\b", text.lower()):
        raise NotUnderstoodError("I rank things, or add them up, but I do not add up a ranking")
    if re.search(r"\b(?:most|least|furthest)\s+(?:over|above|beyond|below|under|exceed\w*)\b", text.lower()):
        raise NotUnderstoodError("I do not rank by how much a limit is exceeded")
    return _Reader(text, names).read()


class _Reader:
    """Takes phrases out of the text one kind after the other, and remembers where they stood."""

    def __init__(self, text: str, names: Names) -> None:
        self.text = text
        self.low = text.lower()
        self.tokens = tuple(
            replace(token, named=singular(token.text.lower()) in names.words) for token in _tokens(text)
        )
        for token in self.tokens:
            if token.quoted:
                self._blank((token.start, token.end))
        for value in names.values:
            for found in re.finditer(rf"\b{re.escape(value)}\b", text):
                self._blank(found.span())
        self.spans: list[Span] = []
        self.period_at: int | None = None
        self.limit_at: int | None = None

    def _blank(self, span: Span) -> None:
        self.low = f"{self.low[: span[0]]}{'§' * (span[1] - span[0])}{self.low[span[1] :]}"

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.search(self.low)
        if found:
            self.spans.append(found.span())
            self._blank(found.span())
        return found

    def _take_all(self, pattern: re.Pattern[str]) -> bool:
        return len([self._take(pattern) for _ in pattern.findall(self.low)]) > 0

    def read(self) -> Signals:
        file = self._take(FILE)
        report = self._take_all(REPORT) or file is not None
        self._take(SUMMARY)
        limit = self._number_limit()
        period = self._period()
        trend = self._take_all(TREND)
        limit = limit or self._noun_limit()
        difference, average = self._take_all(DIFFERENCE), self._take_all(AVERAGE)
        who = self._take_all(WHO)
        share, counting = self._take_all(SHARE), self._take(COUNTING)
        direction = self._direction()
        compare = self._take_all(COMPARE)
        added_up = self._take_all(TOTAL)
        if average and added_up:
            raise NotUnderstoodError("both a total and an average are asked for; ask for one of them")
        total = added_up or bool(ASKING.search(self.text.lower()))
        count, left = self._left(direction)
        return Signals(
            text=self.text, period=period, count=count, direction=direction, average=average, limit=limit, trend=trend,
            compare=compare or difference or bool(GROUPING.search(self.low)), total=total,
            how_much=bool(re.search(r"\bhow\s+much\b", self.text.lower())),
            counting=counting.end() if counting else None, difference=difference, share=share, report=report,
            file=self.text[slice(*file.span("name"))] if file else None, who=who, tokens=self.tokens, left=left,
            understood=tuple(self.spans), period_at=self.period_at,
        )  # fmt: skip

    def _number_limit(self) -> Limit | None:
        found = OVER_NUMBER.search(self.low)
        if not found:
            return None
        if _like_year(found) and found["words"] == "over" and not found["next"]:
            raise NotUnderstoodError(f"I do not know whether {found['number']} is a year or an amount")
        span = found.start(), found.end("scale") if found["scale"] else found.end("number")
        unit = re.compile(_UNIT).match(self.low, span[1])
        span = span[0], unit.end() if unit else span[1]
        self.spans.append(span)
        self._blank(span)
        number = float(found["number"].replace(",", ""))
        number *= {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6}.get(found["scale"] or "", 1)
        written = str(int(number)) if number == int(number) else f"{number:.10g}"
        return Limit(OPERATORS.get(" ".join(found["words"].split()), ">"), written, span)

    def _noun_limit(self) -> Limit | None:
        if found := self._take(OVER_NOUN):
            self.limit_at = found.end()
            words = " ".join(found["words"].split())
            return Limit(OPERATORS.get(words, ">"), None, (found.end(), found.end() + 40), words)
        if found := self._take(NOUN_OVER):
            return Limit(">", None, (max(0, found.start() - 30), found.start()), found[0])
        return None

    def _period(self) -> Period | None:
        try:
            period, spans = find_period(self.low)
        except UnclearPeriodError as error:
            raise NotUnderstoodError(str(error)) from error
        for span in spans:
            self.spans.append(span)
            self._blank(span)
        self.period_at = min(start for start, _ in spans) if spans else None
        if found := MONTH_ALONE.search(self._unblanked_capitals()):
            raise NotUnderstoodError(f"I do not know of which year {found[0]} is meant; name the year")
        if found := RELATIVE.search(self.low):
            raise NotUnderstoodError(
                f"I do not know what day it is, so {found[0]!r} says nothing to me; name the month or say 'the latest "
                "month with data'"
            )
        return period

    def _unblanked_capitals(self) -> str:
        """The text as it was written, without the phrases that were taken out."""
        return "".join(old if new != "§" else new for old, new in zip(self.text, self.low, strict=False))

    def _direction(self) -> str | None:
        if self.limit_at and (limit := LIMIT_WORD.match(self.low, self.limit_at)):
            self._blank(limit.span())
        high = self._take_all(HIGHEST) or bool(HIGH_WORDS.search(self.low))
        low = self._take_all(LOWEST) or bool(LOW_WORDS.search(self.low))
        if high and low:
            raise NotUnderstoodError("both the highest and the lowest are asked for; ask for one of them")
        return "highest" if high else "lowest" if low else None

    def _left(self, direction: str | None) -> tuple[int | None, tuple[Token, ...]]:
        free = [token for token in self.tokens if not any(a < token.end and token.start < b for a, b in self.spans)]
        numbers = [token for token in free if token.number is not None and token.text.lower() != "one"]
        count = None
        if numbers:
            number = numbers[0].number or 0
            if len(numbers) > 1 or not direction or number != int(number) or not 1 <= number <= MOST_RANKED:
                raise NotUnderstoodError(f"I do not know what {numbers[-1].text} means here")
            count = int(number)
        left = [token for token in free if token.number is None and not token.carries_nothing]
        return count, tuple(left)


def _like_year(found: re.Match[str]) -> bool:
    return bool(re.fullmatch(r"(?:19|20)\d\d", found["number"])) and not found["scale"]


def _tokens(text: str) -> list[Token]:
    """Words, numbers and quoted texts; words joined by a hyphen apart, unless they look like a code or a name."""
    tokens = []
    for found in TOKEN.finditer(text):
        word = found[0]
        if "-" in word and re.fullmatch(r"[^\W\d_]+(?:-[^\W\d_]+)+", word) and word[1:] == word[1:].lower():
            start = found.start()
            for part in word.split("-"):
                tokens.append(Token(part, start, start + len(part)))
                start += len(part) + 1
        else:
            tokens.append(Token(word, *found.span()))
    return tokens
