"""Whether a step's criterion is met: counts are counted, and nothing to see is no yes unless the criterion says so."""

from __future__ import annotations

import re
from typing import Any

from agent.models.offline.naming import readable, rows_in_words
from agent.models.offline.request import ChatRequest
from agent.models.offline.words import NUMBER_WORDS

ROWS = re.compile(
    rf"\b(?P<how>at\s+most|at\s+least|exactly|up\s+to|more\s+than|fewer\s+than)?\s*(?P<n>{'|'.join(NUMBER_WORDS)}|\d+)\s+"
    r"(?:\w+\s+)?(?:rows?|lines?|results?|hits?|paragraphs?)\b(?P<fewer>,?\s+or\s+(?:fewer|less))?",
    re.IGNORECASE,
)
NOTHING_ALLOWED = re.compile(
    r"\b(?:no\s+rows?|zero\s+rows?|empty|nothing|or\s+none|there\s+(?:is|are)\s+none|no\s+hits?)\b", re.IGNORECASE
)
ABOVE_ZERO = re.compile(r"\b(?:above|greater\s+than|more\s+than|over)\s+(?:zero|0)\b|\bpositive\b", re.IGNORECASE)
FAILED = re.compile(r"^\s*(?:error\b|\{\s*\"error\")", re.IGNORECASE)
KEY_RESULT_CHARACTERS = 300
ROWS_TOLD = 5


def judge(request: ChatRequest) -> dict[str, Any]:
    """The arguments of `judge_step`."""
    step = request.json_section("Step", {})
    observation = request.json_section("Observation", {})
    met, reason = _met(str(step.get("acceptance_criteria", "")), observation)
    return {"criterion_met": met, "reason": reason, "key_result": _key_result(observation)}


def _met(criterion: str, observation: dict[str, Any]) -> tuple[bool, str]:
    text = str(observation.get("text") or "")
    if FAILED.match(text):
        return False, f"The observation is an error: {text[:120]}"
    data = observation.get("data") if isinstance(observation.get("data"), dict) else {}
    rows = data.get("rows") if isinstance(data, dict) else None
    if not text.strip() or observation.get("empty") or _only_null(rows):
        allowed = bool(NOTHING_ALLOWED.search(criterion))
        return allowed, "Nothing was found, " + (
            "which the criterion allows." if allowed else "and the criterion asks for more."
        )
    count = data.get("row_count") if isinstance(data, dict) else None
    if isinstance(count, int) and (wanted := ROWS.search(criterion)) and not _fits(wanted, count):
        return False, f"There {_rows(count)}, and the criterion asks for {' '.join(wanted[0].lower().split())}."
    if rows and ABOVE_ZERO.search(criterion) and (low := _not_above_zero(rows)) is not None:
        return False, f"One figure is {low}, and the criterion asks for figures above zero."
    if isinstance(count, int):
        return True, f"There {_rows(count)}, as the criterion asks for."
    return True, f"The observation shows what the criterion asks for: {text.strip().splitlines()[0][:120]}"


def _only_null(rows: Any) -> bool:
    return bool(rows) and all(value is None for row in rows for value in row)


def _fits(wanted: re.Match[str], count: int) -> bool:
    number = NUMBER_WORDS.get(wanted["n"].lower()) or int(wanted["n"]) if wanted["n"] != "0" else 0
    how = " ".join((wanted["how"] or "").lower().split())
    if how in ("at most", "up to") or wanted["fewer"]:
        return count <= number
    return {"at least": count >= number, "more than": count > number, "fewer than": count < number}.get(
        how, count == number
    )


def _rows(count: int) -> str:
    return "is 1 row" if count == 1 else f"are {count} rows"


def _not_above_zero(rows: list[list[Any]]) -> int | float | None:
    figures = [value for row in rows for value in row if isinstance(value, int | float) and not isinstance(value, bool)]
    return next((value for value in figures if value <= 0), None)


def _key_result(observation: dict[str, Any]) -> str:
    """One sentence with the figures word for word."""
    data, text = observation.get("data"), str(observation.get("text") or "").strip()
    if isinstance(data, dict) and isinstance(data.get("rows"), list) and data.get("columns"):
        return _rows_told(data)[:KEY_RESULT_CHARACTERS]
    if isinstance(data, dict) and isinstance(data.get("hits"), list) and data["hits"]:
        places = [
            f"{hit.get('document')} {hit.get('paragraph', '')}".strip() for hit in data["hits"] if isinstance(hit, dict)
        ]
        return f"{len(places)} paragraphs: {', '.join(places)}"[:KEY_RESULT_CHARACTERS]
    return (text.splitlines() or ["Nothing was found"])[0][:KEY_RESULT_CHARACTERS]


def _rows_told(data: dict[str, Any]) -> str:
    columns, rows = data["columns"], data["rows"]
    if not rows:
        return "No rows"
    if len(rows) == 1:
        named = zip(columns, rows[0], strict=False)
        return "; ".join(
            rows_in_words(value) if name == "row_count" else f"{readable(name)}: {_shown(value)}"
            for name, value in named
        )
    told = "; ".join(", ".join(_shown(value) for value in row) for row in rows[:ROWS_TOLD])
    more = f" and {len(rows) - ROWS_TOLD} more" if len(rows) > ROWS_TOLD else ""
    return f"{data.get('row_count', len(rows))} rows ({', '.join(map(readable, columns))}): {told}{more}"


def _shown(value: Any) -> str:
    return "nothing" if value is None else str(value)
