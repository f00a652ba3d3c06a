"""The stores, tools and model of this process, opened once and only when somebody needs them.

Nothing of the agent is imported before the first call, so that pages are served while it loads.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.accounts import system_user

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck
    from agent.settings import Settings

_lock = threading.RLock()


@dataclass
class _Process:
    """What this process has open; guarded by the lock."""

    settings: Settings | None = None
    stack: ExitStack | None = None
    opened: Plandeck | None = None


_process = _Process()


def use_settings(settings: Settings) -> None:
    """Make `services` open with these settings; call it before the first use."""
    with _lock:
        _process.settings = settings


def current_settings() -> Settings:
    """The settings of this process; ConfigurationError naming the variable if one is wrong."""
    with _lock:
        if _process.settings is None:
            from agent.settings import load_settings  # noqa: PLC0415 - see the module's head

            _process.settings = load_settings()
        return _process.settings


def services() -> Plandeck:
    """Settings, records, spans, prices and registry, opened at the first call; from any thread.

    AgentError or TracesError with one sentence if something cannot be opened; the next call tries again.
    """
    with _lock:
        if _process.opened is None:
            from agent.run.usecases import open_plandeck  # noqa: PLC0415 - see the module's head

            stack = ExitStack()
            _process.opened = stack.enter_context(open_plandeck(current_settings()))
            _process.stack = stack
        return _process.opened


def close_services() -> None:
    """Close what is open; `services` opens it anew."""
    with _lock:
        stack, _process.stack, _process.opened = _process.stack, None, None
    if stack:
        stack.close()


def current_user() -> str:
    """The person at this machine: the account of the operating system."""
    return system_user()
