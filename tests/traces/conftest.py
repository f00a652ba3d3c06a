from collections.abc import Iterator
from pathlib import Path

import pytest

from traces.store import SpanStore, open_span_store


@pytest.fixture(params=["sqlite", "postgresql"])
def spans_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'spans.db'}"
    url: str = request.getfixturevalue("postgresql_url")
    return url


@pytest.fixture
def span_store(spans_url: str) -> Iterator[SpanStore]:
    with open_span_store(spans_url) as store:
        yield store


@pytest.fixture
def small_store(tmp_path: Path) -> Iterator[SpanStore]:
    """SQLite only, for what does not depend on the engine."""
    with open_span_store(f"sqlite:///{tmp_path / 'small.db'}") as store:
        yield store
