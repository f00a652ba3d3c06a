"""Full-text search over a folder of Markdown documents, by numbered paragraph."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from agent.records import Effect, JsonObject
from agent.tools.registry import Observation, Tool, ToolArguments, ToolContext, ToolError
from agent.tools.text import fitted, one_line

DOCUMENT_BYTES = 2_000_000
EXCERPT_CHARACTERS = 600
DOCUMENTS_LISTED = 40
HEADING = re.compile(r"#{1,6}\s+(?:(\d{1,3}(?:\.\d{1,3})*)[.)]?\s+)?(.*)")
NUMBERED = re.compile(r"(?:\*\*)?(\d{1,3}(?:\.\d{1,3})+[.)]?|\d{1,3}[.)])(?:\*\*)?\s+(.*)")
"""`4.2 text`, `4.2. text`, `4) text`; not a line that happens to begin with a figure, as in "5 percent of"."""
STOP_WORDS_TEXT = """
a about an and any are as at be by can do does for from had has have how i if in into is it its me my no not of on or
our shall should so than that the their there these they this to was we what when where which who why will with would
you
"""
STOP_WORDS = frozenset(STOP_WORDS_TEXT.split())


@dataclass(frozen=True, slots=True)
class Paragraph:
    """The smallest piece that can be cited. `number` is empty where the document gives none."""

    document: str
    title: str
    heading: str
    number: str
    text: str

    @property
    def place(self) -> str:
        """How an answer cites it: `FIN-07, paragraph 4.2`."""
        return f"{self.document}, paragraph {self.number}" if self.number else self.document


class SearchArguments(ToolArguments):
    """What `policy_search` takes."""

    query: str = Field(min_length=1, max_length=500, description="Words to look for, or a place such as FIN-07 4.2.")
    limit: int = Field(default=5, ge=1, le=20, description="How many paragraphs at most.")


def search_tool(folder: Path) -> Tool:
    """The tool over one folder; files are read when it is called, so that a changed one is never missed."""

    def run(arguments: SearchArguments, _: ToolContext) -> Observation:
        return search(folder, arguments.query, arguments.limit)

    return Tool(
        name="policy_search",
        version=1,
        summary="Searches the company's policy documents and shows the paragraphs that fit best.",
        arguments=SearchArguments,
        effect=Effect.READ,
        run=run,
        timeout_seconds=15.0,
        details=lambda: _listed(folder),
    )


def search(folder: Path, query: str, limit: int) -> Observation:
    """The best paragraphs, best first; empty when none holds a word of the query."""
    match = fts_query(query)
    if not match:
        raise ToolError("The query has no word to look for.", code="bad_arguments")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE paragraphs USING fts5(document, title, heading, number, text, "
            "tokenize='porter unicode61')"
        )
        connection.executemany(
            "INSERT INTO paragraphs VALUES (?, ?, ?, ?, ?)",
            ((each.document, each.title, each.heading, each.number, each.text) for each in _paragraphs(folder)),
        )
        rows = connection.execute(
            "SELECT document, title, heading, number, text FROM paragraphs WHERE paragraphs MATCH ? "
            "ORDER BY bm25(paragraphs, 3, 2, 3, 3, 1), rowid LIMIT ?",
            (match, limit),
        ).fetchall()
    return _observed(query, [Paragraph(*row) for row in rows])


def fts_query(text: str) -> str:
    """An FTS5 query that finds any of the text's words, whatever the text is; empty if it has no word.

    Words are quoted, so that nothing in them is syntax. What belongs together, such as `FIN-07` or `4.2`, is looked
    for as a phrase. Words that carry nothing are left out unless there are no others.
    """
    words = re.findall(r"[^\W_]+(?:[-.'’/][^\W_]+)*", text.lower())
    parts = [part for word in words for part in re.findall(r"[^\W\d_]{3,}", word) if part != word]
    telling = [word for word in [*words, *parts] if word not in STOP_WORDS] or words
    return " OR ".join(f'"{word}"' for word in dict.fromkeys(telling))


def _documents(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.md") if path.is_file() and path.stat().st_size <= DOCUMENT_BYTES)


def _listed(folder: Path) -> str:
    """Name and title of each document, for a planner."""
    documents = _documents(folder)
    titles = [next(split_document(path.stem, _read(path)), None) for path in documents[:DOCUMENTS_LISTED]]
    names = [one_line(each.title, 80) for each in titles if each]
    more = f" and {len(documents) - DOCUMENTS_LISTED} more" if len(documents) > DOCUMENTS_LISTED else ""
    return f"Documents: {'; '.join(names) or 'none yet'}{more}."


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _paragraphs(folder: Path) -> Iterator[Paragraph]:
    for path in _documents(folder):
        yield from split_document(path.stem, _read(path))


def split_document(document: str, text: str) -> Iterator[Paragraph]:
    """The paragraphs of a Markdown document: at its numbers, headings and empty lines."""
    title = ""
    heading = document
    number = under = ""
    lines: list[str] = []

    def finished() -> Iterator[Paragraph]:
        if lines:
            yield Paragraph(document, title or document, heading, number, " ".join(lines))
            lines.clear()

    for line in map(str.strip, text.splitlines()):
        if not line:
            yield from finished()
            number = under
        elif found := HEADING.fullmatch(line):
            yield from finished()
            number = under = found[1] or ""
            heading = found[2].strip("# ")
            title = title or heading
        elif found := NUMBERED.match(line):
            yield from finished()
            number = found[1].rstrip(".)")
            lines.append(found[2])
        else:
            lines.append(line)
    yield from finished()


def _observed(query: str, hits: list[Paragraph]) -> Observation:
    if not hits:
        return Observation(text=f"Nothing was found for {one_line(query)!r}.", data={"hits": []}, empty=True)
    lines = [f"{one_line(hit.place)} ({one_line(hit.title)}, {one_line(hit.heading)}): {_excerpt(hit)}" for hit in hits]
    head = f"{len(hits)} paragraph{'s' if len(hits) != 1 else ''}:"
    return Observation(text=fitted("\n".join([head, *lines])), data={"hits": [_to_json(hit) for hit in hits]})


def _excerpt(hit: Paragraph) -> str:
    return one_line(hit.text, EXCERPT_CHARACTERS)


def _to_json(hit: Paragraph) -> JsonObject:
    return {
        "document": hit.document,
        "title": hit.title,
        "heading": hit.heading,
        "paragraph": hit.number,
        "text": _excerpt(hit),
    }
