"""The agent's graph on LangGraph: one super-step a node, one task a step of a wave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send

from agent.run.deps import Deps
from agent.run.flow import FIRST, IN_WAVE, NODES, Task, after, handed
from agent.run.state import RunState

AgentGraph = CompiledStateGraph[RunState, Any, RunState, RunState]

RECURSION_LIMIT = 10_000
"""Above every limit of a run, so that ours are the ones that are hit: they have names."""


def build_graph(deps: Deps, checkpointer: BaseCheckpointSaver[Any]) -> AgentGraph:
    """Compile the graph for one run.

    LangGraph's own error handlers are not used: one that raises, as ours must when a store is away, ends the thread as
    if it had come to its end.
    """
    graph = StateGraph(RunState)
    for name in NODES:
        graph.add_node(name, _node(name, deps))
        if name in IN_WAVE.values():
            graph.add_edge(name, "join")
        else:
            graph.add_conditional_edges(name, _edge(name, deps), [*NODES, END])
    graph.add_edge(START, FIRST)
    return graph.compile(checkpointer=checkpointer, name="plandeck")


def _node(name: str, deps: Deps) -> Any:
    # Looked up when it runs, so that a test can put another one in its place.
    def run(state: RunState) -> RunState:
        return NODES[name](state, deps)

    return run


def _edge(name: str, deps: Deps) -> Callable[[RunState], Any]:
    def lead(state: RunState) -> Any:
        tasks = after(name, state, deps)
        return [_sent(state, task) for task in tasks] if tasks else END

    return lead


def _sent(state: RunState, task: Task) -> str | Send:
    return task.node if task.current is None else Send(task.node, handed(state, task))
