"""What kind of failure a model call ended with."""

from __future__ import annotations

import httpx
from openai import APIConnectionError

TRANSIENT = (408, 409, 425, 429)
REFUSED = (400, 401, 403, 404, 422)


def status_of(error: BaseException) -> int | None:
    """The HTTP status that a provider answered with, if it answered."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def is_transient(error: BaseException) -> bool:
    """Whether asking again later may help: no connection, a timeout, too many requests, a fault of the server."""
    status = status_of(error)
    if status is not None:
        return status in TRANSIENT or status >= 500
    return isinstance(error, APIConnectionError | httpx.TransportError)


def is_refusal(error: BaseException) -> bool:
    """Whether the provider refuses for good: a wrong key, no permission, an unknown model, a request it cannot read."""
    return status_of(error) in REFUSED
