"""Opens what a command needs, and no more: reading runs must not load the agent or want its provider's key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dashboard.cli.options import settings_for

if TYPE_CHECKING:
    from agent.checkpoints.stores import CheckpointStore
    from agent.run.usecases import Plandeck
    from agent.settings import Settings
    from agent.store.gateway import RecordStore
    from traces.store import SpanStore


@dataclass(frozen=True, slots=True)
class Stores:
    """Runs and spans of one project, open for reading."""

    settings: Settings
    records: RecordStore
    spans: SpanStore

    @property
    def project(self) -> str:
        """The project to read."""
        return self.settings.project


@contextmanager
def open_stores(project: str | None = None) -> Iterator[Stores]:
    """Runs and spans; AgentError or TracesError naming the store if one cannot be opened."""
    from agent.home import make_home
    from agent.store.gateway import open_record_store
    from traces.store import open_span_store

    settings = settings_for(project)
    make_home(settings.home)
    with ExitStack() as stack:
        records = stack.enter_context(open_record_store(settings.records_url))
        spans = stack.enter_context(open_span_store(settings.spans_url))
        yield Stores(settings, records, spans)


@contextmanager
def open_agent(project: str | None = None, *, calls_models: bool = True) -> Iterator[Plandeck]:
    """Everything that runs need, model and tools included; PriceFileError if calls could not be priced as wanted."""
    from agent.run.usecases import open_plandeck

    with open_plandeck(settings_for(project)) as app:
        if calls_models:
            app.prices.check()
        yield app


def open_checkpoints(store: str | None, project: str | None = None) -> CheckpointStore:
    """The checkpoint store that `--store` names, the own one without it; it opens at the first question."""
    from dashboard.named_stores import open_named

    return open_named(settings_for(project), store)
