"""A real server started by a test: `plandeck serve` in a process of its own, on a free port."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

READY_SECONDS = 90


@dataclass
class Served:
    """A running server."""

    home: Path
    port: int
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """What `kill -9` does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(home: Path, **settings: str) -> dict[str, str]:
    """This process's environment with nothing of Plandeck's but these settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLANDECK_")}
    return {**kept, "PLANDECK_HOME": str(home), **settings}


@contextmanager
def served(home: Path, *, port: int | None = None, folder: Path | None = None, **settings: str) -> Iterator[Served]:
    """Start a server from `folder` (by default the home's parent) and stop it at the end; ready when it yields."""
    port = port or free_port()
    log = home.parent / f"server-{port}.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "dashboard.cli", "serve", "--port", str(port)],
            env=environment(home, **settings),
            cwd=folder or home.parent,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_until_ready(process, port, log)
        yield Served(home, port, process)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + READY_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise AssertionError(f"the server ended with {process.returncode}: {log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            pass
        time.sleep(0.1)
    raise AssertionError(f"the server was not ready in time: {log.read_text()[-2000:]}")
