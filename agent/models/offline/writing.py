"""Answers and reports in words. Every figure is copied from an observation; none is worked out here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent.models.offline.request import ChatRequest
from agent.models.offline.tables import UNIT_NAMES

ROWS_IN_A_TABLE = 12
ROWS_IN_A_SENTENCE = 3
NAMED_IN_A_SENTENCE = 6
LATEST = "in the latest month with data"


@dataclass(frozen=True, slots=True)
class Found:
    """The rows that one query showed."""

    n: int
    """The number by which it is cited."""
    description: str
    columns: list[str]
    rows: list[list[Any]]
    row_count: int
    """How many rows there were, shown or not."""

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
    rows = [list(row) for row in data["rows"]]
    return Found(entry["n"], description, list(data["columns"]), rows, data.get("row_count") or len(rows))


def _answer_parts(found: Sequence[Found]) -> list[str]:
    """The main result first, then what qualifies it, then its rows."""
    if not found:
        return []
    first = found[0]
    empty = next((item for item in found if item.cell("row_count") == 0), None)
    if empty is not None:
        return [f"There is no data for this, so no figure can be given [{empty.n}]."]
    main = found[1] if len(found) > 1 else first
    limits = [item for item in found if "exceeded" in item.columns]
    parts = [_limit_sentence(main)] if main in limits else [_headline(main, found)]
    parts += [_limit_sentence(item) for item in limits if item is not main]
    parts += [_context(item) for item in found[2:] if item not in limits and len(item.rows) == 1]
    parts.append(_months_there(first, parts[0]))
    shown = limits[0] if limits else main
    if len(shown.rows) > 1:
        parts += [_table(shown), _cut(shown)]
    said = [part for part in parts if part]
    return [_dated(said[0], first), *(part.replace(LATEST, "in that month") for part in said[1:])]


def _headline(main: Found, found: Sequence[Found]) -> str:
    """The answer in one sentence."""
    if not main.rows:
        return f"There are none: {_subject(main)} were looked for, and no row was found [{main.n}]."
    if len(main.columns) > 1 and main.columns[0] == "month":
        return _course(main, found)
    if 0 in main.figures or main.rows[0][0] is None:
        return f"{_capital(_subject(main))} came to {_value(main, 0, 0)} [{main.n}]."
    ranked = re.fullmatch(r"the (?:\w+ )??[\w -]+? with (?P<what>.+)", _subject(main))
    if ranked:
        return _ranked(main, ranked["what"])
    return _compared(main, found)


def _ranked(main: Found, what: str) -> str:
    """`Atlas, Borealis and Cinder had the highest cost …: 132,190.57, …`."""
    rows = range(min(len(main.rows), NAMED_IN_A_SENTENCE))
    names = [_text(main.rows[n][0]) for n in rows]
    values = [_written(main.rows[n][1]) for n in rows]
    unit = _unit(main.columns[1])
    more = " (and others, see the table)" if len(main.rows) > len(names) else ""
    return f"{_listed(names)}{more} had {what}: {_listed(values)}{unit} [{main.n}]."


def _compared(main: Found, found: Sequence[Found]) -> str:
    """Each of a few, or the range of many."""
    apart = next((item for item in found if item.cell("highest") is not None and len(item.columns) == 5), None)
    if len(main.rows) > ROWS_IN_A_SENTENCE and apart:
        return (
            f"{_capital(_subject(main))} ranged from {_value(apart, 0, 3)} ({_value(apart, 0, 2)}) "
            f"to {_value(apart, 0, 1)} ({_value(apart, 0, 0)}) [{apart.n}]."
        )
    each = [f"{_value(main, n, 1)} for {_text(row[0])}" for n, row in enumerate(main.rows[:NAMED_IN_A_SENTENCE])]
    return f"{_capital(_subject(main))} was {_listed(each)} [{main.n}]."


def _course(main: Found, found: Sequence[Found]) -> str:
    """From the first month to the last."""
    change = next((item for item in found if "change_percent" in item.columns and item.rows), None)
    if change is None or len(main.rows) == 1:
        return f"{_capital(_subject(main))}: {_value(main, 0, 1)} in {main.rows[0][0]}, the only month [{main.n}]."
    first, before, last, after, by, percent = change.rows[0]
    unit = _unit(change.columns[1])
    what = re.sub(r" (?:of|for) each month", "", _subject(main)).removesuffix(_period_of(_subject(main)))
    if by == 0:
        return f"{_capital(what)} was the same in {first} and {last}: {_written(after)}{unit} [{change.n}]."
    # The sign is in the verb, so that the figure reads as the observation has it without one.
    verb, size = ("rose", by) if by > 0 else ("fell", -by)
    share = "" if not percent else f" ({_plain(abs(percent))} %)"
    return (
        f"{_capital(what)} {verb} by {_written(size)}{unit}{share} from {first} to {last}: "
        f"from {_written(before)} to {_written(after)}{unit} [{change.n}]."
    )


def _subject(item: Found) -> str:
    """What a query was for, from its step's description."""
    return re.sub(r"^(?:Find|Work out|See) ", "", item.description)


def _dated(part: str, first: Found) -> str:
    """The latest month by its name, with the observation that shows it."""
    month = str(first.cell("latest_month") or "")
    if not month or LATEST not in part:
        asked = re.search(r"\d{4}-\d\d|in \d{4}\b", part)
        return _citing(part, first) if asked and first.cell("first_month") else part
    named = part.replace(LATEST, f"in {month}, the latest month with data", 1)
    named = re.sub(
        r"the latest month with data(?=(?: together)? (?:came|was|ranged|had|and))",
        "the latest month with data,",
        named,
    )
    return _citing(named, first)


def _citing(part: str, item: Found) -> str:
    return part if f"[{item.n}]" in part else re.sub(r"\.$", f" [{item.n}].", part)


def _months_there(first: Found, headline: str) -> str:
    """From when to when there is data for the question, where the answer does not say so."""
    start, end = first.cell("first_month"), first.cell("last_month")
    if not start or not end or f"{start} to {end}" in headline or (start == end and f"in {start}" in headline):
        return ""
    return f"The data for this runs from {start} to {end} [{first.n}]."


def _limit_sentence(item: Found) -> str:
    """Which exceeded their limit, and by how much."""
    if not item.rows:
        return f"There is nothing to hold against a limit [{item.n}]."
    over, exceeded = item.columns.index("over_by"), item.columns.index("exceeded")
    above = [row for row in item.rows if row[exceeded] == "yes"]
    without = [_text(row[0]) for row in item.rows if row[exceeded] == "not set"]
    limit, unit = item.columns[over - 1].replace("_", " "), _unit(item.columns[1])
    when = _period_of(_subject(item))
    if above:
        amounts = [f"{_text(row[0])} exceeded its {limit} by {_written(row[over])}{unit}" for row in above[:1]]
        amounts += [f"{_text(row[0])} by {_written(row[over])}{unit}" for row in above[1:]]
        words = _listed(amounts) + when
    elif without and len(without) == len(item.rows):
        words = f"It is not known whether any exceeded its {limit}{when}"
    else:
        words = f"None exceeded its {limit}{when}"
    if without:
        words += f"; no {limit} is set for {_listed(without)}"
    return f"{words} [{item.n}]."


def _period_of(subject: str) -> str:
    """The period that a subject ends with."""
    found = re.search(
        r" (?:in the latest month with data|(?:in|from|since) \d{4}[\d-]*(?:(?:, | and | to )[\d-]+)*(?: together)?|"
        r"over all months together)$",
        subject,
    )
    return found[0] if found else ""


def _context(item: Found) -> str:
    """One row that puts the answer into proportion."""
    if "change_percent" in item.columns:
        return ""  # the first sentence has it
    if "difference" in item.columns:
        return f"The highest and the lowest are {_value(item, 0, item.columns.index('difference'))} apart [{item.n}]."
    if any(name.startswith("smallest") for name in item.columns):
        return (
            f"It rests on {_value(item, 0, 0)} row{'s' if item.rows[0][0] != 1 else ''}, "
            f"the smallest {_value(item, 0, 1)}, the largest {_value(item, 0, 2)} [{item.n}]."
        )
    if 0 in item.figures:
        period = _period_of(_subject(item))
        what, when = _subject(item).removesuffix(period), " in the same period" if period else ""
        return f"{_capital(what)} came to {_value(item, 0, 0)}{when} [{item.n}]."
    pairs = [
        f"{name.replace('_', ' ')} {_written(value)}" for name, value in zip(item.columns, item.rows[0], strict=True)
    ]
    return f"{_capital(_subject(item))}: {', '.join(pairs)} [{item.n}]."


def _cut(item: Found) -> str:
    shown = min(len(item.rows), ROWS_IN_A_TABLE)
    return f"The table leaves out further rows of [{item.n}]." if item.row_count > shown else ""


def _documents(observations: Sequence[dict[str, Any]]) -> list[str]:
    parts = []
    for entry in observations:
        data = entry.get("data")
        if not isinstance(data, dict) or "hits" not in data:
            continue
        if not data["hits"]:
            parts.append(f"No document speaks of it [{entry['n']}].")
        lines = [f"- {_place(hit)}: {hit['text']} [{entry['n']}]" for hit in data["hits"][:ROWS_IN_A_SENTENCE]]
        if lines:
            parts.append("The documents say:\n\n" + "\n".join(lines))
    return parts


def _place(hit: dict[str, Any]) -> str:
    return f"{hit['document']}{', paragraph ' + hit['paragraph'] if hit.get('paragraph') else ''}"


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
    lines = [[_header(column) for column in item.columns] + ["source"], [*rule, "---"]]
    lines += [[_written(value) for value in row] + [f"[{item.n}]"] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _header(column: str) -> str:
    unit = UNIT_NAMES.get(column.rpartition("_")[2])
    return (
        f"{column.rpartition('_')[0].replace('_', ' ')} ({unit})"
        if unit and "_" in column
        else column.replace("_", " ")
    )


def _unit(column: str) -> str:
    """The unit that a column's name ends with, with a space before it."""
    unit = UNIT_NAMES.get(column.rpartition("_")[2])
    return f" {unit}" if unit and "_" in column else ""


def _value(item: Found, row: int, column: int) -> str:
    """A cell with its unit; the difference of two figures has theirs."""
    unit = _unit(item.columns[column])
    if item.columns[column] == "difference":
        unit = _unit(item.columns[1])
    return f"{_written(item.rows[row][column])}{unit}"


def _written(value: Any) -> str:
    """A value as the observation has it, with thousands apart and at least two decimals where it has some."""
    if value is None:
        return "–"
    if isinstance(value, float) and round(value, 2) == value:
        return f"{value:,.2f}".removesuffix(".00")
    return f"{value:,}" if _is_number(value) else _text(value)


def _plain(value: float) -> str:
    return f"{value:,.10g}" if abs(value) < 1e9 else f"{value:,}"


def _text(value: Any) -> str:
    """Words from the data, which no table's rule may break."""
    return str(value).replace("|", "/")


def _listed(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
