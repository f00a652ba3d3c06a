"""What `/healthz` answers, and how another process of this machine recognises the server of its own home by it."""

from __future__ import annotations

import hashlib
import json
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.settings import Settings

SECONDS = 3.0
LONGEST_ANSWER = 10_000


def health(settings: Settings) -> dict[str, str]:
    """The document of `/healthz`; `instance` is the same for every process that works on this home folder."""
    home = str(settings.home.resolve()).encode("utf-8", "surrogateescape")
    return {"status": "ok", "instance": hashlib.sha256(home).hexdigest()[:16]}


def served_by_this(settings: Settings) -> bool:
    """Whether the server of this home answers at the address of the settings; whatever else listens there does not."""
    connection = HTTPConnection(settings.host, settings.port, timeout=SECONDS)
    try:
        connection.request("GET", "/healthz")
        found = json.loads(connection.getresponse().read(LONGEST_ANSWER))
    except (OSError, HTTPException, ValueError):
        return False
    finally:
        connection.close()
    return bool(found == health(settings))
