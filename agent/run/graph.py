"""The agent graph: `plan → review → execute ⟲ → complete`, with `ask` where the planner has a question."""

from __future__ import annotations

from functools import partial
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from agent.run import nodes
from agent.run.deps import Deps
from agent.run.state import RunState

AgentGraph = CompiledStateGraph[RunState, Any, RunState, RunState]

RECURSION_LIMIT = 1_000
"""Above every limit of a run, so that ours are the ones that are hit: they have names."""


def build_graph(deps: Deps, checkpointer: BaseCheckpointSaver[Any]) -> AgentGraph:
    """Compile the graph for one run.

    LangGraph's own error handlers are not used: one that raises, as ours must when a store is away, ends the thread as
    if it had come to its end.
    """
    graph = StateGraph(RunState)
    graph.add_node("plan", partial(nodes.plan, deps=deps))
    graph.add_node("ask", nodes.ask)
    graph.add_node("review", partial(nodes.review, deps=deps))
    graph.add_node("execute", partial(nodes.execute, deps=deps))
    graph.add_node("complete", partial(nodes.complete, deps=deps))
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", nodes.after_plan, ["ask", "review", "complete"])
    graph.add_conditional_edges("ask", nodes.after_pause, ["execute", "plan", "complete"])
    graph.add_conditional_edges("review", nodes.after_pause, ["execute", "plan", "complete"])
    graph.add_conditional_edges("execute", partial(nodes.after_step, deps=deps), ["execute", "complete"])
    graph.add_edge("complete", END)
    return graph.compile(checkpointer=checkpointer, name="plandeck")
