from dataclasses import replace
from decimal import Decimal

import pytest
from span_makers import NOON, chat, span

from traces import attributes
from traces.conventions import COST, QUANTITIES, WORDS
from traces.normalise import normalise
from traces.records import SpanEvent, SpanRecord, Usage


def usage(**counts: object) -> Usage:
    names = {
        "input": "gen_ai.usage.input_tokens",
        "output": "gen_ai.usage.output_tokens",
        "read": "gen_ai.usage.cache_read.input_tokens",
        "write": "gen_ai.usage.cache_creation.input_tokens",
        "total": "gen_ai.usage.total_tokens",
        "reasoning": "gen_ai.usage.reasoning.output_tokens",
    }
    return normalise(span(1, **{names[name]: value for name, value in counts.items()})).usage


def test_a_total_that_needs_the_cache_says_that_input_leaves_it_out() -> None:
    assert usage(input=100, output=10, read=40, write=10, total=160).input == 150


def test_more_cache_than_input_says_that_input_leaves_it_out() -> None:
    assert usage(input=100, output=10, read=90, write=20).input == 210


def test_else_input_includes_the_cache() -> None:
    assert usage(input=100, output=10, read=90, write=10).input == 100
    assert usage(input=100, output=10, read=40, total=110).input == 100


def test_a_total_that_needs_the_reasoning_says_that_output_leaves_it_out() -> None:
    assert usage(input=100, output=10, reasoning=30, total=140).output == 40
    assert usage(input=100, output=40, reasoning=30, total=140).output == 40


def test_what_is_not_said_is_unknown_and_zero_is_zero() -> None:
    assert usage() == Usage()
    assert usage(input=0, output=0) == Usage(input=0, output=0)


@pytest.mark.parametrize("value", [12, "12", 12.0, " 12 ", "12.0"])
def test_counts_come_in_several_notations(value: object) -> None:
    assert usage(input=value).input == 12


@pytest.mark.parametrize("value", [-1, "NaN", "Infinity", 1.5, "many", True, [3], "", 10**12])
def test_a_count_that_is_none_is_unknown_and_flagged(value: object) -> None:
    normal = normalise(chat(1, value, 5))
    assert normal.usage.input is None
    assert normal.flags == ("invalid_input_tokens",)
    assert normal.usage_state == "invalid"


def test_the_next_name_helps_where_the_first_is_invalid() -> None:
    normal = normalise(chat(1, -4, 5, gen_ai__usage__prompt_tokens=7))
    assert (normal.usage.input, normal.usage_state) == (7, "known")


def test_details_of_langsmith_are_text_of_a_python_dict() -> None:
    details = "{'cache_read': 30, 'cache_creation': 5, 'audio': 2}"
    normal = normalise(chat(1, 100, 5, gen_ai__usage__input_token_details=details))
    assert normal.usage == Usage(input=100, output=5, cache_read=30, cache_write=5, input_audio=2)


@pytest.mark.parametrize("text", ["{'a': ", "__import__('os')", "[" * 5000, "{" * 20_000])
def test_text_that_is_no_dict_is_passed_over(text: str) -> None:
    assert normalise(chat(1, 100, 5, gen_ai__usage__input_token_details=text)).usage.cache_read is None


def test_rolled_up_and_partial_usage_is_never_read() -> None:
    given = {"gen_ai.aggregated_usage.input_tokens": 5, "gen_ai.usage.partial.input_tokens": 6}
    assert normalise(span(1, **given)).usage == Usage()


@pytest.mark.parametrize(
    ("given", "operation", "kind"),
    [
        ({"gen_ai.operation.name": "chat"}, "chat", "model"),
        ({"gen_ai.operation.name": "agent_step"}, "agent_step", "agent"),
        ({"openinference.span.kind": "LLM"}, "chat", "model"),
        ({"openinference.span.kind": "RETRIEVER"}, "retrieval", "retrieval"),
        ({"traceloop.span.kind": "workflow"}, "workflow", "chain"),
        ({"llm.request.type": "embedding"}, "embeddings", "model"),
        ({"operation.name": "ai.generateText.doGenerate my-function"}, "chat", "model"),
        ({"ai.operationId": "ai.toolCall"}, "execute_tool", "tool"),
        ({"mlflow.spanType": '"CHAT_MODEL"'}, "chat", "model"),
        ({"langsmith.span.kind": "llm"}, "chat", "model"),
        ({"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 3}, "chat", "model"),
        ({"gen_ai.tool.name": "look"}, "execute_tool", "tool"),
        ({"plandeck.kind": "step"}, None, "step"),
        ({}, None, "span"),
    ],
)
def test_the_operation_is_understood(given: dict[str, object], operation: str | None, kind: str) -> None:
    normal = normalise(span(1, **given))
    assert (normal.operation, normal.kind) == (operation, kind)


def test_a_span_name_helps_where_nothing_else_does() -> None:
    assert (
        normalise(span(1, name="agent run", model_name="m", gen_ai__usage__input_tokens=1)).operation == "invoke_agent"
    )
    assert normalise(span(1, name="chat gpt", gen_ai__request__model="gpt")).operation == "chat"


@pytest.mark.parametrize(
    ("said", "provider"),
    [("Anthropic", "anthropic"), ("openai.chat", "openai"), ("az.ai.openai", "azure.ai.openai"), ("unknown", None)],
)
def test_providers_have_one_name(said: str, provider: str | None) -> None:
    assert normalise(chat(1, gen_ai__system=said)).provider == provider


def test_own_attributes_win_and_are_all_read() -> None:
    normal = normalise(
        chat(
            1,
            **{
                attributes.AGENT: "analyst",
                "gen_ai.agent.name": "other",
                attributes.RUN_ID: "r-1",
                attributes.STEP_ID: "s2",
                attributes.ATTEMPT: 3,
                attributes.ROLE: "planning",
                attributes.THREAD_ID: "th-1",
                attributes.USER: "ana",
                attributes.PROVIDER: "offline",
                "gen_ai.provider.name": "openai",
            },
        )
    )
    assert (normal.agent, normal.run_id, normal.step_id, normal.attempt) == ("analyst", "r-1", "s2", 3)
    assert (normal.role, normal.thread_id, normal.user, normal.provider) == ("planning", "th-1", "ana", "offline")


def test_message_bodies_are_parted_from_attributes() -> None:
    record = replace(
        chat(1, gen_ai__input__messages="[…]", gen_ai__prompt__0__content="hi", kept=1),
        events=(SpanEvent("note", NOON, {"a": 1}),),
        resource={"service.name": "demo"},
    )
    normal = normalise(record)
    assert set(normal.attributes) == {"gen_ai.operation.name", "gen_ai.response.model", "kept"}
    assert normal.body["attributes"] == {"gen_ai.input.messages": "[…]", "gen_ai.prompt.0.content": "hi"}
    assert normal.body["events"] == [{"name": "note", "at": NOON, "attributes": {"a": 1}}]
    assert normal.body["resource"] == {"service.name": "demo"}


def failed_by(kind: str) -> SpanRecord:
    event = SpanEvent("exception", NOON, {"exception.type": kind, "exception.message": "because"})
    return replace(span(1, failed=True), events=(event,))


def test_an_error_has_the_words_that_the_span_has_for_it() -> None:
    assert normalise(failed_by("ValueError")).error == "because"
    assert normalise(replace(failed_by("ValueError"), status_message="said so")).error == "said so"
    assert normalise(span(1, failed=True, error__type="Timeout")).error == "Timeout"
    assert normalise(span(1, failed=True)).error == "failed, no reason given"


def test_a_pause_of_a_graph_is_no_error() -> None:
    normal = normalise(failed_by("langgraph.errors.GraphInterrupt"))
    assert (normal.status, normal.error) == ("ok", None)


def test_a_reported_cost_is_exact_and_an_absurd_one_is_flagged() -> None:
    assert normalise(chat(1, operation__cost=0.1)).reported_cost == Decimal("0.1")
    assert normalise(chat(1, mlflow__llm__cost='{"total_cost": 0.25}')).reported_cost == Decimal("0.25")
    assert normalise(chat(1, llm__cost__total=-1)).flags == ("invalid_reported_cost",)


def test_no_name_stands_twice_in_a_row_of_the_tables() -> None:
    for row in (*QUANTITIES.values(), *WORDS.values(), COST):
        assert len(set(row)) == len(row)
