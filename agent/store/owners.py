"""Who holds a lease: one process of one host, told apart from a later process with the same number."""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path

UNKNOWN = "?"


def this_process() -> str:
    """`host:pid:started` of this process; `started` is `?` where the system does not tell it."""
    pid = os.getpid()
    return f"{_host()}:{pid}:{_started(pid) or UNKNOWN}"


def is_dead(owner: str) -> bool:
    """Whether that process of this host has ended; False for another host's, of which nothing is known here."""
    host, pid, started = _parts(owner)
    if host != _host() or not pid.isdecimal():
        return False
    if not _exists(int(pid)):
        return True
    now = _started(int(pid))
    return now is not None and started not in (UNKNOWN, now)


def _parts(owner: str) -> tuple[str, str, str]:
    host, _, rest = owner.partition(":")
    pid, _, started = rest.partition(":")
    return host, pid, started


@cache
def _host() -> str:
    # Two containers may share a host name but never the pids behind it, so the kernel's namespace is part of the name.
    return socket.gethostname().replace(":", "-") + _namespace()


def _namespace() -> str:
    try:
        return "/" + Path("/proc/self/ns/pid").readlink().name.strip("pid:[]")
    except OSError:
        return ""


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _stat(pid: int) -> list[str]:
    """Fields of `/proc/<pid>/stat` after the command's name; empty where there is no such file."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _is_zombie(pid: int) -> bool:
    return _stat(pid)[:1] == ["Z"]


def _started(pid: int) -> str | None:
    """When a process began, in clock ticks since the machine started; None where the system does not tell."""
    fields = _stat(pid)
    return fields[19] if len(fields) > 19 else None
