"""Files that tools write into a run's folder."""

from __future__ import annotations

import os
import re
import tempfile
import unicodedata
from pathlib import Path

RESERVED = {"con", "prn", "aux", "nul"} | {f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10)}
"""Names that some systems keep for devices, whatever their ending."""
NAME_CHARACTERS = 100


def plain_name(value: str, *endings: str) -> str:
    """A plain name with one of the endings, in Unicode's normal form; ValueError saying what is wrong with another."""
    name = unicodedata.normalize("NFC", value.strip())
    if len(name) > NAME_CHARACTERS or len(name.encode()) > 2 * NAME_CHARACTERS:
        raise ValueError(f"a name has at most {NAME_CHARACTERS} characters")
    if not re.fullmatch(rf"\w[\w .()-]*({'|'.join(map(re.escape, endings))})", name) or ".." in name:
        raise ValueError(
            f"give a plain name of letters and figures that ends in {' or '.join(endings)}, without folders"
        )
    if name.split(".", 1)[0].strip().lower() in RESERVED:
        raise ValueError("this name is reserved by some systems, choose another")
    return name


def write_whole(path: Path, text: str) -> int:
    """Write a file so that a reader, or a crash, never sees a part of it; returns its bytes."""
    content = text.encode()
    descriptor, part = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(part).replace(path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
    return len(content)
