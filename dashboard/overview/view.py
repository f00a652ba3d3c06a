"""The overview: what waits, what runs, what failed, what is done; beside it money and health."""

from __future__ import annotations

POLL_SECONDS = 3
"""How often the page looks while something moves; a quiet page is looked at every half minute."""
QUIET_SECONDS = 30
