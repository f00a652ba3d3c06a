"""The server: Streamlit's pages and Plandeck's own routes on one port, with the worker behind them."""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from io import RawIOBase
from pathlib import Path
from typing import Any

from agent.errors import ConfigurationError, RefusedError, StorageError
from agent.home import make_home
from agent.settings import Settings
from dashboard.http_guard import is_loopback
from traces.room import room_wanted

MAIN = Path(__file__).with_name("main.py")
LOCK_FILE = "serve.lock"


def address_of(settings: Settings) -> str:
    """Where a browser on this machine finds the dashboard."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or Ctrl-C. AgentError with one sentence if it must not or cannot start."""
    check_exposure(settings)
    check_provider(settings)
    with only_server_of(settings):
        check_port(settings.host, settings.port)
        _run(settings)


def check_exposure(settings: Settings) -> None:
    """Refuse to listen to other machines: nobody signs in yet, so anybody there could approve plans."""
    if not is_loopback(settings.host):
        raise ConfigurationError(
            f"Listening on {settings.host} needs sign-in, which Plandeck does not have yet; leave PLANDECK_HOST at "
            "127.0.0.1 and reach it through a tunnel, or a proxy with sign-in of its own that connects to 127.0.0.1."
        )


def check_provider(settings: Settings) -> None:
    """ConfigurationError naming the variable and the choices if the provider or its key is wrong."""
    from agent.models.providers import provider_of  # noqa: PLC0415 - after the checks that need nothing

    provider_of(settings)


def check_port(host: str, port: int) -> None:
    """RefusedError naming the port and the remedy if nobody can listen there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except PermissionError as error:
            raise RefusedError(
                f"Port {port} needs more rights than this account has; choose one above 1023 with --port.",
                code="port_refused",
            ) from error
        except socket.gaierror as error:
            raise ConfigurationError(f"PLANDECK_HOST or --host is wrong: {host!r} is no address here.") from error
        except OSError as error:
            raise RefusedError(
                f"Port {port} on {host} is not free ({error.strerror}); stop what listens there or choose another "
                "with --port.",
                code="port_in_use",
            ) from error


@contextmanager
def only_server_of(settings: Settings) -> Iterator[None]:
    """Hold the home folder's lock; RefusedError if another server has it. PostgreSQL takes any number of servers."""
    if settings.database_url:
        yield
        return
    make_home(settings.home)
    try:
        file = (settings.home / LOCK_FILE).open("a+b", buffering=0)
    except OSError as error:
        raise StorageError(
            f"The data folder {settings.home} cannot be written: {error.strerror}. Choose another with PLANDECK_HOME."
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            holder = file.read().decode(errors="replace").strip()
            raise RefusedError(
                f"Another server works on {settings.home} already ({holder or 'just starting'}); stop it, "
                "choose another folder with PLANDECK_HOME, or use PostgreSQL for several servers.",
                code="home_in_use",
            ) from error
        _write_holder(file, settings)
        yield


def _write_holder(file: RawIOBase, settings: Settings) -> None:
    try:
        file.truncate(0)
        file.write(f"process {os.getpid()}, {address_of(settings)}".encode())
    except OSError as error:
        raise StorageError(
            f"The data folder {settings.home} cannot be written: {error.strerror}. {room_wanted(settings.home)}"
        ) from error


def _run(settings: Settings) -> None:
    """Hand over to Streamlit, with the packaged configuration wherever this was started."""
    from dashboard.services import use_settings  # noqa: PLC0415 - the checks before this need no Streamlit

    use_settings(settings)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    logging.getLogger("uvicorn.error").addFilter(lambda record: record.levelno >= logging.WARNING)
    # Streamlit looks for `.streamlit/config.toml` beside the program that was called.
    sys.argv = [str(MAIN)]
    create_app(settings).run(
        config={
            "server.address": settings.host,
            "server.port": settings.port,
            "server.headless": True,
            "server.fileWatcherType": "none",
            # Otherwise every bare string of a page, the documentation of a constant for example, is drawn.
            "runner.magicEnabled": False,
            "browser.gatherUsageStats": False,
            "logger.hideWelcomeMessage": True,
        }
    )


def create_app(settings: Settings) -> Any:
    """Make the ASGI application `st.App`: pages, routes, guard, and the worker in its lifespan."""
    import streamlit as st  # noqa: PLC0415 - takes a second
    from starlette.middleware import Middleware  # noqa: PLC0415

    from dashboard.background import Background  # noqa: PLC0415
    from dashboard.http_guard import HostGuard  # noqa: PLC0415
    from dashboard.http_routes import routes  # noqa: PLC0415

    background = Background()

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[dict[str, Any]]:
        background.start()
        print(f"Plandeck is served at {address_of(settings)}", flush=True)
        try:
            yield {}
        finally:
            background.stop()

    return st.App(
        MAIN,
        routes=routes(settings, background),
        middleware=[Middleware(HostGuard, address=address_of(settings))],
        lifespan=lifespan,
    )
