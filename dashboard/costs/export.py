"""The selection of the costs page as CSV. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from agent.shapes import dollars_json, usage_figures_json
from traces.records import UsageRow

FIGURES = (
    *("calls", "errors", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
    *("reasoning_tokens", "real_cost_usd", "illustrative_cost_usd", "unpriced_calls", "calls_without_usage"),
    *("calls_with_invalid_usage", "illustrative_calls", "reported_calls"),
)


def csv_text(rows: Sequence[UsageRow], groups: Sequence[str]) -> str:
    """The rows as CSV with exact amounts, real and made-up money apart; empty where something is unknown."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*groups, *FIGURES])
    for row in rows:
        figures = {**usage_figures_json(row), "real_cost_usd": dollars_json(row.real_cost)}
        writer.writerow([*(_harmless(row.group[name] or "") for name in groups), *(figures[name] for name in FIGURES)])
    return text.getvalue()


def _harmless(text: str) -> str:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
