"""How commands answer: one JSON document on stdout, or text for a person; errors in one sentence, never a traceback."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

JsonObject = dict[str, Any]
PIPE_WIDTH = 200
"""Characters of a table that goes into a file or another program, where nothing tells how much there is room for."""


def print_json(document: object) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()


def print_error(code: str, message: str, *, as_json: bool) -> None:
    """Say why a command failed: as INTERFACES' error document on stdout, or as a sentence on stderr."""
    if as_json:
        try:
            print_json({"error": {"code": code, "message": message}})
        except OSError:
            # Nothing can be written there, and what is still buffered must not be tried again at the exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        else:
            return
    sys.stderr.write(f"plandeck: {message}\n")


def note(message: str) -> None:
    """One line about what is going on, on stderr."""
    sys.stderr.write(message + "\n")


def print_facts(facts: dict[str, object]) -> None:
    """Name and value, a line each; unknown is said, not left out."""
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        sys.stdout.write(f"{name:<{width}}  {plain(value)}\n")


def print_table(heads: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """A table as wide as the terminal; `empty` instead if there are no rows."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    lines = [[plain(cell) for cell in row] for row in rows]
    if not lines:
        sys.stdout.write(empty + "\n")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, head in enumerate(heads):
        numbers = all(not line[index] or line[index][0] in "$0123456789-" for line in lines)
        table.add_column(
            head,
            justify="right" if numbers and index else "left",
            overflow="fold",
            # The id stays whole, so that it can be copied.
            no_wrap=index == 0,
        )
    for line in lines:
        table.add_row(*(Text(cell) for cell in line))
    width = None if sys.stdout.isatty() else PIPE_WIDTH
    Console(file=sys.stdout, highlight=False, width=width).print(table)
    sys.stdout.flush()


def plain(value: object) -> str:
    """A value as text: `unknown` for None, control characters made visible, so that no content steers the terminal."""
    text = "unknown" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
    return "".join(char if char.isprintable() or char == "\n" else f"\\x{ord(char):02x}" for char in text)
