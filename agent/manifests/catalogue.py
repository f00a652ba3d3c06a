"""The agents that there are: the shipped ones, and those of the home's `agents` folder, which win over them.

Files are read whenever somebody asks, so a change is in force for the next run without a restart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from agent.errors import NotFoundError
from agent.manifests.manifest import Manifest
from agent.manifests.reading import MAX_BYTES, ManifestError, read_manifest
from agent.tools.registry import ToolRegistry

DEFAULT_AGENT = "analyst"
SHIPPED = (DEFAULT_AGENT, "explorer", "assistant")
FOLDER = "agents"
ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent of the catalogue, usable or not."""

    name: str
    file: str
    """Where it is described, as messages name it."""
    manifest: Manifest | None
    """None for one that cannot be used."""
    problem: str | None = None
    """Every fault of an unusable one; None for a usable one."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The agents over one home and one registry."""

    home: Path
    registry: ToolRegistry

    def agents(self) -> list[Agent]:
        """Every agent, the shipped ones first; an own one stands in the place of a shipped one of its name."""
        found = {name: self._shipped(name) for name in SHIPPED}
        own: dict[str, Agent] = {}
        for agent in self._own():
            twin = own.get(agent.name)
            own[agent.name] = agent if twin is None else _twins(twin, agent)
        return list({**found, **own}.values())

    def agent(self, name: str) -> Manifest:
        """The manifest of that name; NotFoundError with the choices, ManifestError if it cannot be used."""
        agents = {agent.name: agent for agent in self.agents()}
        found = agents.get(name)
        if found is None:
            raise NotFoundError(f"There is no agent called {name!r}; the choice is: {', '.join(agents)}.")
        if found.manifest is None:
            raise ManifestError(found.problem or f"{found.file} cannot be used.")
        return found.manifest

    def _shipped(self, name: str) -> Agent:
        return _agent(_shipped_content(name), f"{name}.yaml (shipped)", name, self.registry)

    def _own(self) -> Iterator[Agent]:
        folder = self.home / FOLDER
        try:
            found = sorted(file for file in folder.iterdir() if file.suffix in ENDINGS)
        except (FileNotFoundError, NotADirectoryError):
            return
        for file in found:
            place = f"{FOLDER}/{file.name}"
            try:
                with file.open("rb") as opened:
                    content = opened.read(MAX_BYTES + 1)
            except OSError as error:
                yield Agent(file.stem, place, None, f"{place} cannot be read: {error.strerror}.")
            else:
                yield _agent(content, place, file.stem, self.registry)


def shipped_default(registry: ToolRegistry) -> Manifest:
    """The shipped analyst, for runs that were begun before runs kept their manifest."""
    return read_manifest(_shipped_content(DEFAULT_AGENT), f"{DEFAULT_AGENT}.yaml (shipped)", registry)


def _shipped_content(name: str) -> bytes:
    return files("agent.manifests").joinpath("shipped", f"{name}.yaml").read_bytes()


def _agent(content: bytes, file: str, stem: str, registry: ToolRegistry) -> Agent:
    try:
        manifest = read_manifest(content, file, registry)
    except ManifestError as error:
        return Agent(error.agent or stem, file, None, error.message)
    return Agent(manifest.name, file, manifest)


def _twins(one: Agent, other: Agent) -> Agent:
    """Two files of one name: nobody knows which is meant, so neither is used."""
    return Agent(one.name, one.file, None, f"{one.file} and {other.file} both describe {one.name}; rename one of them.")
