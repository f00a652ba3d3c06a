"""What of a model's prose is its answer: everything but the thoughts that stand before it."""

from __future__ import annotations

THOUGHTS = {"<think>": "</think>", "<thinking>": "</thinking>"}


class AnswerText:
    """Lets the answer's text through, piece by piece, and keeps back `<think>…</think>` blocks that precede it.

    A tag inside the answer is part of the answer: only what stands at its beginning is a thought.
    """

    def __init__(self) -> None:
        self._kept = ""
        self._until: str | None = None
        self._answering = False

    def feed(self, piece: str) -> str:
        """The answer's text that this piece makes certain; may be empty."""
        if self._answering:
            return piece
        self._kept += piece
        while self._step():
            pass
        return self._kept if self._answering else ""

    def end(self) -> str:
        """What is left when no piece comes any more: the beginning of a tag that never became one."""
        return "" if self._answering or self._until else self._kept

    def _step(self) -> bool:
        """Take one tag or thought off the beginning; False once that needs more text, or the answer has begun."""
        if self._until is not None:
            _, closed, after = self._kept.partition(self._until)
            if closed:
                self._kept, self._until = after, None
            return bool(closed)
        self._kept = self._kept.lstrip()
        for opening, closing in THOUGHTS.items():
            if self._kept.startswith(opening):
                self._kept, self._until = self._kept.removeprefix(opening), closing
                return True
        self._answering = bool(self._kept) and not any(tag.startswith(self._kept) for tag in THOUGHTS)
        return False


def answer_text(text: str) -> str:
    """The answer in a whole text."""
    reading = AnswerText()
    return reading.feed(text) + reading.end()
