"""The one way of spans into the store: normalise, price, count, write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from traces.normalise import normalise
from traces.otlp import Decoded
from traces.prices import PriceBook
from traces.records import PricedSpan, SpanRecord
from traces.store import SpanStore

SPANS_AT_ONCE = 2_000
"""Spans in one transaction, so that a long import does not keep others from writing."""


@dataclass(frozen=True, slots=True)
class IngestResult:
    """What became of the spans of a request or file."""

    accepted: int
    refused: int = 0
    problems: tuple[str, ...] = ()
    """Why spans were refused, one sentence each."""


class Ingest:
    """The pipeline of one store and price book; may be called from several threads."""

    def __init__(self, store: SpanStore, prices: PriceBook) -> None:
        self._store = store
        self._prices = prices

    def ingest(self, project: str, spans: Sequence[SpanRecord]) -> IngestResult:
        """Store spans, durable on return; the same spans again change nothing. TracesError if it cannot be done."""
        for begin in range(0, len(spans), SPANS_AT_ONCE):
            self._store.write(project, [self._priced(span) for span in spans[begin : begin + SPANS_AT_ONCE]])
        return IngestResult(accepted=len(spans))

    def ingest_decoded(self, project: str, decoded: Decoded) -> IngestResult:
        """Store what could be decoded, and tell of what was refused."""
        self.ingest(project, decoded.spans)
        return IngestResult(len(decoded.spans), len(decoded.refused), decoded.refused)

    def _priced(self, record: SpanRecord) -> PricedSpan:
        span = normalise(record)
        return PricedSpan(span, self._prices.price_span(span))
