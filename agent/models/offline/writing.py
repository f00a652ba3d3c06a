"""Answers and reports in words. Every figure is copied from an observation; none is worked out here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent.models.offline.request import ChatRequest
from agent.models.offline.words import NUMBER_WORDS, readable

ROWS_IN_A_TABLE = 12
NAMED_IN_A_SENTENCE = 5
VERDICTS = {"exceeded": "exceeded", "reached": "reached", "below": "stayed below", "within": "stayed within"}
ORDER = re.compile(r"\bwith the (highest|lowest)\b")


@dataclass(frozen=True, slots=True)
class Found:
    """The rows that one query showed."""

    n: int
    """The number by which it is cited."""
    description: str
    columns: list[str]
    rows: list[list[Any]]
    row_count: int

    def cell(self, name: str, row: int = 0) -> Any:
        """A cell; None if there is none."""
        return self.rows[row][self.columns.index(name)] if len(self.rows) > row and name in self.columns else None

    def has(self, *names: str) -> bool:
        """Whether it has these columns."""
        return set(names) <= set(self.columns)

    @property
    def is_look(self) -> bool:
        """Whether it says what data there is."""
        return "row_count" in self.columns and ("first_month" in self.columns or self.columns == ["row_count"])

    @property
    def verdict(self) -> str | None:
        """The column that says yes or no about a limit."""
        return next((name for name in self.columns if name in VERDICTS), None)

    @property
    def distance(self) -> str | None:
        """The column that says by how much."""
        return next((name for name in self.columns if name in ("over_by", "under_by")), None)

    @property
    def cite(self) -> str:
        """How it is cited."""
        return f"[{self.n}]"


@dataclass(frozen=True, slots=True)
class Material:
    """What an answer is written from."""

    found: list[Found]
    observations: list[dict[str, Any]]
    steps: dict[str, dict[str, Any]]

    @classmethod
    def of(cls, observations: Sequence[dict[str, Any]], steps: Sequence[dict[str, Any]]) -> Material:
        """Sort observations by what they hold."""
        by_id = {step["id"]: step for step in steps}
        found = [item for item in (_found(entry, by_id) for entry in observations) if item]
        return cls(found, list(observations), by_id)

    @property
    def look(self) -> Found | None:
        """The first observation, if it says what data there is."""
        return self.found[0] if self.found and self.found[0].is_look and len(self.found) > 1 else None

    @property
    def main(self) -> Found | None:
        """The observation that answers the question: the first that is more than a look at what data there is."""
        return next((item for item in self.found if not item.is_look), self.found[0] if self.found else None)


def _found(entry: dict[str, Any], steps: dict[str, dict[str, Any]]) -> Found | None:
    data = entry.get("data")
    if not isinstance(data, dict) or not isinstance(data.get("rows"), list) or not data.get("columns"):
        return None
    description = str(steps.get(entry["step_id"], {}).get("description", ""))
    rows = [list(row) for row in data["rows"]]
    return Found(
        entry["n"], description, [str(name) for name in data["columns"]], rows, data.get("row_count", len(rows))
    )


def final_answer(request: ChatRequest) -> str:
    """Markdown: the answer in a sentence, the rows behind it, what was not done."""
    material = Material.of(request.json_section("Observations", []), request.json_section("Steps", []))
    parts = [*_data_parts(material), *_other_parts(material), *_missing(material)]
    return "\n\n".join(parts) or "No observation was made, so nothing can be said."


def report_body(goal: str, results: Sequence[dict[str, Any]]) -> str:
    """The body of a report from earlier results: the answer, the rows, and which step each figure comes from."""
    entries = [{"n": n, **entry, **(entry.get("observation") or {})} for n, entry in enumerate(results, start=1)]
    steps = [{"id": entry["step_id"], "description": entry["description"], "status": "completed"} for entry in results]
    material = Material.of(entries, steps)
    unseen = [
        f"{entry['key_result']} [{entry['n']}]" for entry in entries if "text" not in entry and entry.get("key_result")
    ]
    sources = [f"{entry['n']}. {entry['step_id']}: {entry['description']}" for entry in entries]
    parts = [goal, *_data_parts(material), *_other_parts(material), *unseen, "## Sources", "\n".join(sources)]
    return "\n\n".join(part for part in parts if part)


def step_words(request: ChatRequest) -> str:
    """The result of a step without a tool: what the earlier results show."""
    results = request.json_section("Earlier results", [])
    lines = []
    for entry in results:
        hits = _hits(entry.get("observation") or {})
        lines += [f"{_place(hit)}: {hit.get('text', '')}" for hit in hits[:NAMED_IN_A_SENTENCE]]
        if not hits and entry.get("key_result"):
            lines.append(f"{entry['step_id']}: {entry['key_result']}")
    return "\n".join(dict.fromkeys(lines)) or "There is no earlier result to draw on, and I know nothing by myself."


# --- figures


def _data_parts(material: Material) -> list[str]:
    main = material.main
    if main is None:
        return []
    if material.look and material.look.cell("row_count") == 0:
        latest = material.look.cell("latest_month")
        when = f" in {latest}, the latest month with data" if latest else ""
        return [f"There is no data for this{when}: {material.look.cell('row_count')} rows {material.look.cite}."]
    others = [item for item in material.found if item not in (main, material.look)]
    bounds = [item for item in others if item.distance]
    lead = "; ".join(
        [
            f"{_period(material)}{_sentence(main, others)}",
            *(_bound_sentence(item) for item in bounds),
            *_calculated(material),
        ]
    )
    parts = [f"{_capital(lead)}."]
    parts += [sentence for item in others if item not in bounds and (sentence := _context(item))]
    shown = bounds[0] if bounds and bounds[0].verdict else main
    if len(shown.rows) > 1:
        parts.append(_table(shown))
    return parts


def _period(material: Material) -> str:
    look = material.look
    if look is None or look.cell("first_month") is None:
        return ""
    first, last = look.cell("first_month"), look.cell("last_month")
    return f"in {first} {look.cite}, " if first == last else f"from {first} to {last} {look.cite}, "


def _sentence(item: Found, others: Sequence[Found]) -> str:
    """The answer that the main rows give."""
    if item.distance:
        return _bound_sentence(item, _counts(others))
    if not item.rows:
        return f"nothing was found {item.cite}"
    if item.columns[0] == "month" and len(item.rows) > 1 and not ORDER.search(item.description):
        return _course(item)
    if len(item.rows) == 1 and _is_number(item.rows[0][0]):
        return f"the {readable(item.columns[0])}{_of_filter(item)} is {_written(item.rows[0][0])} {item.cite}"
    return f"{_named_figures(item)} {item.cite}"


def _named_figures(item: Found) -> str:
    """The figure of each row, with what the row is about."""
    figure = _figure_column(item)
    if figure is None:
        return _pairs(item, 0)
    words = readable(item.columns[figure])
    order = ORDER.search(item.description)
    if order is None:
        told = _listed([f"{_written(row[figure])} for {_name(item, row)}" for row in item.rows])
        return f"the {words} is {told}"
    named = _listed([f"{_name(item, row)} ({_written(row[figure])})" for row in item.rows])
    verb = "is" if len(item.rows) == 1 else "are"
    return f"{_things(item, len(item.rows))} with the {order[1]} {words} {verb} {named}"


def _of_filter(item: Found) -> str:
    """What a figure is restricted to, as its step says; not if that has digits, which no observation shows."""
    found = re.search(r" (with [^\d]+?)(?: (?:in|since|until|from)(?: the latest| \d).*)?$", item.description)
    return f" {found[1]}" if found else ""


def _course(item: Found) -> str:
    figure = _figure_column(item) or 1
    first, last = item.rows[0], item.rows[-1]
    name = readable(item.columns[figure])
    if item.row_count > len(item.rows):
        return f"the {name} was {_written(first[figure])} in {first[0]}; there are {item.row_count} months {item.cite}"
    went = f"from {_written(first[figure])} in {first[0]} to {_written(last[figure])} in {last[0]}"
    return f"the {name} went {went} {item.cite}"


def _calculated(material: Material) -> list[str]:
    """Shares and differences that a calculator worked out."""
    told = []
    for entry in material.observations:
        kind = _calculation_of(entry, material)
        if kind:
            unit = " percent" if kind == "share" else ""
            told.append(f"the {kind} is {_number_text(str(entry['data'].get('value')))}{unit} [{entry['n']}]")
    return told


def _calculation_of(entry: dict[str, Any], material: Material) -> str | None:
    """`share` or `difference`; None for any other observation."""
    if not isinstance(entry.get("data"), dict) or "expression" not in entry["data"]:
        return None
    description = str(material.steps.get(entry["step_id"], {}).get("description", ""))
    return next((kind for kind in ("share", "difference") if f"the {kind} " in description), None)


def _number_text(digits: str) -> str:
    whole, dot, rest = digits.partition(".")
    return f"{int(whole):,}{dot}{rest}" if re.fullmatch(r"[1-9]\d*", whole) else digits


def _counts(others: Sequence[Found]) -> Found | None:
    return next((item for item in others if item.has("number_checked")), None)


def _bound_sentence(item: Found, counts: Found | None = None) -> str:
    """Which are beyond their limit, and by how much; which are not; which have none."""
    at = item.columns.index(str(item.distance))
    limit, figure = readable(item.columns[at - 1]), at - 2
    said = VERDICTS[item.verdict] if item.verdict else _said_in(item.description, item.distance)
    by_verdict: dict[str, list[list[Any]]] = {"yes": [], "no": [], "not set": []}
    for row in item.rows:
        by_verdict[str(row[item.columns.index(item.verdict)]) if item.verdict else "yes"].append(row)
    alone = figure == 0

    def told(row: list[Any]) -> str:
        what = f"the {readable(item.columns[0])} of {_written(row[0])}" if alone else _name(item, row)
        beside = "" if alone else f" ({_written(row[figure])})"
        by = f" by {_written(row[at])}" if row[at] is not None else ""
        return f"{what}{beside} {said} the {limit} of {_written(row[at - 1])}{by}"

    parts = [_listed([told(row) for row in by_verdict["yes"]])] if by_verdict["yes"] else []
    if not parts:
        parts.append(_none(by_verdict["no"], item, counts, said, limit))
    elif by_verdict["no"]:
        parts.append(f"{_listed([_name(item, row) for row in by_verdict['no']])} did not")
    if by_verdict["not set"]:
        parts.append(f"no {limit} is set for {_listed([_name(item, row) for row in by_verdict['not set']])}")
    if item.row_count > NAMED_IN_A_SENTENCE and not item.verdict:
        parts[0] = f"{item.row_count} {said} the {limit}, first {parts[0]}"
    return f"{'; '.join(parts)} {item.cite}"


def _none(no: list[list[Any]], item: Found, counts: Found | None, said: str, limit: str) -> str:
    """That nothing is beyond its limit, with what was checked."""
    if len(no) == 1:
        at = item.columns.index(str(item.distance))
        what = f"the {readable(item.columns[0])}" if at == 2 else _name(item, no[0])
        return f"no: {what} has {_written(no[0][at - 2])}, and the {limit} is {_written(no[0][at - 1])}"
    checked = counts.cell("number_checked") if counts else None
    threshold = counts.cell("threshold") if counts else None
    of = f" of the {_written(checked)} checked" if checked is not None else ""
    limit_of = f" of {_written(threshold)}" if threshold is not None else ""
    unset = counts.cell("number_without_limit") if counts else None
    more = f", and {_written(unset)} of them without a {limit}" if unset else ""
    return f"none{of} {said} the {limit}{limit_of}{more}{f' {counts.cite}' if counts and (of or limit_of) else ''}"


def _said_in(description: str, distance: str | None) -> str:
    found = re.search(r"\b(exceeded|reached|stayed below|stayed within)\b", description)
    return found[1] if found else "exceeded" if distance == "over_by" else "stayed below"


def _context(item: Found) -> str:
    """What puts the answer into proportion, column by column."""
    if not item.rows or len(item.rows) > 1:
        return _table(item) if item.rows else f"{_capital(item.description)}: nothing was found {item.cite}."
    pairs = _pairs(item, 0)
    return f"For comparison: {pairs} {item.cite}." if pairs else ""


def _pairs(item: Found, row: int) -> str:
    return ", ".join(
        f"{readable(name)} {_written(value)}"
        for name, value in zip(item.columns, item.rows[row], strict=False)
        if value is not None
    )


def _figure_column(item: Found) -> int | None:
    """The last column of numbers, which is the figure; None if there is none."""
    numbers = [
        n for n, name in enumerate(item.columns) if any(_is_number(row[n]) for row in item.rows) and name != "row_count"
    ]
    return numbers[-1] if numbers else None


def _name(item: Found, row: list[Any]) -> str:
    """What a row is about: its first cell, with the month if that is the second."""
    first = "no name" if row[0] is None else str(row[0])
    if item.columns[0].endswith("_id"):
        first = f"{readable(item.columns[0].removesuffix('_id'))} {first}"
    if len(item.columns) > 1 and item.columns[1] == "month":
        return f"{first} in {row[1]}"
    return first


def _things(item: Found, count: int) -> str:
    found = re.match(r"Find (the .+?) with the (?:highest|lowest)\b", item.description)
    if not found:
        return "the first" if count == 1 else "the first ones"
    return re.sub(rf"^the (?:{'|'.join(NUMBER_WORDS)}|\d+) ", "the ", found[1])


def _listed(items: Sequence[str]) -> str:
    if len(items) > NAMED_IN_A_SENTENCE:
        return f"{', '.join(items[:NAMED_IN_A_SENTENCE])} and others"
    return f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else "".join(items)


# --- the rest


def _hits(entry: dict[str, Any]) -> list[dict[str, Any]]:
    data = entry.get("data")
    hits = data.get("hits") if isinstance(data, dict) else None
    return [hit for hit in hits if isinstance(hit, dict)] if isinstance(hits, list) else []


def _place(hit: dict[str, Any]) -> str:
    paragraph = f", paragraph {hit['paragraph']}" if hit.get("paragraph") else ""
    return f"{hit.get('document', 'a document')}{paragraph}"


def _other_parts(material: Material) -> list[str]:
    parts: list[str] = []
    seen: set[str] = set()
    for entry in material.observations:
        data, cite = entry.get("data"), f"[{entry['n']}]"
        lines = [f"- {_place(hit)}: {hit.get('text', '')} {cite}" for hit in _hits(entry) if _place(hit) not in seen]
        seen |= {_place(hit) for hit in _hits(entry)}
        if lines:
            first = lines[0].removeprefix("- ")
            others = "\n".join(lines[1:NAMED_IN_A_SENTENCE])
            parts.append(f"The documents say in {first}" + (f"\n\n{others}" if others else ""))
        elif isinstance(data, dict) and "hits" in data and not data["hits"]:
            parts.append(f"No document speaks of it {cite}.")
        elif isinstance(data, dict) and "expression" in data and not _calculation_of(entry, material):
            parts.append(f"{data['expression']} = {data.get('value')} {cite}.")
        elif isinstance(data, dict) and "filename" in data:
            parts.append(f"The report is in {data['filename']} {cite}.")
        elif not isinstance(data, dict) and entry.get("tool") is not None and entry.get("text"):
            parts.append(f"{entry['text']} {cite}")
    if not parts and not material.found:
        parts = [f"{entry.get('key_result') or entry.get('text')} [{entry['n']}]" for entry in material.observations]
    return parts


def _missing(material: Material) -> list[str]:
    left = [step for step in material.steps.values() if step.get("status") != "completed"]
    if not left:
        return []
    named = [f"{step['id']} ({step.get('status')}: {step.get('description')})" for step in left]
    return [f"Not completed: {'; '.join(named)}. What they would have shown is not known."]


def _table(item: Found) -> str:
    rows = item.rows[:ROWS_IN_A_TABLE]
    numbers = [any(_is_number(row[n]) for row in item.rows) for n in range(len(item.columns))]
    lines = [
        [*(readable(name) for name in item.columns), "source"],
        [*("---:" if number else "---" for number in numbers), "---"],
    ]
    lines += [[*(_written(value) for value in row), item.cite] for row in rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    if item.row_count > len(rows):
        return f"{table}\n\nThe first rows of {item.row_count:,} are shown {item.cite}."
    return table


def _written(value: Any) -> str:
    """A value as the observation has it, with thousands apart."""
    if value is None:
        return "–"
    if _is_number(value):
        return f"{value:,}".removesuffix(".0")
    return str(value).replace("|", "/")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
