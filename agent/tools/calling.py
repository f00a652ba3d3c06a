"""Calling a tool: arguments validated, a time limit, and a span through LangChain's tool interface."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import Any

from langchain_core.tools import StructuredTool

from agent.records import JsonObject
from agent.tools.registry import ErrorKind, Observation, Tool, ToolContext, ToolError


def call_tool(tool: Tool, arguments: JsonObject, context: ToolContext) -> Observation:
    """What the tool showed, or a ToolError that says by its kind what may be done.

    Where a tool acts on the world and does not come back in time, or breaks, its outcome is unknown, never a mere
    timeout or failure. Whatever else a tool raises is handed on as it is.

    The tool runs in a thread of its own, with the caller's context variables. One that does not come back is left
    behind: it holds up neither the run nor the end of the process.
    """
    if tool.missing is not None:
        raise ToolError(f"{tool.name} is not configured: set {tool.missing}.", kind=ErrorKind.NOT_CONFIGURED)
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
        raise _late(tool)
    try:
        future.result()
    except ToolError:
        raise
    except Exception as error:
        if not tool.acts:
            raise
        raise ToolError(
            f"{tool.name} broke ({type(error).__name__}: {error}); whether it did anything is unknown.",
            kind=ErrorKind.OUTCOME_UNKNOWN,
        ) from error
    return seen[0]


def _late(tool: Tool) -> ToolError:
    late = f"{tool.name} did not answer within {tool.timeout_seconds:g} s"
    if tool.acts:
        return ToolError(f"{late}; whether it did anything is unknown.", kind=ErrorKind.OUTCOME_UNKNOWN)
    return ToolError(f"{late}.", kind=ErrorKind.TIMEOUT)


def as_langchain_tool(tool: Tool, run: Callable[..., str]) -> StructuredTool:
    """The tool as LangChain knows tools: the official instrumentation makes its `execute_tool` span for those only."""
    return StructuredTool.from_function(run, name=tool.name, description=tool.summary, args_schema=tool.arguments)


def _settle(future: Future[Any], work: Callable[[], Any]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:  # noqa: BLE001  # handed on: `future.result()` raises it in the caller
        future.set_exception(error)
