"""Spans of the agent: the official LangChain instrumentation, and thin spans of our own around a run's parts.

The instrumentation makes model and tool spans siblings under the graph's span and knows nothing of steps. So what a
span belongs to is carried by a context variable and copied onto every span when it starts; cost per step goes by these
attributes, never by parents. A run keeps one trace over every pause and restart: its context is stored with the run.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.instrumentation.genai.langchain import LangChainInstrumentor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.trace import NonRecordingSpan, SpanContext, Status, StatusCode, TraceFlags

from agent.records import ApprovalRequest, Run, RunStatus
from traces import attributes

INSTRUMENTATION_SCOPE = "plandeck.agent"


@dataclass(frozen=True, slots=True)
class Scope:
    """What the spans that start now belong to."""

    sink: SpanExporter
    marks: dict[str, str | int] = field(default_factory=dict)
    """Attributes for every span."""

    def marked(self, **marks: str | int) -> Scope:
        """The same with further attributes."""
        return replace(self, marks={**self.marks, **marks})


class _Gathering(SpanExporter):
    """Hands spans on together: those of a part of a run when it ends, and none later than a moment after it ended.

    Each writing counts the whole trace anew, so one for every span would cost more the longer a run is.
    """

    def __init__(self, sink: SpanExporter) -> None:
        self._sink = sink
        self._waiting: list[ReadableSpan] = []
        self._since = 0.0
        self._lock = threading.Lock()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Take spans; hand all on if the first of them waits for long enough."""
        with self._lock:
            if not self._waiting:
                self._since = time.monotonic()
            self._waiting.extend(spans)
            if any(_took_long(span) for span in spans) or time.monotonic() - self._since > MOMENT_SECONDS:
                self._hand_on()
        return SpanExportResult.SUCCESS

    def hand_on(self) -> None:
        """Write what waits."""
        with self._lock:
            self._hand_on()

    def _hand_on(self) -> None:
        if self._waiting:
            self._sink.export(self._waiting)
            self._waiting = []


MOMENT_SECONDS = 0.5


def _took_long(span: ReadableSpan) -> bool:
    """Whether the span is a call that was worth waiting for: it is written at once, whatever comes after it."""
    return ((span.end_time or 0) - (span.start_time or 0)) / 1e9 > MOMENT_SECONDS


_scope: ContextVar[Scope | None] = ContextVar("plandeck_span_scope", default=None)
_kept_ids: ContextVar[tuple[int, int] | None] = ContextVar("plandeck_kept_ids", default=None)


class _ScopeProcessor(SpanProcessor):
    """Marks each span with the scope in which it starts, and hands it to that scope's sink when it ends."""

    def __init__(self) -> None:
        self._sinks: dict[tuple[int, int], SpanExporter] = {}
        self._lock = threading.Lock()

    def on_start(self, span: Span, parent_context: otel_context.Context | None = None) -> None:
        scope = _scope.get()
        if scope is None:
            return
        span.set_attributes(scope.marks)
        with self._lock:
            self._sinks[_key(span)] = scope.sink

    def on_end(self, span: ReadableSpan) -> None:
        with self._lock:
            sink = self._sinks.pop(_key(span), None)
        if sink is not None:
            sink.export([span])


def _key(span: ReadableSpan) -> tuple[int, int]:
    identity = span.get_span_context()
    return (identity.trace_id, identity.span_id) if identity else (0, 0)


class _KeptIds(IdGenerator):
    """Random ids, except that a run's own span gets the trace and span id that were kept with the run."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()

    def generate_span_id(self) -> int:
        kept = _kept_ids.get()
        return kept[1] if kept else self._random.generate_span_id()

    def generate_trace_id(self) -> int:
        kept = _kept_ids.get()
        return kept[0] if kept else self._random.generate_trace_id()

    def is_trace_id_random(self) -> bool:
        return True


_provider: TracerProvider | None = None
_provider_lock = threading.Lock()


def tracer() -> trace.Tracer:
    """The process's tracer; on first use LangChain is instrumented, once a process.

    The provider is not made the global one: an application that embeds the agent keeps its own.
    """
    global _provider  # noqa: PLW0603  # one instrumentation a process, made when first needed
    with _provider_lock:
        if _provider is None:
            resource = Resource.create({"service.name": "plandeck"})
            _provider = TracerProvider(resource=resource, id_generator=_KeptIds(), shutdown_on_exit=False)
            _provider.add_span_processor(_ScopeProcessor())
            # The check wants the `langchain` package, which nothing here needs.
            instrumentor: Any = LangChainInstrumentor()  # type: ignore[no-untyped-call]  # its __init__ has no types
            instrumentor.instrument(tracer_provider=_provider, skip_dep_check=True)
        return _provider.get_tracer(INSTRUMENTATION_SCOPE)


class RunTracing:
    """The spans of one run."""

    def __init__(self, run: Run, sink: SpanExporter) -> None:
        self._run = run
        self._tracer = tracer()
        self._spans = _Gathering(sink)
        self._scope = Scope(
            self._spans,
            {
                attributes.PROJECT: run.project,
                attributes.RUN_ID: run.run_id,
                attributes.AGENT: run.agent,
                attributes.PROVIDER: run.provider,
                attributes.USER: run.requested_by,
                attributes.THREAD_ID: run.thread_id,
            },
        )

    @contextmanager
    def segment(self) -> Iterator[None]:
        """Make everything inside a part of the run's trace."""
        identity = SpanContext(
            int(self._run.trace_id, 16), int(self._run.root_span_id, 16), is_remote=True, trace_flags=TraceFlags(1)
        )
        token = otel_context.attach(trace.set_span_in_context(NonRecordingSpan(identity)))
        with _entered(self._scope):
            try:
                yield
            finally:
                otel_context.detach(token)
                self._spans.hand_on()

    @contextmanager
    def part(self, name: str, *, kind: str, step: str | None = None, attempt: int = 0) -> Iterator[None]:
        """Open a span for a part of the run and mark what happens inside."""
        marks: dict[str, str | int] = {}
        if step is not None:
            marks = {attributes.STEP_ID: step, attributes.ATTEMPT: attempt}
        try:
            with (
                _entered(_current(self._scope).marked(**marks)),
                self._tracer.start_as_current_span(name, attributes={attributes.KIND: kind}),
            ):
                yield
        finally:
            self._spans.hand_on()

    @contextmanager
    def role(self, role: str, provider: str) -> Iterator[None]:
        """Mark the model calls inside with what they are for, and with who answers them."""
        with _entered(_current(self._scope).marked(**{attributes.ROLE: role, attributes.PROVIDER: provider})):
            yield

    def waited(self, request: ApprovalRequest) -> None:
        """Write the span of a person's time: from the request to the decision. Never an error."""
        if request.decided_at is None:
            return
        # The same request gives the same span, however often a crash makes us write it.
        span_id = int.from_bytes(hashlib.sha256(request.request_id.encode()).digest()[:8])
        with self.segment(), _keeping(int(self._run.trace_id, 16), span_id):
            span = self._tracer.start_span(
                f"waiting for a person: {request.kind}",
                start_time=_nanoseconds(request.requested_at),
                attributes={attributes.KIND: "waiting", attributes.DECISION: str(request.decision)},
            )
        span.end(_nanoseconds(request.decided_at))
        self._spans.hand_on()

    def ended(self, run: Run, at: datetime) -> None:
        """Write the run's own span, the root of its trace."""
        with _keeping(int(run.trace_id, 16), int(run.root_span_id, 16)), _entered(self._scope):
            span = self._tracer.start_span(
                f"run {run.agent}",
                context=otel_context.Context(),
                start_time=_nanoseconds(run.created_at),
                attributes={attributes.KIND: "run", attributes.RUN_STATUS: str(run.status)},
            )
        if run.status is RunStatus.FAILED:
            span.set_status(Status(StatusCode.ERROR, run.error or run.stop_reason or "failed"))
        span.end(_nanoseconds(at))
        self._spans.hand_on()


@contextmanager
def _keeping(trace_id: int, span_id: int) -> Iterator[None]:
    """Give these ids to the span that is started inside."""
    token = _kept_ids.set((trace_id, span_id))
    try:
        yield
    finally:
        _kept_ids.reset(token)


@contextmanager
def _entered(scope: Scope) -> Iterator[None]:
    token = _scope.set(scope)
    try:
        yield
    finally:
        _scope.reset(token)


def _current(default: Scope) -> Scope:
    """The scope that is open here, or the run's own in a thread that opened none."""
    return _scope.get() or default


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1_000
