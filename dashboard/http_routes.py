"""Plandeck's own routes beside the pages: health, metrics, and the intake of traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from dashboard.health import health
from dashboard.metrics import metrics_text
from dashboard.otlp_intake import Intake

if TYPE_CHECKING:
    from agent.settings import Settings
    from dashboard.background import Background


def routes(settings: Settings, background: Background) -> list[Route]:
    """The routes of one server."""
    intake = Intake(settings, background)

    async def healthz(_: Request) -> Response:
        return JSONResponse(health(settings))

    async def readyz(_: Request) -> Response:
        failing = await run_in_threadpool(background.failing)
        answer = {"ready": not failing, "failing": [{"name": name, "detail": text} for name, text in failing.items()]}
        return JSONResponse(answer, status_code=503 if failing else 200)

    async def metrics(_: Request) -> Response:
        text = await run_in_threadpool(metrics_text, background, intake)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    return [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/metrics", metrics),
        Route("/v1/traces", intake.post, methods=["POST"]),
    ]
