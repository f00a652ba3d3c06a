"""One figure of a metric strip."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Metric:
    """Label, value, and the context that goes into the gray pill (under 18 characters). Plain text."""

    label: str
    value: str
    context: str = ""
    help: str | None = None
