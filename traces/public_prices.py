"""Rates of `genai-prices`: bundled data, no network, and no guessing at names."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache

from genai_prices.data_snapshot import DataSnapshot, find_provider_by_id, get_snapshot
from genai_prices.types import (
    ClauseEquals,
    ClauseOr,
    ClauseStartsWith,
    ModelInfo,
    ModelPrice,
    Provider,
    StartDateConstraint,
    TieredPrices,
)

from traces.model_names import name_forms
from traces.records import Rates

PRICE_KEYS = {
    "input": "input_mtok",
    "input_audio": "input_audio_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write_5m": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "output": "output_mtok",
    "reasoning": "output_reasoning_mtok",
    "output_audio": "output_audio_mtok",
}
"""The library's name of the rate of each token class."""

PROVIDERS = {
    "azure.ai.openai": "azure",
    "azure.ai.inference": "azure",
    "aws.bedrock": "aws",
    "gcp.gemini": "google",
    "gcp.vertex_ai": "google",
    "gcp.gen_ai": "google",
    "mistral_ai": "mistral",
    "x_ai": "x-ai",
}
"""Providers of the conventions by the library's names."""

LOCAL_PROVIDERS = frozenset({"offline", "ollama", "vllm", "llama.cpp", "llamacpp", "lmstudio", "xllamacpp"})
"""Servers on somebody's own machine, which no public price is for."""

BATCH = "batch"


def public_rates(
    model: str, provider: str | None, *, at: datetime, prompt: int, service_tier: str | None
) -> Rates | None:
    """The rates valid at that time for a request with that many prompt tokens; None if the model is not known."""
    known = _known(model, provider)
    if known is None:
        return None
    info = known[1]
    moment = at.astimezone(UTC)
    context = {"service_tier": service_tier} if service_tier else {}
    if service_tier == BATCH:
        context["processing"] = BATCH
    prices = info.get_prices(moment, context or None)
    rates = {name: rate for name, key in PRICE_KEYS.items() if (rate := _rate(prices, key, prompt)) is not None}
    if "input" not in rates:
        return None
    standard = info.get_prices(moment)
    return Rates(
        entry=info.id,
        source="price book",
        per_million=rates,
        since=_since(info, standard),
        service_tier=service_tier if prices != standard else None,
    )


def _rate(prices: ModelPrice, key: str, prompt: int) -> Decimal | None:
    price = getattr(prices, key)
    if isinstance(price, TieredPrices):
        fitting = [tier.price for tier in price.tiers if prompt > tier.start]
        return fitting[-1] if fitting else price.base
    return price if isinstance(price, Decimal) else None


def _since(info: ModelInfo, prices: ModelPrice) -> str | None:
    if isinstance(info.prices, ModelPrice):
        return None
    for conditional in info.prices:
        if conditional.prices is prices and isinstance(conditional.constraint, StartDateConstraint):
            return conditional.constraint.start_date.isoformat()
    return None


@lru_cache(maxsize=4096)
def _known(model: str, provider: str | None) -> tuple[Provider, ModelInfo] | None:
    if provider in LOCAL_PROVIDERS:
        return None
    snapshot = get_snapshot()
    for form in name_forms(model):
        for maker in _makers(snapshot, form, provider):
            info = maker.find_model(form, all_providers=snapshot.providers)
            if info is not None and form in _names(info):
                return maker, info
    return None


def _makers(snapshot: DataSnapshot, form: str, provider: str | None) -> Iterator[Provider]:
    """The provider that was named, then the one that the model's name belongs to."""
    if provider and (named := find_provider_by_id(snapshot.providers, PROVIDERS.get(provider, provider))):
        yield named
    for maker in snapshot.providers:
        if maker.model_match is not None and maker.model_match.is_match(form):
            yield maker
            return


def _names(info: ModelInfo) -> set[str]:
    """The names that are exactly this model, in every form; what is merely matched loosely is not among them."""
    clauses = info.match.or_ if isinstance(info.match, ClauseOr) else [info.match]
    said = [info.id]
    for clause in clauses:
        if isinstance(clause, ClauseEquals):
            said.append(clause.equals)
        elif isinstance(clause, ClauseStartsWith):
            said.append(clause.starts_with)
    return {form for name in said for form in name_forms(name)}
