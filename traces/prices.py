"""What a call cost: own prices, then entries of the program, then `genai-prices`, then what the span claims."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from traces.errors import PriceFileError
from traces.model_names import name_forms
from traces.price_files import PriceEntry, RateTier, newest_first, read_entries, read_price_file
from traces.public_prices import public_rates
from traces.records import NormalisedSpan, Priced, PricePart, PriceSource, Rates, Usage, UsageState, dollars, pico

LIKE: Mapping[str, str] = {
    "input_audio": "input",
    "cache_read": "input",
    "cache_write_5m": "input",
    "cache_write_1h": "cache_write_5m",
    "reasoning": "output",
    "output_audio": "output",
}
"""At which class's rate tokens are charged where a price book has no rate of their own."""

STANDARD_TIERS = frozenset({"default", "standard", "auto", "on_demand"})
TOLERANCE = Decimal("0.01")
"""By how much a reported cost may differ from the computed one without a flag."""

_Fingerprint = tuple[int, ...]
_MISSING: _Fingerprint = ()

log = logging.getLogger(__name__)


class PriceBook:
    """Rates by model, provider and time. `own` is the file of own prices; it is looked for at each use.

    `extra` are further entries in the form of that file's `models`, asked after it; `illustrative: true` marks
    prices that are made up. A file that is wrong, or missing without being `optional`, leaves the last good prices in
    force, the built-in ones if there were none: `problem` tells it, `check` raises it, and every call that is priced
    meanwhile has the flag `own_prices_wrong`.
    """

    def __init__(
        self, own: Path | None = None, extra: Sequence[Mapping[str, object]] = (), *, optional: bool = False
    ) -> None:
        self._own_path = own
        self._optional = optional
        self._lock = threading.Lock()
        self._seen: _Fingerprint | None = None
        self._own = _Entries(())
        self._extra = _Entries(read_entries({"models": [dict(entry) for entry in extra]}))
        self._error: PriceFileError | None = None

    @property
    def file(self) -> Path | None:
        """The file of own prices, if any of its entries are in force."""
        self._reload()
        return self._own_path if self._own else None

    @property
    def problem(self) -> str | None:
        """Why the file of own prices is not in force as it stands, and what is instead; None if it is."""
        self._reload()
        if self._error is None:
            return None
        return f"{self._error.message} {'The prices of before' if self._own else 'The built-in prices'} are in force."

    def check(self) -> None:
        """PriceFileError naming the file and what is wrong with it, if it is not in force as it stands."""
        self._reload()
        if self._error is not None:
            raise self._error

    def price_span(self, span: NormalisedSpan) -> Priced:
        """What a span's call cost; never raises."""
        return self.price(
            span.model,
            span.provider,
            span.usage,
            span.started_at,
            usage_state=span.usage_state,
            service_tier=span.service_tier,
            reported=span.reported_cost,
        )

    def price(
        self,
        model: str | None,
        provider: str | None,
        usage: Usage,
        at: int,
        *,
        usage_state: UsageState = "known",
        service_tier: str | None = None,
        reported: Decimal | None = None,
    ) -> Priced:
        """The cost of a call that started at `at` (nanoseconds), rounded half-even once; unknown stays unknown."""
        rates: Rates | None = None
        flags: tuple[str, ...] = ()
        if model is not None and usage_state == "known":
            self._reload()
            rates, flags = self._rates(model, provider, usage, at, service_tier)
            flags = (*flags, "own_prices_wrong") if self._error else flags
        parts = _parts(rates, usage) if rates else None
        if rates is None or parts is None:
            return _as_reported(reported, flags)
        cost = pico(sum((part.cost for part in parts), Decimal(0)))
        if reported is not None and abs(reported - dollars(cost)) > TOLERANCE * dollars(cost):
            flags = (*flags, "reported_cost_differs")
        return Priced(cost, rates.source, rates, parts, flags)

    def _rates(
        self, model: str, provider: str | None, usage: Usage, at: int, service_tier: str | None
    ) -> tuple[Rates | None, tuple[str, ...]]:
        moment = datetime.fromtimestamp(at // 1_000_000_000, UTC)
        tier = None if service_tier in STANDARD_TIERS else service_tier
        prompt = usage.input or 0
        sources: tuple[tuple[_Entries, PriceSource], ...] = ((self._own, "own"), (self._extra, "price book"))
        for entries, source in sources:
            entry = entries.find(model, provider, moment)
            if entry is not None:
                return _entry_rates(entry, prompt, tier, "illustrative" if entry.illustrative else source)
        rates = public_rates(model, provider, at=moment, prompt=prompt, service_tier=tier)
        unknown_tier = rates is not None and tier is not None and rates.service_tier is None
        return rates, (("service_tier_without_price",) if unknown_tier else ())

    def _reload(self) -> None:
        if self._own_path is None:
            return
        seen = _fingerprint(self._own_path)
        if seen == self._seen:
            return
        with self._lock:
            if seen != self._seen:
                self._read(self._own_path, exists=seen != _MISSING)
                self._seen = seen

    def _read(self, path: Path, *, exists: bool) -> None:
        try:
            self._own = _Entries(() if self._optional and not exists else read_price_file(path))
        except PriceFileError as error:
            self._error = error
            if self._seen is not None:
                log.warning("%s", error.message)
        else:
            self._error = None


def _fingerprint(path: Path) -> _Fingerprint:
    try:
        seen = os.stat(path)  # noqa: PTH116 - asked for every call, and Path.stat is slower
    except FileNotFoundError:
        return _MISSING
    except OSError as error:
        return (error.errno or -1,)
    # A change of permissions shows only in the last one.
    return seen.st_mtime_ns, seen.st_size, seen.st_ino, seen.st_ctime_ns


class _Entries:
    """Entries by every name that they have."""

    def __init__(self, entries: Iterable[PriceEntry]) -> None:
        self._by_name: dict[str, list[PriceEntry]] = {}
        for entry in newest_first(list(entries)):
            for name in (entry.id, *entry.aliases):
                self._by_name.setdefault(name.strip().lower(), []).append(entry)

    def __bool__(self) -> bool:
        return bool(self._by_name)

    def find(self, model: str, provider: str | None, at: datetime) -> PriceEntry | None:
        if not self._by_name:
            return None
        for form in name_forms(model):
            for entry in self._by_name.get(form, ()):
                fits = entry.provider is None or entry.provider == provider
                if fits and (entry.valid_from is None or entry.valid_from <= at.date()):
                    return entry
        return None


def _entry_rates(
    entry: PriceEntry, prompt: int, service_tier: str | None, source: PriceSource
) -> tuple[Rates | None, tuple[str, ...]]:
    tier = _tier(entry.tiers, prompt)
    if tier is None:
        return None, ("no_price_for_prompt_length",)
    factor = entry.service_tiers.get(service_tier or "")
    rates = Rates(
        entry=entry.id,
        source=source,
        per_million=tier.rates,
        since=entry.valid_from.isoformat() if entry.valid_from else None,
        illustrative=entry.illustrative,
    )
    if factor is None:
        return rates, (("service_tier_without_price",) if service_tier else ())
    scaled = {name: rate * factor for name, rate in tier.rates.items()}
    return replace(rates, per_million=scaled, service_tier=service_tier), ()


def _tier(tiers: Sequence[RateTier], prompt: int) -> RateTier | None:
    """The tier of a whole request by its prompt, cached tokens included."""
    fitting = [tier for tier in tiers if prompt >= tier.above and (prompt > tier.above or tier.above == 0)]
    fitting = [tier for tier in fitting if tier.up_to is None or prompt <= tier.up_to]
    return fitting[-1] if fitting else None


def _parts(rates: Rates, usage: Usage) -> tuple[PricePart, ...] | None:
    """The lines of the arithmetic; None if a class that was used has no rate."""
    parts = []
    for token_class, tokens in usage.classes().items():
        rate = rate_of(rates, token_class)
        if rate is None:
            return None
        parts.append(PricePart(token_class, tokens, rate))
    return tuple(parts)


def rate_of(rates: Rates, token_class: str) -> Decimal | None:
    """Dollars per million tokens of a class, or of the class that it is charged like; None if there is neither."""
    rate = rates.per_million.get(token_class)
    if rate is None and token_class in LIKE:
        return rate_of(rates, LIKE[token_class])
    return rate


def _as_reported(reported: Decimal | None, flags: tuple[str, ...]) -> Priced:
    if reported is None:
        return Priced(None, None, flags=flags)
    return Priced(pico(reported), "reported", flags=flags)
