"""An OpenTelemetry exporter that writes into the store of the same process."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import StatusCode

from traces.attributes import PROJECT
from traces.errors import TracesError
from traces.ingest import Ingest
from traces.records import JsonObject, SpanEvent, SpanRecord
from traces.values import clean, storable

MOST_KEPT = 10_000
"""Spans that are kept while the store cannot be written; beyond it the oldest are lost, and `check` says so."""

log = logging.getLogger(__name__)


class StoreExporter(SpanExporter):
    """Writes spans durably before it answers SUCCESS; what could not be written is kept and tried again.

    A span goes to the project that its attribute `plandeck.project` names, else to `project`.
    """

    def __init__(self, ingest: Ingest, project: str) -> None:
        self._ingest = ingest
        self._project = project
        self._kept: deque[SpanRecord] = deque()
        self._lost = 0
        self._problem: TracesError | None = None
        self._lock = threading.Lock()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write spans, and those kept from before."""
        records = [record for span in spans if (record := span_record(span))]
        with self._lock:
            self._kept.extend(records)
            return SpanExportResult.SUCCESS if self._flush() else SpanExportResult.FAILURE

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Try again to write what is kept; whether nothing is left."""
        with self._lock:
            return self._flush()

    def shutdown(self) -> None:
        """Try a last time to write what is kept."""
        self.force_flush()

    def check(self) -> None:
        """Raise TracesError if spans could not be stored; tries once more before."""
        with self._lock:
            if self._flush() and not self._lost:
                return
            waiting, lost, reason = len(self._kept), self._lost, self._problem
            self._lost = 0
        what = f"{waiting} spans wait to be stored" + (f" and {lost} are lost" if lost else "")
        raise TracesError(f"{what}: {reason.message if reason else 'the store could not be written for a time'}")

    def _flush(self) -> bool:
        by_project: dict[str, list[SpanRecord]] = {}
        for record in self._kept:
            by_project.setdefault(str(record.attributes.get(PROJECT) or self._project), []).append(record)
        try:
            for project, records in by_project.items():
                self._ingest.ingest(project, records)
        except TracesError as error:
            self._problem = error
            log.warning("Spans could not be stored and are kept: %s", error.message)
            self._drop_oldest()
            return False
        self._kept.clear()
        return True

    def _drop_oldest(self) -> None:
        while len(self._kept) > MOST_KEPT:
            self._kept.popleft()
            self._lost += 1


def span_record(span: ReadableSpan) -> SpanRecord | None:
    """A span of the SDK as a record; None for one without a valid identity."""
    identity = span.get_span_context()
    if identity is None or not identity.is_valid or span.start_time is None:
        return None
    scope = span.instrumentation_scope
    return SpanRecord(
        trace_id=f"{identity.trace_id:032x}",
        span_id=f"{identity.span_id:016x}",
        parent_span_id=f"{span.parent.span_id:016x}" if span.parent else None,
        name=clean(span.name),
        started_at=span.start_time,
        ended_at=span.end_time,
        attributes=_plain(span.attributes),
        failed=span.status.status_code is StatusCode.ERROR,
        status_message=clean(span.status.description or ""),
        events=tuple(SpanEvent(clean(event.name), event.timestamp, _plain(event.attributes)) for event in span.events),
        resource=_plain(span.resource.attributes),
        scope=clean(scope.name) if scope else "",
        scope_version=clean(scope.version or "") if scope else "",
    )


def _plain(attributes: Mapping[str, Any] | None) -> JsonObject:
    return {clean(name): _plain_value(value) for name, value in (attributes or {}).items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return _plain(value)
    if isinstance(value, list | tuple):
        return [_plain_value(item) for item in value]
    return storable(value)
