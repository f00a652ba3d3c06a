"""The folder of the embedded databases, artifacts and outbox."""

from __future__ import annotations

from errno import ENOSPC
from pathlib import Path

from agent.errors import StorageError
from traces.room import room_wanted


def make_home(home: Path) -> None:
    """The home folder exists afterwards; StorageError naming it and the remedy otherwise."""
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        # The folder itself is not there to ask how full its disk is.
        told = room_wanted(home.parent) if error.errno == ENOSPC else "Choose another with PLANDECK_HOME."
        raise StorageError(f"The data folder {home} cannot be made: {error.strerror}. {told}") from error
