"""What `doctor` looks at. Each check answers whatever it meets; one that fails names the remedy."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.errors import AgentError, NotFoundError
from dashboard.named_stores import OWN
from traces.errors import TracesError

if TYPE_CHECKING:
    from agent.settings import Settings

FREE_BYTES = 200_000_000
OLDEST_PYTHON = (3, 11)


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
    settings.home.mkdir(parents=True, exist_ok=True)
    probe = settings.home / f".doctor-{os.getpid()}"
    try:
        probe.write_bytes(b"x")
    finally:
        probe.unlink(missing_ok=True)
    free = shutil.disk_usage(settings.home).free
    if free < FREE_BYTES:
        raise AgentError(f"{settings.home} has only {free:,} bytes left.")
    return f"{settings.home.resolve()} is writable, {free // 1_000_000:,} MB free"


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


def port(settings: Settings) -> str:
    """The dashboard could listen."""
    from dashboard.server import check_exposure, check_port

    check_exposure(settings)
    check_port(settings.host, settings.port)
    return f"{settings.host}:{settings.port} is free"


LOOKS: tuple[tuple[str, Callable[[Settings], str], str], ...] = (
    ("home", home, "Make room there, or choose another folder with PLANDECK_HOME."),
    ("records", records, "Restore the database from a backup, or choose another folder with PLANDECK_HOME."),
    ("spans", spans, "Restore the database from a backup, or choose another folder with PLANDECK_HOME."),
    ("checkpoints", checkpoints, "Restore the database from a backup, or choose another folder with PLANDECK_HOME."),
    ("provider", provider, "Set the variable that the message names."),
    ("tools", tools, "Correct or unset the variable that the message names, or reinstall Plandeck: make setup."),
    ("port", port, "Stop what listens there (a running Plandeck does), or choose another with PLANDECK_PORT."),
)
