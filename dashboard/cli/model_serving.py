"""`serve-model`: a small real model on this machine, for providers `llamacpp` and `test-model`."""

from __future__ import annotations

import signal
import threading
from typing import Annotated

import typer

from dashboard.cli.output import note


def serve_model(
    port: Annotated[
        int, typer.Option("--port", help="Port on 127.0.0.1 to listen on; 0 takes a free one.", min=0, max=65_535)
    ] = 8080,
) -> None:
    """Serve a small language model on this machine as an OpenAI-compatible API, until stopped.

    It is real and not wise: 135 million parameters. `make local-model` installs it.
    """
    from agent.models.local_model import start_local_model

    stopping = threading.Event()
    for wanted in (signal.SIGTERM, signal.SIGINT):
        signal.signal(wanted, lambda *_: stopping.set())
    serving = start_local_model(port)
    note(f"The local model answers on {serving.address}")
    note(f"Use it with: PLANDECK_PROVIDER=llamacpp LLAMACPP_BASE_URL={serving.address}")
    stopping.wait()
