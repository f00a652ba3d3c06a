"""The sums that charts read are those of the spans, whatever was written in whatever order."""

from __future__ import annotations

from dataclasses import replace
from itertools import count, pairwise
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import traces.migrations
from tests.support.span_makers import NOON, SECOND, TRACE, chat, ingest
from traces.histogram import bucket_of, middle_of, nearest_rank
from traces.queries import TIMES, UsageQuery, parts_of
from traces.records import SpanRecord
from traces.store import SpanStore, open_span_store

PROJECTS = count()
TRACES = [TRACE, "cd" * 16]
NUMBERS = st.none() | st.integers(0, 500)
GROUPS = [(), ("day",), ("hour", "model"), ("day", "agent", "role"), ("user",), ("run", "model"), ("day", "user")]


@st.composite
def records(draw: st.DrawFn) -> SpanRecord:
    made = chat(
        draw(st.integers(1, 6)),
        draw(NUMBERS),
        draw(NUMBERS),
        model=draw(st.sampled_from(["demo", "strange", None])),
        parent=draw(st.none() | st.integers(1, 6)),
        trace=draw(st.sampled_from(TRACES)),
        seconds=draw(st.none() | st.integers(-1, 90)),
        at=draw(st.integers(0, 3 * 86_400)),
        failed=draw(st.booleans()),
        gen_ai__usage__cache_read__input_tokens=draw(NUMBERS),
    )
    more = {"enduser.id": draw(st.sampled_from(["li", None])), "plandeck.run_id": draw(st.sampled_from(["r-1", None]))}
    said = {name: value for name, value in {**made.attributes, **more}.items() if value is not None}
    return replace(made, attributes=said)


def of_spans(query: UsageQuery) -> UsageQuery:
    """The same question in a form that only the spans can answer."""
    return replace(query, filters={**query.filters, "trace": TRACES})


@given(
    batches=st.lists(st.lists(records(), min_size=1, max_size=5), min_size=1, max_size=6),
    since=st.none() | st.integers(0, 3 * 86_400),
    until=st.none() | st.integers(0, 4 * 86_400),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sums_say_what_the_spans_say_after_any_writes(
    batches: list[list[SpanRecord]], since: int | None, until: int | None, small_store: SpanStore
) -> None:
    # A project for each example: a store for each would take most of the time.
    project = f"p{next(PROJECTS)}"
    for batch in batches:
        ingest(small_store, *batch, project=project)
    period = [None if moment is None else NOON + moment * SECOND for moment in (since, until)]
    for by in GROUPS:
        for asked in (UsageQuery(project, by), UsageQuery(project, by, *period)):
            assert small_store.usage(asked) == small_store.usage(of_spans(asked))
    whole = UsageQuery(project, (), *period)
    assert small_store.arithmetic(whole) == small_store.arithmetic(of_spans(whole))
    assert small_store.latency(whole, by="day") == small_store.latency(of_spans(whole), by="day")


def test_sums_follow_on_postgresql_too(span_store: SpanStore) -> None:
    ingest(span_store, chat(1, 10, 2, seconds=None), chat(2, 5, 1, parent=1, model="strange"))
    ingest(span_store, chat(1, 20, 4), chat(2, 5, 1, parent=1, model="strange"))
    for by in GROUPS:
        assert span_store.usage(UsageQuery("p", by)) == span_store.usage(of_spans(UsageQuery("p", by)))
    assert [row.group for row in span_store.usage(UsageQuery("p", ("model",)))] == [
        {"model": "demo"},
        {"model": "strange"},
    ]


def test_a_group_whose_last_span_left_it_is_gone(span_store: SpanStore) -> None:
    ingest(span_store, chat(1, 10, 2, seconds=None, model="first"))
    ingest(span_store, chat(1, 10, 2, model="second"))
    assert [row.group for row in span_store.usage(UsageQuery("p", ("model",)))] == [{"model": "second"}]


@given(since=st.none() | st.integers(-(10**16), 10**16), until=st.none() | st.integers(-(10**16), 10**16))
@pytest.mark.parametrize("grains", [(), ("day",), ("hour",), ("day", "hour")])
def test_the_parts_of_a_period_join_without_gap_or_overlap(
    grains: tuple[str, ...], since: int | None, until: int | None
) -> None:
    parts = sorted(parts_of(since, until, grains), key=lambda part: float("-inf") if part.since is None else part.since)
    if since is not None and until is not None and since >= until:
        assert parts == []
        return
    assert (parts[0].since, parts[-1].until) == (since, until)
    assert all(part.until == following.since for part, following in pairwise(parts))
    for part in parts:
        edges = [edge for edge in (part.since, part.until) if edge is not None]
        assert part.grain == "span" or all(edge % TIMES[part.grain] == 0 for edge in edges)


@given(duration=st.integers(0, 2**62))
def test_a_duration_is_near_the_middle_of_its_bucket(duration: int) -> None:
    assert abs(middle_of(bucket_of(duration)) - duration) <= duration / 64 + 1
    assert bucket_of(duration) <= bucket_of(duration + 1)


def test_the_nearest_rank_of_nothing_is_an_error() -> None:
    assert nearest_rank({5: 1, 7: 1}, 50) == 5
    with pytest.raises(ValueError, match="nothing"):
        nearest_rank({}, 50)


def test_a_database_of_the_first_version_gets_its_sums(spans_url: str, tmp_path: Path) -> None:
    with open_span_store(spans_url) as store:
        ingest(store, chat(1, 10, 2), chat(2, 7, 1, model="strange", at=90_000))
        expected = {by: store.usage(UsageQuery("p", by)) for by in GROUPS}
        summaries = store.traces("p")
    _go_back_to_the_first_version(spans_url)
    with open_span_store(spans_url) as store:
        assert {by: store.usage(UsageQuery("p", by)) for by in GROUPS} == expected
        assert store.traces("p") == summaries
        assert store.latency(UsageQuery("p")) == store.latency(of_spans(UsageQuery("p")))


def _go_back_to_the_first_version(url: str) -> None:
    """The tables as the first revision makes them, with the spans that there are."""
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    config = Config()
    config.set_main_option("script_location", str(Path(traces.migrations.__file__).parent))
    found = sa.MetaData()
    with engine.begin() as connection:
        found.reflect(connection)
        kept = {name: connection.execute(sa.select(found.tables[name])).mappings().all() for name in ("spans", "rates")}
        found.drop_all(connection)
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        first = sa.MetaData()
        first.reflect(connection)
        for name, rows in kept.items():
            connection.execute(sa.insert(first.tables[name]), [dict(row) for row in rows])
    engine.dispose()
