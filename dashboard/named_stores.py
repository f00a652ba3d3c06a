"""The checkpoint stores that can be replayed: the own one, and those that PLANDECK_STORES names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent.errors import AgentError, ConfigurationError, NotFoundError

if TYPE_CHECKING:
    from agent.checkpoints.stores import CheckpointStore
    from agent.settings import Settings

OWN = "plandeck"


@dataclass(frozen=True, slots=True)
class NamedStores:
    """What PLANDECK_STORES says."""

    locations: dict[str, str]
    """Name to path or URL, the own store first; entries that are wrong are left out."""
    problems: tuple[str, ...]
    """A sentence for each wrong entry; never with a password."""


def named_stores(settings: Settings) -> NamedStores:
    """Every store that has a name, and what is wrong with the other entries; nothing is opened."""
    found = {OWN: settings.checkpoints_location}
    problems = []
    for entry in filter(None, (part.strip() for part in settings.stores.split(","))):
        name, _, location = entry.partition("=")
        name, location = name.strip(), location.partition("#")[0].strip()
        try:
            _check_entry(entry, name, location, found)
        except ConfigurationError as error:
            problems.append(error.message)
        else:
            found[name] = location
    return NamedStores(found, tuple(problems))


def _check_entry(entry: str, name: str, location: str, found: dict[str, str]) -> None:
    from agent.checkpoints.stores import check_location  # noqa: PLC0415 - see `open_named`

    if not (name and location):
        shown = "an entry without a name, an address that is not shown here" if "@" in entry else repr(entry)
        raise ConfigurationError(f"PLANDECK_STORES has {shown}; an entry is name=path-or-url.")
    if name in found:
        raise ConfigurationError(f"PLANDECK_STORES has the name {name} twice, or it is the own store's name.")
    try:
        check_location(location)
    except ConfigurationError as error:
        raise ConfigurationError(f"PLANDECK_STORES has a wrong address for {name}: {error.message}") from error


def store_locations(settings: Settings) -> dict[str, str]:
    """Name to path or URL, the own store first; ConfigurationError naming the entry that is none."""
    stores = named_stores(settings)
    if stores.problems:
        raise ConfigurationError(stores.problems[0])
    return stores.locations


def store_problems(settings: Settings) -> list[str]:
    """A sentence for each wrong entry, and for each named store that does not answer; opens them all."""
    from agent.checkpoints.stores import open_store  # noqa: PLC0415 - see `open_named`

    stores = named_stores(settings)
    problems = list(stores.problems)
    for name, location in stores.locations.items():
        if name != OWN:
            try:
                open_store(location, name).threads(limit=1)
            except AgentError as error:
                problems.append(error.message)
    return problems


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
