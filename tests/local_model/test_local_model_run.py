"""A whole task through a real language model: it need not be wise, everything around it has to hold all the same."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from runs import STOCK, Calls, small_registry
from served import environment

from agent.models.client import ask_function, ask_text, build_model
from agent.models.providers import PROVIDERS, StructuredOutput
from agent.planning.prompts import JUDGE_STEP
from agent.records import Decision, RequestKind, Run, RunStatus, StepStatus
from agent.run.usecases import Plandeck, advance, decide, open_plandeck, pending_request, start_run
from agent.settings import Settings, load_settings
from traces.store import UsageQuery

pytestmark = pytest.mark.local_model

TASKS = ("How much of SKU B-7 is in stock?", "Look up B-7 and C-9.", "Write a note about the stock of C-9.")
"""Of which the model may say that they cannot be planned, but hardly of all."""
PAUSES = 4
"""More a run cannot have: the planner may ask, and its plan waits."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`plandeck serve-model` in a process of its own."""
    command = [sys.executable, "-m", "dashboard.cli", "serve-model", "--port", "0"]
    surroundings = environment(tmp_path_factory.mktemp("home"))
    process = subprocess.Popen(command, env=surroundings, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = process.stderr.readline()
    found = re.search(r"answers on (http://127\.0\.0\.1:\d+/v1)", said)
    if found is None:
        process.kill()
        pytest.fail(f"plandeck serve-model said: {said}{process.communicate()[1]}", pytrace=False)
    yield found[1]
    process.send_signal(signal.SIGTERM)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 0, rest
    assert "Traceback" not in rest


def settings(address: str, home: Path) -> Settings:
    return load_settings(home=home, provider="llamacpp", base_url=address)


def run_as_a_person(app: Plandeck, calls: Calls) -> Run:
    """Start a task, answer what is asked, approve the plan, and go on to the end."""
    for task in TASKS:
        run = advance(app, start_run(app, task, by="ana").run_id)
        if run.stop_reason != "empty_plan":
            break
    for _ in range(PAUSES):
        if run.status is not RunStatus.WAITING_HUMAN:
            break
        assert calls == [], "nothing may run before a person approves"
        request = pending_request(app, run.run_id)
        assert request is not None
        if request.kind is RequestKind.QUESTION:
            value = "Look up B-7 with the tool lookup, in one step."
            decide(app, request.request_id, Decision.RESPOND, hash=request.hash, by="li", value=value)
        else:
            decide(app, request.request_id, Decision.APPROVE, hash=request.hash, by="li")
        run = advance(app, run.run_id)
    return run


def test_a_whole_task_runs_through_a_real_model(address: str, tmp_path: Path) -> None:
    calls = Calls()
    with open_plandeck(settings(address, tmp_path)) as opened:
        app = replace(opened, registry=small_registry(calls))
        run = run_as_a_person(app, calls)
        plan = app.records.plans(app.project, run.run_id)[-1]
        steps = app.records.steps(app.project, run.run_id)
        approved = [item for item in app.records.requests(app.project) if item.decision is Decision.APPROVE]
        used = app.spans.run_usage(app.project, run.run_id)
        models = app.spans.usage(UsageQuery(app.project, by=("model",)))

    assert app.provider.method is StructuredOutput.JSON_SCHEMA
    assert run.status in (RunStatus.SUCCEEDED, RunStatus.FAILED), run
    assert run.stop_reason in ("completed", "step_blocked"), (run.stop_reason, run.error)
    assert (run.status is RunStatus.SUCCEEDED) == (run.stop_reason == "completed")
    assert run.answer if run.status is RunStatus.SUCCEEDED else run.error

    assert [item.hash for item in approved] == [plan.hash]
    assert plan.source in ("model", "fallback")
    assert 1 <= len(plan.steps) <= 8
    assert {step.tool for step in plan.steps} <= {None, "lookup", "note"}
    assert [step.step_id for step in steps] == [step.id for step in plan.steps]
    ends = {StepStatus.COMPLETED, StepStatus.BLOCKED, StepStatus.SKIPPED}
    assert {step.status for step in steps} <= ends
    assert all(step.attempts <= 3 for step in steps)
    assert {tool for tool, _ in calls} <= {step.tool for step in plan.steps}
    if run.status is RunStatus.FAILED:
        assert "Traceback" not in str(run.error)
        assert any(step.status is StepStatus.BLOCKED for step in steps)

    assert used.calls >= 2
    assert used.calls_without_usage == 0
    assert used.input_tokens is not None
    assert used.output_tokens is not None
    assert min(used.input_tokens, used.output_tokens) > 0
    assert used.cost is None, "nobody knows the price of a model on this machine, and it is not nothing"
    assert len(models) == 1


def test_a_schema_constrains_a_real_model_and_its_tokens_are_counted(address: str, tmp_path: Path) -> None:
    model, llamacpp = build_model(settings(address, tmp_path)), PROVIDERS["llamacpp"]
    asked = [HumanMessage(f"The stock of B-7 is {STOCK['B-7']}. Is a number shown? Answer in ten words.")]
    judged = ask_function(model, llamacpp, asked, JUDGE_STEP)
    assert isinstance(judged, dict), judged
    assert isinstance(judged["criterion_met"], bool)
    assert set(judged) == {"criterion_met", "reason", "key_result"}


def test_a_real_model_streams_its_words_with_its_usage(address: str, tmp_path: Path) -> None:
    model, pieces = build_model(settings(address, tmp_path)), list[str]()
    answer = ask_text(model, PROVIDERS["llamacpp"], [HumanMessage("Say hello.")], pieces.append)
    assert len(pieces) > 1
    assert "".join(pieces) == answer.content
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["output_tokens"] >= len(pieces) / 2
