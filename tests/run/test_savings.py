from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from runs import approve, plan, run_to_pause, small_plandeck, step

from agent.errors import StorageError
from agent.records import AttemptStatus, CallState, Effect, EventKind, RunStatus, StepAttempt, StepStatus, ToolCall
from agent.run.flow import NODES
from agent.run.savings import Savings, saved_before, savings
from agent.run.usecases import resume_thread
from traces.records import Usage

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TWO_STEPS = plan(step("s1", sku="B-7"), step("s2", after=("s1",), sku="C-9"))


def at(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def tried(step_id: str, attempt: int, status: AttemptStatus, first: float, last: float | None) -> StepAttempt:
    ended = None if last is None else at(last)
    return StepAttempt("r-1", 1, step_id, attempt, status, at(first), ended, None)


def asked(step_id: str | None, seconds: float, cost: int | None = 5, tokens: int | None = 110, **changed: Any) -> Any:
    usage = Usage(tokens, 0) if tokens is not None else Usage()
    values = {"is_call": True, "counted": True, "illustrative": False, **changed}
    started_at = int(at(seconds).timestamp() * 1e9)
    return SimpleNamespace(step_id=step_id, started_at=started_at, usage=usage, cost=cost, **values)


def called(step_id: str, first: float, last: float | None, state: CallState = CallState.COMMITTED) -> ToolCall:
    ended = None if last is None else at(last)
    return ToolCall(
        run_id="r-1",
        number=1,
        key="k",
        step_id=step_id,
        tool="lookup",
        version=1,
        effect=Effect.READ,
        arguments={},
        arguments_hash="h",
        state=state,
        started_at=at(first),
        finished_at=ended,
    )


ATTEMPTS = [
    tried("s1", 1, AttemptStatus.FAILED, 0, 9),
    tried("s1", 2, AttemptStatus.COMPLETED, 10, 19),
    tried("s2", 1, AttemptStatus.PAUSED, 20, 29),
    tried("s2", 2, AttemptStatus.COMPLETED, 40, 49),
    tried("s3", 1, AttemptStatus.INTERRUPTED, 50, 60),
    tried("s4", 1, AttemptStatus.PAUSED, 51, 52),
    tried("s5", 1, AttemptStatus.COMPLETED, 70, 79),
]
CALLS = [
    called("s1", 2, 3),
    called("s1", 12, 13),
    called("s2", 42, 43),
    called("s3", 51, None, CallState.UNKNOWN),
    called("s5", 72, 73),
]


def test_kept_work_is_counted_and_failed_cut_off_and_later_work_is_not() -> None:
    spans = [
        asked("s1", 1),
        asked("s1", 11),
        asked("s1", 14, counted=False),
        asked("s2", 21),
        asked("s2", 44),
        asked("s3", 51),
        asked("s4", 51),
        asked("s5", 71),
        asked(None, 12),
    ]
    assert savings(ATTEMPTS, CALLS, spans, at(65)) == Savings(2, 3, 2, 330, 15, illustrative=False)
    assert savings(ATTEMPTS, CALLS, spans, at(5)) == Savings(0, 0, 0, 0, 0, illustrative=False)


def test_what_is_not_known_is_not_taken_for_nothing() -> None:
    without_price = savings(ATTEMPTS, CALLS, [asked("s1", 11, cost=None), asked("s2", 44)], at(65))
    assert (without_price.tokens, without_price.cost) == (220, None)
    assert "unknown cost" in str(without_price)
    without_usage = savings(ATTEMPTS, CALLS, [asked("s1", 11, tokens=None, illustrative=True)], at(65))
    assert (without_usage.tokens, without_usage.illustrative) == (None, True)
    assert str(without_usage) == ("2 steps kept, saved 1 model calls, 2 tool calls, unknown tokens, $0.0000 (made-up)")


def test_without_a_plan_each_committed_call_is_a_step() -> None:
    assert savings([], CALLS[2:], [], at(65)).steps == 1
    assert savings([], CALLS[2:], [], at(65)).tool_calls == 1


def test_a_run_that_goes_on_after_a_crash_tells_what_that_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    execute = NODES["execute"]

    def away_in_the_second_step(state: Any, deps: Any) -> Any:
        if state["statuses"]["s1"] == StepStatus.COMPLETED:
            raise StorageError("the records are away")
        return execute(state, deps)

    with small_plandeck(tmp_path, {"propose_plan": [TWO_STEPS]}) as (app, _, _calls):
        run = run_to_pause(app)
        with monkeypatch.context() as patch:
            patch.setitem(NODES, "execute", away_in_the_second_step)
            with pytest.raises(StorageError):
                approve(app, run)
        resumed_at = app.now()
        done = resume_thread(app, run.thread_id)
        assert done.status is RunStatus.SUCCEEDED, done.error
        saved = saved_before(app, run.run_id, resumed_at)
        assert (saved.steps, saved.llm_calls, saved.tool_calls, saved.tokens, saved.cost) == (1, 2, 1, 220, None)
        told = [item.text for item in app.records.events(app.project, run.run_id) if item.kind is EventKind.RESUMED]
        assert told == [f"resumed, {saved}"]


def test_going_on_after_a_decision_is_no_resuming(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [TWO_STEPS]}) as (app, _, _calls):
        done = approve(app, run_to_pause(app))
        assert EventKind.RESUMED not in [item.kind for item in app.records.events(app.project, done.run_id)]
