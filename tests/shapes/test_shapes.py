import json
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from jsonschema import Draft202012Validator
from shape_schemas import SCHEMAS, assert_shape, problems
from span_makers import CASES

from agent.records import (
    ApprovalRequest,
    Decision,
    Effect,
    Limits,
    Meter,
    Plan,
    PlanStep,
    RequestKind,
    RequestStatus,
    Run,
    RunStatus,
    Source,
    StepProgress,
    StepStatus,
)
from agent.shapes import (
    approval_json,
    dollars_json,
    nanoseconds_json,
    page_json,
    plan_json,
    run_json,
    span_json,
    time_json,
    trace_json,
    trace_summary_json,
    usage_json,
)
from traces import otlp
from traces.normalise import normalise
from traces.records import StoredSpan, TraceSummary, Usage, UsageRow

AT = datetime(2026, 12, 1, 9, 42, 0, 125_000, tzinfo=UTC)
FIGURES = UsageRow(
    group={"model": "m", "day": None},
    calls=3,
    errors=0,
    input_tokens=1200,
    output_tokens=None,
    cache_read_tokens=None,
    cache_write_tokens=0,
    reasoning_tokens=None,
    cost=1_230_000_000,
    unpriced_calls=0,
    calls_without_usage=1,
    calls_with_invalid_usage=0,
    illustrative_calls=3,
    reported_calls=0,
)
SPAN = StoredSpan(
    project="default",
    trace_id="a" * 32,
    span_id="b" * 16,
    parent_span_id=None,
    name="chat m",
    kind="model",
    operation="chat",
    provider="openai",
    model="m",
    request_model="m",
    response_model="m",
    service_tier=None,
    tool=None,
    agent=None,
    thread_id=None,
    run_id=None,
    step_id=None,
    attempt=None,
    role=None,
    user=None,
    scope="s",
    scope_version="1",
    started_at=1_796_118_120_000_000_001,
    ended_at=None,
    duration=None,
    status="running",
    error=None,
    usage=Usage(input=10, output=2, cache_read=4),
    usage_state="known",
    cost=None,
    price_source=None,
    illustrative=False,
    is_call=True,
    counted=True,
    flags=("reasoning_exceeds_output",),
    attributes={"a": [1, None]},
)
TRACE = TraceSummary(
    trace_id="a" * 32,
    name="chat m",
    started_at=1_796_118_120_000_000_001,
    duration=1_500_000,
    status="ok",
    incomplete=True,
    agent=None,
    thread_id="th-1",
    run_id=None,
    spans=1,
    usage=replace(FIGURES, group={}),
)
PLAN = Plan(
    goal="Know the stock",
    rationale="It is asked for.",
    steps=(
        PlanStep("s1", "Look", "sql", {"sku": "B-7"}, (), "A number is shown", Effect.READ),
        PlanStep("s2", "Write", "report", {}, ("s1",), "A file is there", Effect.DRAFT),
    ),
    version=2,
    hash="a" * 64,
    parent_hash="b" * 64,
    trigger="feedback",
    repairs=("code_fence",),
)
RUN = Run(
    project="default",
    run_id="r-1",
    thread_id="th-1",
    agent="analyst",
    agent_version="1",
    task="How much of B-7 is there?",
    mode="plan_execute",
    provider="offline",
    model="offline-1",
    status=RunStatus.EXECUTING,
    requested_by="ana",
    created_at=AT,
    limits=Limits(),
    tools={"sql": 1},
    trace_id="c" * 32,
    root_span_id="d" * 16,
    plan_version=2,
)
METER = Meter(llm_calls=4, tool_calls=2, tokens=1_200, cost=1_230_000_000, active_ms=31_000)


def request(**changes: object) -> ApprovalRequest:
    made = ApprovalRequest(
        project="default",
        request_id="q-1",
        kind=RequestKind.PLAN,
        run_id="r-1",
        thread_id="th-1",
        checkpoint_id="c-1",
        interrupt_id="i-1",
        hash="a" * 64,
        status=RequestStatus.PENDING,
        requested_at=AT,
        requested_by="ana",
        payload={"plan": PLAN.to_json(), "task": RUN.task},
    )
    return replace(made, **changes)


def progress(step_id: str, status: StepStatus, version: int = 2) -> StepProgress:
    return StepProgress("r-1", version, step_id, status, attempts=1, started_at=AT, result={"key_result": "12"})


def document(run: Run = RUN, plan: Plan | None = PLAN, steps: tuple[StepProgress, ...] = ()) -> dict:
    return run_json(run, plan=plan, steps=steps, usage=FIGURES, meter=METER)


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_every_schema_is_a_schema_and_says_what_it_is_for(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$id"] == f"{name}.json"
    assert SCHEMAS[name]["description"].endswith(".")


def test_a_run_has_its_shape_with_and_without_a_plan() -> None:
    assert_shape("run", document(steps=(progress("s1", StepStatus.COMPLETED),)))
    assert_shape("run", document(replace(RUN, plan_version=None), plan=None))
    ended = replace(
        RUN, finished_at=AT, stop_reason="completed", answer="12 [1]", sources=(Source(1, "s1", "sql", "12"),)
    )
    assert_shape("run", document(ended))


def test_a_run_says_what_it_used_of_which_limits() -> None:
    shown = document()
    assert shown["meter"] == {
        "llm_calls": 4, "tool_calls": 2, "tokens": 1_200, "cost_usd": "0.00123", "unpriced_calls": 0,
        "active_ms": 31_000,
    }  # fmt: skip
    assert (shown["limits"]["max_llm_calls"], shown["limits"]["max_cost_usd"]) == (60, "2.00")


def test_steps_of_a_run_carry_their_progress_and_only_the_completed_ones_are_done() -> None:
    shown = document(steps=(progress("s1", StepStatus.COMPLETED), progress("s2", StepStatus.FAILED)))
    assert (shown["steps_done"], shown["steps_total"]) == (1, 2)
    assert [step["status"] for step in shown["plan"]["steps"]] == ["completed", "failed"]
    assert shown["plan"]["steps"][0]["result"] == {"key_result": "12"}


def test_progress_of_an_older_plan_version_is_not_the_current_ones() -> None:
    shown = document(steps=(progress("s1", StepStatus.COMPLETED, version=1),))
    assert shown["steps_done"] == 0
    assert [step["status"] for step in shown["plan"]["steps"]] == ["pending", "pending"]


def test_a_plan_without_progress_is_pending_and_has_its_shape() -> None:
    assert_shape("plan", plan_json(PLAN))
    assert {step["attempts"] for step in plan_json(PLAN)["steps"]} == {0}


def test_an_approval_request_has_its_shape_before_and_after_the_decision() -> None:
    decided = request(
        status=RequestStatus.APPROVED, decision=Decision.APPROVE, decided_at=AT, decided_by="li", applied_at=AT, value=0
    )
    assert_shape("approvals", page_json("approvals", [approval_json(request()), approval_json(decided)]))
    assert approval_json(decided)["value"] == 0


def test_usage_has_its_shape_and_rows_begin_with_their_groups() -> None:
    shown = usage_json([FIGURES], replace(FIGURES, group={}, cost=None))
    assert_shape("usage", shown)
    assert list(shown["rows"][0])[:2] == ["model", "day"]
    assert (shown["rows"][0]["cost_usd"], shown["total"]["cost_usd"]) == ("0.00123", None)


def test_traces_and_spans_have_their_shape_and_lose_no_nanosecond() -> None:
    assert_shape("traces", page_json("traces", [trace_summary_json(TRACE)], TRACE.cursor))
    shown = trace_json(TRACE, [SPAN, replace(SPAN, duration=1_000, cost=5, price_source="own")])
    assert_shape("trace", shown)
    assert shown["duration_ms"] == 1.5
    assert shown["spans"][0]["started_at"] == "2026-12-01T09:42:00.000000001Z"
    assert shown["spans"][0]["usage"]["input_tokens"] == 10


def test_what_is_known_of_a_spans_usage_stands_and_the_rest_is_null() -> None:
    expected = json.loads((CASES / "C27_odd_numbers" / "expected.json").read_text())["per_span"]
    decoded = otlp.decode((CASES / "C27_odd_numbers" / "trace.json").read_bytes(), otlp.JSON)
    for record, wanted in zip(decoded.spans, expected.values(), strict=True):
        normalised = normalise(record)
        shown = span_json(replace(SPAN, usage=normalised.usage, usage_state=normalised.usage_state))
        assert_shape("trace", trace_json(TRACE, [replace(SPAN, usage=normalised.usage)]))
        assert (shown["usage"]["input_tokens"], shown["usage"]["output_tokens"]) == (wanted["in"], wanted["out"])
        assert shown["usage"]["cache_read_tokens"] == wanted.get("cache_read")


@pytest.mark.parametrize("state", ["unknown", "invalid"])
def test_usage_that_is_not_known_is_null_and_not_zero(state: str) -> None:
    assert span_json(replace(SPAN, usage=Usage(), usage_state=state))["usage"] is None


def test_no_field_of_a_run_or_request_is_forgotten() -> None:
    internal = {"tools", "manifest", "engine", "root_span_id", "cancel_requested"}
    assert {item.name for item in fields(Run)} - set(document()) == internal
    assert {item.name for item in fields(ApprovalRequest)} - set(approval_json(request())) == {"project"}


def test_shapes_are_json_without_help() -> None:
    assert json.loads(json.dumps(document())) == document()


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (AT, "2026-12-01T09:42:00.125Z"),
        (AT.replace(microsecond=0), "2026-12-01T09:42:00Z"),
        (AT.astimezone(timezone(timedelta(hours=5, minutes=30))), "2026-12-01T09:42:00.125Z"),
        (None, None),
    ],
)
def test_times_are_utc_with_z(at: datetime | None, text: str | None) -> None:
    assert time_json(at) == text


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (1_796_118_120_000_000_001, "2026-12-01T09:42:00.000000001Z"),
        (1_796_118_120_500_000_000, "2026-12-01T09:42:00.5Z"),
        (1_796_118_120_000_000_000, "2026-12-01T09:42:00Z"),
        (0, "1970-01-01T00:00:00Z"),
        (None, None),
    ],
)
def test_span_times_keep_every_nanosecond(nanoseconds: int | None, text: str | None) -> None:
    assert nanoseconds_json(nanoseconds) == text


@pytest.mark.parametrize(
    ("pico", "text"),
    [
        (None, None),
        (0, "0"),
        (1, "0.000000000001"),
        (1_234_500_000, "0.0012345"),
        (10**13, "10"),
        (123_456_789_012_345_678_901_234, "123456789012.345678901234"),
        (-2_500_000_000_000, "-2.5"),
    ],
)
def test_money_is_an_exact_decimal_string_and_unknown_is_null(pico: int | None, text: str | None) -> None:
    assert dollars_json(pico) == text
    assert problems("run", {**document(), "cost_usd": text}) == []


def test_a_wrong_document_is_noticed() -> None:
    wrong = {**document(), "status": "thinking", "cost_usd": 0.1, "created_at": "2026-12-01 09:42"}
    assert len(problems("run", wrong)) >= 3
