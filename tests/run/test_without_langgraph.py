"""The loop does what LangGraph does, is chosen when a run begins, and says that it was."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from engines import WITHOUT_LANGGRAPH, no_graph
from runs import Calls, approve, plan, run_to_pause, small_plandeck, step

from agent.records import Decision, EventKind, Limits, Run, RunStatus
from agent.run import flow
from agent.run.graph import GraphEngine
from agent.run.loop import LoopEngine, applied
from agent.run.usecases import Plandeck, advance, decide, pending_request, resume_thread, start_run

BUILD_GRAPH = "agent.run.graph.build_graph"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ONE_STEP = plan(step("s1", sku="B-7"))
WAVE = plan(step("s1", sku="B-7"), step("s2", sku="C-9"), step("s3", "note", ("s1", "s2"), text="both"))


@dataclass
class Course:
    """What a run did, without what differs from run to run."""

    values: list[dict[str, Any]] = field(default_factory=list)

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for engine in (GraphEngine, LoopEngine):
            for name in ("begin", "go_on"):
                monkeypatch.setattr(engine, name, self._watched(getattr(engine, name)))

    def _watched(self, method: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        def call(engine: Any, given: Mapping[str, Any]) -> Iterator[Any]:
            for values in method(engine, given):
                seen = {key: value for key, value in values.items() if key != "run_id"}
                if not self.values or self.values[-1] != seen:
                    self.values.append(seen)
                yield values

        return call


def outcome(app: Plandeck, run: Run) -> dict[str, Any]:
    """What stands in the records at the end; what happened at the same time in no order."""
    project, run_id = app.project, run.run_id
    return {
        "run": (run.status, run.stop_reason, run.error, run.answer, run.sources, run.plan_version),
        "plans": [item.hash for item in app.records.plans(project, run_id)],
        "steps": [(item.step_id, item.status, item.error) for item in app.records.steps(project, run_id)],
        "attempts": sorted(
            (item.plan_version, item.step_id, item.attempt, item.status)
            for item in app.records.attempts(project, run_id)
        ),
        "requests": sorted(
            (item.kind, item.hash, str(item.decision), str(item.applied_at)) for item in app.records.requests(project)
        ),
        "calls": sorted(
            (item.step_id, item.tool, item.state, str(item.arguments))
            for item in app.records.ledger.calls(project, run_id)
        ),
        "events": sorted(
            (item.kind, item.step_id or "", item.text)
            for item in app.records.events(project, run_id)
            if "LangGraph" not in item.text
        ),
    }


SCENARIOS: dict[str, tuple[dict[str, list[Any]], dict[str, Any]]] = {
    "a wave": ({"propose_plan": [WAVE]}, {}),
    "a step that is blocked": (
        {"propose_plan": [plan(step("s1", sku="Z-1"), step("s2", after=("s1",), sku="B-7"))]},
        {},
    ),
    "planned again": (
        {
            "propose_plan": [plan(step("s1", sku="B-7"), step("s2", after=("s1",), sku="Z-1"))],
            "revise_plan": [{"kind": "steps", "steps": [step("s1", sku="B-7"), step("s2", after=("s1",), sku="C-9")]}],
        },
        {},
    ),
    "a question": ({"propose_plan": [{"kind": "question", "message": "Which SKU?"}, ONE_STEP]}, {}),
    "no plan, calls at once": (
        {"react": [("lookup", {"sku": "nope"}), ("note", {"text": "hello"}), "Noted [2]."]},
        {"mode": "react"},
    ),
    "the model chooses": (
        {"choose_mode": [{"mode": "direct", "reason": "It is known.", "answer": "The middle value."}]},
        {"mode": "auto"},
    ),
    "a limit": (
        {"propose_plan": [plan(step("s1", sku="B-7"), step("s2", after=("s1",), sku="C-9"))]},
        {"limits": Limits(max_tool_calls=1)},
    ),
    "no plan at all": ({"propose_plan": [plan()]}, {}),
}


def course_of(
    home: Path, answers: dict[str, list[Any]], mode: str = "plan_execute", **changed: Any
) -> tuple[dict[str, Any], list[tuple[str, str]], int]:
    with small_plandeck(home, answers, now=lambda: NOON, **changed) as (app, model, calls):
        run = advance(app, start_run(app, "How much of B-7 is there?", by="ana", mode=mode).run_id)
        while run.status is RunStatus.WAITING_HUMAN:
            request = pending_request(app, run.run_id)
            assert request is not None
            said = Decision.RESPOND if request.kind == "question" else Decision.APPROVE
            decide(app, request.request_id, said, hash=request.hash, by="li", value="B-7")
            run = advance(app, run.run_id)
        return outcome(app, run), sorted(calls), len(model.requests)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_both_engines_do_the_same_step_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scenario: str) -> None:
    answers, changed = SCENARIOS[scenario]
    courses = []
    for engine in ("langgraph", "loop"):
        with monkeypatch.context() as patch:
            course = Course()
            course.watch(patch)
            if engine == "loop":
                patch.setattr(BUILD_GRAPH, no_graph)
            courses.append((course_of(tmp_path / engine, answers, **changed), course.values))
    (in_graph, graph_steps), (in_loop, loop_steps) = courses
    assert in_loop == in_graph
    assert len(loop_steps) > 2
    for n, (there, here) in enumerate(zip(graph_steps, loop_steps, strict=True)):
        assert here == there, n


def test_a_run_keeps_the_engine_that_it_began_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with small_plandeck(tmp_path, {"propose_plan": [ONE_STEP]}) as (app, _, calls):
        began_in_graph = run_to_pause(app)
        with monkeypatch.context() as patch:
            patch.setattr(BUILD_GRAPH, no_graph)
            began_in_loop = run_to_pause(app)
            failed = approve(app, began_in_graph)
            assert (failed.status, failed.stop_reason) == (RunStatus.FAILED, "error")
            assert "began on LangGraph" in (failed.error or "")
            assert "the graph cannot be compiled" in (failed.error or "")
            assert calls == Calls()
        assert (began_in_graph.engine, began_in_graph.degraded) == ("langgraph", False)
        assert (began_in_loop.engine, began_in_loop.degraded) == ("loop", True)
        done = approve(app, began_in_loop)
        assert (done.status, done.engine, done.degraded) == (RunStatus.SUCCEEDED, "loop", True)
        told = [item.text for item in app.records.events(app.project, done.run_id) if item.kind is EventKind.DEGRADED]
        assert told == ["works without LangGraph: ValueError: the graph cannot be compiled."]
        assert resume_thread(app, failed.thread_id).status is RunStatus.SUCCEEDED
        assert [name for name, _ in calls] == ["lookup", "lookup"]


def test_a_finished_task_of_a_wave_does_not_run_again_when_its_sibling_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    node = flow.NODES["execute_in_wave"]

    def dying(state: Any, deps: Any) -> Any:
        if state["current"] == "s2":
            raise WentDown
        return node(state, deps)

    class WentDown(BaseException):
        """Not an error of a step: the process goes down."""

    with small_plandeck(tmp_path, {"propose_plan": [WAVE]}) as (app, _, calls):
        run = run_to_pause(app)
        with monkeypatch.context() as patch:
            patch.setitem(flow.NODES, "execute_in_wave", dying)
            with pytest.raises(WentDown):
                approve(app, run)
        assert calls == [("lookup", "B-7")]
        done = advance(app, run.run_id)
        assert done.status is RunStatus.SUCCEEDED, done.error
        assert calls == [("lookup", "B-7"), ("lookup", "C-9"), ("note", "both")]


def test_a_node_that_waits_twice_is_refused_by_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    review = flow.NODES["review"]

    def twice(state: Any, deps: Any) -> Any:
        deps.pause({"kind": "question", "question": "Really?"})
        return review(state, deps)

    monkeypatch.setattr(BUILD_GRAPH, no_graph)
    monkeypatch.setitem(flow.NODES, "review", twice)
    with small_plandeck(tmp_path, {"propose_plan": [ONE_STEP]}) as (app, _, calls):
        run = run_to_pause(app)
        request = pending_request(app, run.run_id)
        assert request is not None
        decide(app, request.request_id, Decision.RESPOND, hash=request.hash, by="li", value="yes")
        failed = advance(app, run.run_id)
        assert failed.status is RunStatus.FAILED
        assert "wait for a person once" in (failed.error or "")
        assert calls == Calls()


def test_two_tasks_cannot_write_what_has_one_place() -> None:
    assert applied({}, [{"statuses": {"s1": "completed"}}, {"statuses": {"s2": "completed"}}])["statuses"] == {
        "s1": "completed",
        "s2": "completed",
    }
    with pytest.raises(ValueError, match="answer"):
        applied({}, [{"answer": "12"}, {"answer": "13"}])


def test_characters_that_no_database_holds_do_not_change_the_plan_that_was_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BUILD_GRAPH, no_graph)
    odd = plan({**step("s1", sku="B-7"), "args": {"sku": "B-7"}, "description": "Look \ud800 up\x00"})
    with small_plandeck(tmp_path, {"propose_plan": [odd]}) as (app, _, calls):
        assert approve(app, run_to_pause(app)).status is RunStatus.SUCCEEDED
        assert calls == [("lookup", "B-7")]


def test_the_command_line_gives_a_task_where_langgraph_is_not_installed(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLANDECK_")}
    task = "How many projects are there?"

    def plandeck(*words: str) -> Any:
        done = subprocess.run(
            [sys.executable, "-c", WITHOUT_LANGGRAPH, *words, "--json"],
            env={**kept, "PLANDECK_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    waiting = plandeck("run", task)
    assert (waiting["status"], waiting["degraded"]) == ("waiting_human", True)
    (request,) = plandeck("approvals")["approvals"]
    plandeck("decide", request["request_id"], "approve", "--hash", request["hash"], "--as", "li")
    done = plandeck("resume", waiting["thread_id"])
    assert (done["status"], done["degraded"]) == ("succeeded", True)
    assert done["steps_done"] == done["steps_total"] > 0
    assert plandeck("show", waiting["run_id"])["answer"] == done["answer"]
