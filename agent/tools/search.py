"""Full-text search over a folder of Markdown documents, by numbered paragraph."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from pydantic import Field

from agent.records import Effect
from agent.tools.registry import Observation, Tool, ToolArguments, ToolError

DOCUMENT_BYTES = 2_000_000
EXCERPT_CHARACTERS = 600
HEADING = re.compile(r"^#{1,6}\s+(.*)$")
NUMBERED = re.compile(r"^(\d+(?:\.\d+)*)[.)]?\s+(.*)$")


class SearchArguments(ToolArguments):
    """What `policy_search` takes."""

    query: str = Field(min_length=1, max_length=500, description="Words to look for.")
    limit: int = Field(default=5, ge=1, le=20, description="How many paragraphs at most.")


def search_tool(folder: Path) -> Tool:
    """The tool over one folder; files are read when it is called, so new ones are found."""
    return Tool(
        name="policy_search",
        version=1,
        summary="Searches the company's policy documents and shows the paragraphs that fit best.",
        arguments=SearchArguments,
        effect=Effect.READ,
        run=lambda arguments, _: search(folder, arguments),
        timeout_seconds=15.0,
        details=lambda: f"Documents: {', '.join(path.stem for path in _documents(folder)) or 'none yet'}.",
    )


def search(folder: Path, arguments: SearchArguments) -> Observation:
    """The best paragraphs, best first."""
    words = re.findall(r"\w+", arguments.query.lower())
    if not words:
        raise ToolError("The query has no word to look for.", code="bad_arguments")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE paragraphs "
            "USING fts5(document, title, heading, number, body, tokenize='porter unicode61')"
        )
        connection.executemany("INSERT INTO paragraphs VALUES (?, ?, ?, ?, ?)", _paragraphs(folder))
        match = " OR ".join(f'"{word}"' for word in words)
        hits = connection.execute(
            "SELECT document, title, heading, number, body FROM paragraphs WHERE paragraphs MATCH ? "
            "ORDER BY bm25(paragraphs, 2, 2, 3, 0, 1) LIMIT ?",
            (match, arguments.limit),
        ).fetchall()
    return _observed(arguments.query, hits)


def _documents(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.md") if path.is_file() and path.stat().st_size <= DOCUMENT_BYTES)


def _paragraphs(folder: Path) -> Iterator[tuple[str, str, str, str, str]]:
    for path in _documents(folder):
        yield from _split(path.stem, path.read_text(encoding="utf-8", errors="replace"))


def _split(document: str, text: str) -> Iterator[tuple[str, str, str, str, str]]:
    title = heading = document
    for n, block in enumerate(re.split(r"\n\s*\n", text)):
        line = " ".join(block.split())
        if not line:
            continue
        if found := HEADING.match(line):
            heading = found[1]
            title = heading if n == 0 else title
        elif found := NUMBERED.match(line):
            yield document, title, heading, found[1], found[2]
        else:
            yield document, title, heading, "", line


def _observed(query: str, hits: list[tuple[str, str, str, str, str]]) -> Observation:
    found = [
        {
            "document": document,
            "title": title,
            "heading": heading,
            "paragraph": number,
            "text": body[:EXCERPT_CHARACTERS],
        }
        for document, title, heading, number, body in hits
    ]
    if not found:
        return Observation(text=f"Nothing was found for {query!r}.", data={"hits": []}, empty=True)
    lines = [f"{_place(hit)} ({hit['title']}): {hit['text']}" for hit in found]
    return Observation(
        text=f"{len(found)} paragraph{'s' if len(found) != 1 else ''}:\n" + "\n".join(lines), data={"hits": found}
    )


def _place(hit: dict[str, str]) -> str:
    return f"{hit['document']}, paragraph {hit['paragraph']}" if hit["paragraph"] else hit["document"]
