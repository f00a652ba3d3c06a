"""Whether a step's criterion is met."""

from __future__ import annotations

import re
from typing import Any

from agent.models.offline.request import ChatRequest
from agent.models.offline.vocabulary import NUMBERS

ROWS = re.compile(rf"\b(?P<how>at most|at least|exactly)?\s*(?P<n>{'|'.join(NUMBERS)}|\d+) rows?\b", re.IGNORECASE)
KEY_RESULT_CHARACTERS = 300


def judge(request: ChatRequest) -> dict[str, Any]:
    """The arguments of `judge_step`."""
    step = request.json_section("Step", {})
    observation = request.json_section("Observation", {})
    criterion = str(step.get("acceptance_criteria", ""))
    met, reason = _met(criterion, observation)
    return {"criterion_met": met, "reason": reason, "key_result": _key_result(observation)}


def _met(criterion: str, observation: dict[str, Any]) -> tuple[bool, str]:
    if not observation.get("text"):
        return False, "There is nothing to look at."
    if observation.get("empty"):
        allowed = "empty" in criterion.lower()
        return allowed, "Nothing was found" + (", which the criterion allows." if allowed else ".")
    data = observation.get("data")
    rows = data.get("row_count") if isinstance(data, dict) else None
    wanted = ROWS.search(criterion)
    if rows is not None and wanted:
        number = NUMBERS.get(wanted["n"].lower()) or int(wanted["n"])
        how = (wanted["how"] or "exactly").lower()
        met = {"at most": rows <= number, "at least": rows >= number}.get(how, rows == number)
        return met, f"There {'is one row' if rows == 1 else f'are {rows} rows'}."
    return True, "The observation shows what the criterion asks for."


def _key_result(observation: dict[str, Any]) -> str:
    lines = [line for line in str(observation.get("text", "")).splitlines() if line.strip()]
    data = observation.get("data")
    if isinstance(data, dict) and "rows" in data and len(lines) > 2:
        lines = lines[2:]
    return "; ".join(lines)[:KEY_RESULT_CHARACTERS] or "nothing"
