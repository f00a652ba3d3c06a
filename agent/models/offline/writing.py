"""Answers and reports in words, from the question and what the run showed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agent.models.offline import sentences
from agent.models.offline.naming import NAMED_IN_A_SENTENCE, capital, split_unit, written
from agent.models.offline.request import ChatRequest
from agent.models.offline.results import Found, Material, calculation

ROWS_IN_A_TABLE = 12


def final_answer(request: ChatRequest) -> str:
    """Markdown: the answer in a sentence, the rows behind it, what was not done."""
    material = Material.of(request.sections.get("Task", ""), request.json_section("Observations", []))
    parts = [*_data_parts(material), *_other_parts(material), *_missing(request.json_section("Steps", []))]
    return "\n\n".join(parts) or "No observation was made, so nothing can be said."


def report_body(request: ChatRequest, results: Sequence[dict[str, Any]]) -> str:
    """The body of a report from earlier results: the answer, the rows, and which step each figure comes from."""
    entries = [{"n": n, **entry, **(entry.get("observation") or {})} for n, entry in enumerate(results, start=1)]
    material = Material.of(request.sections.get("Task", ""), entries)
    unseen = [
        f"{entry['key_result']} [{entry['n']}]" for entry in entries if "text" not in entry and entry.get("key_result")
    ]
    sources = "\n".join(f"{entry['n']}. {entry['step_id']}: {entry['description']}" for entry in entries)
    goal = request.sections.get("Goal", "")
    parts = [goal, *_data_parts(material), *_other_parts(material), *unseen, "## Sources", sources]
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
    main, look = material.main, material.look
    if main is None:
        return []
    if look and look.cell("row_count") == 0:
        latest = look.cell("latest_month")
        when = f" in {latest}, the latest month with data" if latest else ""
        return [f"There is no data for this{when}: 0 rows {look.cite}."]
    bounds = [item for item in material.others if item.distance]
    lead = "; ".join(
        [
            f"{sentences.scope(look)}{sentences.answer(main, material)}",
            *(sentences.against_limit(item) for item in bounds),
            *_calculated(material),
        ]
    )
    others = [item for item in material.others if item not in bounds]
    beside = [_table(item) if len(item.rows) > 1 else sentences.in_proportion(item, main) for item in others]
    rest = sentences.only_those_with_rows(main, material.order)
    table = bounds[0] if bounds and bounds[0].verdict else main
    parts = [f"{capital(lead)}.", *beside, rest, _table(table) if len(table.rows) > 1 else ""]
    return [part for part in parts if part]


def _calculated(material: Material) -> list[str]:
    """Shares and differences that a calculator worked out."""
    told = []
    for entry in material.observations:
        if kind := calculation(entry):
            main = material.main
            unit = split_unit(main.columns[main.figure])[1] if main and main.figure is not None else ""
            said = f"{_digits(str(entry['data'].get('value')))} {'percent' if kind == 'share' else unit}".strip()
            told.append(f"the {kind} is {said} [{entry['n']}]")
    return told


def _digits(text: str) -> str:
    whole, dot, rest = text.partition(".")
    return f"{int(whole):,}{dot}{rest}" if whole.removeprefix("-").isdigit() and whole not in ("0", "-0") else text


def _table(item: Found) -> str:
    first = replace(item, rows=item.rows[:ROWS_IN_A_TABLE])
    table = sentences.shown(first)
    if item.row_count > len(first.rows):
        return f"{table}\n\nThe first rows of {written(item.row_count)} are shown {item.cite}."
    return table


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
        hits = [hit for hit in _hits(entry) if _place(hit) not in seen]
        seen |= {_place(hit) for hit in hits}
        parts += [_documents(hits, entry["n"])] if hits else _other(entry)
    if not parts and not material.found:
        parts = [f"{entry.get('key_result') or entry.get('text')} [{entry['n']}]" for entry in material.observations]
    return parts


def _documents(hits: list[dict[str, Any]], n: int) -> str:
    lines = [f"{_place(hit)}: {hit.get('text', '')} [{n}]" for hit in hits]
    others = "\n".join(f"- {line}" for line in lines[1:NAMED_IN_A_SENTENCE])
    return f"The documents say in {lines[0]}" + (f"\n\n{others}" if others else "")


def _other(entry: dict[str, Any]) -> list[str]:
    """What an observation that is neither rows nor paragraphs adds."""
    data, cite = entry.get("data"), f"[{entry['n']}]"
    if not isinstance(data, dict):
        return [f"{entry['text']} {cite}"] if entry.get("tool") is not None and entry.get("text") else []
    if "hits" in data and not data["hits"]:
        return [f"No document speaks of it {cite}."]
    if "expression" in data and not calculation(entry):
        return [f"{data['expression']} = {data.get('value')} {cite}."]
    return [f"The report is in {data['filename']} {cite}."] if "filename" in data else []


def _missing(steps: Sequence[dict[str, Any]]) -> list[str]:
    left = [step for step in steps if step.get("status") != "completed"]
    if not left:
        return []
    named = [f"{step['id']} ({step.get('status')}: {step.get('description')})" for step in left]
    return [f"Not completed: {'; '.join(named)}. What they would have shown is not known."]
