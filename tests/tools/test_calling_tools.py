import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import replace

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from store_records import a_run

from agent.records import Effect
from agent.run.tracing import RunTracing
from agent.tools.calling import call_tool
from agent.tools.registry import ErrorKind, Observation, Tool, ToolArguments, ToolContext, ToolError, idempotency_key
from traces import attributes

WHO: ContextVar[str] = ContextVar("who", default="nobody")


class EchoArguments(ToolArguments):
    word: str
    times: int = 1


def echo(arguments: EchoArguments, context: ToolContext) -> Observation:
    return Observation(text=arguments.word * arguments.times, data={"step": context.step_id})


def tool(run: Callable[[EchoArguments, ToolContext], Observation] = echo, seconds: float = 30.0) -> Tool:
    return Tool("echo", 1, "Says a word.", EchoArguments, Effect.READ, run, timeout_seconds=seconds)


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_a_call_gives_the_observation_as_the_tool_made_it(tool_context: ToolContext) -> None:
    assert call_tool(tool(), {"word": "ab", "times": 2}, tool_context) == Observation(text="abab", data={"step": "s1"})


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, "word"),
        ({"word": 5}, "word"),
        ({"word": "a", "times": "x"}, "times"),
        ({"word": "a", "loud": True}, "loud"),
    ],
)
def test_wrong_arguments_do_not_run_and_are_each_named(
    arguments: dict[str, object], named: str, tool_context: ToolContext
) -> None:
    ran: list[str] = []

    def note(arguments: EchoArguments, _: ToolContext) -> Observation:
        ran.append(arguments.word)
        return Observation(text="")

    with pytest.raises(ToolError, match=named) as refused:
        call_tool(tool(note), arguments, tool_context)
    assert refused.value.code == "bad_arguments"
    assert ran == []


@pytest.mark.parametrize(
    "error", [ToolError("no such thing", code="odd"), ValueError("broken"), TimeoutError("socket")]
)
def test_what_a_tool_raises_arrives_as_it_is(error: Exception, tool_context: ToolContext) -> None:
    def fail(_: EchoArguments, __: ToolContext) -> Observation:
        raise error

    with pytest.raises(type(error)) as raised:
        call_tool(tool(fail), {"word": "a"}, tool_context)
    assert raised.value is error


def test_a_tool_that_does_not_come_back_ends_the_attempt(tool_context: ToolContext, gate: threading.Event) -> None:
    def hang(_: EchoArguments, __: ToolContext) -> Observation:
        gate.wait(30)
        return Observation(text="late")

    with pytest.raises(ToolError, match=r"echo did not answer within 0\.05 s\.") as late:
        call_tool(tool(hang, seconds=0.05), {"word": "a"}, tool_context)
    assert late.value.kind is ErrorKind.TIMEOUT
    assert late.value.kind in tool().retryable


@pytest.mark.parametrize("effect", [Effect.PUBLISH_INTERNAL, Effect.SEND_EXTERNAL, Effect.WRITE_SYSTEM])
def test_of_an_effect_that_does_not_come_back_or_breaks_nobody_knows_the_outcome(
    effect: Effect, tool_context: ToolContext, gate: threading.Event
) -> None:
    def hang(_: EchoArguments, __: ToolContext) -> Observation:
        gate.wait(30)
        return Observation(text="late")

    def break_off(_: EchoArguments, __: ToolContext) -> Observation:
        raise ConnectionResetError("by peer")

    for acting in (replace(tool(hang, seconds=0.05), effect=effect), replace(tool(break_off), effect=effect)):
        with pytest.raises(ToolError, match="is unknown") as unknown:
            call_tool(acting, {"word": "a"}, tool_context)
        assert unknown.value.kind is ErrorKind.OUTCOME_UNKNOWN
        assert unknown.value.kind not in acting.retryable


def test_an_effect_that_says_what_failed_keeps_its_kind(tool_context: ToolContext) -> None:
    def refuse(_: EchoArguments, __: ToolContext) -> Observation:
        raise ToolError("busy", kind=ErrorKind.RATE_LIMITED, retry_after=7.0)

    with pytest.raises(ToolError) as refused:
        call_tool(replace(tool(refuse), effect=Effect.SEND_EXTERNAL), {"word": "a"}, tool_context)
    assert (refused.value.kind, refused.value.code, refused.value.retry_after) == ("rate_limited", "rate_limited", 7.0)


def test_a_tool_whose_setting_is_missing_names_it_and_does_not_run(tool_context: ToolContext) -> None:
    with pytest.raises(ToolError, match="echo is not configured: set ECHO_KEY") as refused:
        call_tool(replace(tool(), missing="ECHO_KEY"), {"word": 5}, tool_context)
    assert refused.value.kind is ErrorKind.NOT_CONFIGURED


def test_an_idempotency_key_is_that_of_run_step_and_call() -> None:
    key = idempotency_key("r-1", "s1", 1, 1)
    assert key == idempotency_key("r-1", "s1", 1, 1)
    others = {
        idempotency_key(*call)
        for call in [
            ("r-1", "s1", 1, 2),
            ("r-1", "s1", 2, 1),
            ("r-1", "s11", 1, 1),
            ("r-1s", "1", 1, 1),
            ("r-2", "s1", 1, 1),
        ]
    }
    assert len(others | {key}) == 6


def test_a_hung_tool_does_not_keep_the_process_alive() -> None:
    program = """
import time
from pathlib import Path
from agent.records import Effect
from agent.tools.calling import call_tool
from agent.tools.registry import ToolError, Tool, ToolArguments, ToolContext
context = ToolContext("r", "s", 1, Path("."), None)
try:
    call_tool(Tool("hung", 1, "Hangs.", ToolArguments, Effect.READ, lambda *_: time.sleep(600), 0.05), {}, context)
except ToolError as error:
    print(error.kind)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "timeout\n"


def test_the_callers_context_reaches_the_tool_and_not_back(tool_context: ToolContext) -> None:
    def see(_: EchoArguments, __: ToolContext) -> Observation:
        seen = WHO.get()
        WHO.set("tool")
        return Observation(text=f"{seen} {threading.current_thread() is threading.main_thread()}")

    WHO.set("ana")
    assert call_tool(tool(see), {"word": "a"}, tool_context).text == "ana False"
    assert WHO.get() == "ana"


def test_calls_at_once_keep_their_results_apart(tool_context: ToolContext) -> None:
    def slow(arguments: EchoArguments, context: ToolContext) -> Observation:
        time.sleep(0.01)
        return echo(arguments, context)

    results: dict[str, str] = {}

    def call(word: str) -> None:
        results[word] = call_tool(tool(slow), {"word": word}, tool_context).text

    threads = [threading.Thread(target=call, args=(f"w{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {f"w{n}": f"w{n}" for n in range(8)}


def test_a_call_makes_one_span_of_the_official_instrumentation(tool_context: ToolContext) -> None:
    spans = InMemorySpanExporter()
    tracing = RunTracing(a_run(), spans)
    with tracing.segment(), tracing.part("step s1", kind="step", step="s1", attempt=1):
        call_tool(tool(), {"word": "a"}, tool_context)
    made = [span for span in spans.get_finished_spans() if "echo" in span.name]
    assert [span.name for span in made] == ["execute_tool echo"]
    said = dict(made[0].attributes or {})
    assert said["gen_ai.operation.name"] == "execute_tool"
    assert said["gen_ai.tool.name"] == "echo"
    assert (said[attributes.STEP_ID], said[attributes.ATTEMPT]) == ("s1", 1)


def test_a_failed_call_is_a_failed_span(tool_context: ToolContext) -> None:
    def fail(_: EchoArguments, __: ToolContext) -> Observation:
        raise ToolError("no such thing")

    spans = InMemorySpanExporter()
    tracing = RunTracing(a_run(), spans)
    with tracing.segment(), pytest.raises(ToolError):
        call_tool(tool(fail), {"word": "a"}, replace(tool_context, step_id="s2"))
    (made,) = spans.get_finished_spans()
    assert made.status.status_code.name == "ERROR"
