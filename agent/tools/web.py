"""What tools that speak HTTP have in common: failures by kind, and bodies that are read only so far."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from agent.errors import ConfigurationError
from agent.tools.registry import ErrorKind, ToolError
from agent.tools.text import one_line

KINDS = {
    401: ErrorKind.PERMISSION_DENIED,
    403: ErrorKind.PERMISSION_DENIED,
    407: ErrorKind.PERMISSION_DENIED,
    408: ErrorKind.TIMEOUT,
    429: ErrorKind.RATE_LIMITED,
}
REASON_CHARACTERS = 200


def web_address(text: str, variable: str) -> httpx.URL:
    """A setting's http or https address; ConfigurationError that names the variable and not its value otherwise."""
    try:
        url = httpx.URL(text.strip())
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError(f"{variable} is no address that begins with http:// or https://; correct or unset it.")
    return url


def refused(who: str, response: httpx.Response, now: datetime, reason: str | None = None) -> ToolError:
    """The failure that a status below 200 or from 300 on stands for."""
    status = response.status_code
    kind = KINDS.get(status, ErrorKind.UNAVAILABLE if status >= 500 else ErrorKind.FAILED)
    words = one_line((reason or response.reason_phrase).strip().rstrip("."), REASON_CHARACTERS)
    return ToolError(
        f"{who} answered {status}{f': {words}' if words else ''}.",
        kind=kind,
        code=f"http_{status}",
        retry_after=retry_after(response, now),
    )


def unreached(who: str, error: httpx.TransportError) -> ToolError:
    """The failure of a request that had no answer, and whose repetition harms nobody."""
    if isinstance(error, httpx.TimeoutException):
        return ToolError(f"{who} did not answer in time.", kind=ErrorKind.TIMEOUT)
    words = one_line(str(error) or type(error).__name__, REASON_CHARACTERS)
    return ToolError(f"{who} cannot be reached: {words}.", kind=ErrorKind.UNAVAILABLE)


def retry_after(response: httpx.Response, now: datetime) -> float | None:
    """Seconds that the server asks to wait, from a number or a date; None if it says nothing that can be read."""
    said = response.headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit() and len(said) < 10:
        return float(said)
    try:
        at = parsedate_to_datetime(said)
    except ValueError:
        return None
    return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - now).total_seconds())


def body_of(who: str, response: httpx.Response, limit: int) -> bytes:
    """The whole body of a streamed response, uncoded; ToolError (`too_large`) once it is longer than `limit` bytes.

    A coded body is refused unseen: a few bytes of it can become any number.
    """
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding != "identity":
        raise ToolError(
            f"{who} sent its answer coded as {one_line(coding, 40)}, although it was asked not to.",
            kind=ErrorKind.FAILED,
            code="coded",
        )
    body = bytearray()
    for part in response.iter_raw():
        body += part
        if len(body) > limit:
            raise ToolError(f"{who} sent more than {limit:,} bytes.", kind=ErrorKind.FAILED, code="too_large")
    return bytes(body)
