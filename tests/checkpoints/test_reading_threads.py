from collections import Counter

import pytest

from agent.checkpoints.records import CheckpointStatus, CheckpointSummary
from agent.checkpoints.stores import CheckpointStore
from agent.errors import AgentError, NotFoundError


def told(checkpoint: CheckpointSummary) -> tuple[str | None, tuple[str, ...], str, tuple[str, ...] | None]:
    return checkpoint.source, checkpoint.nodes, str(checkpoint.status), checkpoint.next


def test_threads_newest_first_with_where_they_stand(made: CheckpointStore) -> None:
    threads = made.threads().items
    assert [(thread.thread_id, str(thread.status), thread.next) for thread in threads] == [
        ("nested", "finished", ()),
        ("breakpoint", "breakpoint", ("join",)),
        ("fan-out", "waiting", ("ask",)),
        ("parallel", "finished", ()),
        ("failed", "failed", ("price",)),
        ("answered", "finished", ()),
        ("waiting", "waiting", ("gate",)),
        ("forked", "finished", ()),
        ("line", "finished", ()),
    ]
    assert [thread.checkpoints for thread in threads] == [4, 5, 3, 6, 3, 4, 3, 8, 5]
    assert all(thread.bytes and thread.last_at and thread.store == "made" for thread in threads)
    assert Counter(len(thread.waiting) for thread in threads) == {0: 7, 1: 2}


def test_pages_of_threads_neither_skip_nor_repeat(made: CheckpointStore) -> None:
    whole = [thread.thread_id for thread in made.threads().items]
    seen, cursor = [], None
    while True:
        page = made.threads(limit=2, before=cursor)
        seen += [thread.thread_id for thread in page.items]
        if (cursor := page.next_cursor) is None:
            break
    assert seen == whole


def test_threads_are_found_by_a_part_of_their_id(made: CheckpointStore) -> None:
    assert [thread.thread_id for thread in made.threads(search="AN").items] == ["fan-out", "answered"]
    assert made.threads(search="%").items == ()


@pytest.mark.parametrize(
    "search", ["team') = 'red' OR 1=1 -- ", "' UNION SELECT name,1,1 FROM sqlite_master --", 'a"', "\\", "_"]
)
def test_search_text_is_never_sql(made: CheckpointStore, search: str) -> None:
    assert made.threads(search=search).items == ()


def test_a_made_up_cursor_is_refused(made: CheckpointStore) -> None:
    with pytest.raises(AgentError, match="cursor"):
        made.threads(before="bm90IGpzb24")


def test_history_of_a_line(made: CheckpointStore) -> None:
    history = made.history("line").items
    assert [told(checkpoint) for checkpoint in history] == [
        ("loop", ("c",), "finished", ()),
        ("loop", ("b",), "finished", ("c",)),
        ("loop", ("a",), "finished", ("b",)),
        ("loop", ("__start__",), "finished", ("a",)),
        ("input", (), "finished", ("__start__",)),
    ]
    assert [checkpoint.step for checkpoint in history] == [3, 2, 1, 0, -1]
    assert [checkpoint.parent_checkpoint_id for checkpoint in history] == [
        *[checkpoint.checkpoint_id for checkpoint in history[1:]],
        None,
    ]
    times = [checkpoint.at for checkpoint in history]
    assert times == sorted(times, reverse=True)


def test_pages_of_a_history_tell_the_same_as_the_whole(made: CheckpointStore) -> None:
    for name in ("line", "forked", "fan-out", "parallel", "breakpoint"):
        whole = made.history(name).items
        seen: list[CheckpointSummary] = []
        cursor = None
        while True:
            page = made.history(name, limit=2, before=cursor)
            seen += page.items
            if (cursor := page.next_cursor) is None:
                break
        assert tuple(seen) == whole


def test_a_fork_is_a_second_child(made: CheckpointStore) -> None:
    history = made.history("forked").items
    parents = Counter(checkpoint.parent_checkpoint_id for checkpoint in history)
    (shared,) = [checkpoint for checkpoint in history if parents[checkpoint.checkpoint_id] == 2]
    assert shared.nodes == ("a",)
    assert sorted(c.source for c in history if c.parent_checkpoint_id == shared.checkpoint_id) == ["loop", "update"]
    assert made.state("forked").values["topic"] == "v2"


def test_who_waits_and_for_what(made: CheckpointStore) -> None:
    newest = made.history("waiting").items[0]
    assert told(newest) == ("loop", ("draft",), "waiting", ("gate",))
    (interrupt,) = made.state("waiting").interrupts
    assert (interrupt.value, interrupt.node, interrupt.ns) == ({"plan": ["s1", "s2"]}, "gate", "")
    assert (interrupt.id,) == newest.waiting


def test_an_answered_interrupt_waits_no_more(made: CheckpointStore) -> None:
    history = made.history("answered").items
    assert [str(checkpoint.status) for checkpoint in history] == ["finished"] * 4
    assert all(checkpoint.waiting == () for checkpoint in history)
    assert history[0].nodes == ("gate",)


def test_a_failed_node_is_named_with_what_it_raised(made: CheckpointStore) -> None:
    newest = made.history("failed").items[0]
    assert told(newest) == ("loop", ("load",), "failed", ("price",))
    assert newest.error == "ValueError('price list is empty')"
    (write,) = made.state("failed").pending_writes
    assert (write.node, write.channel) == ("price", "__error__")


def test_parallel_nodes_and_a_barrier_over_two_steps(made: CheckpointStore) -> None:
    assert [(c.nodes, c.next) for c in made.history("parallel").items] == [
        (("join",), ()),
        (("right",), ("join",)),
        (("left", "slow"), ("right",)),
        (("start",), ("left", "slow")),
        (("__start__",), ("start",)),
        ((), ("__start__",)),
    ]


def test_sends_are_named_one_by_one_and_those_done_are_not_next(made: CheckpointStore) -> None:
    newest = made.history("fan-out").items[0]
    assert newest.status is CheckpointStatus.WAITING
    assert newest.next == ("ask",)
    assert {(write.node, write.channel) for write in made.state("fan-out").pending_writes} == {
        ("work", "done"),
        ("ask", "__interrupt__"),
    }


def test_subgraphs_have_their_own_history(made: CheckpointStore) -> None:
    summary = made.thread("nested")
    assert summary.namespaces[0] == ""
    (ns,) = summary.namespaces[1:]
    assert [c.nodes for c in made.history("nested").items] == [("import",), ("prepare",), ("__start__",), ()]
    assert [c.nodes for c in made.history("nested", ns=ns).items] == [("clean",), ("fetch",), ("__start__",), ()]
    assert made.state("nested", ns=ns).values["done"][-2:] == ["fetch", "clean"]


def test_state_has_values_and_the_writes_that_made_them(made: CheckpointStore) -> None:
    state = made.state("line")
    assert state.values == {"topic": "one", "done": ["a", "b", "c"]}
    assert [(write.node, write.channel, write.value) for write in state.made_by] == [("c", "done", ["c"])]
    assert (state.pending_writes, state.interrupts, state.unreadable) == ((), (), ())
    middle = made.history("line").items[2]
    assert made.state("line", middle.checkpoint_id).values == {"topic": "one", "done": ["a"]}


def test_what_is_not_there_is_named(made: CheckpointStore) -> None:
    with pytest.raises(NotFoundError, match="made has no thread nobody"):
        made.history("nobody")
    with pytest.raises(NotFoundError, match="no thread nobody"):
        made.thread("nobody")
    with pytest.raises(NotFoundError, match="no checkpoint 'x'"):
        made.state("line", "x")
    with pytest.raises(NotFoundError, match="namespace inner"):
        made.state("line", ns="inner")
