"""The folder of the embedded databases, artifacts and outbox."""

from __future__ import annotations

from pathlib import Path

from agent.errors import StorageError


def make_home(home: Path) -> None:
    """The home folder exists afterwards; StorageError naming it and the remedy otherwise."""
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"The data folder {home} cannot be made: {error.strerror}. Choose another with PLANDECK_HOME."
        ) from error
