"""Values of columns that a task names, and the filters that they make."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.models.offline.question import Dimension, Filter
from agent.models.offline.reading import Reading, matches, telling
from agent.models.offline.signals import QUOTES, NotUnderstoodError, Token

PARTICIPLE = re.compile(r"\w+ed|paid|sent|sold|lost|won")
Value = tuple[list[Dimension], str, tuple[Token, ...]]
"""The columns that have it, the value, the words in which it is named."""


def values_in(reading: Reading) -> list[Value]:
    """Values of columns that stand in the task, the longest first."""
    found: list[Value] = []
    taken: set[int] = set()
    values = {value for item in reading.dimensions for value in item.column.values if item.column.groupable}
    for value in sorted(values, key=lambda item: (-len(item), item)):
        having = [item for item in reading.dimensions if value in item.column.values]
        for place in re.finditer(rf"(?<![\w-]){re.escape(value)}(?![\w-])", reading.signals.text, re.IGNORECASE):
            tokens = _tokens_at(reading, place.start(), place.end())
            if taken & set(range(*place.span())) or not _is_value(reading, place, value, tokens, having):
                continue
            taken |= set(range(*place.span()))
            found.append((having, value, tokens))
    return found


def filters_of(reading: Reading) -> list[Filter]:
    """The filters that a task names, values of one column together; explains their words."""
    chosen: dict[Dimension, list[str]] = {}
    for having, value, tokens in values_in(reading):
        if _selects_month(reading, tokens):
            continue
        chosen.setdefault(_one_of(reading, having, value), []).append(value)
        reading.explained |= set(tokens)
    for value, tokens in _names(reading):
        chosen.setdefault(_open_column(reading, value), []).append(value)
        reading.explained |= set(tokens)
    return [Filter(dimension, tuple(sorted(set(values)))) for dimension, values in chosen.items()]


# --- values that are shown


def _tokens_at(reading: Reading, start: int, end: int) -> tuple[Token, ...]:
    return tuple(token for token in reading.signals.tokens if token.start < end and start < token.end)


def _is_value(
    reading: Reading, place: re.Match[str], value: str, tokens: tuple[Token, ...], having: Sequence[Dimension]
) -> bool:
    """Whether a value's words are meant as the value: written like it, or no word of the language."""
    if any(a < place.end() and place.start() < b for a, b in reading.signals.understood):
        return False
    if len(value) < 2:
        before = [token for token in reading.signals.tokens if token.end <= place.start()][-1:]
        return place[0] == value and any(matches(token, item.roots) for token in before for item in having)
    if len(tokens) == 1 and reading.is_table_noun(tokens[0]) and (place[0] != value or reading.begins(tokens[0])):
        return _is_value_not_noun(reading, value, tokens[0], having)
    return place[0] == value or not all(token.carries_nothing for token in tokens)


def _is_value_not_noun(reading: Reading, value: str, token: Token, having: Sequence[Dimension]) -> bool:
    """'Booking vs Direct' names a channel, 'per booking' a row, and 'booking' alone could be either."""
    if reading.word_before(token) in ("per", "each", "every"):
        return False
    others = {item for one in having for item in one.column.values if item != value}
    if reading.signals.compare and any(
        re.search(rf"\b{re.escape(item)}\b", reading.signals.text, re.I) for item in others
    ):
        return True
    raise NotUnderstoodError(f"{token.text!r} could be the {having[0].noun} or any {reading.table.noun}")


def _selects_month(reading: Reading, tokens: tuple[Token, ...]) -> bool:
    """Whether 'closed' in 'closed in August' says when, not which."""
    signals, last = reading.signals, tokens[-1]
    at = signals.period_at
    if at is None or not PARTICIPLE.fullmatch(last.text.lower()) or signals.text[last.end : at].strip():
        return False
    if any(matches(last, telling(item)) for item in reading.table.months):
        return True
    raise NotUnderstoodError(f"the data does not say in which month something was {last.text}")


def _one_of(reading: Reading, having: Sequence[Dimension], value: str) -> Dimension:
    named = [item for item in having if any(matches(token, item.roots) for token in reading.signals.left)]
    for choice in (having, named):
        if len(choice) == 1:
            return choice[0]
    raise NotUnderstoodError(f"{value!r} stands in several columns; say which is meant")


# --- names that are not shown


def _names(reading: Reading) -> list[tuple[str, tuple[Token, ...]]]:
    """Names that are no value shown: in quotes, in capitals or with digits, words beside each other together."""
    runs: list[list[Token]] = []
    for token in reading.signals.left:
        if token in reading.explained or not _looks_like_name(reading, token):
            continue
        if runs and not reading.signals.text[runs[-1][-1].end : token.start].strip() and not token.quoted:
            runs[-1].append(token)
        else:
            runs.append([*_capitals_before(reading, token), token])
    return [(_text(reading, run), tuple(run)) for run in runs]


def _capitals_before(reading: Reading, token: Token) -> list[Token]:
    """Words that belong to a name though they mean little by themselves, as in 'Company Q'."""
    before = [item for item in reading.signals.tokens if item.end <= token.start and item.carries_nothing]
    run: list[Token] = []
    start = token.start
    for item in reversed(before):
        if not item.text[0].isupper() or reading.signals.text[item.end : start].strip() or reading.begins(item):
            break
        run.insert(0, item)
        start = item.start
    return [] if token.quoted else run


def _text(reading: Reading, run: list[Token]) -> str:
    text = reading.signals.text[run[0].start : run[-1].end]
    return re.sub(rf"'s$|^[{QUOTES}]|[{QUOTES}]$", "", text)


def _looks_like_name(reading: Reading, token: Token) -> bool:
    if token.quoted:
        return True
    capital = token.text[0].isupper() and not reading.begins(token)
    return (capital or any(sign.isdigit() for sign in token.text)) and not _is_known(reading, token)


def _is_known(reading: Reading, token: Token) -> bool:
    words = set(reading.table.roots) | {item for column in reading.table.columns for item in column.roots}
    return matches(token, words) or reading.is_dimension(token)


def _open_column(reading: Reading, value: str) -> Dimension:
    """The column that a name which is not shown may stand in: only one whose values are not all shown."""
    open_columns = [item for item in reading.dimensions if not item.column.complete]
    named = [item for item in open_columns if any(matches(token, item.roots) for token in reading.signals.left)]
    names = [item for item in open_columns if not item.column.primary]
    for choice in (named, open_columns, names):
        if len(choice) == 1:
            return choice[0]
    raise NotUnderstoodError(f"I find {value!r} in no column")
