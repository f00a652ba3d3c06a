"""How much free space the data folder needs, and what to say when there is less."""

from __future__ import annotations

import shutil
from pathlib import Path

NEEDED_MEGABYTES = 200
_MEGABYTE = 1_000_000


def free_bytes(folder: Path) -> int | None:
    """Free space for files in a folder; None if it cannot be told."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def room_wanted(folder: Path) -> str:
    """How much has to be free in a folder and how much is, with the remedy; a sentence to end a refusal with."""
    free = free_bytes(folder)
    found = "" if free is None else f", which has {free / _MEGABYTE:,.1f} MB"
    return (
        f"Plandeck needs {NEEDED_MEGABYTES} MB free in {folder}{found}; make room there, or choose another folder with "
        "PLANDECK_HOME."
    )


def room_problem(folder: Path) -> str | None:
    """That the disk of a folder is nearly full; None if there is room."""
    free = free_bytes(folder)
    if free is None or free >= NEEDED_MEGABYTES * _MEGABYTE:
        return None
    return f"The disk is nearly full. {room_wanted(folder)}"
