import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from checkpoint_graphs import chain, namesake, thread
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from agent.checkpoints.diff import diff_states
from agent.checkpoints.records import CheckpointStatus
from agent.checkpoints.sqlite import SqliteGateway
from agent.checkpoints.stores import CheckpointStore

Case = Callable[[str], CheckpointStore]


def test_first_generation_with_thread_ts(case: Case) -> None:
    store = case("B01")
    assert {t.thread_id: t.checkpoints for t in store.threads().items} == {"orders-1": 4, "orders-2": 5}
    state = store.state("orders-1")
    assert state.values["topic"] == "orders"
    assert [step["id"] for step in state.values["plan"]] == ["s1", "s2"]
    assert state.values["done"] == ["gate"]
    assert store.state("orders-2").values["done"] == ["gate", "s1", "s2"]
    assert [c.step for c in store.history("orders-2").items] == [3, 2, 1, 0, -1]
    assert [c.nodes for c in store.history("orders-2").items][:3] == [("work",), ("gate",), ("draft",)]


def test_json_envelopes(case: Case) -> None:
    values = case("B03").state("stock-q").values
    assert [message["$value"]["content"] for message in values["messages"]] == ["how many B-7?", "", "12 in stock"]
    assert values["messages"][1]["$value"]["tool_calls"][0]["args"] == {"sku": "B-7"}
    assert values["ref"]["$value"] == "12345678-1234-5678-1234-567812345678"
    assert values["due"]["$value"] == "2024-08-01T09:30:00+00:00"
    assert values["tags"] == {"$type": "set", "$value": ["a", "b"]}


def test_a_thread_of_two_generations(case: Case) -> None:
    store = case("B05")
    history = store.history("mixed-1").items
    assert [c.nodes for c in history] == [("work",), ("gate",), ("draft",), ("__start__",), ()]
    assert [c.step for c in history] == [3, 2, 1, 0, -1]
    assert {c.status for c in history} == {CheckpointStatus.FINISHED}
    answers = [
        w.value for w in store.state("mixed-1", history[2].checkpoint_id).pending_writes if w.channel == "__resume__"
    ]
    assert "ok" in answers


@pytest.mark.parametrize(("name", "thread_id"), [("B06", "mixed-2"), ("B33", "calm-1"), ("B34", "live-1")])
def test_interrupts_of_older_versions(case: Case, name: str, thread_id: str) -> None:
    store = case(name)
    (summary,) = store.threads().items
    assert (str(summary.status), summary.next, len(summary.waiting)) == ("waiting", ("gate",), 1)
    (interrupt,) = store.state(thread_id).interrupts
    assert (interrupt.id,) == summary.waiting
    assert interrupt.value["kind"] == "plan_approval"
    assert [step["id"] for step in interrupt.value["plan"]] == ["s1", "s2"]


def test_the_id_of_an_old_interrupt_is_the_one_that_langgraph_derives(case: Case, tmp_path: Path) -> None:
    store = case("B06")
    with SqliteSaver.from_conn_string(str(tmp_path / "B06.db")) as saver:
        config = {"configurable": {"thread_id": "mixed-2", "checkpoint_ns": ""}}
        writes = saver.get_tuple(config).pending_writes  # type: ignore[union-attr,arg-type]
    (asked,) = [value for _, channel, value in writes or [] if channel == "__interrupt__"]
    assert store.threads().items[0].waiting == (asked[0].id,)


def test_a_class_whose_module_is_missing(case: Case) -> None:
    store = case("B07")
    newest, before = (store.state("parcel-1", c.checkpoint_id) for c in store.history("parcel-1").items[:2])
    assert newest.values["item"] == [
        {"$type": "shopmodels.Parcel", "$value": {"code": "P-2", "weight_kg": 4.0}},
        {"inner": {"$type": "shopmodels.Parcel", "$value": {"code": "P-3", "weight_kg": 0.5}}},
    ]
    assert before.values["item"]["$value"] == {"code": "P-1", "weight_kg": 2.5}
    assert "item" in [change.path for change in diff_states(before.values, newest.values)]
    assert "shopmodels" not in sys.modules


def test_a_call_that_a_blob_asks_for_is_not_made(case: Case) -> None:
    store = case("B10")
    marker = Path("/tmp/case_marker_b10")
    assert not marker.exists()
    for checkpoint in store.history("odd-1").items:
        store.state("odd-1", checkpoint.checkpoint_id)
    assert store.state("odd-1").values["note"] == {"$type": "os.mkdir", "$value": str(marker)}
    assert not marker.exists()
    assert store.state("normal-1").values["done"] == ["a", "b"]


def test_subgraph_rows_are_no_threads(case: Case) -> None:
    store = case("B16")
    assert {t.thread_id: t.checkpoints for t in store.threads().items} == {"imp-1": 4, "imp-2": 4}
    assert len(store.history("imp-1").items) == 4
    assert store.state("imp-1").values["done"] == ["prepare", "prepare", "fetch", "clean"]


def test_a_fork_made_by_an_edit(case: Case) -> None:
    history = case("B18").history("fork-1").items
    parents = [c.parent_checkpoint_id for c in history]
    assert len(history) == 8
    assert len([c for c in history if c.checkpoint_id not in parents]) == 2
    assert [c.nodes for c in history if parents.count(c.checkpoint_id) == 2] == [("a",)]
    assert case("B18").state("fork-1").values["topic"] == "v2"


def test_a_delta_channel_is_not_taken_for_deleted(case: Case) -> None:
    state = case("B22").state("notes-1")
    assert state.values == {"topic": "weekly"}
    (entry,) = state.unreadable
    assert entry.where == "values.notes"
    assert "delta channel" in entry.reason


def test_pruned_parents_and_left_over_writes(case: Case) -> None:
    store = case("B24")
    assert {t.thread_id: t.checkpoints for t in store.threads().items} == {"pruned-1": 2, "whole-1": 5}
    oldest = store.history("pruned-1").items[-1]
    assert oldest.parent_checkpoint_id is not None
    assert store.state("pruned-1", oldest.checkpoint_id).values["done"] == ["a", "b"]


def test_ids_that_are_not_ordered_by_time(case: Case) -> None:
    store = case("B25")
    assert [t.thread_id for t in store.threads().items] == ["good-1", "odd-ids"]
    history = store.history("odd-ids").items
    assert [(c.checkpoint_id, c.step, c.at) for c in history] == [
        ("b-second", 1, None),
        ("a-first", 0, None),
        ("", -1, None),
    ]
    assert store.state("odd-ids").values["done"] == ["one", "two"]
    assert store.state("odd-ids", "").checkpoint_id == ""
    page = store.history("odd-ids", limit=1, before="b-second")
    assert [c.checkpoint_id for c in page.items] == ["a-first"]


def test_a_file_of_the_javascript_library(case: Case) -> None:
    store = case("B26")
    state = store.state("js-1")
    assert [m["$value"]["content"] for m in state.values["messages"]] == ["count the boxes", ""]
    (interrupt,) = state.interrupts
    assert (interrupt.id, interrupt.value) == ("aa11bb22cc33dd44ee55ff6600112233", {"question": "count area B?"})


def test_a_failed_run_is_neither_paused_nor_finished(case: Case) -> None:
    (summary,) = case("B28").threads().items
    assert (str(summary.status), summary.next) == ("failed", ("price",))
    assert case("B28").history("fail-1").items[0].error == "ValueError('price list is empty')"


def test_an_array_is_shown_and_compared(case: Case) -> None:
    store = case("B32")
    states = [store.state("vec-1", c.checkpoint_id).values for c in store.history("vec-1").items]
    assert states[0]["vec"]["$value"] == {"dtype": "<f4", "shape": [2, 3], "values": [[0, 1, 2], [3, 4, 5]]}
    assert [c.path for c in diff_states(states[1], states[0])] == ["done[0]", "vec"]


def test_a_channel_called_like_a_node_is_a_channel(store: CheckpointStore, saver: SqliteSaver) -> None:
    namesake(saver, interrupt_before=["note"]).invoke({}, thread("paused"))
    namesake(saver).invoke({}, thread("ended"))
    assert [(str(t.status), t.next) for t in store.threads().items] == [("finished", ()), ("breakpoint", ("note",))]
    assert store.state("ended").values == {"plan": "count", "note": "done"}


def test_what_is_next_after_an_edit_is_read_from_its_channels(store: CheckpointStore, saver: SqliteSaver) -> None:
    app = chain(saver, "a", "b")
    app.invoke({"topic": "x"}, thread("t"))
    app.update_state(thread("t"), {"topic": "y"}, as_node="a")
    assert store.history("t").items[0].next is None
    assert store.state("t").summary.next == ("b",)
    app.update_state(thread("t"), {"topic": "z"}, as_node="b")
    assert (store.state("t").summary.next, str(store.state("t").summary.status)) == ((), "finished")


def test_a_pickled_value_is_listed_with_the_reason(store: CheckpointStore, saver: SqliteSaver) -> None:
    saver.serde = JsonPlusSerializer(pickle_fallback=True)
    chain(saver, "a").invoke({"topic": print}, thread("t"))
    assert [entry.reason for entry in store.state("t").unreadable] == [
        "pickle is never opened, since opening it runs code"
    ]
    assert store.history("t").items[0].format == "pickle"


def test_rows_that_no_saver_writes_do_not_break_the_lists(store: CheckpointStore, saver: SqliteSaver) -> None:
    rows: list[tuple[Any, ...]] = [
        ("loop", "1f000000-0000-6000-8000-000000000001", "1f000000-0000-6000-8000-000000000002", b"{}"),
        ("loop", "1f000000-0000-6000-8000-000000000002", "1f000000-0000-6000-8000-000000000001", b"{}"),
        ("junk", "1f000000-0000-6000-8000-000000000003", None, b"\xff\xfe no json"),
        ("deep", "1f000000-0000-6000-8000-000000000004", None, b"[" * 50_000),
        ("none", "1f000000-0000-6000-8000-000000000005", None, None),
        ("text", "1f000000-0000-6000-8000-000000000006", None, '{"source": 7, "step": "x", "writes": [1]}'),
    ]
    saver.conn.executemany("INSERT INTO checkpoints VALUES (?, '', ?, ?, 'msgpack', x'c1', ?)", rows)
    saver.conn.execute(
        "INSERT INTO writes VALUES ('text', '', '1f000000-0000-6000-8000-000000000006', 't', '', 0, 'c', 7, 7)"
    )
    saver.conn.commit()
    for summary in store.threads().items:
        assert store.history(summary.thread_id).items
        (entry, *_) = store.state(summary.thread_id).unreadable
        assert entry.where in ("checkpoint", "writes.c")
    assert {t.thread_id for t in store.threads().items} == {"loop", "junk", "deep", "none", "text"}


def plan(path: Path, sql: str, **values: Any) -> str:
    with (
        SqliteGateway(path, "own").session() as session,
        closing(session._connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)) as rows,
    ):
        return "\n".join(row["detail"] for row in rows)


def test_a_thread_list_walks_the_key_and_never_scans_the_table(
    store: CheckpointStore, saver: SqliteSaver, tmp_path: Path
) -> None:
    chain(saver, "a").invoke({"topic": "x"}, thread("t"))
    path = tmp_path / "own.db"
    with SqliteGateway(path, "own").session() as session:
        sql = session._sql
    every = {"search": "", "key": "", "thread": "", "first": 1, "limit": 51, "ordered": "*"}
    told = plan(path, sql.heads, **every)
    assert "SCAN c" not in told
    assert "SCAN checkpoints" not in told
    assert told.count("SEARCH c USING COVERING INDEX sqlite_autoindex_checkpoints_1 (thread_id") == 3
    assert "SEARCH checkpoints USING COVERING INDEX" in told


def test_a_page_of_a_long_history_touches_that_page_only(
    store: CheckpointStore, saver: SqliteSaver, tmp_path: Path
) -> None:
    app = chain(saver, "a")
    for _ in range(40):
        app.invoke({"topic": "x"}, thread("t"))
    path = tmp_path / "own.db"
    with SqliteGateway(path, "own").session() as session:
        sql = session._sql
    page = plan(path, sql.page, thread="t", ns="", limit=50, before=None)
    assert "SEARCH checkpoints USING INDEX sqlite_autoindex_checkpoints_1 (thread_id=? AND checkpoint_ns=?)" in page
    assert "TEMP B-TREE" not in page
    writes = plan(path, sql.writes, thread="t", ns="", ids="[]", bodies=0)
    assert "sqlite_autoindex_writes_1 (thread_id=? AND checkpoint_ns=? AND checkpoint_id=?)" in writes

    # A body that cannot be decoded shows that none is.
    saver.conn.execute("UPDATE checkpoints SET checkpoint = x'c1'")
    saver.conn.commit()
    assert len(store.history("t", limit=50).items) == 50
    assert store.threads().items[0].checkpoints == 120
