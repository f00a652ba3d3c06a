"""One figure of a metric strip."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.look.formats import percent
from traces.usage import OVER_PLANNED

PLANNING_HELP = f"Planning tokens as a share of all tokens. A run above {percent(OVER_PLANNED)} was over-planned."


@dataclass(frozen=True, slots=True)
class Metric:
    """Label, value, and the context that goes into the gray pill (under 18 characters). Plain text."""

    label: str
    value: str
    context: str = ""
    help: str | None = None
