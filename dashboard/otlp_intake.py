"""`POST /v1/traces`: OTLP over HTTP, answered with 200 only after the spans are durable."""

from __future__ import annotations

import hmac
import zlib
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from traces.errors import TracesError

if TYPE_CHECKING:
    from agent.settings import Settings
    from dashboard.background import Background

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
RETRY_SECONDS = 5

# Codes of google.rpc.Status.
INVALID_ARGUMENT = 3
RESOURCE_EXHAUSTED = 8
UNAVAILABLE = 14
UNAUTHENTICATED = 16


class Refusal(Exception):
    """Why a request is not taken: the HTTP status, the code of google.rpc, and a sentence."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


class Intake:
    """Takes the trace requests of one server."""

    def __init__(self, settings: Settings, background: Background) -> None:
        self._settings = settings
        self._background = background

    async def post(self, request: Request) -> Response:
        """Answer one request, in its own encoding."""
        content_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
        try:
            self._check_token(request)
            body = await self._body(request, content_type)
            return await run_in_threadpool(self._take, body, content_type)
        except Refusal as refusal:
            return refused(refusal, content_type)

    def _check_token(self, request: Request) -> None:
        token = self._settings.otlp_token
        given = request.headers.get("authorization", "").encode()
        if token and not hmac.compare_digest(given, f"Bearer {token}".encode()):
            raise Refusal(401, UNAUTHENTICATED, "A valid bearer token is needed (PLANDECK_OTLP_TOKEN of the server).")

    async def _body(self, request: Request, content_type: str) -> bytes:
        if content_type not in (PROTOBUF, JSON):
            raise Refusal(415, INVALID_ARGUMENT, f"Send {PROTOBUF} or {JSON}, not {content_type or 'nothing'}.")
        encoding = request.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("identity", "gzip"):
            raise Refusal(415, INVALID_ARGUMENT, f"Content-Encoding {encoding!r} is not taken; use gzip or none.")
        body = await self._read(request)
        return self._unpacked(body) if encoding == "gzip" else body

    async def _read(self, request: Request) -> bytes:
        parts: list[bytes] = []
        size = 0
        try:
            async for part in request.stream():
                size += len(part)
                if size > self._settings.otlp_max_bytes:
                    raise self._too_large()
                parts.append(part)
        except ClientDisconnect as error:
            raise Refusal(400, INVALID_ARGUMENT, "The request ended early.") from error
        return b"".join(parts)

    def _unpacked(self, body: bytes) -> bytes:
        limit = self._settings.otlp_max_bytes
        unpacker = zlib.decompressobj(wbits=31)
        try:
            data = unpacker.decompress(body, limit + 1)
        except zlib.error as error:
            raise Refusal(400, INVALID_ARGUMENT, f"The body is not gzip: {error}.") from error
        if len(data) > limit:
            raise self._too_large()
        if not unpacker.eof:
            raise Refusal(400, INVALID_ARGUMENT, "The gzip body is cut off.")
        return data

    def _too_large(self) -> Refusal:
        limit = self._settings.otlp_max_bytes
        return Refusal(
            413, RESOURCE_EXHAUSTED, f"A request may have {limit:,} bytes unpacked (PLANDECK_OTLP_MAX_BYTES)."
        )
