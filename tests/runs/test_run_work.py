"""Modes, limits, calls and versions of a run, as its page words them."""

from dataclasses import replace
from datetime import timedelta

import pytest
from page_seeds import a_plan
from runs import small_plandeck
from store_records import a_request, a_run, at

from agent.records import (
    CallState,
    Decision,
    Effect,
    EventKind,
    Limits,
    Meter,
    Mode,
    RequestKind,
    RequestStatus,
    RunEvent,
    RunStatus,
    StepProgress,
    StepStatus,
    StopReason,
    ToolCall,
)
from agent.run.free_calls import free_calls, free_calls_of
from agent.run.usecases import advance, start_run
from dashboard.look.timeline import timeline_alt
from dashboard.runs import calls, limits, model, modes, versions
from dashboard.runs.happened import timeline
from dashboard.runs.model import Observed
from traces.records import UsageRow

USAGE = UsageRow(
    group={}, calls=2, errors=0, input_tokens=1, output_tokens=1, cache_read_tokens=None, cache_write_tokens=None,
    reasoning_tokens=None, cost=1, unpriced_calls=0, calls_without_usage=0, calls_with_invalid_usage=0,
    illustrative_calls=0, reported_calls=0,
)  # fmt: skip


def text(words: str) -> str:
    return words.replace("\u00a0", " ")


def event(kind: EventKind, words: str, seq: int = 1) -> RunEvent:
    return RunEvent("r-1", seq, at(1), kind, None, words)


def call(number: int, step_id: str, **changes: object) -> ToolCall:
    made = ToolCall(
        run_id="r-1", number=number, key="k", step_id=step_id, tool="lookup", version=1, effect=Effect.READ,
        arguments={"sku": "B-7"}, arguments_hash="h", state=CallState.COMMITTED, started_at=at(number * 10),
        finished_at=at(number * 10 + 2), observation={"text": "12 in stock"},
    )  # fmt: skip
    return replace(made, **changes)


def observed(**changes: object) -> Observed:
    run = a_run(**{"status": RunStatus.EXECUTING, "started_at": at(1), **changes.pop("run", {})})
    return Observed(run=run, plan=changes.pop("plan", None), now=at(100), usage=USAGE, **changes)


# --- modes


def test_auto_says_what_it_took_and_why() -> None:
    events = [event(EventKind.MODE_CHOSEN, "mode direct: It is common: knowledge.")]
    run = a_run(mode="auto")
    assert modes.taken(run, events) == modes.Taken(Mode.DIRECT, "It is common: knowledge.")
    assert modes.words(run, events) == "auto: answers directly"
    assert "It is common: knowledge." in (modes.why(run, events) or "")


def test_a_mode_that_was_asked_for_needs_no_reason() -> None:
    assert modes.why(a_run(mode="react"), []) is None
    assert modes.words(a_run(mode="react"), []) == "looks with tools, no plan"


def test_a_run_that_degraded_says_so() -> None:
    events = [event(EventKind.DEGRADED, "no valid plan twice, goes on with react: unknown_tool")]
    assert modes.taken(a_run(), events).free
    assert "although plan_execute was asked for" in (modes.why(a_run(), events) or "")


# --- limits


def test_what_is_used_stands_beside_its_limit() -> None:
    meter = Meter(llm_calls=9, tool_calls=4, tokens=20_000, cost=1_700_000_000_000, active_ms=25_200)
    cost, tokens = limits.gauges(meter, Limits(), made_up=False)
    assert (round(cost.share, 2), text(cost.sentence)) == (0.85, "$1.70 of the $2.00 budget, 85 %")
    assert text(cost.over) == "15 % are left; then the run asks."
    assert (tokens.share, tokens.over) == (0.1, "")
    assert [text(count.words) for count in limits.counts(meter, Limits())] == [
        "9 of 60 model calls", "4 of 40 tool calls", "25.2 s of 15 m 00 s at work",
    ]  # fmt: skip


def test_made_up_and_unknown_money_is_said() -> None:
    meter = Meter(cost=8_000_000_000, unpriced_calls=2)
    assert "$0.0080 made-up" in text(limits.gauges(meter, Limits(), made_up=True)[0].sentence)
    assert "2 calls without a price" in text(limits.gauges(meter, Limits(), made_up=False)[0].sentence)


def test_a_reached_limit_is_pointed_out() -> None:
    assert [count.near for count in limits.counts(Meter(tool_calls=40), Limits())] == [False, True, False]
    assert limits.gauges(Meter(tokens=200_000), Limits(), made_up=False)[1].over == "The limit is reached."


@pytest.mark.parametrize(
    ("reason", "setting"),
    [
        (StopReason.MAX_LLM_CALLS, "max_llm_calls"), (StopReason.MAX_TOOL_CALLS, "max_tool_calls"),
        (StopReason.LOOP, "same_calls"), (StopReason.TIMEOUT, "wall_seconds"), (StopReason.BUDGET, "max_cost_usd"),
        (StopReason.MAX_ITERATIONS, "max_iterations"), (StopReason.MAX_REPLANS, "max_replans"),
        (StopReason.MAX_STEPS, "max_steps"),
    ],
)  # fmt: skip
def test_each_limit_names_the_setting_that_raises_it(reason: StopReason, setting: str) -> None:
    end = model.ending(observed(run={"status": RunStatus.FAILED, "stop_reason": str(reason), "error": "It stopped."}))
    assert end
    assert setting in end.body
    assert "agent analyst" in end.body
    assert setting in Limits.__dataclass_fields__


def test_a_run_that_was_stopped_at_its_budget_says_by_whom() -> None:
    asked = a_request(
        kind=RequestKind.QUESTION, payload={"about": "budget"}, status=RequestStatus.REJECTED,
        decision=Decision.REJECT, decided_by="li", decided_at=at(9), note="too dear",
    )  # fmt: skip
    run = {"status": RunStatus.FAILED, "stop_reason": "budget", "error": "24 of 25 are used. Approve to raise"}
    end = model.ending(observed(run=run, requests=[asked]))
    assert end
    assert end.title == "li stopped the run at its budget: too dear"


def test_a_run_that_ended_with_a_refused_call_says_which() -> None:
    asked = a_request(
        kind=RequestKind.TOOL_CALL, payload={"tool": "mail", "step_id": "s2"}, status=RequestStatus.REJECTED,
        decision=Decision.REJECT, decided_by="li", decided_at=at(9), note="no",
    )  # fmt: skip
    run = {"status": RunStatus.CANCELLED, "stop_reason": "rejected", "error": "no"}
    end = model.ending(observed(run=run, requests=[asked]))
    assert end
    assert end.title == "li refused the call of mail."


# --- calls


def test_calls_of_a_run_say_what_became_of_them() -> None:
    rows = calls.made(
        [
            call(1, "s1"),
            call(2, "s2", state=CallState.CANCELLED, error="late", observation=None),
            call(3, "s2", state=CallState.UNKNOWN, error="the line broke", observation=None),
            call(4, "s3", state=CallState.INTENDED, finished_at=None, observation=None),
        ],
        at(50),
    )
    assert [(row.name, row.step_id, row.look.word, row.shown, row.seconds) for row in rows] == [
        ("1", "s1", "made", "12 in stock", 2.0),
        ("2", "s2", "failed", "late", 2.0),
        ("3", "s2", "outcome unknown", "the line broke", None),
        ("4", "s3", "being made", "", 10.0),
    ]


def test_a_free_run_lists_every_call_that_was_asked_for(tmp_path) -> None:
    turns = [("lookup", {"sku": "nope"}), ("lookup", {"unit": "box"}), ("note", {"text": "hello"})]
    with small_plandeck(tmp_path, {"react": turns}) as (app, _, _calls):
        run = advance(app, start_run(app, "Note it", by="ana", mode="react").run_id)
        assert run.status is RunStatus.WAITING_HUMAN
        rows = calls.free(
            free_calls_of(app, run),
            app.records.ledger.calls(app.project, run.run_id),
            app.records.requests(app.project, run_id=run.run_id),
            app.now(),
        )
    assert [(row.name, row.tool, row.arguments, row.look.word) for row in rows] == [
        ("c1", "lookup", "nope", "failed"),
        ("c2", "lookup", "box", "failed"),
        ("c3", "note", "hello", "waits for a person"),
    ]
    assert rows[0].shown == "There is no SKU nope; there are B-7, C-9."
    assert "refuses its arguments" in rows[1].shown
    assert rows[2].effect is Effect.DRAFT


def test_a_call_that_a_person_refused_is_not_shown_as_done() -> None:
    state = {
        "turns": [{"text": "", "calls": [{"id": "c1", "tool": "note", "arguments": {"text": "x"}}]}],
        "statuses": {"c1": "completed"},
        "results": {"c1": {"key_result": "li refused this call: no"}},
    }
    asked = a_request(
        kind=RequestKind.TOOL_CALL, status=RequestStatus.REJECTED, decision=Decision.REJECT, decided_by="li",
        payload={"tool": "note", "effect": "draft", "step_id": "c1", "arguments": {"text": "x"}},
    )  # fmt: skip
    (row,) = calls.free(free_calls(state), [], [asked], at(9))
    assert (row.look.word, row.shown) == ("rejected", "li refused this call: no")


def test_a_free_run_is_drawn_with_its_calls_and_the_model_between_them() -> None:
    seen = observed(run={"mode": "react"}, calls=[call(1, "c1"), call(2, "c2")])
    assert seen.free
    drawn = timeline(seen)
    assert drawn
    assert drawn.lanes == ("model", "lookup")
    thinking = [bar.end - bar.start for bar in drawn.bars if bar.lane == "model"]
    assert thinking == [timedelta(seconds=9), timedelta(seconds=8), timedelta(seconds=78)]
    assert "lookup" in timeline_alt(drawn)
    assert {metric.label: metric.value for metric in model.metrics(seen)}["Calls made"] == "2"


# --- versions


def test_a_replan_is_told_with_its_trigger_and_what_it_changed() -> None:
    old = a_plan(2)
    new = a_plan(
        3, parent_hash=old.hash, trigger="execution_error", steps=(*old.steps[:2], replace(old.steps[2], tool="x"))
    )
    failed = StepProgress("r-1", 2, "s3", StepStatus.BLOCKED, error="no budget in 14 rows")
    asked = a_request(hash=new.hash, payload={"plan": new.to_json()})
    rows = versions.version_rows([old, new], {2: [failed]}, [asked])
    assert [row.version for row in rows] == [3, 2]
    assert rows[0].why == "s3 (Rank projects, compute spend minus budget) failed. no budget in 14 rows"
    assert rows[0].changes == "~ s3, − s4"
    assert rows[0].decision
    assert rows[0].decision.word == "waits for you"
    assert rows[1].decision is None


def test_a_version_that_was_edited_is_not_told_as_approved() -> None:
    old = a_plan(1)
    new = a_plan(2, parent_hash=old.hash, trigger="edit", steps=(replace(old.steps[0], description="Look"),))
    edited = a_request(
        hash=old.hash, status=RequestStatus.EDITED, decision=Decision.EDIT, decided_by="li", value=new.to_json()
    )
    rows = versions.version_rows([old, new], {}, [edited])
    words = [(row.version, row.decision.word if row.decision else None, row.by) for row in rows]
    assert words == [(2, "approved as edited", "li"), (1, "replaced by an edit", "li")]
