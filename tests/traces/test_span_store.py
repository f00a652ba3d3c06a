import sqlite3
import threading
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from span_makers import DEMO, NOON, SECOND, TRACE, chat, ingest, span

import traces.migrations
from traces import attributes
from traces.errors import SpanStorageError, TracesError
from traces.prices import PriceBook
from traces.records import PICO, SpanEvent, UnpricedModel, UsageRow
from traces.schema import HEAD, VERSION_TABLE, metadata
from traces.store import SpanStore, UsageQuery, open_span_store

ONE_HOUR = '{"cache_creation_input_tokens_above_1hr": 9}'
MADE_UP = PriceBook(extra=[{**DEMO, "illustrative": True}])
MIND = {attributes.RUN_ID: "r-1", attributes.AGENT: "analyst", attributes.THREAD_ID: "th-1"}


def total(store: SpanStore, **query: object) -> UsageRow:
    return store.usage_total(UsageQuery("p", **query))  # type: ignore[arg-type]  # a test's words


def groups(rows: list[UsageRow], *names: str) -> list[tuple[object, ...]]:
    return [tuple(row.group[name] for name in names) for row in rows]


def test_a_span_is_read_as_it_was_written(span_store: SpanStore) -> None:
    call = chat(
        2, 1000, 100, parent=1, at=1, seconds=0.5, failed=True, gen_ai__usage__cache_read__input_tokens=400, **MIND
    )
    ingest(span_store, span(1, name="top", **MIND), replace(call, scope="lib", scope_version="3"))
    top, stored = span_store.spans("p", TRACE.upper())
    assert (top.name, top.parent_span_id, top.counted, top.usage_state) == ("top", None, False, "unknown")
    assert (stored.started_at, stored.duration) == (NOON + SECOND, SECOND // 2)
    assert (stored.status, stored.error) == ("error", "failed, no reason given")
    assert (stored.usage.input, stored.usage.output, stored.usage.cache_read) == (1000, 100, 400)
    assert stored.cost == 3_420_000_000
    assert (stored.price_source, stored.illustrative, stored.counted, stored.is_call) == (
        "price book",
        False,
        True,
        True,
    )
    assert (stored.agent, stored.run_id, stored.thread_id, stored.scope) == ("analyst", "r-1", "th-1", "lib")
    assert stored.attributes["gen_ai.response.model"] == "demo"
    assert span_store.run_spans("p", "r-1") == [top, stored]


def test_a_body_is_read_as_it_was_written_and_an_empty_one_is_none(span_store: SpanStore) -> None:
    talk = replace(
        chat(1, 1, 1, gen_ai__input__messages='[{"role": "user\\u0000"}]'), events=(SpanEvent("e", NOON, {"a": [1]}),)
    )
    ingest(span_store, talk, span(2, parent=1))
    body = span_store.body("p", TRACE, "0000000000000001")
    assert body is not None
    assert body.attributes == {"gen_ai.input.messages": '[{"role": "user\\u0000"}]'}
    assert body.events == (SpanEvent("e", NOON, {"a": [1]}),)
    assert span_store.body("p", TRACE, "0000000000000002") is None


def test_the_better_version_of_a_span_stays_whatever_comes_last(span_store: SpanStore) -> None:
    running, ended = chat(1, 10, 1, seconds=None), chat(1, 500, 50, seconds=2)
    ended_knowing_less = chat(1, 500, None, seconds=9)
    ingest(span_store, running)
    assert span_store.spans("p", TRACE)[0].status == "running"
    for version in (ended, running, ended_knowing_less, ended):
        ingest(span_store, version)
    (stored,) = span_store.spans("p", TRACE)
    assert (stored.usage.input, stored.usage.output, stored.duration) == (500, 50, 2 * SECOND)
    assert (total(span_store).calls, total(span_store).input_tokens) == (1, 500)
    ingest(span_store, running, ended, ended_knowing_less, project="other")
    assert span_store.usage_total(UsageQuery("other")).input_tokens == 500


def test_the_same_spans_again_keep_the_cost_of_their_first_counting(span_store: SpanStore) -> None:
    dearer = PriceBook(extra=[{**DEMO, "input": "9", "output": "45"}])
    calls = (chat(1, 10, 1), chat(2, 20, 2, seconds=None))
    ingest(span_store, *calls)
    before = span_store.spans("p", TRACE)
    ingest(span_store, *calls, prices=dearer)
    assert span_store.spans("p", TRACE) == before
    ingest(span_store, chat(2, 20, 2), prices=dearer)
    first, second = span_store.spans("p", TRACE)
    assert (first.cost, second.cost) == (45_000_000, 270_000_000)


def test_a_parent_that_comes_late_takes_its_children_out_of_the_sums(span_store: SpanStore) -> None:
    ingest(span_store, chat(2, 100, 10, parent=1))
    assert total(span_store).input_tokens == 100
    ingest(span_store, span(1, gen_ai__operation__name="invoke_agent", gen_ai__usage__input_tokens=900))
    assert total(span_store).input_tokens == 900
    assert [item.flags for item in span_store.spans("p", TRACE)] == [("not_itemised",), ()]
    ingest(span_store, chat(3, 900, 20, parent=1))
    assert (total(span_store).calls, total(span_store).input_tokens, total(span_store).output_tokens) == (2, 1000, 30)
    assert [item.flags for item in span_store.spans("p", TRACE)] == [(), (), ()]


def test_projects_never_meet(span_store: SpanStore) -> None:
    ingest(span_store, chat(1, 100, 10), project="a")
    ingest(span_store, chat(1, 7, 1), project="b")
    assert span_store.usage_total(UsageQuery("a")).input_tokens == 100
    assert span_store.usage_total(UsageQuery("b")).input_tokens == 7
    assert span_store.spans("c", TRACE) == []
    assert span_store.traces("c") == []


def some_days(store: SpanStore) -> None:
    hour, day = 3600, 86_400
    ingest(
        store,
        chat(1, 100, 10, at=0, **{**MIND, attributes.ROLE: "planning"}),
        chat(2, 200, 20, at=hour, failed=True, **{**MIND, attributes.ROLE: "execution"}),
        chat(3, 400, 40, at=day, model="other", **{**MIND, attributes.RUN_ID: "r-2", attributes.ROLE: "execution"}),
        chat(4, 800, 80, at=2 * day, trace="cd" * 16),
        chat(5, at=2 * day, trace="ef" * 16),
        chat(6, -1, 5, at=2 * day, trace="12" * 16),
    )


def test_usage_is_grouped_by_any_combination(span_store: SpanStore) -> None:
    some_days(span_store)
    by_day = span_store.usage(UsageQuery("p", by=("day", "model")))
    assert groups(by_day, "day", "model") == [
        ("2026-01-01", "demo"),
        ("2026-01-02", "other"),
        ("2026-01-03", "demo"),
    ]
    assert [(row.calls, row.errors, row.input_tokens) for row in by_day] == [(2, 1, 300), (1, 0, 400), (3, 0, 800)]
    assert groups(span_store.usage(UsageQuery("p", by=("hour",))), "hour")[:2] == [
        ("2026-01-01T09:00:00Z",),
        ("2026-01-01T10:00:00Z",),
    ]
    by_run = span_store.usage(UsageQuery("p", by=("run", "role")))
    assert groups(by_run, "run", "role") == [
        ("r-1", "execution"),
        ("r-1", "planning"),
        ("r-2", "execution"),
        (None, None),
    ]
    for name in ("provider", "agent", "thread", "operation", "step", "user"):
        assert sum(row.calls for row in span_store.usage(UsageQuery("p", by=(name,)))) == 6


def test_every_grouping_adds_up_to_the_total(span_store: SpanStore) -> None:
    some_days(span_store)
    whole = total(span_store)
    assert (whole.calls, whole.unpriced_calls, whole.calls_without_usage, whole.calls_with_invalid_usage) == (
        6,
        1,
        1,
        1,
    )
    for by in ("day", "hour", "model", "run", "role", "operation"):
        rows = span_store.usage(UsageQuery("p", by=(by,)))
        assert sum(row.calls for row in rows) == whole.calls
        assert sum(row.cost or 0 for row in rows) == whole.cost
        assert sum(row.tokens or 0 for row in rows) == whole.tokens


def test_periods_and_filters_choose(span_store: SpanStore) -> None:
    some_days(span_store)
    day = 86_400 * SECOND
    assert total(span_store, since=NOON + day, until=NOON + 2 * day).input_tokens == 400
    assert total(span_store, filters={"model": ["other"]}).calls == 1
    assert total(span_store, filters={"status": ["error"]}).calls == 1
    assert total(span_store, filters={"run": [None]}).calls == 3
    assert total(span_store, filters={"run": ["r-2", None]}).calls == 4
    assert total(span_store, filters={"run": []}).calls == 0
    with pytest.raises(TracesError, match="no filter 'colour'; the choice is: model"):
        total(span_store, filters={"colour": ["red"]})
    with pytest.raises(TracesError, match="cannot be grouped by 'week'; the choice is: day, hour, model"):
        span_store.usage(UsageQuery("p", by=("week",)))


def test_sums_of_nothing_are_zero_and_of_unknown_are_unknown(span_store: SpanStore) -> None:
    nothing = total(span_store)
    assert (nothing.calls, nothing.input_tokens, nothing.cost, nothing.reasoning_tokens) == (0, 0, 0, 0)
    ingest(span_store, chat(1))
    silent = total(span_store)
    assert (silent.calls, silent.input_tokens, silent.cost, silent.tokens) == (1, None, None, None)
    ingest(span_store, chat(2, 10, 1, model="mystery"))
    unpriced = total(span_store)
    assert (unpriced.input_tokens, unpriced.cache_read_tokens, unpriced.cost) == (10, 0, None)
    assert unpriced.unpriced_calls == 1


def test_models_without_a_price_are_named_with_what_is_missing(span_store: SpanStore) -> None:
    ingest(
        span_store,
        chat(1, 10, 1, model="mystery", gen_ai__provider__name="home"),
        chat(2, 20, 2, model="mystery", gen_ai__provider__name="home", at=5),
        chat(3, 30, 3, at=6),
        chat(4, 1, 0, model=None, at=7),
    )
    assert span_store.unpriced_models(UsageQuery("p")) == [
        UnpricedModel("mystery", "home", 2, 33),
        UnpricedModel(None, None, 1, 1),
    ]


def test_runs_are_listed_by_cost(span_store: SpanStore) -> None:
    some_days(span_store)
    ingest(span_store, chat(9, 5000, 5, trace="99" * 16, **{attributes.RUN_ID: "r-9"}))
    runs = span_store.dearest_runs(UsageQuery("p"), limit=2)
    assert groups(runs, "run") == [("r-9",), ("r-1",)]


def test_made_up_money_is_told_from_real_money(span_store: SpanStore) -> None:
    ingest(span_store, chat(1, 1_000_000, 0, trace="1" * 32, **{attributes.RUN_ID: "made-up"}), prices=MADE_UP)
    assert (total(span_store).cost, total(span_store).real_cost) == (3 * PICO, None)
    assert total(span_store).illustrative_cost == 3 * PICO
    ingest(span_store, chat(2, 100_000, 0, trace="2" * 32, **{attributes.RUN_ID: "real"}))
    both = total(span_store)
    assert (both.real_cost, both.illustrative_cost) == (3 * PICO // 10, 3 * PICO)
    assert groups(span_store.dearest_runs(UsageQuery("p")), "run") == [("real",), ("made-up",)]
    real, made_up = (span_store.arithmetic(UsageQuery("p", illustrative=kind)) for kind in (False, True))
    assert (real.cost, real.calls, made_up.cost, made_up.calls) == (3 * PICO // 10, 1, 3 * PICO, 1)
    assert real.adds_up
    assert made_up.adds_up


def test_the_planning_share_is_of_the_tokens_of_runs(span_store: SpanStore) -> None:
    assert span_store.planning_share(UsageQuery("p")) is None
    some_days(span_store)
    assert span_store.planning_share(UsageQuery("p")) == pytest.approx(110 / 770)
    assert span_store.planning_share(UsageQuery("p", filters={"run": ["r-1"]})) == pytest.approx(110 / 330)


def test_percentiles_are_those_of_the_nearest_rank(span_store: SpanStore) -> None:
    ingest(span_store, *(chat(number, 1, 1, seconds=number, at=number) for number in range(1, 101)))
    (whole,) = span_store.latency(UsageQuery("p"))
    assert (whole.group, whole.count) == (None, 100)
    ranks = (50 * SECOND, 95 * SECOND, 99 * SECOND)
    assert (whole.p50, whole.p95, whole.p99) == pytest.approx(ranks, rel=1 / 64)
    (day,) = span_store.latency(UsageQuery("p"), by="day")
    assert (day.group, day.p95) == ("2026-01-01", whole.p95)
    assert span_store.latency(UsageQuery("nobody")) == []


def test_computing_time_of_a_run_leaves_people_out(span_store: SpanStore) -> None:
    run = {attributes.RUN_ID: "r-1"}
    ingest(
        span_store,
        span(1, seconds=500, plandeck__kind="run", **run),
        span(2, parent=1, seconds=3, plandeck__kind="plan", **run),
        span(3, parent=1, at=3, seconds=480, plandeck__kind="waiting", **run),
        span(4, parent=1, at=483, seconds=10, plandeck__kind="step", **run),
        span(5, parent=1, at=488, seconds=10, plandeck__kind="step", **run),
    )
    assert span_store.computing_times("p", ["r-1", "r-2"]) == {"r-1": 18 * SECOND}
    (row,) = span_store.latency(UsageQuery("p"), of="run", by="day")
    assert (row.count, row.p50) == (1, 18 * SECOND)


def test_a_figure_opens_to_parts_that_make_it_exactly(span_store: SpanStore) -> None:
    prices = PriceBook(extra=[DEMO, {"id": "fine", "input": "0.0000015", "output": "0.1", "illustrative": True}])
    ingest(
        span_store,
        chat(1, 1000, 100, gen_ai__usage__cache_read__input_tokens=400, **MIND),
        chat(2, 500, 50, at=1, gen_ai__usage__reasoning__output_tokens=30, **MIND),
        chat(3, 1, 1, at=2, model="fine", **MIND),
        chat(4, 2, 1, at=3, model="mystery", operation__cost=0.5, **MIND),
        chat(5, 70, 7, at=4, model="mystery", **MIND),
        span(6, gen_ai__operation__name="invoke_agent", gen_ai__usage__input_tokens=1, **MIND),
        chat(7, 1, 1, parent=6, at=5, **MIND),
        prices=prices,
    )
    opened = span_store.arithmetic(UsageQuery("p", filters={"run": ["r-1"]}))
    lines = [(row.rates and row.rates.entry, row.token_class, row.tokens, row.rate) for row in opened.rows]
    assert lines == [
        ("demo", "input", 1101, Decimal(3)),
        ("demo", "cache_read", 400, Decimal("0.3")),
        ("demo", "output", 121, Decimal(15)),
        ("demo", "reasoning", 30, Decimal(15)),
        ("fine", "input", 1, Decimal("0.0000015")),
        ("fine", "output", 1, Decimal("0.1")),
        (None, "input", 70, None),
        (None, "output", 7, None),
    ]
    assert (opened.calls, opened.not_counted, opened.reported, opened.reported_calls) == (6, 1, Decimal("0.5"), 1)
    assert opened.cost == span_store.run_usage("p", "r-1").cost
    assert opened.rounding == Decimal("0.0000000000005")
    assert opened.adds_up
    assert not replace(opened, rounding=Decimal("0.000001")).adds_up


def test_details_that_do_not_fit_leave_the_arithmetic_exact(span_store: SpanStore) -> None:
    ingest(
        span_store,
        chat(1, 100, 10, gen_ai__usage__reasoning__output_tokens=500),
        chat(
            2, 100, 500, at=1, gen_ai__usage__reasoning__output_tokens=400, llm__token_count__prompt_details__audio=900
        ),
        chat(3, 10, 5, at=2, gen_ai__usage__cache_creation__input_tokens=4, mlflow__chat__tokenUsage=ONE_HOUR),
        chat(4, 50, 5, at=3, gen_ai__usage__cache_read__input_tokens=50),
    )
    opened = span_store.arithmetic(UsageQuery("p"))
    assert {row.token_class: row.tokens for row in opened.rows} == {
        "input": 210,
        "cache_read": 50,
        "output": 120,
        "reasoning": 400,
    }
    assert (opened.rounding, opened.adds_up) == (0, True)


def test_traces_are_listed_newest_first_page_by_page(span_store: SpanStore) -> None:
    for number in range(5):
        ingest(span_store, chat(1, 10, 1, trace=f"{number + 1:032x}", at=number // 2, failed=number == 0))
    seen: list[str] = []
    before = None
    while page := span_store.traces("p", limit=2, before=before):
        seen += [item.trace_id[-1] for item in page]
        before = page[-1].cursor
    assert seen == ["5", "4", "3", "2", "1"]
    (failed,) = span_store.traces("p", status="error")
    assert (failed.trace_id[-1], failed.usage.calls, failed.usage.errors) == ("1", 1, 1)
    with pytest.raises(TracesError, match="'x' is no place in the list"):
        span_store.traces("p", before="x")


def test_a_trace_is_summed_up_from_its_spans(span_store: SpanStore) -> None:
    ingest(span_store, chat(2, 10, 1, parent=1, at=1, seconds=4, failed=True), span(1, name="run it", **MIND))
    summary = span_store.trace("p", TRACE)
    assert summary is not None
    assert (summary.name, summary.spans, summary.duration) == ("run it", 2, 5 * SECOND)
    assert (summary.status, summary.incomplete, summary.agent) == ("ok", False, "analyst")
    assert (summary.run_id, summary.thread_id, summary.usage.input_tokens) == ("r-1", "th-1", 10)
    assert span_store.trace("p", "00" * 16) is None


def test_spans_of_a_moment_are_found(span_store: SpanStore) -> None:
    ingest(span_store, *(span(number, at=number, **{attributes.THREAD_ID: f"t{number % 2}"}) for number in range(1, 7)))
    found = span_store.spans_between("p", NOON + 2 * SECOND, NOON + 5 * SECOND)
    assert [item.span_id[-1] for item in found] == ["2", "3", "4"]
    assert len(span_store.spans_between("p", NOON, NOON + 9 * SECOND, thread_id="t1")) == 3
    assert len(span_store.spans_between("p", NOON, NOON + 9 * SECOND, limit=1)) == 1


def test_a_batch_larger_than_a_statement_takes_is_stored(span_store: SpanStore) -> None:
    ingest(span_store, *(chat(number, 1, 1) for number in range(1, 1300)))
    ingest(span_store, *(chat(number, 1, 1) for number in range(1, 1300)))
    assert total(span_store).calls == 1299


def test_what_was_written_is_there_after_reopening(spans_url: str) -> None:
    with open_span_store(spans_url) as store:
        ingest(store, chat(1, 100, 10))
    with open_span_store(spans_url) as store:
        assert total(store).input_tokens == 100


def test_many_writers_of_one_trace_lose_and_double_nothing(spans_url: str) -> None:
    stores = [open_span_store(spans_url) for _ in range(3)]
    problems: list[BaseException] = []

    def write(worker: int) -> None:
        try:
            for number in range(10):
                ingest(stores[worker], chat(worker * 100 + number + 2, 10, 1, parent=1))
        except BaseException as error:  # noqa: BLE001 - shown by the test
            problems.append(error)

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    ingest(stores[0], span(1, gen_ai__operation__name="invoke_agent", gen_ai__usage__input_tokens=330))
    assert (total(stores[1]).calls, total(stores[1]).tokens) == (30, 330)
    for store in stores:
        store.close()


def test_several_processes_may_open_an_empty_database_at_once(spans_url: str) -> None:
    opened: list[SpanStore] = []
    threads = [threading.Thread(target=lambda: opened.append(open_span_store(spans_url))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [total(store).calls for store in opened] == [0] * 4
    for store in opened:
        store.close()


def engine_of(url: str) -> sa.Engine:
    return sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))


def test_the_migrations_make_the_schema(spans_url: str) -> None:
    open_span_store(spans_url).close()
    engine = engine_of(spans_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []
        assert context.get_current_revision() == HEAD
    engine.dispose()


def test_the_newest_revision_is_what_the_schema_says() -> None:
    script = ScriptDirectory(str(Path(traces.migrations.__file__).parent))
    assert script.get_current_head() == HEAD


def test_every_key_begins_with_the_project() -> None:
    for table in metadata.tables.values():
        assert next(iter(table.primary_key.columns)).name == "project"
        assert all(index.columns.keys()[0] == "project" for index in table.indexes)


def test_a_database_of_a_newer_version_is_refused_and_left_alone(spans_url: str) -> None:
    open_span_store(spans_url).close()
    engine = engine_of(spans_url)
    with engine.begin() as connection:
        connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(SpanStorageError, match=r"newer version \(schema 9999\); install that version"):
        open_span_store(spans_url)


def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "spans.db"
    path.write_text("this is no database, it is a letter to my aunt" * 50)
    with pytest.raises(SpanStorageError, match=r"spans.db cannot be used .*move it away") as told:
        open_span_store(f"sqlite:///{path}")
    assert "\n" not in told.value.message
    assert path.read_text().startswith("this is no database")


def test_a_folder_that_is_missing_is_told(tmp_path: Path) -> None:
    with pytest.raises(SpanStorageError, match="check that the folder exists"):
        open_span_store(f"sqlite:///{tmp_path / 'no' / 'spans.db'}")


def test_a_database_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with open_span_store(f"sqlite:///{tmp_path / 'spans.db'}") as store:
        with sqlite3.connect(tmp_path / "spans.db") as other:
            other.execute("CREATE TRIGGER no BEFORE INSERT ON spans BEGIN SELECT RAISE(FAIL, 'disk is full'); END")
        other.close()
        with pytest.raises(SpanStorageError, match=r"The disk is full or .* needs 200 MB free in .*; make room"):
            ingest(store, chat(1, 1, 1))
        assert total(store).calls == 0


def test_a_server_that_does_not_answer_is_told_without_its_password() -> None:
    with pytest.raises(SpanStorageError, match="cannot be used") as told:
        open_span_store("postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in told.value.message


@pytest.mark.parametrize("url", ["nonsense", "mysql://x/y", "oracle9://x"])
def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(SpanStorageError, match="must be sqlite:///PATH or postgresql://"):
        open_span_store(url)


def test_sqlite_is_opened_for_many_processes(tmp_path: Path) -> None:
    with open_span_store(f"sqlite:///{tmp_path / 'spans.db'}"), sqlite3.connect(tmp_path / "spans.db") as other:
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    other.close()


def test_a_failed_write_leaves_nothing_behind(postgresql_url: str) -> None:
    with open_span_store(postgresql_url) as store:
        with psycopg.connect(postgresql_url) as connection:
            connection.execute("ALTER TABLE traces ADD CHECK (name <> 'bad')")
        with pytest.raises(SpanStorageError):
            ingest(store, span(1, name="bad"))
        assert store.spans("p", TRACE) == []
