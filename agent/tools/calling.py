"""Calling a tool: arguments validated, a time limit, and a span through LangChain's tool interface."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import Any

from langchain_core.tools import StructuredTool

from agent.errors import AgentError
from agent.records import JsonObject
from agent.tools.registry import Observation, Tool, ToolContext


class ToolTimeoutError(AgentError):
    """A tool did not come back in time; it ends the attempt, since nobody knows what it did."""

    code = "tool_timeout"


def call_tool(tool: Tool, arguments: JsonObject, context: ToolContext) -> Observation:
    """What the tool showed. ToolError is for the model to mend; ToolTimeoutError and others end the attempt.

    The tool runs in a thread of its own, with the caller's context variables. One that does not come back is left
    behind: it holds up neither the run nor the end of the process.
    """
    typed = tool.validate(arguments)
    seen: list[Observation] = []

    def run(**_: Any) -> str:
        seen.append(tool.run(typed, context))
        return seen[-1].text

    traced = as_langchain_tool(tool, run)
    future: Future[Any] = Future()
    inside = contextvars.copy_context()
    thread = Thread(
        target=_settle,
        args=(future, lambda: inside.run(traced.invoke, arguments)),
        name=f"tool {tool.name}",
        daemon=True,
    )
    thread.start()
    if not wait([future], tool.timeout_seconds).done:
        raise ToolTimeoutError(f"{tool.name} did not answer within {tool.timeout_seconds:g} s.")
    future.result()
    return seen[0]


def as_langchain_tool(tool: Tool, run: Callable[..., str]) -> StructuredTool:
    """The tool as LangChain knows tools: the official instrumentation makes its `execute_tool` span for those only."""
    return StructuredTool.from_function(run, name=tool.name, description=tool.summary, args_schema=tool.arguments)


def _settle(future: Future[Any], work: Callable[[], Any]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001  # handed on: `future.result()` raises it in the caller
        future.set_exception(error)
