"""Reading own prices: JSON or TOML of the form that the settings describe, checked entry by entry."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from traces.errors import PriceFileError

RATE_NAMES: Mapping[str, str] = {
    "input": "input",
    "output": "output",
    "cache_read": "cache_read",
    "cache_write": "cache_write_5m",
    "cache_write_5m": "cache_write_5m",
    "cache_write_1h": "cache_write_1h",
    "reasoning": "reasoning",
    "input_audio": "input_audio",
    "output_audio": "output_audio",
}
"""Names of rates in a price file, and the token class that each is for."""

_MODEL_KEYS = {"id", "aliases", "provider", "valid_from", "tiers", "service_tiers", "illustrative"}
_TIER_KEYS = {"prompt_up_to", "prompt_above"}
_UNIT = re.compile(r"usd per (?:([\d,_]+) )?tokens?", re.IGNORECASE)
MILLION = Decimal(1_000_000)
MOST_DOLLARS_PER_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class RateTier:
    """Rates for whole requests whose prompt, cached tokens included, is longer than `above`."""

    above: int
    up_to: int | None
    rates: Mapping[str, Decimal]
    """Dollars per million tokens by token class."""


@dataclass(frozen=True, slots=True)
class PriceEntry:
    """Prices of one model from one day on."""

    id: str
    aliases: tuple[str, ...]
    provider: str | None
    """Only calls to this provider; None for any."""
    valid_from: date | None
    tiers: tuple[RateTier, ...]
    service_tiers: Mapping[str, Decimal]
    """Factors by the service tier of the response."""
    illustrative: bool


def read_price_file(path: Path) -> tuple[PriceEntry, ...]:
    """The entries of a price file; PriceFileError names the file and what is wrong in it."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        content = tomllib.loads(text) if path.suffix.lower() == ".toml" else json.loads(text, parse_float=Decimal)
    except OSError as error:
        raise PriceFileError(f"The price file {path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise PriceFileError(f"The price file {path} is not readable as {_form(path)}: {error}.") from error
    try:
        return read_entries(content)
    except PriceFileError as error:
        raise PriceFileError(f"The price file {path} is wrong: {error.message}") from error


def _form(path: Path) -> str:
    return "TOML" if path.suffix.lower() == ".toml" else "JSON"


def read_entries(content: object) -> tuple[PriceEntry, ...]:
    """The entries of a decoded price file; PriceFileError says which is wrong."""
    if not isinstance(content, Mapping) or not isinstance(content.get("models"), list):
        raise PriceFileError("it needs a list `models`.")
    scale = _scale(content.get("unit"))
    factors = _factors(content.get("service_tiers"), "service_tiers")
    since = _date(content.get("valid_from"), "valid_from")
    return tuple(
        _entry(model, f"models[{index}]", scale=scale, factors=factors, since=since)
        for index, model in enumerate(content["models"])
    )


def _scale(unit: object) -> Decimal:
    """By what a rate is multiplied to be dollars per million tokens."""
    if unit is None:
        return Decimal(1)
    match = _UNIT.fullmatch(str(unit).strip())
    per = int(re.sub("[,_]", "", match[1] or "1")) if match else 0
    if per <= 0:
        raise PriceFileError(f"unit is {unit!r}; write `USD per 1,000,000 tokens`.")
    return MILLION / per


def _entry(
    model: object, where: str, *, scale: Decimal, factors: Mapping[str, Decimal], since: date | None
) -> PriceEntry:
    if not isinstance(model, Mapping):
        raise PriceFileError(f"{where} must be a table with an id and rates.")
    name = model.get("id")
    if not isinstance(name, str) or not name.strip():
        raise PriceFileError(f"{where}.id must be the model's name.")
    _refuse_unknown_rates(model, _MODEL_KEYS, where)
    own_factors = _factors(model.get("service_tiers"), f"{where}.service_tiers")
    return PriceEntry(
        id=name.strip(),
        aliases=_aliases(model.get("aliases"), where),
        provider=str(model["provider"]).lower() if model.get("provider") else None,
        valid_from=_date(model.get("valid_from"), f"{where}.valid_from") or since,
        tiers=_tiers(model, where, scale),
        service_tiers={**factors, **own_factors},
        illustrative=model.get("illustrative") is True,
    )


def _aliases(value: object, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise PriceFileError(f"{where}.aliases must be a list of names.")
    return tuple(value)


def _refuse_unknown_rates(table: Mapping[str, Any], known: set[str], where: str) -> None:
    """A misspelt rate would silently cost nothing; a remark in words does no harm."""
    for key, value in table.items():
        if key not in known and key not in RATE_NAMES and _is_number(value):
            choices = ", ".join(RATE_NAMES)
            raise PriceFileError(f"{where}.{key} is no rate that is known; the choice is: {choices}.")


def _is_number(value: object) -> bool:
    try:
        _decimal(value)
    except InvalidOperation:
        return False
    return True


def _decimal(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise InvalidOperation
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def _tiers(model: Mapping[str, Any], where: str, scale: Decimal) -> tuple[RateTier, ...]:
    given = model.get("tiers")
    if given is None:
        return (RateTier(0, None, _rates(model, where, scale)),)
    if not isinstance(given, list) or not given:
        raise PriceFileError(f"{where}.tiers must be a list of tables.")
    tiers = []
    for index, tier in enumerate(given):
        place = f"{where}.tiers[{index}]"
        if not isinstance(tier, Mapping):
            raise PriceFileError(f"{place} must be a table with a limit and rates.")
        _refuse_unknown_rates(tier, _TIER_KEYS, place)
        merged = {**{name: rate for name, rate in model.items() if name in RATE_NAMES}, **tier}
        tiers.append(
            RateTier(
                _limit(tier.get("prompt_above"), f"{place}.prompt_above") or 0,
                _limit(tier.get("prompt_up_to"), f"{place}.prompt_up_to"),
                _rates(merged, place, scale),
            )
        )
    return tuple(sorted(tiers, key=lambda tier: tier.above))


def _limit(value: object, where: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise PriceFileError(f"{where} must be a whole number of tokens.")
    return value


def _rates(table: Mapping[str, Any], where: str, scale: Decimal) -> dict[str, Decimal]:
    rates = {
        RATE_NAMES[name]: _rate(value, f"{where}.{name}") * scale for name, value in table.items() if name in RATE_NAMES
    }
    if "input" not in rates:
        raise PriceFileError(f"{where}.input is missing; a model needs at least the rate of its input.")
    if any(rate > MOST_DOLLARS_PER_MILLION for rate in rates.values()):
        raise PriceFileError(f"{where} has a rate above ${MOST_DOLLARS_PER_MILLION:,} a million tokens; check `unit`.")
    return rates


def _rate(value: object, where: str) -> Decimal:
    try:
        rate = _decimal(value)
    except InvalidOperation:
        rate = Decimal("NaN")
    if not rate.is_finite() or rate < 0:
        raise PriceFileError(f"{where} must be a number of dollars, 0 or more (got {value!r}).")
    return rate


def _factors(value: object, where: str) -> dict[str, Decimal]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise PriceFileError(f"{where} must be a table of tiers, each with a factor.")
    return {
        str(name).lower(): _rate(tier.get("factor") if isinstance(tier, Mapping) else tier, f"{where}.{name}.factor")
        for name, tier in value.items()
    }


def _date(value: object, where: str) -> date | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError as error:
        raise PriceFileError(f"{where} must be a date such as 2026-01-31 (got {value!r}).") from error


def newest_first(entries: Sequence[PriceEntry]) -> list[PriceEntry]:
    """Entries in the order in which they are asked: the latest `valid_from` first, undated ones last."""
    return sorted(entries, key=lambda entry: entry.valid_from or date.min, reverse=True)
