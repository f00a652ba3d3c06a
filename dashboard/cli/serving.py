"""`serve` and `worker`: the processes that stay."""

from __future__ import annotations

import signal
import threading
from typing import Annotated

import typer

from dashboard.cli.options import Project, settings_for
from dashboard.cli.output import note


def serve(
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on; PLANDECK_HOST otherwise.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", help="Port to listen on; PLANDECK_PORT otherwise.", min=1, max=65_535)
    ] = None,
    project: Project = None,
) -> None:
    """Serve the dashboard, take traces on /v1/traces, and run the agent, until stopped."""
    from dashboard.server import serve as serve_until_stopped

    serve_until_stopped(settings_for(project, host=host, port=port))


def worker(
    concurrency: Annotated[int, typer.Option("--concurrency", help="Runs at the same time.", min=1, max=64)] = 4,
    project: Project = None,
) -> None:
    """Run the agent for dashboards on the same database, until stopped."""
    from agent.run.worker import Worker
    from dashboard.cli.opening import open_agent

    stopping = threading.Event()
    for wanted in (signal.SIGTERM, signal.SIGINT):
        signal.signal(wanted, lambda *_: stopping.set())
    with open_agent(project) as app:
        works = Worker(app, concurrency)
        works.start()
        note(f"Plandeck's worker takes up to {concurrency} runs of project {app.project} at a time.")
        stopping.wait()
        works.stop()
