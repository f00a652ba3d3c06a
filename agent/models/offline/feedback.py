"""What a person who reviews a plan asks to change."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.models.offline.periods import Period, UnclearPeriodError, find_period
from agent.models.offline.words import CARRY_NOTHING, NUMBER_WORDS, root, roots

NO = r"(?:no|not|without|drop|skip|remove|omit|leave\s+out|(?:don'?t|do\s+not)\s+(?:need|want|write|make))"
NO_REPORT = re.compile(rf"\b{NO}\s+(?:(?:a|an|any|the|that)\s+)?(?:report|file|memo)(?:\s+step)?\b")
REPORT = re.compile(r"\b(?:report|memo|file)\b")
NO_POLICY = re.compile(rf"\b{NO}\s+(?:(?:a|an|any|the|that)\s+)?(?:polic(?:y|ies)|documents?)(?:\s+(?:search|step))?\b")
POLICY = re.compile(r"\b(?:polic(?:y|ies)|rules?|guidelines?|documents)(?:\s+search)?\b")
COUNT = re.compile(rf"\b(?:top|bottom|first|the)?\s*(?P<n>{'|'.join(NUMBER_WORDS)}|\d{{1,2}})\b")
HARMLESS = roots(
    "instead use only add include check please write change rather short search step top bottom period month take look "
    "again plan better need too say what fine"
)


@dataclass(frozen=True, slots=True)
class Wishes:
    """The changes; None where nothing was said."""

    report: bool | None = None
    policy: bool | None = None
    count: int | None = None
    period: Period | None = None
    whole: bool = True
    """Whether every word was understood."""


def read_feedback(text: str) -> Wishes:
    """The changes that a line of feedback asks for, as far as they are of a known kind."""
    low = text.lower().replace("’", "'")
    try:
        period, spans = find_period(low)
    except UnclearPeriodError:
        return Wishes(whole=False)
    for start, end in spans:
        low = f"{low[:start]}{' ' * (end - start)}{low[end:]}"
    low, no_report = _take(low, NO_REPORT)
    low, no_policy = _take(low, NO_POLICY)
    low, report = _take(low, REPORT)
    low, policy = _take(low, POLICY)
    low, count = _take(low, COUNT)
    number = None if count is None else NUMBER_WORDS.get(count["n"]) or int(count["n"])
    left = [word for word in re.findall(r"[\w']+", low) if root(word) not in CARRY_NOTHING | HARMLESS]
    return Wishes(
        report=False if no_report else True if report else None,
        policy=False if no_policy else True if policy else None,
        count=number,
        period=period,
        whole=len(left) <= 1,
    )


def _take(text: str, pattern: re.Pattern[str]) -> tuple[str, re.Match[str] | None]:
    found = pattern.search(text)
    return (f"{text[: found.start()]} {text[found.end() :]}", found) if found else (text, None)
