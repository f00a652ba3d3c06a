"""From a task to a question about tables.

Every reading of a task (this table, this column) is tried. A reading counts only if it explains every word that carries
meaning; the one with the most direct evidence is taken. If none is left, or two are as good, the task is not
understood: a refusal is better than a wrong number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.models.offline.bounds import Limited, find_bound, implied_by_limit
from agent.models.offline.question import Bound, Dimension, Filter, Kind, Measure, Question, dimensions_of
from agent.models.offline.signals import MORE, QUOTES, NotUnderstoodError, Signals, Token
from agent.models.offline.tables import TIME_WORDS, Column, Table, singular
from agent.models.offline.words import AMOUNTS, DOING, GENERIC, UNITS, name_words, root, same

PARTICIPLE = re.compile(r"\w+ed|paid|sent|sold|lost|won")
EACH_MONTH = re.compile(r"(?:per|each|every|by)\s+month|monthly", re.IGNORECASE)
MARKERS = {"by", "per", "each", "every", "which", "what", "across", "among", "between", "top", "bottom", "rank", "any"}
MARKER_DISTANCE = 4


def understand(signals: Signals, tables: list[Table]) -> Question:
    """The one best reading; NotUnderstoodError with the reason if there is none."""
    readings: list[tuple[int, Question]] = []
    reasons: list[tuple[tuple[int, int], str]] = []
    named: list[str] = []
    for table in tables:
        for column in (*table.measures, None):
            reading = Reading(signals, tables, table, column)
            if column and reading.evidence and reading.distance() == 0:
                named.append(f"{table.name}.{column.name}")
            try:
                readings.append((reading.distance(), reading.question()))
            except NotUnderstoodError as why:
                reasons.append(((-reading.stage, reading.distance()), str(why)))
    if not readings:
        if words := _unknown_everywhere(signals, tables):
            raise NotUnderstoodError(f"I do not know what {words} means for these tables")
        if len(named) > 1:
            raise NotUnderstoodError(f"several things could be meant ({', '.join(named[:4])}); name one of them")
        raise NotUnderstoodError(min(reasons, default=((0, 0), "no table is described to me"))[1])
    best = min(distance for distance, _ in readings)
    found = [question for distance, question in readings if distance == best]
    if len(found) > 1:
        options = ", ".join(f"{_named(question.measure)}" for question in found[:4])
        raise NotUnderstoodError(f"several things could be meant ({options}); name one of them")
    return found[0]


def _unknown_everywhere(signals: Signals, tables: list[Table]) -> str:
    """The words that no table, column or value explains, for a person."""
    known = {name for table in tables for name in table.roots}
    known |= {name for table in tables for column in table.columns for name in column.roots}
    values = " ".join(value.lower() for table in tables for column in table.columns for value in column.values)
    limit = signals.limit.around if signals.limit and signals.limit.number is None else (0, 0)
    unknown = [
        token.text
        for token in signals.left
        if not matches(token, known) and token.root != "month" and token.text.lower() not in values
        and not MORE.fullmatch(token.text.lower()) and not limit[0] <= token.start < limit[1]
    ]  # fmt: skip
    return ", ".join(f"'{text[:40]}'" for text in dict.fromkeys(unknown))


def _named(measure: Measure) -> str:
    return f"{measure.table.name}.{measure.column.name}" if measure.column else f"the number of {measure.table.name}"


def matches(token: Token, roots: Iterable[str]) -> bool:
    """Whether a word names one of these, by itself or by a word that means the same."""
    return any(token.root == item or same(token.root, item) for item in roots)


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing that a task names, and by which words."""

    dimension: Dimension
    tokens: tuple[Token, ...]
    marked: bool
    """Whether a word such as 'by' or 'which' says that rows are put together by it."""


class Reading:
    """One way to read a task: about this column of this table, or about how many rows the table has (None)."""

    def __init__(self, signals: Signals, tables: list[Table], table: Table, column: Column | None) -> None:
        self.signals = signals
        self.tables = tables
        self.table = table
        self.column = column
        self.dimensions = dimensions_of(table, tables)
        self.month: Column | None = None
        self.explained: set[Token] = set()
        self.stage = 0
        """How far the reading came, so that the reason of the one that came furthest is told."""
        self.evidence = self._evidence()

    # --- evidence for the measure

    def _evidence(self) -> set[Token]:
        """The words that name what is measured."""
        if self.column is None:
            return {token for token in self.signals.left if self._is_table_noun(token)}
        if self.column.specific:
            return {token for token in self.signals.left if matches(token, self.column.specific)}
        generic = {token for token in self.signals.left if token.root in self.column.roots}
        return generic if self._table_words() or self._is_only_generic() else set()

    def _is_table_noun(self, token: Token) -> bool:
        """Whether a word is the noun for the table's rows; 'ships' is none for shipments."""
        noun = self.table.noun
        return singular(token.text.lower()) == noun or (token.root != root(noun) and same(token.root, root(noun)))

    def _is_only_generic(self) -> bool:
        """Whether 'amount' can only mean this column: no other has a name that says as little."""
        others = [item for table in self.tables for item in table.measures if not item.specific]
        return others == [self.column]

    def _table_words(self) -> set[Token]:
        return {token for token in self.signals.left if matches(token, self.table.roots)}

    def _is_named_by_table(self) -> bool:
        """Whether the table's name says what the column holds: `amount` in a table of costs."""
        column, noun = self.column, root(self.table.words[-1])
        if column is None or not any(matches(token, {noun}) for token in self.signals.left):
            return False
        if not (noun in AMOUNTS or any(same(noun, item) for item in AMOUNTS)):
            return False
        like = [item for item in self.table.measures if not item.specific or matches_root(noun, item.specific)]
        return self.table.measures == (column,) or like == [column]

    def _is_implied(self) -> bool:
        """Whether the task names the rows, or the limit, and that leaves only this column."""
        column, signals = self.column, self.signals
        if column is None or self._has_words_for_another_column():
            return False
        rows = any(matches(token, {root(self.table.words[-1])}) for token in signals.left)
        if rows and self.table.measures == (column,) and (signals.how_much or (signals.limit and signals.limit.number)):
            return True
        words = self._bound_words()
        return bool(words) and implied_by_limit(words, self.table, column, self.tables)

    def _has_words_for_another_column(self) -> bool:
        others = [item for item in self.table.measures if item != self.column]
        limit_words = set(self._bound_words())
        free = [token for token in self.signals.left if token not in limit_words]
        return any(matches(token, item.specific) for item in others for token in free)

    def distance(self) -> int:
        """How indirect the evidence is: 0 if every word of the column's name is in the task."""
        if self.column is None:
            return 0 if self.signals.counting else 2
        exact = {token.root for token in self.evidence} & self.column.specific
        if exact:
            return 2 * len(self.column.specific - exact - self.table.roots)
        if self.evidence and not self.column.specific:
            return 1
        return 3 if self.evidence or self._is_named_by_table() else 4

    # --- the whole

    def question(self) -> Question:
        """The question in this reading; NotUnderstoodError if a word is left, or something is not clear."""
        self._check_evidence()
        self.stage = 1
        filters = self._filters()
        self.stage = 2
        self._choose_month()
        self.stage = 3
        bound_words = self._bound_words()
        group, by_month = self._group(filters, bound_words)
        by_row = self._is_by_row(group, by_month)
        self._check_per_row(by_row)
        self.stage = 4
        kind, group, by_month = self._kind(group, by_month, by_row, filters)
        measure = Measure(self.table, self.column, self._how(kind, group, by_month, by_row))
        bound = self._bound(group, by_row, filters, bound_words) if self.signals.limit else None
        if bound and bound.table is not None and group is None and not by_row:
            group = self._single(filters)
        by_row = by_row or (bound is not None and bound.table is self.table)
        self.stage = 5
        self._check_explained(kind, several=any(len(item.values) > 1 for item in filters))
        return Question(
            kind=kind,
            measure=Measure(self.table, self.column, "ROW") if by_row else measure,
            group=group,
            by_month=by_month,
            by_row=by_row,
            month=self.month,
            count=self._count(kind, group),
            highest=self.signals.direction != "lowest",
            period=self.signals.period,
            filters=tuple(filters),
            bound=bound,
            difference=self.signals.difference,
            share=self.signals.share,
        )

    def _check_evidence(self) -> None:
        named = bool(self.evidence) or self._is_named_by_table() or self._is_implied()
        if not named:
            raise NotUnderstoodError(self._unknown() or "I find no column of numbers that the task is about")
        if self.column is None:
            self._check_counted()
        elif self.signals.counting is not None:
            after = self._after(self.signals.counting)
            if after not in self.evidence and not (self.signals.limit and self._is_dimension(after)):
                raise NotUnderstoodError(f"{self.table.name}.{self.column.name} is not what is counted")
        self.explained |= self.evidence | self._table_words()
        if self.column:
            if any(token.root in self.column.specific for token in self.evidence):
                self.explained |= {token for token in self.signals.left if token.root in DOING}
            units = UNITS & set(name_words(self.column.name))
            generic = self.column.roots & GENERIC | ({root("amount")} if self.evidence else set())
            self.explained |= {
                token for token in self.signals.left if token.root in generic or token.text.lower() in units
            }

    def _check_counted(self) -> None:
        """Rows are counted if the task counts, or if nothing else in the table could be meant."""
        noun = root(self.table.words[-1])
        if self.signals.average:
            raise NotUnderstoodError(f"I do not know over what the number of {self.table.name} is to be averaged")
        if self.signals.counting is not None:
            after = self._after(self.signals.counting)
            if after not in self.evidence and not (self.signals.limit and self._is_dimension(after)):
                raise NotUnderstoodError(f"{self.table.name} are not what is counted")
            if after not in self.evidence and not self._follows_quantity():
                raise NotUnderstoodError(f"{self.table.name} are not what is counted")
            return
        if noun in AMOUNTS:
            raise NotUnderstoodError(f"I do not know whether {self.table.name} are to be counted")
        if any(matches(token, item.specific) for item in self.table.measures for token in self.signals.left):
            raise NotUnderstoodError(f"{self.table.name} has a column that is meant")
        amounts = [item for item in self.table.measures if not item.specific or item.unit in ("usd", "eur", "gbp")]
        if amounts and not self._follows_quantity():
            raise NotUnderstoodError(
                f"I do not know whether the number of {self.table.name} or their {amounts[0].name} is meant"
            )

    def _follows_quantity(self) -> bool:
        """Whether 'most', 'fewest' or 'more than 5' stands right before the table's noun."""
        for token in self.evidence:
            before = self.signals.text[: token.start].lower().rstrip()
            if re.search(r"\b(?:most|fewest|least)$", before):
                return True
            limit = self.signals.limit
            if limit and limit.number and 0 <= token.start - limit.around[1] <= 2:
                return True
        return False

    def _after(self, place: int) -> Token | None:
        """The next word that carries meaning and is no value."""
        passed = {token for _, _, tokens in self._values() for token in tokens}
        named = [item.roots for having, _, _ in self._values() for item in having]
        named += [frozenset(_telling(item)) for item in self.table.months]
        passed |= {token for token in self.signals.left if any(matches(token, roots) for roots in named)}
        return next(
            (t for t in self.signals.left if t.start >= place and (t not in passed or t in self.evidence)), None
        )

    def _is_dimension(self, token: Token | None) -> bool:
        if token is None:
            return False
        return token.root == "month" or any(matches(token, item.roots) for item in self.dimensions)

    # --- values

    def _values(self) -> list[tuple[list[Dimension], str, tuple[Token, ...]]]:
        """Values of columns that stand in the task, the longest first, with the columns that have them."""
        found: list[tuple[list[Dimension], str, tuple[Token, ...]]] = []
        taken: set[int] = set()
        values = {value for item in self.dimensions for value in item.column.values if item.column.groupable}
        for value in sorted(values, key=lambda item: (-len(item), item)):
            having = [item for item in self.dimensions if value in item.column.values]
            for place in re.finditer(rf"(?<![\w-]){re.escape(value)}(?![\w-])", self.signals.text, re.IGNORECASE):
                tokens = self._tokens_at(place.start(), place.end())
                if taken & set(range(*place.span())) or not self._is_value(place, value, tokens, having):
                    continue
                taken |= set(range(*place.span()))
                found.append((having, value, tokens))
        return found

    def _tokens_at(self, start: int, end: int) -> tuple[Token, ...]:
        return tuple(token for token in self.signals.tokens if token.start < end and start < token.end)

    def _is_value(
        self, place: re.Match[str], value: str, tokens: tuple[Token, ...], having: Sequence[Dimension]
    ) -> bool:
        """Whether a value's words are meant as the value: written like it, or no word of the language."""
        if any(a < place.end() and place.start() < b for a, b in self.signals.understood):
            return False
        if len(value) < 2:
            before = [token for token in self.signals.tokens if token.end <= place.start()][-1:]
            return place[0] == value and any(matches(token, item.roots) for token in before for item in having)
        return place[0] == value or not all(token.carries_nothing for token in tokens)

    def _filters(self) -> list[Filter]:
        chosen: dict[str, tuple[Dimension, list[str]]] = {}
        for having, value, tokens in self._values():
            if self._selects_month(tokens):
                continue
            dimension = self._one_of(having, value)
            key = f"{dimension.table.name}.{dimension.column.name}.{dimension.via}"
            chosen.setdefault(key, (dimension, []))[1].append(value)
            self.explained |= set(tokens)
        for value, tokens in self._names():
            dimension = self._open_column(value)
            key = f"{dimension.table.name}.{dimension.column.name}.{dimension.via}"
            chosen.setdefault(key, (dimension, []))[1].append(value)
            self.explained |= set(tokens)
        return [Filter(dimension, tuple(sorted(set(values)))) for dimension, values in chosen.values()]

    def _selects_month(self, tokens: tuple[Token, ...]) -> bool:
        """Whether 'closed' in 'closed in August' says when, not which."""
        at, last = self.signals.period_at, tokens[-1]
        if at is None or not PARTICIPLE.fullmatch(last.text.lower()) or self.signals.text[last.end : at].strip():
            return False
        if any(matches(last, item.roots) for item in self.table.months):
            return True
        raise NotUnderstoodError(f"the data does not say in which month something was {last.text}")

    def _one_of(self, having: Sequence[Dimension], value: str) -> Dimension:
        named = [item for item in having if any(matches(token, item.roots) for token in self.signals.left)]
        for choice in (having, named):
            if len(choice) == 1:
                return choice[0]
        raise NotUnderstoodError(f"{value!r} stands in several columns; say which is meant")

    def _names(self) -> list[tuple[str, tuple[Token, ...]]]:
        """Names that are no value shown: in quotes, in capitals or with digits, words beside each other together."""
        runs: list[list[Token]] = []
        for token in self.signals.left:
            if token in self.explained or not self._looks_like_name(token):
                continue
            if runs and not self.signals.text[runs[-1][-1].end : token.start].strip() and not token.quoted:
                runs[-1].append(token)
            else:
                runs.append([*self._capitals_before(token), token])
        return [(self._text(run), tuple(run)) for run in runs]

    def _capitals_before(self, token: Token) -> list[Token]:
        """Words that belong to a name though they mean little by themselves, as in 'Company Q'."""
        before = [item for item in self.signals.tokens if item.end <= token.start and item.carries_nothing]
        run: list[Token] = []
        start = token.start
        for item in reversed(before):
            if not item.text[0].isupper() or self.signals.text[item.end : start].strip() or self._begins(item):
                break
            run.insert(0, item)
            start = item.start
        return [] if token.quoted else run

    def _begins(self, token: Token) -> bool:
        before = self.signals.text[: token.start].rstrip()
        return not before or before[-1] in ".?!:;"

    def _text(self, run: list[Token]) -> str:
        text = self.signals.text[run[0].start : run[-1].end]
        return re.sub(rf"'s$|^[{QUOTES}]|[{QUOTES}]$", "", text)

    def _looks_like_name(self, token: Token) -> bool:
        if token.quoted:
            return True
        capital = token.text[0].isupper() and not self._begins(token)
        return (capital or any(sign.isdigit() for sign in token.text)) and not self._is_known(token)

    def _is_known(self, token: Token) -> bool:
        words = set(self.table.roots) | {item for column in self.table.columns for item in column.roots}
        return matches(token, words) or self._is_dimension(token)

    def _open_column(self, value: str) -> Dimension:
        """The column that a name which is not shown may stand in: only one whose values are not all shown."""
        open_columns = [item for item in self.dimensions if not item.column.complete]
        named = [item for item in open_columns if any(matches(token, item.roots) for token in self.signals.left)]
        names = [item for item in open_columns if not item.column.primary]
        for choice in (named, open_columns, names):
            if len(choice) == 1:
                return choice[0]
        raise NotUnderstoodError(f"I find {value!r} in no column")

    # --- time

    def _choose_month(self) -> None:
        """The column that says when, and the words that chose it."""
        months = self.table.months
        said = [item for item in months if any(matches(token, _telling(item)) for token in self.signals.left)]
        neutral = [item for item in months if not _telling(item)]
        choices = [choice for choice in (said, neutral, months) if len(choice) == 1]
        needed = self.signals.period or self.signals.trend or self._says_month()
        if not needed:
            return
        if not months:
            raise NotUnderstoodError(f"{self.table.name} does not say in which month something was")
        if len(said) > 1 or not choices:
            raise NotUnderstoodError(f"{self.table.name} has several dates; say which one is meant")
        self.month = choices[0][0]
        self.explained |= {token for token in self.signals.left if matches(token, self.month.roots)}

    def _says_month(self) -> bool:
        return any(token.root == "month" for token in self.signals.left)

    # --- limits

    def _bound_words(self) -> tuple[Token, ...]:
        """The words in which a limit that is no number has to be named."""
        limit = self.signals.limit
        if limit is None or limit.number is not None:
            return ()
        start, end = limit.around
        return tuple(token for token in self.signals.left if start <= token.start < end)

    def _bound(self, group: Dimension | None, by_row: bool, filters: list[Filter], words: tuple[Token, ...]) -> Bound:
        limit = self.signals.limit
        if limit is None:
            raise NotUnderstoodError("no limit is named")
        if limit.number is not None:
            return Bound(limit.operator, limit.number)
        group = group or self._single(filters)
        bound, explained = find_bound(
            limit, words, Limited(self.table, self.column, group, self.signals.period), self.tables
        )
        self.explained |= set(explained)
        if bound.monthly and self.month is None:
            if len(self.table.months) != 1:
                raise NotUnderstoodError(f"{self.table.name} has several dates; say which one is meant")
            self.month = self.table.months[0]
        return bound

    def _single(self, filters: list[Filter]) -> Dimension | None:
        """The thing that is checked where no group but one value is named."""
        labels = [item.dimension for item in filters]
        return labels[0] if len(labels) == 1 else None

    # --- groups

    def _mentions(self, filters: list[Filter], reserved: tuple[Token, ...]) -> list[Mention]:
        """The dimensions that the task names, each word used once, the most complete first."""
        values = {token for _, _, tokens in self._values() for token in tokens}
        own = {token for token in self.evidence if not self._marked(token)}
        free = [token for token in self.signals.left if token not in values | own]
        found: list[Mention] = []
        for dimension in self.dimensions:
            tokens = tuple(token for token in free if matches(token, dimension.roots))
            complete = all(any(matches(token, {item}) for token in tokens) for item in dimension.roots)
            marked = any(self._marked(token) for token in tokens)
            if tokens and (complete or marked) and not (set(tokens) <= set(reserved) and not marked):
                found.append(Mention(dimension, tokens, marked))
        return self._without_overlap(found)

    def _without_overlap(self, found: list[Mention]) -> list[Mention]:
        def quality(item: Mention) -> tuple[int, int, bool, bool]:
            """Smaller is better: more words, none missing, names before keys, own columns before others."""
            exact = sum(token.root in item.dimension.roots for token in item.tokens)
            missing = len(item.dimension.roots) - len(item.tokens)
            is_key = item.dimension.via is None and item.dimension.column.target is not None
            return (-exact, missing, is_key, item.dimension.via is not None and not item.dimension.names_its_table)

        kept: list[Mention] = []
        for mention in sorted(found, key=quality):
            rivals = [item for item in kept if set(item.tokens) & set(mention.tokens)]
            if any(quality(item) == quality(mention) for item in rivals):
                raise NotUnderstoodError(f"{mention.tokens[0].text!r} could mean several columns")
            if not rivals:
                kept.append(mention)
        return kept

    def _marked(self, token: Token) -> bool:
        """Whether one of the words before it says that rows are put together by it."""
        before = [item for item in self.signals.tokens if item.end <= token.start][-MARKER_DISTANCE:]
        for item in reversed(before):
            if item.text.lower() in MARKERS:
                return True
            between = item in self.signals.left and item not in self.explained
            if between or not (item.carries_nothing or item.number is not None or item in self.explained):
                return False
            if item.text.lower() in ("of", "in", "for", "with", "did", "do", "does", "is", "was", "were", "are"):
                return False
        return False

    def _group(self, filters: list[Filter], reserved: tuple[Token, ...]) -> tuple[Dimension | None, bool]:
        """What rows are put together by; NotUnderstoodError if the task names two such things."""
        mentions = self._mentions(filters, reserved)
        filtered = [item.dimension for item in filters]
        groups = []
        for mention in mentions:
            self.explained |= set(mention.tokens)
            if mention.dimension not in filtered or mention.marked:
                groups.append(mention)
        if len(groups) > 1:
            groups = _without_bridges(groups)
        if len(groups) > 1:
            names = " and ".join(item.dimension.noun for item in groups)
            raise NotUnderstoodError(f"I put rows together by one thing at a time, not by {names}")
        months = [token for token in self.signals.left if token.root == "month"]
        return (groups[0].dimension if groups else None), bool(months)

    def _is_by_row(self, group: Dimension | None, by_month: bool) -> bool:
        """Whether single rows are ranked or checked: 'the three largest invoices by amount'."""
        noun = root(self.table.words[-1])
        wanted = self.signals.direction or (self.signals.limit and self.signals.limit.number)
        if self.column is None or group or by_month or self.signals.average or not wanted or noun in AMOUNTS:
            return False
        named = bool(self.evidence) or self._is_implied()
        return any(self._is_table_noun(token) for token in self.signals.left) and named

    def _check_per_row(self, by_row: bool) -> None:
        """'parcels per shipment' asks for an average, which the task has to say."""
        if self.column is None or by_row or self.signals.average:
            return
        for token in self.signals.left:
            before = [item.text.lower() for item in self.signals.tokens if item.end <= token.start][-1:]
            if self._is_table_noun(token) and before and before[0] in ("per", "each", "every"):
                raise NotUnderstoodError(f"I do not know whether a total or an average per {self.table.noun} is meant")

    def _kind(
        self, group: Dimension | None, by_month: bool, by_row: bool, filters: list[Filter]
    ) -> tuple[Kind, Dimension | None, bool]:
        signals = self.signals
        several = [item.dimension for item in filters if len(item.values) > 1]
        named = group is not None or by_month or by_row
        self._check_kind(group, by_month, several)
        if signals.limit and not (signals.direction and named):
            return Kind.LIMIT, group, by_month
        if signals.direction and named:
            return Kind.RANKING, group, by_month
        if signals.trend and not (self._is_monthly_table() and (group or several)):
            return Kind.TREND, None, True
        if group or by_month or (signals.period and signals.period.listed):
            return Kind.COMPARISON, group, by_month or group is None
        if several and (signals.compare or self._says_more() or not signals.total):
            return Kind.COMPARISON, several[0], False
        return self._total_kind(), None, False

    def _total_kind(self) -> Kind:
        signals = self.signals
        asked = signals.total or signals.average or signals.share or signals.counting is not None or signals.direction
        if not asked:
            raise NotUnderstoodError("it is none of the kinds of question that I know")
        return Kind.TOTAL

    def _check_kind(self, group: Dimension | None, by_month: bool, several: list[Dimension]) -> None:
        """Refuse what would be two questions in one."""
        signals, is_course = self.signals, bool(self.signals.trend) and not self._is_monthly_table()
        if len(several) > 1:
            raise NotUnderstoodError("values of several columns are set against each other; compare one kind of thing")
        if signals.average and is_course and EACH_MONTH.search(signals.text):
            raise NotUnderstoodError("I do not know whether rows or months are to be averaged")
        if is_course and (group or signals.direction or by_month):
            raise NotUnderstoodError("a trend is shown for one figure, not for several things or their order")
        if is_course and several:
            raise NotUnderstoodError("a trend is shown for one figure; name one value")
        self._check_rows_beyond(group)

    def _check_rows_beyond(self, group: Dimension | None) -> None:
        """Refuse 'customers with invoices over 1,000': is it each invoice, or all of a customer's together."""
        limit = self.signals.limit
        if self.column is None or group is None or limit is None or limit.number is None:
            return
        if any(self._is_table_noun(token) for token in self.signals.left) and "total" not in self.signals.text.lower():
            raise NotUnderstoodError(
                f"I do not know whether single {self.table.name} are meant, or all of one {group.noun}"
            )

    def _is_monthly_table(self) -> bool:
        """Whether 'monthly' only belongs to the table's name, as in 'monthly costs'."""
        return "monthly" in self.table.words and not re.search(
            r"trend|develop|over time|per month|by month|each month|evol|month by month|chang|gr[oe]w",
            self.signals.text,
            re.I,
        )

    def _says_more(self) -> bool:
        return any(MORE.fullmatch(token.text.lower()) for token in self.signals.left)

    def _how(self, kind: Kind, group: Dimension | None, by_month: bool, by_row: bool) -> str:
        """The aggregate; NotUnderstoodError where a sum would be nonsense."""
        if self.column is None:
            return "COUNT"
        if self.signals.average:
            return "AVG"
        if kind is Kind.TOTAL and self.signals.direction:
            return "MAX" if self.signals.direction == "highest" else "MIN"
        if self.column.adds_up or by_row:
            return "SUM"
        if kind is Kind.LIMIT and self.signals.limit and self.signals.limit.operator in (">", ">="):
            return "MAX"
        if "total" in self.signals.text.lower() and not self.column.unit:
            return "SUM"
        raise NotUnderstoodError(f"{self.column.name} cannot be added up; ask for its average")

    def _count(self, kind: Kind, group: Dimension | None) -> int | None:
        if kind is not Kind.RANKING:
            if self.signals.count is not None:
                raise NotUnderstoodError(f"I do not know what {self.signals.count} means here")
            return None
        if self.signals.count is not None:
            return self.signals.count
        nouns = group.roots if group else {"month", root(self.table.words[-1])}
        plural = any(matches(token, nouns) and token.text.lower().endswith("s") and not token.text.endswith("'s")
                     for token in self.signals.left)  # fmt: skip
        return 5 if plural else 1

    # --- what is left

    def _check_explained(self, kind: Kind, *, several: bool) -> None:
        self.explained |= {token for token in self.signals.left if token.root == "month" and self.month}
        if kind is Kind.COMPARISON and several:
            self.explained |= {token for token in self.signals.left if MORE.fullmatch(token.text.lower())}
        if unknown := self._unknown():
            raise NotUnderstoodError(unknown)

    def _unknown(self) -> str:
        left = [token for token in self.signals.left if token not in self.explained]
        words = ", ".join(f"'{token.text}'" for token in dict.fromkeys(left))
        return f"I do not know what {words} means for these tables" if left else ""


def matches_root(one: str, roots: Iterable[str]) -> bool:
    """Whether a root is one of these or means the same."""
    return any(one == item or same(one, item) for item in roots)


def _telling(month: Column) -> set[str]:
    """What a column of dates says besides that it is one: `open` for `opened_on`."""
    return {root(word) for word in month.words if word not in TIME_WORDS}


def _without_bridges(groups: list[Mention]) -> list[Mention]:
    """'the cost of projects by department' puts rows together by department; projects only lead there."""
    marked = [item for item in groups if item.marked]
    if len(marked) == 1:
        bridges = [
            item for item in groups
            if not item.marked and item.dimension.names_its_table and item.dimension.via == marked[0].dimension.via
        ]  # fmt: skip
        return [item for item in groups if item not in bridges]
    return groups
