"""`POST /v1/traces`: OTLP over HTTP, answered with 200 only after the spans are durable."""

from __future__ import annotations

import hmac
import json
import zlib
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from traces.errors import TracesError, UndecodableError

if TYPE_CHECKING:
    from agent.settings import Settings
    from dashboard.background import Background
    from traces.ingest import IngestResult

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
RETRY_SECONDS = 5
REQUESTS_AT_ONCE = 16
"""More than this wait in memory for the one writer of the store; they are told to come back."""
PROBLEMS_TOLD = 5
GZIP_PIECE = 4_096

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
        self._busy = 0
        self.accepted = 0
        """Spans taken since the server began."""
        self.refused = 0

    async def post(self, request: Request) -> Response:
        """Answer one request, in its own encoding."""
        content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        try:
            self._check_token(request)
            return await self._answer(request, content_type)
        except Refusal as refusal:
            return refused(refusal, content_type)

    async def _answer(self, request: Request, content_type: str) -> Response:
        if self._busy >= REQUESTS_AT_ONCE:
            raise Refusal(429, RESOURCE_EXHAUSTED, "Too many requests at once; send this one again in a moment.")
        self._busy += 1
        try:
            body = await self._body(request, content_type)
            result = await run_in_threadpool(self._take, body, content_type)
        finally:
            self._busy -= 1
        self.accepted += result.accepted
        self.refused += result.refused
        return taken(result, content_type)

    def _take(self, body: bytes, content_type: str) -> IngestResult:
        """Decode and store; durable on return."""
        from traces.ingest import Ingest  # noqa: PLC0415 - loaded behind the pages
        from traces.otlp import decode  # noqa: PLC0415

        app = self._background.app
        if app is None:
            raise Refusal(503, UNAVAILABLE, "The stores are not open yet; send this again in a moment.")
        try:
            return Ingest(app.spans, app.prices).ingest_decoded(self._settings.project, decode(body, content_type))
        except UndecodableError as error:
            raise Refusal(400, INVALID_ARGUMENT, error.message) from error
        except TracesError as error:
            raise Refusal(503, UNAVAILABLE, error.message) from error

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
        limit = self._settings.otlp_max_bytes
        body = await read(request, limit)
        return await run_in_threadpool(unpacked, body, limit) if encoding == "gzip" else body


async def read(request: Request, limit: int) -> bytes:
    """The body as it was sent; Refusal if it is beyond the limit or ends early."""
    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > limit:
                raise too_large(limit)
            parts.append(part)
    except ClientDisconnect as error:
        raise Refusal(400, INVALID_ARGUMENT, "The request ended early.") from error
    return b"".join(parts)


def unpacked(body: bytes, limit: int) -> bytes:
    """Every member of a gzip body, one after the other; Refusal for what is not gzip, cut off, or beyond the limit."""
    unpacker = zlib.decompressobj(wbits=31)
    data = bytearray()
    # In pieces, because each member hands on a copy of what follows it.
    for begin in range(0, len(body), GZIP_PIECE):
        rest = body[begin : begin + GZIP_PIECE]
        while rest:
            if unpacker.eof:
                unpacker = zlib.decompressobj(wbits=31)
            try:
                data += unpacker.decompress(rest, limit + 1 - len(data))
            except zlib.error as error:
                raise Refusal(400, INVALID_ARGUMENT, f"The body is not gzip throughout: {error}.") from error
            if len(data) > limit:
                raise too_large(limit)
            rest = unpacker.unused_data
    if not unpacker.eof:
        raise Refusal(400, INVALID_ARGUMENT, "The gzip body is cut off.")
    return bytes(data)


def too_large(limit: int) -> Refusal:
    """For a body with more bytes than the limit."""
    return Refusal(413, RESOURCE_EXHAUSTED, f"A request may have {limit:,} bytes unpacked (PLANDECK_OTLP_MAX_BYTES).")


def taken(result: IngestResult, content_type: str) -> Response:
    """`ExportTraceServiceResponse` in the request's encoding; partial success where spans were refused."""
    words = " ".join(result.problems[:PROBLEMS_TOLD])
    if content_type == JSON:
        told = {"rejectedSpans": str(result.refused), "errorMessage": words}
        return Response(json.dumps({"partialSuccess": told} if result.refused else {}), media_type=JSON)
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (  # noqa: PLC0415 - loaded behind the pages
        ExportTracePartialSuccess,
        ExportTraceServiceResponse,
    )

    answer = ExportTraceServiceResponse()
    if result.refused:
        answer.partial_success.CopyFrom(ExportTracePartialSuccess(rejected_spans=result.refused, error_message=words))
    return Response(answer.SerializeToString(), media_type=PROTOBUF)


def refused(refusal: Refusal, content_type: str) -> Response:
    """`google.rpc.Status` in the request's encoding, JSON where that is unknown."""
    headers = {"Retry-After": str(RETRY_SECONDS)} if refusal.status in (429, 503) else {}
    if refusal.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if content_type == PROTOBUF:
        body = status_message(refusal.code, refusal.message)
        return Response(body, refusal.status, headers, media_type=PROTOBUF)
    body = json.dumps({"code": refusal.code, "message": refusal.message}).encode()
    return Response(body, refusal.status, headers, media_type=JSON)


def status_message(code: int, message: str) -> bytes:
    """`google.rpc.Status` as protobuf: field 1 the code, field 2 the message."""
    text = message.encode()
    return bytes([0x08, code, 0x12]) + _varint(len(text)) + text


def _varint(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])
