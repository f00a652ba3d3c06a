"""Prints how long Plandeck takes to answer `--help`, to serve its first page, and to do a run; figures only."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

PLANDECK = str(Path(sys.executable).with_name("plandeck"))
TASK = "Which three products sold most in the last quarter, and does stock cover the next month?"
LONGEST_SECONDS = 60.0


def main() -> None:
    """Measure each in an own, empty home."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PLANDECK_HOME": f"{folder}/home"}
        print(f"help_seconds {timed([PLANDECK, '--help'], environment):.2f}")
        print(f"runs_seconds {timed([PLANDECK, 'runs', '--json'], environment):.2f}")
        print(f"run_seconds {timed([PLANDECK, 'run', TASK, '--approve-as', 'bench', '--json'], environment):.2f}")
        serving(folder, environment)


def timed(command: list[str], environment: dict[str, str]) -> float:
    """Seconds that a command takes."""
    began = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)  # noqa: S603 - our own program
    return time.perf_counter() - began


def serving(folder: str, environment: dict[str, str]) -> None:
    """Seconds from the start of `serve` to its first page and to its readiness."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    began = time.perf_counter()
    server = subprocess.Popen(  # noqa: S603 - our own program
        [PLANDECK, "serve", "--port", str(port)], cwd=folder, env=environment, stdout=subprocess.DEVNULL
    )
    try:
        for name, path in (("serve_page", "/"), ("serve_ready", "/readyz")):
            await_answer(f"http://127.0.0.1:{port}{path}", began)
            print(f"{name}_seconds {time.perf_counter() - began:.2f}")
    finally:
        server.terminate()
        server.wait(LONGEST_SECONDS)


def await_answer(url: str, began: float) -> None:
    """Ask until the server answers 200."""
    while time.perf_counter() - began < LONGEST_SECONDS:
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310 - loopback
                return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"{url} did not answer within {LONGEST_SECONDS:.0f} s")


if __name__ == "__main__":
    main()
