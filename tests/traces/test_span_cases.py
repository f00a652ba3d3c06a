import json
from decimal import Decimal
from pathlib import Path

import pytest
from span_makers import CASES, NOON, SECOND, chat

from traces import otlp
from traces.ingest import Ingest
from traces.prices import PriceBook
from traces.records import StoredSpan, Usage, dollars
from traces.store import SpanStore, UsageQuery

FILES = {
    "C29_same_span_exported_again": ("batch1.json", "batch2.json", "batch1.json"),
    "C36_pending_spans": ("pending.json", "final.json"),
}
WITH_TOTALS = [
    folder.name for folder in sorted(CASES.glob("C*")) if (folder / "trace.json").exists() or folder.name in FILES
]


def load(store: SpanStore, folder: Path, *files: str, project: str = "p") -> None:
    pipeline = Ingest(store, PriceBook(folder / "prices.json"))
    for file in files:
        pipeline.ingest_decoded(project, otlp.decode((folder / file).read_bytes(), otlp.JSON))


def load_case(store: SpanStore, name: str) -> dict[str, object]:
    load(store, CASES / name, *FILES.get(name, ("trace.json",)))
    expected = json.loads((CASES / name / "expected.json").read_text())
    totals: dict[str, object] = expected.get("totals") or expected["after_final"]["totals"]
    return totals


def figures(store: SpanStore) -> dict[str, object]:
    row = store.usage_total(UsageQuery("p"))
    return {
        "llm_calls": row.calls,
        "input_tokens_total": row.input_tokens,
        "of_which_cache_read": row.cache_read_tokens,
        "of_which_cache_write": row.cache_write_tokens,
        "output_tokens_total": row.output_tokens,
        "of_which_reasoning": row.reasoning_tokens,
        "cost_usd": None if row.cost is None else dollars(row.cost),
        "calls_without_usage": row.calls_without_usage,
        "calls_with_invalid_usage": row.calls_with_invalid_usage,
        "unpriced_calls": row.unpriced_calls,
    }


def named(store: SpanStore, case: str) -> list[StoredSpan]:
    first = otlp.decode((CASES / case / "trace.json").read_bytes(), otlp.JSON).spans[0]
    return store.spans("p", first.trace_id)


@pytest.mark.parametrize("case", WITH_TOTALS)
def test_totals_of_a_case_are_right(small_store: SpanStore, case: str) -> None:
    expected = load_case(small_store, case)
    if "cost_usd" in expected:
        expected["cost_usd"] = Decimal(str(expected["cost_usd"]))
    found = figures(small_store)
    assert {name: found[name] for name in expected} == expected
    assert found["unpriced_calls"] == 0
    assert small_store.arithmetic(UsageQuery("p")).adds_up


def test_there_are_as_many_cases_as_there_were() -> None:
    assert len(WITH_TOTALS) >= 18


def test_a_thousand_tiny_costs_are_not_rounded_away(span_store: SpanStore) -> None:
    prices = PriceBook(CASES / "C34_tiny_costs_sum" / "prices.json")
    calls = [chat(number, 1000, 0, model="demo-tiny", at=number) for number in range(1, 3001)]
    Ingest(span_store, prices).ingest("p", calls)
    total = span_store.usage_total(UsageQuery("p"))
    assert (total.calls, total.input_tokens, total.output_tokens) == (3000, 3_000_000, 0)
    assert total.cost == 300_000_000
    assert dollars(total.cost) == Decimal("0.0003")


def test_odd_numbers_are_read_or_flagged_span_by_span(small_store: SpanStore) -> None:
    load_case(small_store, "C27_odd_numbers")
    a, b, c, d, e = named(small_store, "C27_odd_numbers")
    assert [(item.usage.input, item.usage.output) for item in (a, b, c, d, e)] == [
        (1200, 30),
        (800, 20),
        (None, 10),
        (None, 10),
        (250, 10),
    ]
    assert c.flags == d.flags == ("invalid_input_tokens",)
    assert (c.usage_state, c.cost) == ("invalid", None)
    assert e.usage.cache_read == 150
    assert e.flags == ("cache_outside_input",)


def test_calls_without_usage_below_a_parent_with_usage_stay_unknown_and_are_covered(small_store: SpanStore) -> None:
    load_case(small_store, "C11_only_parent_has_usage")
    agent, *calls = named(small_store, "C11_only_parent_has_usage")
    assert agent.counted
    assert [call.usage for call in calls] == [Usage(), Usage()]
    assert not any(call.counted for call in calls)
    total = small_store.usage_total(UsageQuery("p"))
    assert (total.unpriced_calls, total.calls_without_usage) == (0, 0)


def test_missing_usage_leaves_a_sum_marked_incomplete(small_store: SpanStore) -> None:
    load_case(small_store, "C15_missing_usage_is_unknown")
    silent, _ = named(small_store, "C15_missing_usage_is_unknown")
    assert (silent.usage, silent.cost, silent.price_source) == (Usage(), None, None)
    assert small_store.usage_total(UsageQuery("p")).incomplete


def test_each_service_tier_has_its_factor(small_store: SpanStore) -> None:
    load_case(small_store, "C25_service_tier_discount")
    costs = [item.cost and dollars(item.cost) for item in named(small_store, "C25_service_tier_discount")]
    assert costs == [Decimal(cost) for cost in ("0.18", "0.09", "0.36", "0.09", "0.09")]


def test_the_answering_model_is_shown_and_the_deployment_kept(small_store: SpanStore) -> None:
    load_case(small_store, "C19_deployment_vs_response_model")
    (call,) = named(small_store, "C19_deployment_vs_response_model")
    assert (call.model, call.request_model) == ("demo-large-2025-08-06", "prod-chat-eu")
    assert call.provider == "azure.ai.openai"


def test_a_pending_span_stands_for_the_real_one_and_counts_nothing(small_store: SpanStore) -> None:
    folder = CASES / "C36_pending_spans"
    load(small_store, folder, "pending.json")
    (running,) = small_store.spans("p", "0605032afdb4bb8cdc5e3e969c33d1dd")
    assert (running.span_id, running.status, running.duration) == ("50b66ac8592ddaba", "running", None)
    assert running.parent_span_id == "faa752249752efdc"
    assert small_store.usage_total(UsageQuery("p")).calls == 0
    load(small_store, folder, "final.json", "pending.json")
    spans = small_store.spans("p", "0605032afdb4bb8cdc5e3e969c33d1dd")
    assert [item.status for item in spans] == ["ok", "ok"]


def test_reexported_spans_are_kept_once(small_store: SpanStore) -> None:
    load_case(small_store, "C29_same_span_exported_again")
    assert len(small_store.spans("p", "081b16bcd52a14c866fe2ab1ae3c065a")) == 2


def test_a_late_child_corrects_the_totals(small_store: SpanStore) -> None:
    folder = CASES / "D20_late_span"
    pipeline = Ingest(small_store, PriceBook())
    pipeline.ingest_decoded("p", otlp.decode((folder / "1_root.json").read_bytes(), otlp.JSON))
    before = small_store.usage_total(UsageQuery("p"))
    assert (before.calls, before.input_tokens, before.cost) == (0, 0, 0)
    pipeline.ingest_decoded("p", otlp.decode((folder / "2_late.json").read_bytes(), otlp.JSON))
    after = small_store.usage_total(UsageQuery("p"))
    assert (after.calls, after.input_tokens, after.output_tokens) == (1, 70, 7)


def test_children_that_come_before_their_root_make_an_incomplete_trace_until_it_comes(small_store: SpanStore) -> None:
    folder = CASES / "D07_children_before_root"
    pipeline = Ingest(small_store, PriceBook())
    summaries = []
    for number in (1, 2, 3):
        pipeline.ingest_decoded("p", otlp.decode((folder / f"{number}.json").read_bytes(), otlp.JSON))
        summaries += small_store.traces("p")
    assert [summary.incomplete for summary in summaries] == [True, True, False]
    assert summaries[-1].name == "invoke_agent plan"
    assert (summaries[-1].usage.input_tokens, summaries[-1].usage.output_tokens) == (50, 10)


def test_times_that_are_turned_round_or_missing_are_in_no_average(small_store: SpanStore) -> None:
    decoded = otlp.decode((CASES / "D09_end_before_start" / "trace.json").read_bytes(), otlp.JSON)
    Ingest(small_store, PriceBook()).ingest_decoded("p", decoded)
    a, b, c, d = small_store.spans("p", decoded.spans[0].trace_id)
    assert [item.duration for item in (a, b, c, d)] == [0, None, None, 0]
    assert a.flags == ("end_before_start",)
    assert [item.status for item in (b, c)] == ["running", "running"]
    (latency,) = small_store.latency(UsageQuery("p"))
    assert (latency.count, latency.p99) == (1, 0)


def test_the_same_span_id_in_two_traces_is_two_spans(small_store: SpanStore) -> None:
    decoded = otlp.decode((CASES / "D19_same_span_id_two_traces" / "trace.json").read_bytes(), otlp.JSON)
    Ingest(small_store, PriceBook()).ingest_decoded("p", decoded)
    assert sorted(item.usage.input_tokens or 0 for item in small_store.traces("p")) == [1, 2]


def test_noon_is_what_the_cases_call_it() -> None:
    assert NOON // SECOND == 1_767_258_000
