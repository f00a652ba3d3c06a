from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import BaseModel
from runs import approve, plan, run_to_pause, small_plandeck, step

from agent.records import Effect, RunStatus, StepStatus
from agent.run.usecases import Plandeck
from agent.tools.registry import ErrorKind, Observation, Tool, ToolContext, ToolError, ToolRegistry, idempotency_key


class Anything(BaseModel):
    sku: str


def with_tool(app: Plandeck, tool: Tool) -> Plandeck:
    return replace(app, registry=ToolRegistry([tool]))


@pytest.mark.parametrize(
    ("kind", "calls"),
    [
        (ErrorKind.OUTCOME_UNKNOWN, 1),
        (ErrorKind.PERMISSION_DENIED, 1),
        (ErrorKind.NOT_CONFIGURED, 1),
        (ErrorKind.FAILED, 1),
        (ErrorKind.UNAVAILABLE, 3),
        (ErrorKind.TIMEOUT, 3),
    ],
)
def test_only_what_may_pass_is_tried_again_and_under_the_same_key(kind: ErrorKind, calls: int, tmp_path: Path) -> None:
    keys: list[str | None] = []

    def fail(_: Anything, context: ToolContext) -> Observation:
        keys.append(context.idempotency_key)
        raise ToolError("it did not work", kind=kind)

    tool = Tool("lookup", 1, "Sends.", Anything, Effect.SEND_EXTERNAL, fail)
    with small_plandeck(tmp_path, {"propose_plan": [plan(step("s1", sku="B-7"))]}) as (opened, _, _calls):
        app = with_tool(opened, tool)
        done = approve(app, run_to_pause(app))
        assert (done.status, done.stop_reason) == (RunStatus.FAILED, "step_blocked")
        assert app.records.steps(app.project, done.run_id)[0].status is StepStatus.BLOCKED
    assert keys == [idempotency_key(done.run_id, "s1", 1, 1)] * calls


def test_a_tool_that_only_reads_gets_no_key(tmp_path: Path) -> None:
    keys: list[str | None] = []

    def look(_: Anything, context: ToolContext) -> Observation:
        keys.append(context.idempotency_key)
        return Observation(text="12 in stock")

    tool = Tool("lookup", 1, "Looks.", Anything, Effect.READ, look)
    with small_plandeck(tmp_path, {"propose_plan": [plan(step("s1", sku="B-7"))]}) as (opened, _, _calls):
        app = with_tool(opened, tool)
        assert approve(app, run_to_pause(app)).status is RunStatus.SUCCEEDED
    assert keys == [None]
