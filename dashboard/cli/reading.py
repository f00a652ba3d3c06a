"""Text and JSON that a person hands over in files and options; what is wrong with it is said in one sentence."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from agent.errors import RefusedError

FILE_BYTES = 1_000_000


def read_text(file: str) -> str:
    """The text of a file, or of standard input for `-`; RefusedError if it is far too long for a plan."""
    if file == "-":
        data = sys.stdin.buffer.read(FILE_BYTES + 1)
    else:
        with Path(file).open("rb") as opened:
            data = opened.read(FILE_BYTES + 1)
    if len(data) > FILE_BYTES:
        raise RefusedError(f"{file} is longer than {FILE_BYTES:,} bytes, which no plan is.", code="file_too_long")
    return data.decode("utf-8-sig", errors="replace")


def read_json(text: str, name: str) -> Any:
    """The JSON value of an option or file; RefusedError naming it and the place otherwise."""
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise RefusedError(f"{name} is not JSON: {error}.", code="not_json") from error
