from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from store_records import a_run
from test_timeline import NOW, checkpoint

from agent.checkpoints.records import (
    CheckpointState,
    CheckpointStatus,
    Interrupt,
    PendingWrite,
    ThreadSummary,
    Unreadable,
)
from agent.records import AttemptStatus, Effect, EventKind, Limits, Run, RunStatus, StepAttempt
from dashboard.look.status import FORK, look_of
from dashboard.threads_page import model
from dashboard.threads_page.conversation import turns
from dashboard.threads_page.model import OwnRun
from dashboard.threads_page.timeline import Timeline


def state(values: dict[str, Any], **more: Any) -> CheckpointState:
    fields: dict[str, Any] = {
        "thread_id": "t",
        "checkpoint_id": "b",
        "ns": "",
        "values": values,
        "pending_writes": (),
        "interrupts": (),
        "unreadable": (),
        "summary": checkpoint("b", "a"),
        "made_by": (),
    }
    return CheckpointState(**{**fields, **more})


def own(*attempts: StepAttempt, **more: Any) -> OwnRun:
    run = Run(
        project="p",
        run_id="r-1",
        thread_id="t",
        agent="analyst",
        agent_version="1",
        task="Count",
        mode="plan_execute",
        provider="offline",
        model="m",
        status=RunStatus.SUCCEEDED,
        requested_by="ana",
        created_at=NOW,
        limits=Limits(),
        tools={},
        trace_id="0" * 32,
        root_span_id="0" * 16,
    )
    return OwnRun(run=run, attempts=attempts, **more)


def attempt(step: str, second: float, status: AttemptStatus = AttemptStatus.COMPLETED) -> StepAttempt:
    ended = NOW + timedelta(seconds=second)
    return StepAttempt("r-1", 1, step, 1, status, ended - timedelta(seconds=1), ended)


def test_changes_in_words() -> None:
    before = state({"usage": {"in": 16_604}, "note": "old", "gone": True, "same": 1})
    after = state({"usage": {"in": 24_508}, "note": "new", "results": {"s4": "spend.md"}, "same": 1})
    found = model.changes_since(before, after)
    assert found.rows == [
        {"": "**+**\u00a0added", "Where": "results", "Before": "–", "Now": "s4\\: “spend\\.md”"},
        {"": "**~**\u00a0changed", "Where": "note", "Before": ":gray[“old”]", "Now": "**“new”**"},
        {
            "": "**~**\u00a0changed",
            "Where": "usage\\.in",
            "Before": ":gray[16\\,604]",
            "Now": "**24\\,508** :gray[+7\\,904]",
        },
        {"": "**−**\u00a0removed", "Where": "gone", "Before": "~~true~~", "Now": "–"},
    ]
    assert (found.left_out, found.kept) == (0, ("same",))


def test_strangers_text_in_a_change_is_escaped() -> None:
    (row,) = model.changes_since(state({}), state({"x": "**bold** $5 and $6 <b> ![p](http://evil/x.png)"})).rows
    assert "**bold**" not in row["Now"]
    assert "![" not in row["Now"]
    assert "$5" not in row["Now"].replace("\\$5", "")


def test_a_channel_that_one_side_cannot_show_is_not_called_removed() -> None:
    hidden = state({"a": 1}, unreadable=(Unreadable("values.notes", "delta", 0, "r"),))
    assert model.changes_since(state({"a": 1, "notes": [1]}), hidden).rows == []


def test_more_changes_than_are_shown_are_counted() -> None:
    many = {f"k{number}": number for number in range(250)}
    found = model.changes_since(state({"d": {}}), state({"d": many}))
    assert (len(found.rows), found.left_out) == (100, 150)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true"),
        (24508, "24,508"),
        (0.0392, "0.0392"),
        ("a\nb", "“a b”"),
        ([], "0 entries"),
        (["s1", 2], "2 entries: “s1”, 2"),
        ([1, 2, 3, 4], "4 entries: 1, 2, 3…"),
        ({}, "empty"),
        ({"$type": "shop.Parcel", "$value": {"code": "P"}}, "Parcel code: “P”"),
        ({"$type": "uuid.UUID", "$value": "12"}, "UUID “12”"),
    ],
)
def test_values_in_few_words(value: Any, words: str) -> None:
    assert model.worded(value).replace("\u00a0", " ") == words


def test_a_long_value_is_cut() -> None:
    assert len(model.worded("x" * 10_000)) < 100
    assert len(model.worded([{"k" * 50: "v" * 5000}] * 30)) < 120


def test_a_tree_is_cut_and_says_so() -> None:
    deep: Any = "end"
    for _ in range(30):
        deep = [deep]
    values = {"text": "x" * 5_000, "list": list(range(80)), "deep": deep, "small": {"a": 1}}
    shown = model.tree(values)
    assert shown["text"].endswith("… (5,000 characters)")
    assert shown["list"][-1] == "… (30 more)"
    assert "deeper" in str(shown["deep"])
    assert shown["small"] == {"a": 1}
    assert model.cut_channels(values) == ["text", "list", "deep"]


def test_writes_leave_out_what_only_calls_the_next_node() -> None:
    writes = [
        PendingWrite("t", "a", "done", ["a"]),
        PendingWrite("t", "a", "branch:to:b", None),
        PendingWrite("t", None, "gate", "gate"),
        PendingWrite("t", "__start__", "topic", "x"),
        PendingWrite("t", "g", "__interrupt__", [{"$type": "langgraph.types.Interrupt", "$value": {"value": "go?"}}]),
        PendingWrite("t", "g", "__error__", "ValueError('x')"),
    ]
    assert [(row["Node"], row["Wrote to"], row["Value"]) for row in model.write_rows(writes)] == [
        ("a", "done", "1 entry\\: “a”"),
        ("start", "topic", "“x”"),
        ("g", ":yellow[:material/front_hand:] asks", "“go\\?”"),
        ("g", ":red[:material/error:] raised", "“ValueError\\(\\'x\\'\\)”"),
    ]


def test_facts_of_a_checkpoint() -> None:
    history = [
        checkpoint("c", "b", nodes=("gate",), next=("work", "work")),
        checkpoint("b", "a", nodes=("__start__",)),
        checkpoint("a", None, "input", nodes=(), step=-1, next=("__start__",)),
    ]
    line = Timeline(history)
    place = line.place("c")
    assert place is not None
    interrupt = Interrupt("i", {"plan": 2}, "ask", "")
    shown = model.facts(
        place,
        state({}, summary=history[0], interrupts=(interrupt,), made_by=(PendingWrite("t", "gate", "done", 1),)),
        line,
        None,
        NOW,
    )
    assert shown["Ran"] == "**gate**"
    assert shown["At"].replace("\u00a0", " ") == "09\\:31\\:39\\.000 · 1.0 s after 2"
    assert shown["Source"] == "loop\\, step 1"
    assert shown["Next"] == "**work** × 2"
    assert shown["Interrupts"] == ":yellow[:material/front_hand:] ask plan\\: 2"
    assert shown["Writes"] == "done"
    assert shown["Id"] == "`c`"
    first = line.place("a")
    assert first is not None
    told = model.facts(first, state({}, summary=history[2]), line, None, NOW)
    assert (told["Ran"], told["Next"]) == ("**input** taken in", "**start**")


def test_facts_of_what_is_not_known() -> None:
    lone = checkpoint("b", "gone", at=None, nodes=(), next=None, source=None, error="ValueError(*x*)")
    line = Timeline([lone])
    place = line.place(None)
    assert place is not None
    told = model.facts(place, state({}, summary=lone), line, None, NOW)
    assert "unknown" in told["At"]
    assert "without the graph" in told["Next"]
    assert told["Raised"] == ":red[ValueError\\(\\*x\\*\\)]"
    assert told["Before"] == ":gray[earlier history was removed]"


def rings(history: list[Any], run: OwnRun | None = None) -> dict[str, Any]:
    line = Timeline(history)
    tips = frozenset(line.line(branch)[-1] for branch in range(len(line.branches)))
    return {p.id: model.mark_of(p, line, run, tips, NOW) for p in line.points.values()}


def test_rings_for_what_is_special_and_dots_for_the_rest() -> None:
    marks = rings(
        [
            checkpoint("h", "g"),
            checkpoint("g", "b", "update", nodes=()),
            checkpoint("f", "e"),
            checkpoint("e", "d"),
            checkpoint("d", "c", raised=True),
            checkpoint("c", "b", asked=True),
            checkpoint("b", "a"),
            checkpoint("a", None, "input"),
        ]
    )
    assert marks["b"].look is None
    assert marks["c"].look is None
    assert marks["d"].look.word == "a person answered"
    assert marks["e"].look == look_of(EventKind.STEP_FAILED)
    assert marks["f"].look == look_of(CheckpointStatus.FINISHED)
    assert marks["g"].look == FORK
    assert (marks["g"].label, marks["a"].label) == ("edit", "input")


def test_our_own_steps_are_named_and_grave_effects_ringed() -> None:
    history = [
        checkpoint("d", "c", nodes=("complete",)),
        checkpoint("c", "b", nodes=("execute",)),
        checkpoint("b", "a", nodes=("execute",)),
        checkpoint("a", None, "input"),
    ]
    second = {"b": ord("b"), "c": ord("c")}
    run = own(
        attempt("s1", second["b"] - 0.5),
        attempt("s2", second["c"] - 0.5),
        effects={"s1": Effect.READ, "s2": Effect.SEND_EXTERNAL},
        tools={"s1": "sql_query", "s2": None},
    )
    marks = rings(history, run)
    assert (marks["b"].label, marks["b"].look) == ("execute s1", None)
    assert (marks["c"].label, marks["c"].look) == ("execute s2", look_of(Effect.SEND_EXTERNAL))
    line = Timeline(history)
    place = line.place("b")
    assert place is not None
    assert model.facts(place, state({}), line, run, NOW)["Ran"] == "**execute** s1 · sql\\_query"
    failed = own(attempt("s1", second["b"] - 0.5, AttemptStatus.FAILED))
    assert rings(history, failed)["b"].look == look_of(EventKind.STEP_FAILED)


def thread(name: str, status: CheckpointStatus) -> ThreadSummary:
    return ThreadSummary(name, "s", "c", None, 3, ("",), None, status, None, ())


def test_the_headline_says_how_many_and_who_waits() -> None:
    done, waits = thread("a", CheckpointStatus.FINISHED), thread("b", CheckpointStatus.WAITING)

    def said(*threads: ThreadSummary, more: bool = False, search: str = "") -> str:
        return model.headline(threads, more, search).replace("\u00a0", " ")

    assert said() == "No thread here yet"
    assert said(done) == "1 thread"
    assert said(done, waits) == "2 threads, 1 waits for a person"
    assert said(waits, waits, more=True) == "2+ threads, 2 wait for a person"
    assert said(search="x") == "No thread has “x” in its id"
    assert said(waits, search="b") == "1 thread with “b” in its id"


def test_a_line_of_the_list() -> None:
    row = model.thread_row(thread("a", CheckpointStatus.UNKNOWN), None, NOW)
    assert (row["Thread"], row["Id"], row["Status"]) == ("a", "–", look_of(CheckpointStatus.UNKNOWN))
    assert (row["Last activity"], row["Size"]) == ("–", "–")


@pytest.mark.parametrize("status", [RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.SUCCEEDED])
def test_a_thread_of_our_own_has_the_status_of_its_run(status: RunStatus) -> None:
    row = model.thread_row(thread("a", CheckpointStatus.FINISHED), a_run(task="Count", status=status), NOW)
    assert (row["Thread"], row["Id"], row["Status"]) == ("Count", "a", look_of(status))


def test_a_long_task_is_cut_at_a_words_end() -> None:
    task = "Which three projects cost most in the latest month with data, and did any exceed its budget?"
    row = model.thread_row(thread("a", CheckpointStatus.FINISHED), a_run(task=task), NOW)
    assert row["Thread"] == "Which three projects cost most in the latest month…"


def test_times_have_milliseconds_and_the_day_unless_today() -> None:
    assert model.exact(datetime(2026, 12, 1, 9, 32, 16, 802_999, tzinfo=UTC), NOW) == "09:32:16.802"
    assert model.exact(datetime(2026, 11, 30, 9, tzinfo=UTC), NOW) == "30 Nov, 09:00:00.000"
    assert model.exact(None, NOW) == "unknown"


def message(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"$type": f"langchain_core.messages.{kind}.{kind.title()}Message", "$value": {"content": content, **more}}


def test_messages_of_every_kind_become_a_conversation() -> None:
    values = {
        "messages": [
            {"$type": "langchain_core.messages.human.HumanMessage", "$value": {"content": "how many?"}},
            {
                "$type": "langchain_core.messages.ai.AIMessageChunk",
                "$value": {
                    "content": [{"type": "text", "text": "looking"}],
                    "tool_calls": [{"name": "q", "args": {"k": 1}}],
                },
            },
            message("tool", "12", name="lookup"),
            {"role": "assistant", "content": "12"},
            {"type": "human", "content": "thanks"},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://evil/x"}}, "see"]},
        ],
        "other": [1, {"content": "no role"}, {"role": "user"}],
        "topic": "x",
    }
    said = turns(values, {"messages": values["messages"][:5]}, None)
    assert [(turn.who, turn.text, turn.written, turn.new) for turn in said] == [
        ("person", "how many?", False, False),
        ("agent", "looking", True, False),
        ("lookup", "12", False, False),
        ("agent", "12", True, False),
        ("person", "thanks", False, False),
        ("person", "[image_url]\n\nsee", False, True),
    ]
    assert said[1].note == "calls q with k: 1"


def test_our_own_runs_are_told_from_their_state() -> None:
    plan = {"version": 2, "hash": "abc", "goal": "Know it.", "steps": [{"id": "s1"}, {"id": "s2"}, {"id": "s3"}]}
    values = {
        "task": "Count",
        "feedback": ["shorter"],
        "plan": plan,
        "approved_hash": "abc",
        "results": {"s2": {"key_result": "two"}, "s1": {"key_result": "one"}},
        "errors": {"s3": "no table"},
        "answer": "**12** [1]",
    }
    said = turns(values, {"task": "Count"}, own(deciders={"abc": "li"}))
    assert [(turn.who, turn.text.replace("\u00a0", " ")) for turn in said] == [
        ("ana", "Count"),
        ("person", "shorter"),
        ("planner", "Proposes version 2 with 3 steps. Know it."),
        ("li", "Approves version 2."),
        ("s1", "one"),
        ("s2", "two"),
        ("s3", "no table"),
        ("agent", "**12** [1]"),
    ]
    assert [turn.new for turn in said] == [False] + [True] * 7
    edited = turns({**values, "plan": {**plan, "source": "person"}}, {"task": "Count"}, own(deciders={"abc": "li"}))
    assert (edited[2].who, edited[2].text) == ("li", "Makes version 2 with 3\u00a0steps. Know it.")
