"""What `doctor` looks at. Each check answers whatever it meets; one that fails names the remedy."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.errors import AgentError, NotFoundError, RefusedError
from agent.home import make_home
from dashboard.named_stores import OWN, store_locations, store_problems
from traces.errors import TracesError
from traces.room import free_bytes, room_problem

if TYPE_CHECKING:
    from agent.settings import Settings

OLDEST_PYTHON = (3, 11)
RESTORE = "Do what the message says, restore the database from a backup, or choose another folder with PLANDECK_HOME."


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str
    remedy: str | None = None
    """What to do; None where nothing has to be done."""

    def to_json(self) -> dict[str, object]:
        """As `doctor --json` answers it."""
        return {"name": self.name, "ok": self.ok, "detail": self.detail, "remedy": self.remedy}


def examine() -> list[Check]:
    """Every check, in the order in which things depend on each other."""
    checks = [python()]
    try:
        from agent.settings import load_settings

        settings = load_settings()
    except AgentError as error:
        return [*checks, Check("settings", False, str(error), "Correct that setting; the others wait for it.")]
    checks.append(Check("settings", True, f"project {settings.project}, home {settings.home}"))
    for name, look, remedy in LOOKS:
        try:
            checks.append(Check(name, True, look(settings)))
        except (AgentError, TracesError) as error:
            checks.append(Check(name, False, str(error), remedy))
        except OSError as error:
            checks.append(Check(name, False, f"{error.filename or name}: {error.strerror}", remedy))
    return checks


def python() -> Check:
    """The interpreter."""
    fits = sys.version_info >= OLDEST_PYTHON
    return Check("python", fits, platform.python_version(), None if fits else "Install Python 3.11 or newer.")


def home(settings: Settings) -> str:
    """The data folder takes files, and there is room for them."""
    make_home(settings.home)
    if problem := room_problem(settings.home):
        raise AgentError(problem)
    probe = settings.home / f".doctor-{os.getpid()}"
    try:
        probe.write_bytes(b"x")
    finally:
        probe.unlink(missing_ok=True)
    free = free_bytes(settings.home)
    room = "unknown space" if free is None else f"{free // 1_000_000:,} MB"
    return f"{settings.home.resolve()} is writable, {room} free"


def records(settings: Settings) -> str:
    """The database of runs opens and answers."""
    from agent.store.gateway import open_record_store

    with open_record_store(settings.records_url) as store:
        return f"{store.count_pending(settings.project)} requests wait"


def spans(settings: Settings) -> str:
    """The database of spans opens and answers."""
    from traces.store import open_span_store

    with open_span_store(settings.spans_url) as store:
        return "has traces" if store.traces(settings.project, limit=1) else "no traces yet"


def checkpoints(settings: Settings) -> str:
    """The checkpoint store opens and answers."""
    from agent.checkpoints.stores import open_store

    store = open_store(settings.checkpoints_location, OWN)
    try:
        return "has threads" if store.threads(limit=1).items else "no threads yet"
    except NotFoundError:
        return "not made yet, the first run makes it"


def stores(settings: Settings) -> str:
    """Every store of PLANDECK_STORES answers."""
    problems = store_problems(settings)
    if problems:
        raise AgentError(" ".join(problems))
    return ", ".join(name for name in store_locations(settings) if name != OWN) or "none beside the own one"


def prices(settings: Settings) -> str:
    """The file of own prices is right, if there is one."""
    from agent.run.usecases import price_book

    book = price_book(settings)
    book.check()
    return f"own ones of {book.file}, then the built-in ones" if book.file else "the built-in ones"


def provider(settings: Settings) -> str:
    """The provider is known and has its key."""
    from agent.models.client import build_model
    from agent.models.providers import provider_of

    chosen = provider_of(settings)
    build_model(settings)
    return f"{chosen.name}, model {settings.model or chosen.model}"


def tools(settings: Settings) -> str:
    """The tools can be built; those that wait for a setting are told."""
    from agent.tools.builtin import build_registry

    registry = build_registry(settings)
    ready = ", ".join(tool.name for tool in registry.ready)
    waiting = ", ".join(f"{tool.name} ({tool.missing})" for tool in registry if tool.missing)
    return f"{ready}; not configured: {waiting}" if waiting else ready


def agents(settings: Settings) -> str:
    """Every agent's manifest is right."""
    from agent.manifests.catalogue import Catalogue
    from agent.tools.builtin import build_registry

    found = Catalogue(settings.home, build_registry(settings)).agents()
    problems = [agent.problem for agent in found if agent.problem]
    if problems:
        raise AgentError(" ".join(problems))
    return ", ".join(f"{agent.name} ({agent.file})" for agent in found)


def port(settings: Settings) -> str:
    """The dashboard could listen, or does already."""
    from dashboard.health import served_by_this
    from dashboard.server import check_exposure, check_port

    check_exposure(settings)
    try:
        check_port(settings.host, settings.port)
    except RefusedError:
        if served_by_this(settings):
            return f"{settings.host}:{settings.port} is served by this Plandeck"
        raise
    return f"{settings.host}:{settings.port} is free"


LOOKS: tuple[tuple[str, Callable[[Settings], str], str], ...] = (
    ("home", home, "Make room there, or choose another folder with PLANDECK_HOME."),
    ("records", records, RESTORE),
    ("spans", spans, RESTORE),
    ("checkpoints", checkpoints, RESTORE),
    ("stores", stores, "Correct PLANDECK_STORES, or what it names."),
    ("prices", prices, "Correct or remove that file; PLANDECK_PRICES names another."),
    ("provider", provider, "Set the variable that the message names."),
    ("tools", tools, "Correct or unset the variable that the message names, or reinstall Plandeck: make setup."),
    ("agents", agents, "Correct that manifest, or take it out of the folder agents of the home."),
    ("port", port, "Stop what listens there, or choose another port with PLANDECK_PORT."),
)
