"""Calling a tool: arguments validated, a time limit, and a span through LangChain's tool interface."""

from __future__ import annotations

import contextvars
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

from langchain_core.tools import StructuredTool

from agent.errors import AgentError
from agent.records import JsonObject
from agent.tools.registry import Observation, Tool, ToolContext


class ToolTimeoutError(AgentError):
    """A tool did not come back in time; it ends the try, since nobody knows what it did."""

    code = "tool_timeout"


def call_tool(tool: Tool, arguments: JsonObject, context: ToolContext) -> Observation:
    """What the tool showed. ToolError is for the model to mend; ToolTimeoutError and others end the try."""
    typed = tool.validate(arguments)
    seen: list[Observation] = []

    def run(**_: Any) -> str:
        seen.append(tool.run(typed, context))
        return seen[-1].text

    # The official instrumentation makes its `execute_tool` span for LangChain tools only.
    traced = StructuredTool.from_function(run, name=tool.name, description=tool.summary, args_schema=tool.arguments)
    pool = ThreadPoolExecutor(1, thread_name_prefix=f"tool {tool.name}")
    try:
        pool.submit(contextvars.copy_context().run, traced.invoke, arguments).result(tool.timeout_seconds)
    except FutureTimeoutError as error:
        raise ToolTimeoutError(f"{tool.name} did not answer within {tool.timeout_seconds:g} s.") from error
    finally:
        pool.shutdown(wait=False)
    return seen[0]
