from collections.abc import Iterator, Sequence

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.trace import Status, StatusCode
from span_makers import DEMO

import traces.exporter
from traces.attributes import PROJECT, RUN_ID
from traces.errors import SpanStorageError, TracesError
from traces.exporter import StoreExporter, span_record
from traces.ingest import Ingest, IngestResult
from traces.prices import PriceBook
from traces.records import SpanRecord
from traces.store import SpanStore, UsageQuery


class Door(Ingest):
    """The real pipeline behind a door that a test can shut."""

    shut = False

    def ingest(self, project: str, spans: Sequence[SpanRecord]) -> IngestResult:
        if self.shut:
            raise SpanStorageError("the door is shut")
        return super().ingest(project, spans)


@pytest.fixture
def door(small_store: SpanStore) -> Door:
    return Door(small_store, PriceBook(extra=[DEMO]))


@pytest.fixture
def exporter(door: Door) -> StoreExporter:
    return StoreExporter(door, "p")


@pytest.fixture
def provider(exporter: StoreExporter) -> Iterator[TracerProvider]:
    provider = TracerProvider(resource=Resource({"service.name": "demo"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield provider
    provider.shutdown()


def call(provider: TracerProvider, **attributes: str) -> None:
    given = {"gen_ai.operation.name": "chat", "gen_ai.response.model": "demo", "gen_ai.usage.input_tokens": 10}
    with provider.get_tracer("lib", "1").start_as_current_span("chat", attributes={**given, **attributes}) as span:
        span.set_attribute("gen_ai.usage.output_tokens", 1)


def calls(store: SpanStore, project: str = "p") -> int:
    return store.usage_total(UsageQuery(project)).calls


def test_a_span_is_stored_when_its_export_returns(provider: TracerProvider, small_store: SpanStore) -> None:
    call(provider, **{RUN_ID: "r-1"})
    (stored,) = small_store.run_spans("p", "r-1")
    assert (stored.name, stored.scope, stored.usage.input, stored.counted) == ("chat", "lib", 10, True)
    body = small_store.body("p", stored.trace_id, stored.span_id)
    assert body is not None
    assert body.resource == {"service.name": "demo"}


def test_a_span_goes_to_the_project_that_it_names(provider: TracerProvider, small_store: SpanStore) -> None:
    call(provider, **{PROJECT: "finance"})
    call(provider)
    assert (calls(small_store, "finance"), calls(small_store)) == (1, 1)


def test_parents_errors_and_events_are_kept(provider: TracerProvider, small_store: SpanStore) -> None:
    tracer = provider.get_tracer("lib")
    with tracer.start_as_current_span("outer", attributes={RUN_ID: "r"}), tracer.start_as_current_span("inner") as span:
        span.record_exception(ValueError("no"))
        span.set_status(Status(StatusCode.ERROR, "broke"))
        span.set_attribute("numbers", [1, 2])
    outer, inner = sorted(small_store.spans("p", small_store.traces("p")[0].trace_id), key=lambda item: item.started_at)
    assert inner.parent_span_id == outer.span_id
    assert (inner.status, inner.error, inner.attributes["numbers"]) == ("error", "broke", [1, 2])
    body = small_store.body("p", inner.trace_id, inner.span_id)
    assert body is not None
    assert body.events[0].name == "exception"


def test_what_could_not_be_stored_is_kept_and_told_and_stored_later(
    provider: TracerProvider, door: Door, exporter: StoreExporter, small_store: SpanStore
) -> None:
    door.shut = True
    call(provider)
    call(provider)
    assert not exporter.force_flush()
    with pytest.raises(TracesError, match="2 spans wait to be stored: the door is shut"):
        exporter.check()
    door.shut = False
    call(provider)
    assert calls(small_store) == 3
    exporter.check()


def test_export_says_whether_it_worked(provider: TracerProvider, door: Door, exporter: StoreExporter) -> None:
    span = provider.get_tracer("lib").start_span("x")
    span.end()
    door.shut = True
    assert exporter.export([span]) is SpanExportResult.FAILURE  # type: ignore[list-item]  # it is the SDK's own
    door.shut = False
    assert exporter.export([]) is SpanExportResult.SUCCESS


def test_what_is_kept_is_bounded_and_the_loss_is_told_once(
    provider: TracerProvider,
    door: Door,
    exporter: StoreExporter,
    small_store: SpanStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(traces.exporter, "MOST_KEPT", 2)
    door.shut = True
    for _ in range(5):
        call(provider)
    door.shut = False
    with pytest.raises(TracesError, match="3 are lost"):
        exporter.check()
    exporter.check()
    assert calls(small_store) == 2


def test_shutdown_stores_what_is_left(
    provider: TracerProvider, door: Door, exporter: StoreExporter, small_store: SpanStore
) -> None:
    door.shut = True
    call(provider)
    door.shut = False
    exporter.shutdown()
    assert calls(small_store) == 1


def test_a_span_that_still_runs_has_no_end(provider: TracerProvider) -> None:
    record = span_record(provider.get_tracer("lib").start_span("x"))  # type: ignore[arg-type]  # it is the SDK's own
    assert record is not None
    assert record.ended_at is None
