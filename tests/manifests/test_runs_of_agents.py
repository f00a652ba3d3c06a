import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from runs import Calls, approve, plan, run_to_pause, small_plandeck, small_registry, step, write_agent
from scripted_model import ScriptedTransport

from agent.errors import ConfigurationError, NotFoundError, RefusedError
from agent.manifests.reading import ManifestError
from agent.records import Decision, Limits, RunStatus
from agent.run.usecases import advance, decide, open_plandeck, pending_request, resume_thread, start_run
from agent.settings import load_settings
from agent.tools.registry import Tool, ToolRegistry

ONE_STEP = plan(step("s1", sku="B-7"))
NO_PLAN = {"propose_plan": [plan(step("s1", "delete_rows"))]}


def offered(body: dict) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools", [])]


@contextmanager
def listening(transport: ScriptedTransport) -> Iterator[str]:
    """The scripted model as a server on loopback; yields its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            answer = transport.handle_request(httpx.Request("POST", "http://scripted.invalid", content=content))
            self.send_response(answer.status_code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_run_has_the_mode_limits_and_version_of_its_manifest(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, {}) as (app, _, _calls):
        write_agent(tmp_path, "buyer", version=2, mode="react", limits={"max_steps": 3, "max_cost_usd": 0.1})
        run = start_run(app, "Look", by="ana", agent="buyer")
        assert (run.agent, run.mode, run.limits) == ("buyer", "react", Limits(max_steps=3, max_cost_usd="0.10"))
        assert run.agent_version == app.agents.agent("buyer").agent_version
        assert run.agent_version.startswith("2+")
        assert start_run(app, "Look", by="ana", agent="buyer", mode="direct").mode == "direct"
        assert app.records.run(app.project, run.run_id) == run


def test_a_run_goes_on_by_the_manifest_that_it_began_with(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, NO_PLAN) as (app, _, _calls):
        file = write_agent(tmp_path, "buyer", degrade="fail", limits={"max_tokens": 90_000})
        begun = start_run(app, "Look", by="ana", agent="buyer")
        write_agent(tmp_path, "buyer", degrade="fallback_plan")
        later = start_run(app, "Look", by="ana", agent="buyer")
        file.unlink()
        assert begun.agent_version != later.agent_version
        ended = advance(app, begun.run_id)
        assert (ended.status, ended.stop_reason, ended.limits.max_tokens) == (
            RunStatus.FAILED,
            "invalid_plan",
            90_000,
        )
        assert advance(app, later.run_id).status is RunStatus.WAITING_HUMAN


def test_a_run_from_before_manifests_goes_by_the_shipped_analyst(tmp_path: Path) -> None:
    with small_plandeck(tmp_path, NO_PLAN) as (app, _, _calls):
        write_agent(tmp_path, "analyst", degrade="fail")
        run = start_run(app, "Look", by="ana")
        old = replace(run, run_id="r-old", thread_id="th-old", agent_version="1", manifest=None)
        app.records.add_run(old)
        assert advance(app, "r-old").status is RunStatus.WAITING_HUMAN


def test_models_see_only_the_tools_of_the_manifest_that_are_ready_and_not_refused(tmp_path: Path) -> None:
    answers = {"propose_plan": [plan(step("s1", "note", text="x")), ONE_STEP]}
    with small_plandeck(tmp_path, answers) as (opened, model, calls):
        lookup, note = opened.registry
        app = replace(opened, registry=ToolRegistry([lookup, note, replace(note, name="pager", missing="PAGER_URL")]))
        write_agent(tmp_path, "buyer", tools=["lookup", "pager"])
        write_agent(tmp_path, "reader", approval={"draft": "refuse"})
        run = advance(app, start_run(app, "Look", by="ana", agent="buyer").run_id)
        assert run.tools == {"lookup": 1}
        assert start_run(app, "Look", by="ana", agent="reader").tools == {"lookup": 1}
        told = json.dumps([body["messages"] for body in model.requests])
        assert "### lookup" in told
        assert "### note" not in told
        assert "### pager" not in told
        assert "unknown_tool" in json.dumps(model.requests[1]["messages"]), "a plan with another tool is refused"
        edited = {"steps": [step("s1", "note", text="x")]}
        request = pending_request(app, run.run_id)
        assert request is not None
        with pytest.raises(RefusedError, match="note"):
            decide(app, request.request_id, Decision.EDIT, hash=request.hash, by="li", plan=edited)
        assert approve(app, run).status is RunStatus.SUCCEEDED
        assert calls == [("lookup", "B-7")]


@pytest.mark.parametrize(
    ("change", "words"), [({"version": 2}, "is registered in version 2"), ({"name": "x"}, "is not")]
)
def test_a_run_whose_tool_is_another_now_stops_and_goes_on_where_it_is_registered(
    tmp_path: Path, change: dict, words: str
) -> None:
    def changed(tool: Tool) -> Tool:
        return replace(tool, **change) if tool.name == "lookup" else tool

    with small_plandeck(tmp_path, {"propose_plan": [ONE_STEP]}) as (app, _, calls):
        run = run_to_pause(app)
        other = replace(app, registry=ToolRegistry(changed(tool) for tool in app.registry))
        failed = approve(other, run)
        assert (failed.status, failed.stop_reason) == (RunStatus.FAILED, "error")
        assert f"version 1 of the tool lookup, which {words}" in (failed.error or "")
        assert calls == Calls()
        assert resume_thread(app, run.thread_id).status is RunStatus.SUCCEEDED


def test_planning_calls_go_to_the_planner_and_all_others_to_the_executor(tmp_path: Path) -> None:
    model = ScriptedTransport({"propose_plan": [ONE_STEP]})
    with (
        listening(model) as address,
        open_plandeck(load_settings(home=tmp_path, provider="vllm", model="small", base_url=address)) as opened,
    ):
        app = replace(opened, registry=small_registry(Calls()))
        write_agent(tmp_path, "buyer", models={"planner": {"model": "big"}})
        run = advance(app, start_run(app, "Look", by="ana", agent="buyer").run_id)
        assert [(body["model"], offered(body)) for body in model.requests] == [("big", ["propose_plan"])]
        done = approve(app, run)
        assert done.status is RunStatus.SUCCEEDED, done.error
        assert (done.provider, done.model) == ("vllm", "small")
        assert {body["model"] for body in model.requests[1:]} == {"small"}
        assert len(model.requests) > 3


def test_each_model_has_its_own_price(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(
        'unit = "USD per 1,000,000 tokens"\n'
        + "".join(
            f'[[models]]\nid = "{name}"\ninput = {rate}\noutput = 0\n' for name, rate in (("big", 1000), ("small", 1))
        )
    )
    model = ScriptedTransport({"propose_plan": [ONE_STEP]}, prompt_tokens=1_000)
    with (
        listening(model) as address,
        open_plandeck(load_settings(home=tmp_path, provider="vllm", model="small", base_url=address)) as opened,
    ):
        app = replace(opened, registry=small_registry(Calls()))
        write_agent(tmp_path, "buyer", models={"planner": {"model": "big"}}, limits={"max_cost_usd": 50})
        run = advance(app, start_run(app, "Look", by="ana", agent="buyer").run_id)
        assert app.records.ledger.meter(app.project, run.run_id).cost == 10**12
        done = approve(app, run)
        spent = 10**12 + (len(model.requests) - 1) * 10**9
        assert app.records.ledger.meter(app.project, done.run_id).cost == spent
        assert app.spans.run_usage(app.project, done.run_id).cost == spent


def test_what_cannot_be_started_is_told_before_anything_is_queued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with small_plandeck(tmp_path, {}) as (app, _, _calls):
        write_agent(tmp_path, "buyer", models={"planner": {"provider": "openai"}})
        write_agent(tmp_path, "broken", mode="plan")
        with pytest.raises(NotFoundError, match="the choice is: analyst, explorer, assistant, broken, buyer"):
            start_run(app, "Look", by="ana", agent="nobody")
        with pytest.raises(ManifestError, match=r"agents/broken.yaml, line 3: mode is 'plan'"):
            start_run(app, "Look", by="ana", agent="broken")
        with pytest.raises(ConfigurationError, match=r"planner of the agent buyer is .* openai,.* OPENAI_API_KEY"):
            start_run(app, "Look", by="ana", agent="buyer")
        with pytest.raises(RefusedError, match="direct, react, plan_execute, auto"):
            start_run(app, "Look", by="ana", mode="plan")
        assert app.records.runs(app.project) == []
