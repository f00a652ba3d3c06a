"""The checkpoint stores that can be replayed: the own one, and those that PLANDECK_STORES names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import ConfigurationError, NotFoundError

if TYPE_CHECKING:
    from agent.checkpoints.stores import CheckpointStore
    from agent.settings import Settings

OWN = "plandeck"


def store_locations(settings: Settings) -> dict[str, str]:
    """Name to path or URL, the own store first; ConfigurationError naming the entry that is none."""
    found = {OWN: settings.checkpoints_location}
    for entry in filter(None, (part.strip() for part in settings.stores.split(","))):
        name, equals, location = entry.partition("=")
        name, location = name.strip(), location.partition("#")[0].strip()
        if not (equals and name and location):
            raise ConfigurationError(f"PLANDECK_STORES has {entry!r}; an entry is name=path-or-url.")
        if name in found:
            raise ConfigurationError(f"PLANDECK_STORES has the name {name} twice, or it is the own store's name.")
        found[name] = location
    return found


def open_named(settings: Settings, word: str | None = None) -> CheckpointStore:
    """Open a store by name, path or URL, the own one for None; NotFoundError listing the names if there is none."""
    from agent.checkpoints.stores import open_store  # noqa: PLC0415 - commands that read no checkpoints do without it

    locations = store_locations(settings)
    name = OWN if word is None else word
    if name in locations:
        return open_store(locations[name], name)
    if "://" in name or Path(name).exists():
        return open_store(name, name)
    raise NotFoundError(
        f"There is no checkpoint store {name!r}: it is no file, no URL, and not among {', '.join(locations)}."
    )
