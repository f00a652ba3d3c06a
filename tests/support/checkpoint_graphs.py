"""Small real graphs that write one thread of each kind."""

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, Send, interrupt


class State(TypedDict, total=False):
    topic: str
    done: Annotated[list[str], operator.add]


def write_threads(saver: BaseCheckpointSaver[Any]) -> None:
    line = chain(saver, "a", "b", "c")
    line.invoke({"topic": "one"}, thread("line"))
    line.invoke({"topic": "v1"}, thread("forked"))
    after_a = next(s for s in line.get_state_history(thread("forked")) if s.metadata["step"] == 1)
    line.invoke(None, line.update_state(after_a.config, {"topic": "v2"}, as_node="a"))
    asking(saver).invoke({"topic": "?"}, thread("waiting"))
    answered = asking(saver)
    answered.invoke({"topic": "?"}, thread("answered"))
    answered.invoke(Command(resume="yes"), thread("answered"))
    with pytest.raises(ValueError, match="empty"):
        failing(saver).invoke({"topic": "prices"}, thread("failed"))
    parallel(saver).invoke({"topic": "x"}, thread("parallel"))
    fan_out(saver).invoke({"topic": "x"}, thread("fan-out"))
    parallel(saver, interrupt_before=["join"]).invoke({"topic": "x"}, thread("breakpoint"))
    nested(saver).invoke({"topic": "x"}, thread("nested"))


def thread(name: str) -> dict[str, dict[str, str]]:
    return {"configurable": {"thread_id": name}}


def node(name: str) -> Callable[[State], State]:
    return lambda state: {"done": [name]}


def chain(saver: Any, *names: str, **options: Any) -> Any:
    graph = StateGraph(State)
    for name in names:
        graph.add_node(name, node(name))
    for before, after in zip((START, *names), names, strict=False):
        graph.add_edge(before, after)
    return graph.compile(checkpointer=saver, **options)


def asking(saver: Any) -> Any:
    graph = StateGraph(State)
    graph.add_node("draft", node("draft"))
    graph.add_node("gate", lambda state: {"done": [f"gate:{interrupt({'plan': ['s1', 's2']})}"]})
    graph.add_edge(START, "draft")
    graph.add_edge("draft", "gate")
    return graph.compile(checkpointer=saver)


def failing(saver: Any) -> Any:
    def price(state: State) -> State:
        raise ValueError("price list is empty")

    graph = StateGraph(State)
    graph.add_node("load", node("load"))
    graph.add_node("price", price)
    graph.add_edge(START, "load")
    graph.add_edge("load", "price")
    return graph.compile(checkpointer=saver)


def parallel(saver: Any, **options: Any) -> Any:
    """`left` is done a step before `right`, so that the barrier before `join` spans two super-steps."""
    graph = StateGraph(State)
    for name in ("start", "left", "slow", "right", "join"):
        graph.add_node(name, node(name))
    graph.add_edge(START, "start")
    graph.add_edge("start", "left")
    graph.add_edge("start", "slow")
    graph.add_edge("slow", "right")
    graph.add_edge(["left", "right"], "join")
    return graph.compile(checkpointer=saver, **options)


def fan_out(saver: Any) -> Any:
    graph = StateGraph(State)
    graph.add_node("split", node("split"))
    graph.add_node("work", lambda state: {"done": [f"work:{state['topic']}"]})
    graph.add_node("ask", lambda state: {"done": [str(interrupt("go on?"))]})
    graph.add_edge(START, "split")
    graph.add_conditional_edges(
        "split",
        lambda state: [Send("work", {"topic": "1"}), Send("work", {"topic": "2"}), Send("ask", {"topic": "3"})],
        ["work", "ask"],
    )
    return graph.compile(checkpointer=saver)


def nested(saver: Any) -> Any:
    inner = StateGraph(State)
    inner.add_node("fetch", node("fetch"))
    inner.add_node("clean", node("clean"))
    inner.add_edge(START, "fetch")
    inner.add_edge("fetch", "clean")
    graph = StateGraph(State)
    graph.add_node("prepare", node("prepare"))
    graph.add_node("import", inner.compile(checkpointer=True))
    graph.add_edge(START, "prepare")
    graph.add_edge("prepare", "import")
    return graph.compile(checkpointer=saver)


class Named(TypedDict, total=False):
    plan: str
    note: str


def namesake(saver: Any, **options: Any) -> Any:
    """A node that is called like the channel that it writes."""
    graph = StateGraph(Named)
    graph.add_node("plan", lambda state: {"plan": "count"})
    graph.add_node("note", lambda state: {"note": "done"})
    graph.add_edge(START, "plan")
    graph.add_edge("plan", "note")
    return graph.compile(checkpointer=saver, **options)
