"""The names of columns and the figures under them, as a person writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.models.offline.words import NUMBER_WORDS, UNITS, singular

NAMED_IN_A_SENTENCE = 5
PREFIXES = {"total", "average", "highest", "lowest", "overall", "first", "last", "next", "smallest", "largest", "max"}
SPELLED_OUT = {"days", "hours", "minutes", "cents"}
CURRENCIES = {"usd", "eur", "gbp", "chf"}
SIGNS = {
    "m2": "m²",
    "m3": "m³",
    "pct": "%",
    "percent": "%",
    "c": "°C",
    "kwh": "kWh",
    "mwh": "MWh",
    "gb": "GB",
    "mb": "MB",
}


def split_unit(name: str) -> tuple[str, str]:
    """The words of a column of a result, and its unit: `total cost` and `USD` for `total_cost_usd`."""
    words = name.strip('"').split("_")
    unit = words[-1]
    if unit not in UNITS - SPELLED_OUT or all(word in PREFIXES for word in words[:-1]):
        return " ".join(words), ""
    return " ".join(words[:-1]), unit.upper() if unit in CURRENCIES else SIGNS.get(unit, unit)


def in_front_of_unit(name: str, words: str) -> str:
    """The name with more words before its unit: `average_cost_per_trip_usd`."""
    unit = name.rpartition("_")[2]
    if not split_unit(name)[1]:
        return f"{name}_{words}"
    return f"{name.removesuffix(f'_{unit}')}_{words}_{unit}"


def noun_of(name: str) -> str:
    """The words of a column of a result without its unit."""
    return split_unit(name)[0]


def readable(name: str) -> str:
    """The head of a column in a table: `total cost (USD)`."""
    noun, unit = split_unit(name)
    return f"{noun} ({unit})" if unit else noun


def amount(value: Any, name: str) -> str:
    """A figure with the unit of its column: `132,190.57 USD`."""
    unit = split_unit(name)[1]
    return f"{written(value)} {unit}" if unit and value is not None else written(value)


def limit_words(name: str) -> str:
    """What a limit is called: `parcel limit` for `max_parcels`."""
    words = noun_of(name).split()
    if words[0] in ("max", "maximum") and len(words) > 1:
        return " ".join([*words[1:-1], singular(words[-1]), "limit"])
    return " ".join(words)


def written(value: Any) -> str:
    """A value as an observation has it, with thousands apart."""
    if value is None:
        return "–"
    if is_number(value):
        return f"{value:,}".removesuffix(".0")
    return str(value).replace("|", "/")


def rows_in_words(count: Any) -> str:
    """`40 rows`."""
    return f"{written(count)} row" if count == 1 else f"{written(count)} rows"


def is_number(value: Any) -> bool:
    """Whether a cell is a figure."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def listed(items: Sequence[str]) -> str:
    """`a, b and c`; the first ones of many."""
    if len(items) > NAMED_IN_A_SENTENCE:
        return f"{', '.join(items[:NAMED_IN_A_SENTENCE])} and others"
    return f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else "".join(items)


def plural(noun: str) -> str:
    """Several of them."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def is_plural(noun: str) -> bool:
    """Whether a figure's name asks for 'were': `total minutes`, but not `number of trips`."""
    head = noun.partition(" per ")[0]
    return not head.startswith("number of") and head.endswith("s") and not head.endswith("ss")


def spelled(number: int) -> str:
    """A small number as a word."""
    return next((word for word, n in NUMBER_WORDS.items() if n == number), str(number))


def with_article(words: str) -> str:
    """`a total cost`, `an average cost`, and `total hours` as it is."""
    if is_plural(words):
        return words
    return f"{'an' if words[:1] in 'aeiou' else 'a'} {words}"


def capital(words: str) -> str:
    """The same with a capital at its beginning."""
    return words[:1].upper() + words[1:]
