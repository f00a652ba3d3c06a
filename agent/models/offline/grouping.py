"""What a task puts rows together by."""

from __future__ import annotations

from dataclasses import dataclass

from agent.models.offline.evidence import evidence, is_implied
from agent.models.offline.question import Dimension, Filter
from agent.models.offline.reading import Reading, matches
from agent.models.offline.signals import NotUnderstoodError, Token
from agent.models.offline.values import PARTICIPLE, values_in
from agent.models.offline.words import AMOUNTS, root


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing that a task names, and by which words."""

    dimension: Dimension
    tokens: tuple[Token, ...]
    marked: bool
    """Whether a word such as 'by' or 'which' says that rows are put together by it."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """What makes one row of the result: each of a thing, each month, each single row, or nothing."""

    group: Dimension | None
    by_month: bool
    by_row: bool

    def __bool__(self) -> bool:
        return self.group is not None or self.by_month or self.by_row


def grouping_of(reading: Reading, filters: list[Filter]) -> Grouping:
    """What rows are put together by, explaining its words; NotUnderstoodError if the task names two such things."""
    filtered = [item.dimension for item in filters]
    groups = []
    for mention in _mentions(reading):
        reading.explained |= set(mention.tokens)
        if mention.dimension not in filtered or mention.marked:
            groups.append(mention)
    if len(groups) > 1:
        groups = _without_bridges(groups)
    if len(groups) > 1:
        names = " and ".join(item.dimension.noun for item in groups)
        raise NotUnderstoodError(f"I put rows together by one thing at a time, not by {names}")
    if groups:
        _check_mention(reading, groups[0])
    group = groups[0].dimension if groups else None
    by_month = any(token.root == "month" for token in reading.signals.left)
    by_row = _is_by_row(reading, group, by_month=by_month)
    if not by_row:
        _check_per_row(reading)
    return Grouping(group, by_month, by_row)


def _check_mention(reading: Reading, mention: Mention) -> None:
    """Refuse what would be no group: 'paid' in 'which fines are paid', or each row as a group of its own."""
    if not mention.marked and any(PARTICIPLE.fullmatch(token.text.lower()) for token in mention.tokens):
        raise NotUnderstoodError(f"I do not know which of them are meant by {mention.tokens[0].text!r}")
    counts_itself = reading.column is None and evidence(reading) <= set(mention.tokens)
    if counts_itself:
        raise NotUnderstoodError(f"I do not know what is to be counted for each {mention.dimension.noun}")


def _mentions(reading: Reading) -> list[Mention]:
    """The dimensions that the task names, each word used once, the most complete first."""
    values = {token for _, _, tokens in values_in(reading) for token in tokens}
    own = {token for token in evidence(reading) if not reading.is_marked(token)}
    free = [token for token in reading.signals.left if token not in values | own]
    reserved = set(reading.bound_words)
    found: list[Mention] = []
    for dimension in reading.dimensions:
        tokens = tuple(token for token in free if matches(token, dimension.roots))
        complete = all(any(matches(token, {item}) for token in tokens) for item in dimension.roots)
        marked = any(reading.is_marked(token) for token in tokens)
        if tokens and (complete or marked) and not (set(tokens) <= reserved and not marked):
            found.append(Mention(dimension, tokens, marked))
    return _without_overlap(found)


def _quality(item: Mention) -> tuple[int, int, bool, bool]:
    """Smaller is better: more words, none missing, names before keys, own columns before others."""
    exact = sum(token.root in item.dimension.roots for token in item.tokens)
    missing = len(item.dimension.roots) - len(item.tokens)
    is_key = item.dimension.via is None and item.dimension.column.target is not None
    return (-exact, missing, is_key, item.dimension.via is not None and not item.dimension.names_its_table)


def _without_overlap(found: list[Mention]) -> list[Mention]:
    kept: list[Mention] = []
    for mention in sorted(found, key=_quality):
        rivals = [item for item in kept if set(item.tokens) & set(mention.tokens)]
        if any(_quality(item) == _quality(mention) for item in rivals):
            raise NotUnderstoodError(f"{mention.tokens[0].text!r} could mean several columns")
        if not rivals:
            kept.append(mention)
    return kept


def _without_bridges(groups: list[Mention]) -> list[Mention]:
    """'the cost of projects by department' puts rows together by department; projects only lead there."""
    marked = [item for item in groups if item.marked]
    if len(marked) != 1:
        return groups
    bridges = [
        item for item in groups
        if not item.marked and item.dimension.names_its_table and item.dimension.via == marked[0].dimension.via
    ]  # fmt: skip
    return [item for item in groups if item not in bridges]


def _is_by_row(reading: Reading, group: Dimension | None, *, by_month: bool) -> bool:
    """Whether single rows are ranked or checked: 'the three largest invoices by amount'."""
    signals, noun = reading.signals, root(reading.table.words[-1])
    wanted = signals.direction or (signals.limit and signals.limit.number)
    if reading.column is None or group or by_month or signals.average or not wanted or noun in AMOUNTS:
        return False
    named = bool(evidence(reading)) or is_implied(reading)
    return any(reading.is_table_noun(token) for token in signals.left) and named


def _check_per_row(reading: Reading) -> None:
    """'parcels per shipment' asks for an average, which the task has to say."""
    if reading.column is None or reading.signals.average:
        return
    for token in reading.signals.left:
        if reading.is_table_noun(token) and reading.word_before(token) in ("per", "each", "every"):
            raise NotUnderstoodError(f"I do not know whether a total or an average per {reading.table.noun} is meant")
