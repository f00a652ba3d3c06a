"""The values and the things of the schema that a task names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from agent.models.offline import vocabulary
from agent.models.offline.question import Dimension, Filter, NotUnderstoodError, dimensions_of
from agent.models.offline.tables import Table, words_of
from agent.models.offline.taking import VALUES, Text, Word

MARKER = re.compile(r"(?:\b(?:by|per|(?:for |in |of )?(?:each|every)(?: of)?)(?: the| single)?)\s+$")
NUMBER = re.compile(
    rf"(?<![\w.,-])(?P<n>{vocabulary.COUNT_WORD})\s+(?:(?:{vocabulary.SINGLED})\s+)?(?=(?P<next>[^\W\d_][\w'-]*))"
)
PLACES = re.compile(rf"\b(?P<end>top|bottom|best|worst)\s+(?P<n>{vocabulary.COUNT_WORD})\b(?![.,-]?\d|%)")
OR = re.compile(rf"[{VALUES[0]}-{VALUES[-1]}][\s,]*or\b")
RISKY = frozenset({"data", "other", "none", "new", "not", "no", "unknown", "may", "march", "second", "first", "last"})
"""Words that are a value only beside the name of its column."""


class Names:
    """Takes values and things of one table, and of the tables that it refers to, out of a text."""

    def __init__(self, text: Text, table: Table, tables: Sequence[Table]) -> None:
        self.text = text
        self.dimensions = dimensions_of(table, tables)
        self.column_words = {word for column in table.columns for word in column.words} | set(table.words)
        self.plural = False
        """Whether the thing to group by was named in the plural."""

    # --- values

    def take_filters(self) -> tuple[Filter, ...]:
        """The values that are named, by their columns; NotUnderstoodError if it is not clear whose they are."""
        values = {
            (value.lower(), value, dimension)
            for dimension in self.dimensions
            for value in dimension.column.values
            if len(value) > 1 and not re.fullmatch(r"[\d.,-]+", value)
        }
        marks = iter(VALUES)
        taken: dict[Dimension, list[tuple[str, str]]] = {}
        for lower in sorted({lower for lower, *_ in values}, key=lambda item: (-len(item), item)):
            candidates = sorted(
                ((value, dimension) for known, value, dimension in values if known == lower), key=lambda item: item[0]
            )
            found = self.text.take(
                re.compile(rf"(?<![\w-])[\"']?{re.escape(lower)}(?:'s)?[\"']?(?![\w-])"), mark := next(marks, "")
            )
            if found:
                value, dimension = self._whose(lower, mark, candidates)
                taken.setdefault(dimension, []).append((mark, value))
        return tuple(self._filter(dimension, found) for dimension, found in taken.items())

    def _whose(self, lower: str, mark: str, candidates: Sequence[tuple[str, Dimension]]) -> tuple[str, Dimension]:
        beside = [(value, dimension) for value, dimension in candidates if self._beside(mark, dimension)]
        choice = beside or list(candidates)
        if len(choice) > 1:
            columns = ", ".join(f"{dimension.table.name}.{dimension.column.name}" for _, dimension in choice)
            raise NotUnderstoodError(f"'{lower}' stands in several places ({columns})")
        if not beside and self._risky(lower):
            raise NotUnderstoodError(f"'{lower}' could be a value or a plain word; say the column's name beside it")
        return choice[0]

    def _risky(self, lower: str) -> bool:
        kinds = (vocabulary.TOP, vocabulary.TREND, vocabulary.COMPARE, vocabulary.TOTAL, vocabulary.AVERAGE)
        return (
            lower in RISKY | vocabulary.FILLERS | set(vocabulary.NUMBERS)
            or bool(set(words_of(lower)) & self.column_words)
            or any(pattern.fullmatch(lower) for pattern in kinds)
        )

    def _beside(self, mark: str, dimension: Dimension) -> bool:
        """Whether the column's name stands beside its value; then it is taken along."""
        last = dimension.noun.split()[-1]
        place = self.text.rest.index(mark)
        for word in self.text.words:
            between = self.text.rest[word.end : place] if word.end <= place else self.text.rest[place + 1 : word.start]
            if word.stem == last and not between.strip(" \"'"):
                self.text.cut(word.start, word.end)
                return True
        return False

    def _filter(self, dimension: Dimension, found: list[tuple[str, str]]) -> Filter:
        for mark, _ in found:
            self._beside(mark, dimension)
        places = sorted((self.text.rest.index(mark), value) for mark, value in found)
        for (start, _), (end, _) in pairwise(places):
            between = self.text.rest[start + 1 : end]
            if not between.strip() or not vocabulary.CONNECTOR.fullmatch(between):
                raise NotUnderstoodError(
                    f"I do not see how {' and '.join(value for _, value in places)} belong together"
                )
        for start, _ in places[:-1]:
            following = self.text.rest[start:]
            if OR.match(following):  # both are meant, as with `and`
                self.text.rest = self.text.rest[:start] + re.sub(r"\bor\b", " ,", following, count=1)
        if len(found) > 1:
            self.text.take(re.compile(rf"\bbetween(?: the)?(?=\s+[{VALUES[0]}-{VALUES[-1]}])"))
        return Filter(dimension, tuple(sorted(value for _, value in places)))

    # --- things

    def take_count(self) -> int | None:
        """How many are to be listed; a number that counts nothing stays."""
        lasts = {dimension.noun.split()[-1] for dimension in self.dimensions}
        found = PLACES.search(self.text.rest)
        if found:
            self.text.cut(found.start("n"), found.end("n"))
            return _number(found["n"])
        for found in NUMBER.finditer(self.text.rest):
            if Word(found["next"], 0, 0).stem in lasts:
                self.text.cut(found.start("n"), found.end("n"))
                return _number(found["n"])
        return None

    def take_dimensions(self) -> tuple[list[Dimension], list[Dimension]]:
        """The things to group by, and those that are only named."""
        grouped: list[Dimension] = []
        named: list[Dimension] = []
        while place := self._next():
            start, end, dimension = place
            marker = MARKER.search(self.text.rest[:start])
            self.plural = (
                self.plural
                or Word(self.text.rest[start:end].split()[-1], 0, 0).stem != self.text.rest[start:end].split()[-1]
            )
            self.text.cut(marker.start() if marker else start, end)
            into = grouped if marker else named
            if dimension not in into:
                into.append(dimension)
        return grouped, [dimension for dimension in named if dimension not in grouped]

    def _next(self) -> tuple[int, int, Dimension] | None:
        words = self.text.words
        for n in range(len(words)):
            matches = [(size, dimension) for dimension in self.dimensions for size in _sizes(words, n, dimension)]
            if not matches:
                continue
            longest = max(size for size, _ in matches)
            best = [dimension for size, dimension in matches if size == longest]
            if len(best) > 1:
                columns = ", ".join(f"{dimension.table.name}.{dimension.column.name}" for dimension in best)
                raise NotUnderstoodError(f"'{words[n].written}' could mean several columns ({columns})")
            return words[n].start, words[n + longest - 1].end, best[0]
        return None


def _sizes(words: Sequence[Word], n: int, dimension: Dimension) -> Iterator[int]:
    """How many words from the n-th on name a thing: all of its name, or the last word alone."""
    names = dimension.noun.split()
    said = [word.stem for word in words[n : n + len(names)]]
    if said == names or words[n].written.replace("_", " ") == dimension.noun:
        yield len(names) if said == names else 1
    elif words[n].stem == names[-1]:
        yield 1


def _number(said: str) -> int:
    return vocabulary.NUMBERS.get(said) or int(said)
