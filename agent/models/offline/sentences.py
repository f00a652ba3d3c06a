"""Sentences about results. Every figure is copied from an observation; none is worked out here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.models.offline.naming import (
    NAMED_IN_A_SENTENCE,
    amount,
    capital,
    is_number,
    is_plural,
    limit_words,
    listed,
    noun_of,
    plural,
    readable,
    rows_in_words,
    with_article,
    written,
)
from agent.models.offline.results import VERDICTS, Found, Material


def scope(look: Found | None) -> str:
    """Of what and of when the figures are: `for crop wheat, from 2026-01 to 2026-03 [1], `."""
    if look is None:
        return ""
    parts = [f"for {listed([f'{noun_of(name)} {value}' for name, value in look.scope])}"] if look.scope else []
    first, last = look.cell("first_month"), look.cell("last_month")
    if first is not None:
        parts.append(f"in {first}" if first == last else f"from {first} to {last}")
    return f"{', '.join(parts)} {look.cite}, " if parts else ""


def answer(item: Found, material: Material) -> str:
    """The answer that the main rows give."""
    if item.distance:
        return against_limit(item, material.others)
    if not item.rows:
        return f"nothing was found {item.cite}"
    if item.columns[0] == "month" and len(item.rows) > 1 and material.order is None:
        return _course(item)
    if len(item.rows) == 1 and is_number(item.rows[0][0]):
        return f"{_came_to(item.columns[0], item.rows[0][0])} {item.cite}"
    return f"{_figures(item, material.order)} {item.cite}"


def _came_to(name: str, value: Any) -> str:
    noun = noun_of(name)
    if noun.startswith("total "):
        return f"{noun} came to {amount(value, name)}"
    return f"the {noun} {_be(noun)} {amount(value, name)}"


def _be(noun: str) -> str:
    return "were" if is_plural(noun) else "was"


def _the(noun: str) -> str:
    return noun if noun.startswith("total ") else f"the {noun}"


def _figures(item: Found, order: str | None) -> str:
    """The figure of each row, with what the row is about."""
    if item.figure is None:
        return pairs(item)
    column = item.columns[item.figure]
    named = [f"{item.name(row)} ({amount(row[item.figure], column)})" for row in item.rows]
    if order is None:
        each = [f"{amount(row[item.figure], column)} for {item.name(row)}" for row in item.rows]
        return f"{_the(noun_of(column))} {_be(noun_of(column))} {listed(each)}"
    things, verb = (item.thing, "was") if len(named) == 1 else (plural(item.thing), "were")
    return f"the {things} with the {order} {noun_of(column)} {verb} {listed(named)}"


def _course(item: Found) -> str:
    at = item.figure or 1
    first, last, column = item.rows[0], item.rows[-1], item.columns[at]
    noun = _the(noun_of(column))
    if item.row_count > len(item.rows):
        begin = f"{noun} {_be(noun)} {amount(first[at], column)} in {first[0]}"
        return f"{begin}; there are {item.row_count} months {item.cite}"
    went = f"from {amount(first[at], column)} in {first[0]} to {amount(last[at], column)} in {last[0]}"
    return f"{noun} went {went} {item.cite}"


# --- limits


def against_limit(item: Found, others: Sequence[Found] = ()) -> str:
    """Which are beyond their limit, and by how much; which are not; which have none."""
    verdicts: dict[str, list[list[Any]]] = {"yes": [], "no": [], "not set": []}
    for row in item.rows:
        verdicts[str(row[item.columns.index(item.verdict)]) if item.verdict else "yes"].append(row)
    counts = next((other for other in others if "number_checked" in other.columns), None)
    parts = [_beyond(item, verdicts["yes"])] if verdicts["yes"] else [_none(item, verdicts["no"], counts)]
    if verdicts["yes"] and verdicts["no"]:
        parts.append(f"{listed([item.name(row) for row in verdicts['no']])} did not")
    if verdicts["not set"]:
        unset = listed([item.name(row) for row in verdicts["not set"]])
        parts.append(f"no {limit_words(item.columns[_limit_at(item)])} is set for {unset}")
    return f"{'; '.join(parts)} {item.cite}"


def _limit_at(item: Found) -> int:
    return item.columns.index(str(item.distance)) - 1


def _beyond(item: Found, rows: list[list[Any]]) -> str:
    if item.row_count > NAMED_IN_A_SENTENCE and len(rows) == len(item.rows):
        things = f"{written(item.row_count)} {plural(item.thing)}"
        return f"{things} {_past(item, rows[0])} {_limit(item, rows[0])}, first {_each(item, rows[0])}"
    at = _limit_at(item)
    if item.columns[at] == "threshold" and len(rows) > 1:
        named = listed([f"{item.name(row)} ({amount(row[at - 1], item.columns[at - 1])})" for row in rows])
        return f"{named} {_past(item, rows[0])} {_limit(item, rows[0])}"
    return listed([_each(item, row) for row in rows])


def _each(item: Found, row: list[Any]) -> str:
    """`Atlas (132 USD) exceeded its budget of 120 USD by 12 USD`."""
    at = _limit_at(item)
    figure = item.columns[at - 1]
    said = f"{_past(item, row)} {_limit(item, row, of=True)}{_by(item, row)}"
    if at == 1:
        return f"{_came_to(figure, row[0])}, which {said}"
    return f"{item.name(row)} ({amount(row[at - 1], figure)}) {said}"


def _by(item: Found, row: list[Any]) -> str:
    by, figure = row[_limit_at(item) + 1], item.columns[_limit_at(item) - 1]
    return f" by {amount(by, figure)}" if by else ""


def _limit(item: Found, row: list[Any], *, of: bool = False) -> str:
    at = _limit_at(item)
    figure, limit = item.columns[at - 1], item.columns[at]
    if limit == "threshold":
        return amount(row[at], figure)
    name = f"its {limit_words(limit)}" if of else f"their {limit_words(limit)}"
    return f"{name} of {amount(row[at], figure)}" if of else name


def _past(item: Found, row: list[Any]) -> str:
    by = row[_limit_at(item) + 1]
    if item.distance == "over_by":
        return "exceeded" if by else "reached"
    return "stayed below" if by else "just kept to"


def _none(item: Found, no: list[list[Any]], counts: Found | None) -> str:
    """That nothing is beyond its limit, with what was checked."""
    verb = VERDICTS.get(item.verdict or "", "exceed" if item.distance == "over_by" else "stay below")
    at = _limit_at(item)
    if len(no) == 1:
        row, figure = no[0], item.columns[at - 1]
        if at == 1:
            return f"{_came_to(figure, row[0])} and did not {verb} {_limit(item, row, of=True)}"
        return f"{item.name(row)} ({amount(row[at - 1], figure)}) did not {verb} {_limit(item, row, of=True)}"
    checked = counts.cell("number_checked") if counts else None
    threshold = counts.cell("threshold") if counts else None
    what = f"its {limit_words(item.columns[at])}" if item.columns[at] != "threshold" else "the threshold"
    if threshold is not None:
        what = amount(threshold, item.columns[at - 1])
    of = f" of the {written(checked)} checked" if checked is not None else ""
    return f"none{of} did {verb} {what}{f' {counts.cite}' if counts and (of or threshold is not None) else ''}"


# --- what puts the answer into proportion


def in_proportion(item: Found, main: Found) -> str:
    """A sentence about a result that goes with the answer; empty if it says nothing."""
    if len(item.rows) != 1 or item.cell("number_checked") == 1:
        return ""
    for words in (_beyond_ranking, _checked, _spread, _all_rows, _change, _whole):
        if said := words(item, main):
            return f"{said} {item.cite}."
    said = pairs(item)
    return f"For comparison: {said} {item.cite}." if said else ""


def _beyond_ranking(item: Found, main: Found) -> str:
    name = item.column("next_")
    if name is None:
        return ""
    following = item.cell(name)
    figure = None if main.figure is None or not main.rows else main.rows[-1][main.figure]
    after = "there are no others" if following is None else f"next comes {amount(following, name)}"
    if following is not None and following == figure:
        after = f"the next has the same figure, {amount(following, name)}"
    if "row_count" in item.columns:
        count = item.cell("row_count")
        rows = f"{written(count)} {plural(main.thing)}" if main.columns[0].endswith("_id") else rows_in_words(count)
        return f"There are {rows} in all; {after}"
    total, count = item.columns[0], item.cell(item.columns[1])
    things = plural(main.thing) if count != 1 else main.thing
    value = item.cell(total)
    if total.startswith("number_of_"):
        whole = f"All {written(count)} {things} together have {written(value)} {noun_of(total[10:])}"
    elif total.startswith("total_"):
        whole = f"All {written(count)} {things} together have {with_article(noun_of(total))} of {amount(value, total)}"
    else:
        noun = noun_of(total.removeprefix("overall_"))
        whole = f"Over all {written(count)} {things}, the {noun} is {amount(value, total)}"
    return f"{whole}; {after}"


def _checked(item: Found, _main: Found) -> str:
    checked = item.cell("number_checked")
    if checked is None:
        return ""
    name = next(name for name in item.columns if name.removeprefix("number_") in VERDICTS)
    verdict = name.removeprefix("number_")
    past = {"exceeded": "exceeded", "reached": "reached", "below": "stayed below", "within": "kept to"}
    unset = item.cell("number_without_limit")
    more = f" and {written(unset)} had none" if unset else ""
    return f"Of the {written(checked)} checked, {written(item.cell(name))} {past[verdict]} the limit{more}"


def _spread(item: Found, _main: Found) -> str:
    least, most, count = item.column("smallest_"), item.column("largest_"), item.cell("row_count")
    if least is None or most is None or count is None:
        return ""
    if count == 1:
        return "That rests on a single row"
    between = f"from {amount(item.cell(least), least)} to {amount(item.cell(most), most)}"
    return f"That rests on {rows_in_words(count)}, {between} each"


def _all_rows(item: Found, _main: Found) -> str:
    name = item.column("number_of_all_")
    return f"There are {written(item.cell(name))} {noun_of(name[14:])} in all" if name else ""


def _change(item: Found, _main: Found) -> str:
    change = item.cell("change")
    if not is_number(change):
        return ""
    when, first = item.columns[0].removeprefix("first_"), item.columns[1]
    figure = first.removeprefix("first_")
    direction = "a rise" if change > 0 else "a fall"
    went = "The last is as high as the first" if not change else f"That is {direction} of {amount(abs(change), figure)}"
    peaks = [
        f"the {kind} {when} was {item.cell(f'{kind}_{when}')} with {amount(item.cell(f'{kind}_{figure}'), figure)}"
        for kind in ("highest", "lowest")
    ]
    return f"{went}; {peaks[0]} and {peaks[1]}"


def _whole(item: Found, main: Found) -> str:
    count, name = item.cell("row_count"), item.columns[0]
    if count is None or len(item.columns) != 2:
        return ""
    figure = f"{amount(item.cell(name), name)}, from {rows_in_words(count)}"
    if item.columns == main.columns:
        return f"Without that restriction it is {figure}"
    return f"Over all of them it is {figure}" if name.startswith("average_") else f"Together that is {figure}"


def pairs(item: Found) -> str:
    """A row, column by column."""
    told = zip(item.columns, item.rows[0], strict=False)
    return ", ".join(
        rows_in_words(value) if name == "row_count" else f"{noun_of(name)} {amount(value, name)}"
        for name, value in told
        if value is not None
    )


def only_those_with_rows(item: Found, order: str | None) -> str:
    """What the least of things leaves out; empty if nothing can be left out."""
    if item.columns[0] == "month" or not (order == "lowest" or item.distance == "under_by") or len(item.columns) < 2:
        return ""
    if item.columns[0].endswith("_id") or is_number(item.rows[0][0] if item.rows else None):
        return ""
    return f"{capital(plural(item.thing))} without any row in this data are not counted."


def shown(item: Found) -> str:
    """The heads of a table's columns and its rows, as Markdown."""
    numbers = [item.is_numeric(n) for n in range(len(item.columns))]
    lines = [
        [*(readable(name) for name in item.columns), "source"],
        [*("---:" if number else "---" for number in numbers), "---"],
    ]
    lines += [[*(written(value) for value in row), item.cite] for row in item.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
