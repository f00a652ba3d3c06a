"""Telling what a task asks of the documents from what it asks of the database."""

from __future__ import annotations

import re

from agent.models.offline.words import CARRY_NOTHING, root

POLICY = re.compile(
    r"\b(?:polic(?:y|ies)|rules?|guidelines?|regulations?|handbook|procedures?|allowed|permitted|documents?\s+say)\b",
    re.IGNORECASE,
)
CLAUSE = re.compile(
    r"[.?!;]+(?:\s+|$)|,?\s+(?:and|then)\s+(?:also\s+)?(?=(?:what|which\s+(?:polic|rule)|how\s+do(?:es)?|check|look|quote|cite|"
    r"tell|explain|does|do|find|search|read|consult|see)\b[^,.?!;]*\b(?:polic|rule|guideline|regulation|procedure|allowed|"
    r"handbook))",
    re.IGNORECASE,
)
DOCUMENT_ID = re.compile(r"\b[A-Z]{2,5}-\d+\b")
ASIDE = {
    "policy",
    "rule",
    "guidelin",
    "regulation",
    "handbook",
    "procedur",
    "document",
    "paragraph",
    "cit",
    "quot",
    "look",
}
QUERY_CHARACTERS = 200
YEAR = re.compile(r"(?:19|20)\d\d")
"""No document is about a year; any other number, a share or a number of days, stands in what is looked for."""


def split_task(task: str, documents: str) -> tuple[str, str]:
    """The part about the database and the part about documents; either may be empty."""
    ids = set(DOCUMENT_ID.findall(documents))
    data: list[str] = []
    policy: list[str] = []
    for clause in filter(str.strip, CLAUSE.split(task)):
        about_documents = POLICY.search(clause) or ids & set(DOCUMENT_ID.findall(clause.upper()))
        (policy if about_documents else data).append(clause.strip())
    return ". ".join(data), ". ".join(policy)


def search_words(about_policy: str, task: str) -> str:
    """What to look for: the words of the part about documents, or of the whole task if that has none."""
    for text in (about_policy, task):
        words = [word for word in re.findall(r"[\w-]+", text) if _tells(word)]
        if words:
            return " ".join(dict.fromkeys(words))[:QUERY_CHARACTERS]
    return task[:QUERY_CHARACTERS]


def _tells(word: str) -> bool:
    return (
        root(word) not in CARRY_NOTHING | ASIDE
        and (len(word) > 1 or word.isdigit())
        and not YEAR.fullmatch(word)
        and word.lower() not in ("write", "report", "short", "please")
    )
