"""The head of an SQLite file, read without harming those who have the file open."""

from __future__ import annotations

import os
import threading
from pathlib import Path

_WAL_VERSION = b"\x02\x02"
_VERSIONS = 18

_lock = threading.Lock()
_kept: dict[tuple[int, int], int] = {}
"""Descriptors by device and inode. None is ever closed: on POSIX, closing any descriptor of a file drops every lock
that the process holds on it. SQLite connections of this very process would go on without theirs, and the next process
that closes the database would believe to be the last and remove the log that they write to."""


def uses_log(path: Path) -> bool:
    """Whether the file is in WAL mode; OSError if it cannot be read."""
    return os.pread(_descriptor(path), len(_WAL_VERSION), _VERSIONS) == _WAL_VERSION


def _descriptor(path: Path) -> int:
    with _lock:
        found = path.stat()
        key = (found.st_dev, found.st_ino)
        if key not in _kept:
            opened = os.open(path, os.O_RDONLY)
            # Another file may stand there by now; its own descriptor is kept as well.
            there = os.fstat(opened)
            key = (there.st_dev, there.st_ino)
            _kept.setdefault(key, opened)
        return _kept[key]
