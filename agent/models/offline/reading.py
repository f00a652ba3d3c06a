"""One way to read a task, and which of its words are explained so far."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from agent.models.offline.question import Dimension, dimensions_of
from agent.models.offline.signals import Signals, Token
from agent.models.offline.tables import TIME_WORDS, Column, Table
from agent.models.offline.words import root, same, singular

MARKERS = {"by", "per", "each", "every", "which", "what", "across", "among", "between", "top", "bottom", "rank", "any"}
MARKER_DISTANCE = 4
LINKS = {"of", "in", "for", "with", "did", "do", "does", "is", "was", "were", "are"}


def matches(token: Token, roots: Iterable[str]) -> bool:
    """Whether a word names one of these, by itself or by a word that means the same."""
    return matches_root(token.root, roots)


def matches_root(one: str, roots: Iterable[str]) -> bool:
    """Whether a root is one of these or means the same."""
    return any(one == item or same(one, item) for item in roots)


@dataclass(eq=False)
class Reading:
    """A task read as being about this column of this table, or about how many rows the table has (None).

    What finds out what a word means adds it to `explained`; a reading counts only if no word is left.
    """

    signals: Signals
    tables: list[Table]
    table: Table
    column: Column | None
    explained: set[Token] = field(default_factory=set)
    stage: int = 0
    """How far the reading came, so that the reason of the one that came furthest is told."""

    @cached_property
    def dimensions(self) -> list[Dimension]:
        """Everything that rows can be put together or chosen by."""
        return dimensions_of(self.table, self.tables)

    @cached_property
    def table_words(self) -> set[Token]:
        """The words that stand in the table's name."""
        return {token for token in self.signals.left if matches(token, self.table.roots)}

    def is_table_noun(self, token: Token) -> bool:
        """Whether a word is the noun for the table's rows; 'ships' is none for shipments."""
        noun = self.table.noun
        return singular(token.text.lower()) == noun or (token.root != root(noun) and same(token.root, root(noun)))

    def is_dimension(self, token: Token | None) -> bool:
        """Whether a word names something that rows can be put together by."""
        if token is None:
            return False
        return token.root == "month" or any(matches(token, item.roots) for item in self.dimensions)

    def is_marked(self, token: Token) -> bool:
        """Whether one of the words before it says that rows are put together by it."""
        before = [item for item in self.signals.tokens if item.end <= token.start][-MARKER_DISTANCE:]
        for item in reversed(before):
            word = item.text.lower()
            if word in MARKERS:
                return True
            between = item in self.signals.left and item not in self.explained
            passed = item.carries_nothing or item.number is not None or item in self.explained
            if between or not passed or word in LINKS:
                return False
        return False

    def begins(self, token: Token) -> bool:
        """Whether a word begins a sentence."""
        before = self.signals.text[: token.start].rstrip()
        return not before or before[-1] in ".?!:;"

    def word_before(self, token: Token) -> str:
        """The word right before another one, in lower case; empty if there is none."""
        return next((item.text.lower() for item in reversed(self.signals.tokens) if item.end <= token.start), "")

    @property
    def unexplained(self) -> str:
        """What is left, for a person; empty if nothing is."""
        left = [token for token in self.signals.left if token not in self.explained]
        words = ", ".join(f"'{token.text}'" for token in dict.fromkeys(left))
        return f"I do not know what {words} means for these tables" if left else ""

    @property
    def bound_words(self) -> tuple[Token, ...]:
        """The words in which a limit that is no number has to be named."""
        limit = self.signals.limit
        if limit is None or limit.number is not None:
            return ()
        start, end = limit.around
        return tuple(token for token in self.signals.left if start <= token.start < end)


def telling(month: Column) -> set[str]:
    """What a column of dates says besides that it is one: `open` for `opened_on`."""
    return {root(word) for word in month.words if word not in TIME_WORDS}


def says_total(text: str) -> bool:
    """Whether a task says that something is added up."""
    return bool(re.search(r"\btotal", text, re.IGNORECASE))
