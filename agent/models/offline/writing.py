"""Answers and reports in words. Every figure is copied from an observation; none is worked out here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent.models.offline.request import ChatRequest

ROWS_IN_A_TABLE = 12
ROWS_IN_A_SENTENCE = 3


@dataclass(frozen=True, slots=True)
class Found:
    """The rows that one query showed."""

    n: int
    """The number by which it is cited."""
    description: str
    columns: list[str]
    rows: list[list[Any]]

    def cell(self, name: str) -> Any:
        """A cell of the first row; None if there is none."""
        return self.rows[0][self.columns.index(name)] if self.rows and name in self.columns else None

    @property
    def figures(self) -> list[int]:
        """Positions of the columns that hold numbers."""
        return [n for n, _ in enumerate(self.columns) if any(_is_number(row[n]) for row in self.rows)]


def final_answer(request: ChatRequest) -> str:
    """Markdown: the answer in a sentence, the rows behind it, what was not done."""
    steps = {step["id"]: step for step in request.json_section("Steps", [])}
    observations = request.json_section("Observations", [])
    found = [item for item in (_found(entry, steps) for entry in observations) if item]
    parts = [
        *_answer_parts(found),
        *_documents(observations),
        *_words(observations),
        *_files(observations),
        *_missing(steps),
    ]
    return "\n\n".join(parts) or "No observation was made, so nothing can be said."


def report_body(goal: str, results: Sequence[dict[str, Any]]) -> str:
    """The body of a report from earlier results."""
    observations = [
        {
            "n": n,
            "step_id": entry["step_id"],
            "key_result": entry.get("key_result", ""),
            "tool": entry.get("tool"),
            **entry.get("observation", {}),
        }
        for n, entry in enumerate(results, start=1)
    ]
    steps = {
        entry["step_id"]: {"id": entry["step_id"], "description": entry["description"], "status": "completed"}
        for entry in results
    }
    found = [item for item in (_found(entry, steps) for entry in observations) if item]
    sources = [f"{entry['n']}. {entry['step_id']}: {steps[entry['step_id']]['description']}" for entry in observations]
    parts = [goal, *_answer_parts(found), *_documents(observations), "## Sources", "\n".join(sources)]
    return "\n\n".join(part for part in parts if part)


def step_words(request: ChatRequest) -> str:
    """The result of a step without a tool: what the earlier results show."""
    results = request.json_section("Earlier results", [])
    shown = [f"{entry['step_id']}: {entry['key_result']}" for entry in results if entry.get("key_result")]
    return "\n".join(shown) or "There is no earlier result to draw on, and I know nothing by myself."


def _found(entry: dict[str, Any], steps: dict[str, Any]) -> Found | None:
    data = entry.get("data")
    if not isinstance(data, dict) or "rows" not in data:
        return None
    description = steps.get(entry["step_id"], {}).get("description", "")
    return Found(entry["n"], description, list(data["columns"]), [list(row) for row in data["rows"]])


def _answer_parts(found: Sequence[Found]) -> list[str]:
    """The main result first, then what qualifies it."""
    if not found:
        return []
    empty = next((item for item in found if item.cell("row_count") == 0), None)
    if empty is not None:
        return [f"There is no data for this, so no figure can be given [{empty.n}]."]
    main = found[1] if len(found) > 1 else found[0]
    parts = [_headline(main, found[0])]
    limits = [item for item in found if "exceeded" in item.columns]
    parts += [_limit_sentence(item) for item in limits]
    parts += [_proportion(item) for item in found[2:] if item not in limits and len(item.rows) == 1]
    shown = limits[0] if limits else main
    if len(shown.rows) > 1:
        parts.append(_table(shown))
    return [part for part in parts if part]


def _headline(main: Found, first: Found) -> str:
    """The answer in one sentence."""
    subject = _with_month(_subject(main), first)
    cite = f"[{main.n}]" + (
        f" [{first.n}]" if first is not main and _month_of(first) and _month_of(first) in subject else ""
    )
    if not main.rows:
        return f"No: the query for {subject} found none {cite}."
    if "exceeded" in main.columns:
        return f"{_capital(subject)}: see each below {cite}."
    if len(main.rows) == 1 and len(main.figures) >= 1 and 0 in main.figures:
        value = main.rows[0][0]
        return (
            f"{_capital(subject)} is {_written(value)} {cite}."
            if value is not None
            else f"{_capital(subject)} is not known: there are no rows {cite}."
        )
    named = [f"{row[0]} ({_written(row[1])})" for row in main.rows if len(row) > 1]
    if len(named) > ROWS_IN_A_SENTENCE and "month" in main.columns:
        return f"{_capital(subject)} went from {named[0]} to {named[-1]} {cite}."
    listed = ", ".join(named[:ROWS_IN_A_SENTENCE]) + (
        " and others, see below" if len(named) > ROWS_IN_A_SENTENCE else ""
    )
    return f"{_capital(subject)}: {listed} {cite}."


def _subject(item: Found) -> str:
    """What a query was for, from its step's description."""
    return re.sub(r"^(?:Find|Work out|See) ", "", item.description)


def _with_month(subject: str, first: Found) -> str:
    month = _month_of(first)
    return (
        subject.replace("in the latest month with data", f"in {month}, the latest month with data")
        if month
        else subject
    )


def _month_of(first: Found) -> str:
    return str(first.cell("latest_month") or "")


def _limit_sentence(item: Found) -> str:
    """Which exceeded their limit, and by how much."""
    name, over, exceeded = 0, item.columns.index("over_by"), item.columns.index("exceeded")
    above = [row for row in item.rows if row[exceeded] == "yes"]
    without = [str(row[name]) for row in item.rows if row[exceeded] == "not set"]
    limit = item.columns[over - 1]
    if above:
        listed = " and ".join(f"{row[name]} by {_written(row[over])}" for row in above)
        words = f"Over {limit}: {listed}"
    else:
        words = f"None of them is over {limit}"
    if without:
        words += f"; no {limit} is set for {', '.join(without)}"
    return f"{words} [{item.n}]."


def _proportion(item: Found) -> str:
    """One row of context, column by column."""
    pairs = [
        f"{column.replace('_', ' ')} {_written(value)}"
        for column, value in zip(item.columns, item.rows[0], strict=True)
        if value is not None
    ]
    return f"{_capital(_subject(item))}: {', '.join(pairs)} [{item.n}]." if pairs else ""


def _documents(observations: Sequence[dict[str, Any]]) -> list[str]:
    parts = []
    for entry in observations:
        data = entry.get("data")
        if not isinstance(data, dict) or "hits" not in data:
            continue
        if not data["hits"]:
            parts.append(f"No document speaks of it [{entry['n']}].")
        lines = [
            f"- {hit['document']}{', paragraph ' + hit['paragraph'] if hit.get('paragraph') else ''}: {hit['text']} [{entry['n']}]"
            for hit in data["hits"][:ROWS_IN_A_SENTENCE]
        ]
        if lines:
            parts.append("The documents say:\n\n" + "\n".join(lines))
    return parts


def _words(observations: Sequence[dict[str, Any]]) -> list[str]:
    """Results of steps without a tool add nothing that is not cited already."""
    only_words = [entry for entry in observations if entry.get("tool") is None]
    return (
        [f"{entry['key_result']} [{entry['n']}]." for entry in only_words]
        if len(only_words) == len(observations)
        else []
    )


def _files(observations: Sequence[dict[str, Any]]) -> list[str]:
    return [
        f"The report is in {entry['data']['filename']} [{entry['n']}]."
        for entry in observations
        if isinstance(entry.get("data"), dict) and "filename" in entry["data"]
    ]


def _missing(steps: dict[str, Any]) -> list[str]:
    left = [f"{step['id']} ({step['status']})" for step in steps.values() if step.get("status") != "completed"]
    return [f"Not completed: {', '.join(left)}; what they would have shown is not known."] if left else []


def _table(item: Found) -> str:
    rows = item.rows[:ROWS_IN_A_TABLE] if "month" not in item.columns else item.rows[-ROWS_IN_A_TABLE:]
    rule = [("---:" if n in item.figures else "---") for n, _ in enumerate(item.columns)]
    lines = [[column.replace("_", " ") for column in item.columns] + ["source"], [*rule, "---"]]
    lines += [[_written(value) for value in row] + [f"[{item.n}]"] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _written(value: Any) -> str:
    """A value as the observation has it, with thousands apart."""
    if value is None:
        return "–"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}".removesuffix(".00") if round(value, 2) == value else f"{value:,}"
    return str(value).replace("|", "/")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
