"""The text of a task, out of which is taken what is understood."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.models.offline.tables import stem

THRESHOLD = "\ue0ff"
"""Stands where a limit was taken out, so that what it counts can be read off the next word."""
VALUES = "".join(chr(code) for code in range(0xE000, 0xE0F0))
"""One for each value of a column that was taken out."""
WORD = re.compile(r"[^\W\d_][\w'-]*")


@dataclass(frozen=True, slots=True)
class Word:
    """One word of what is left."""

    written: str
    start: int
    end: int

    @property
    def stem(self) -> str:
        """The word without its ending."""
        return stem(self.written.removesuffix("'s").rstrip("'"))


class Text:
    """What is left of a task, in lower case."""

    def __init__(self, text: str) -> None:
        self.rest = f" {text} "

    @property
    def words(self) -> list[Word]:
        """What is left, word by word."""
        return [Word(found[0], found.start(), found.end()) for found in WORD.finditer(self.rest)]

    @property
    def stems(self) -> set[str]:
        """The words that are left, without their endings."""
        return {word.stem for word in self.words}

    def cut(self, start: int, end: int, mark: str = "") -> None:
        """Take out a stretch."""
        self.rest = f"{self.rest[:start]} {mark} {self.rest[end:]}"

    def take(self, pattern: re.Pattern[str], mark: str = "") -> re.Match[str] | None:
        """Take out the first match."""
        found = pattern.search(self.rest)
        if found:
            self.cut(found.start(), found.end(), mark)
        return found

    def take_all(self, pattern: re.Pattern[str]) -> bool:
        """Take out every match; whether there was one."""
        self.rest, times = pattern.subn(" ", self.rest)
        return times > 0
