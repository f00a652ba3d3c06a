"""The agent's graph on LangGraph: one super-step a node, one task a step of a wave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, Send, interrupt

from agent.records import JsonObject
from agent.run.deps import Deps
from agent.run.flow import FIRST, IN_WAVE, NODES, Task, after, handed
from agent.run.places import Pause, Place
from agent.run.state import RunState

AgentGraph = CompiledStateGraph[RunState, Any, RunState, RunState]

RECURSION_LIMIT = 10_000
"""Above every limit of a run, so that ours are the ones that are hit: they have names."""


class GraphEngine:
    """One run on LangGraph; see `engine.Engine`."""

    def __init__(self, deps: Deps, checkpointer: BaseCheckpointSaver[Any], thread_id: str) -> None:
        self._graph = build_graph(replace(deps, pause=interrupt), checkpointer)
        self._config: Any = {"configurable": {"thread_id": thread_id}, "recursion_limit": RECURSION_LIMIT}

    def place(self) -> Place:
        """Where the thread stands."""
        snapshot = self._graph.get_state(self._config)
        begun = snapshot.created_at is not None
        return Place(
            checkpoint_id=snapshot.config["configurable"].get("checkpoint_id", ""),
            values=cast(RunState, snapshot.values or {}),
            pauses=tuple(Pause(item.id, item.value) for item in snapshot.interrupts),
            begun=begun,
            # Not `next`: it is also empty when a crash came between the last write of a step and its checkpoint.
            ended=begun and not snapshot.tasks,
        )

    def begin(self, values: RunState) -> Iterator[RunState]:
        """Begin the thread."""
        return self._stream(values)

    def go_on(self, decisions: Mapping[str, JsonObject]) -> Iterator[RunState]:
        """Go on from the newest checkpoint."""
        return self._stream(Command(resume=dict(decisions)) if decisions else None)

    def _stream(self, given: Any) -> Iterator[Any]:
        for values in self._graph.stream(given, self._config, stream_mode="values", durability="sync"):
            # Told of a pause too, which is no super-step.
            if "__interrupt__" not in values:
                yield values


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
