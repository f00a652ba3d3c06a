"""Runs tasks in processes that are killed at a chosen point: `python killed_at.py TEMPLATE_HOME`.

Reads a JSON object a line, forks for it, and answers with how the child ended. Forking spares the imports: a test has
hundreds of children. What children really do they write into `log` in their home, one line each, before they go on.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
from engines import no_graph
from pydantic import BaseModel
from runs import plan, step
from scripted_model import ScriptedTransport, scripted_chat
from sqlalchemy import Connection

from agent.records import CallState, Decision, Effect, RequestKind, RunStatus
from agent.run import flow, graph
from agent.run.usecases import Plandeck, advance, decide, open_plandeck, pending_request, start_run
from agent.settings import load_settings
from agent.store.engine import Database
from agent.store.ledger import Ledger
from agent.tools.registry import Observation, Tool, ToolContext, ToolRegistry

PLAN = plan(
    step("s1", sku="B-7"),
    step("s2", "order", sku="C-9"),
    step("s3", "mail", ("s1",), to="bo"),
)
MAIL = {"to": "bo", "body": "12 left"}


class Log:
    """The child's diary: what it did, in the order in which it did it, kept over its death."""

    def __init__(self, home: Path) -> None:
        self._file = os.open(home / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def __call__(self, *words: str) -> None:
        os.write(self._file, (" ".join(words) + "\n").encode())


class Death:
    """Kills the process when a point of this kind is reached for the n-th time."""

    def __init__(self, kind: str | None, nth: int, log: Log) -> None:
        self._kind, self._left, self._log = kind, nth, log
        self._lock = threading.Lock()

    def __call__(self, kind: str, what: str = "") -> None:
        if kind != self._kind:
            return
        with self._lock:
            self._left -= 1
            if self._left == 0:
                self._log("killed", kind.replace(" ", "-"), what)
                os.kill(os.getpid(), signal.SIGKILL)

    def around(self, before: str, after: str, call: Callable[..., Any], what: str = "") -> Callable[..., Any]:
        def wrapped(*given: Any, **named: Any) -> Any:
            self(before, what)
            result = call(*given, **named)
            self(after, what)
            return result

        return wrapped


class Arguments(BaseModel):
    """What `lookup` and `order` take."""

    sku: str


class MailArguments(BaseModel):
    """What `mail` takes."""

    to: str
    body: str


def registry(log: Log, death: Death) -> ToolRegistry:
    def tool(name: str, takes: type[BaseModel], effect: Effect, *, idempotent: bool = True) -> Tool:
        def run(arguments: Any, context: ToolContext) -> Observation:
            death("before the effect", name)
            log("tool", context.step_id, name, context.idempotency_key or "-")
            death("after the effect", name)
            return Observation(text=f"{name}: 12 in stock", data={"stock": 12})

        return Tool(name, 1, f"Does {name}.", takes, effect, run, idempotent=idempotent)

    return ToolRegistry(
        [
            tool("lookup", Arguments, Effect.READ),
            tool("mail", MailArguments, Effect.SEND_EXTERNAL, idempotent=False),
            tool("order", Arguments, Effect.WRITE_SYSTEM),
        ]
    )


class Model(ScriptedTransport):
    """Answers by what it is asked alone, so that it makes no difference in which process it is asked."""

    def __init__(self, log: Log) -> None:
        super().__init__({"propose_plan": [PLAN], "mail": [MAIL]})
        self._log = log

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        about = re.search(r'## Step\n.*?"id": ?"(\w+)"', body["messages"][1]["content"], re.DOTALL)
        offered = [tool["function"]["name"] for tool in body.get("tools", [])]
        self._log("model", about[1] if about else "-", "+".join(offered) or "words")
        return super().handle_request(request)

    def _next(self, kind: str, body: dict[str, Any]) -> Any:
        if kind != "react":
            return super()._next(kind, body)
        seen = sum(1 for message in body["messages"] if message["role"] == "tool")
        calls: dict[int, list[tuple[str, dict[str, Any]]]] = {
            0: [("lookup", {"sku": "B-7"}), ("order", {"sku": "C-9"})],
            2: [("mail", MAIL)],
        }
        return several_calls(calls[seen]) if seen in calls else "There are 12 [1]."


def several_calls(calls: list[tuple[str, dict[str, Any]]]) -> httpx.Response:
    made = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": made}
    return httpx.Response(
        200,
        json={
            "id": "scripted",
            "object": "chat.completion",
            "created": 1,
            "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        },
    )


def watch(app: Plandeck, death: Death, log: Log) -> None:
    """Put the points into nodes, checkpoint writes, the ledger and the records' transactions."""
    for name, node in flow.NODES.items():
        flow.NODES[name] = death.around("before a node", "after a node", node, name)
    watch_transactions(app.records._database, death)
    watch_ledger(app.records.ledger, death, log)
    loop, saver = app.records.loop, app.checkpointer
    for owner, of_step, of_task in ((loop, "put_place", "put_write"), (saver, "put", "put_writes")):
        for name, kind in ((of_step, "a checkpoint"), (of_task, "a task's write")):
            durable = telling(getattr(owner, name), log)
            setattr(owner, name, death.around(f"before {kind}", f"after {kind}", durable, name))


def watch_transactions(database: Database, death: Death) -> None:
    """Put a point behind each transaction of the records."""
    write = database.write

    @contextmanager
    def writing() -> Iterator[Connection]:
        with write() as connection:
            yield connection
        death("after a transaction")

    database.write = writing  # type: ignore[method-assign]


def watch_ledger(ledger: Ledger, death: Death, log: Log) -> None:
    """Put points around the end of each call, and note what it committed."""
    close_call = ledger.close_call

    def closing(project: str, run_id: str, number: int, *, state: CallState, **named: Any) -> None:
        call = next(item for item in ledger.calls(project, run_id) if item.number == number)
        if state is CallState.COMMITTED:
            death("before committed", call.tool)
        close_call(project, run_id, number, state=state, **named)
        if state is CallState.COMMITTED:
            log("committed", call.tool, call.key)
            death("after committed", call.tool)

    ledger.close_call = closing  # type: ignore[method-assign]


def telling(write: Callable[..., Any], log: Log) -> Callable[..., Any]:
    """Note which steps a checkpoint write has made durable, once it has."""

    def wrapped(*given: Any, **named: Any) -> Any:
        result = write(*given, **named)
        for step_id in sorted(set(re.findall(r"'(\w+)': 'completed'", repr((given, named))))):
            log("durable", step_id)
        return result

    return wrapped


def drive(order: dict[str, Any]) -> None:
    """Advance the home's run to its end, as a worker and a person would; tell at the end how it came out."""
    home = Path(order["home"])
    log = Log(home)
    death = Death(order.get("kind"), order.get("nth", 0), log)
    if order["engine"] == "loop":
        graph.build_graph = no_graph  # type: ignore[assignment]
    with open_plandeck(load_settings(home=home)) as opened:
        app = replace(opened, model=scripted_chat(Model(log)), registry=registry(log, death))
        watch(app, death, log)
        known = app.records.runs(app.project)
        run = known[0] if known else start_run(app, "How much is there?", by="ana", mode=order["mode"])
        run = advance(app, run.run_id)
        while run.status is RunStatus.WAITING_HUMAN:
            answer_request(app, run.run_id, home, log)
            run = advance(app, run.run_id)
        (home / "outcome.json").write_text(json.dumps(outcome(app, run.run_id)))


def answer_request(app: Plandeck, run_id: str, home: Path, log: Log) -> None:
    """Say yes; where an outcome is unknown, look first whether it happened."""
    request = pending_request(app, run_id)
    if request is None:  # decided before a kill, and still to be applied
        return
    log("asked", str(request.kind), str(request.payload.get("about") or request.payload.get("tool") or "-"))
    if request.payload.get("about") == "outcome" and " mail " in (home / "log").read_text():
        decide(app, request.request_id, Decision.RESPOND, hash=request.hash, by="li", value="bo has it")
        return
    assert request.kind is not RequestKind.QUESTION, request.payload
    decide(app, request.request_id, Decision.APPROVE, hash=request.hash, by="li")


def outcome(app: Plandeck, run_id: str) -> dict[str, Any]:
    run = app.records.run(app.project, run_id)
    return {
        "status": run.status,
        "error": run.error,
        "answer": run.answer,
        "engine": run.engine,
        "steps": [[item.step_id, item.status] for item in app.records.steps(app.project, run_id)],
        "attempts": [[item.step_id, item.status] for item in app.records.attempts(app.project, run_id)],
        "calls": [[item.tool, item.state] for item in app.records.ledger.calls(app.project, run_id)],
        "sources": [item.step_id for item in run.sources],
        "unapplied": [item.request_id for item in app.records.requests(app.project) if item.applied_at is None],
    }


def warm_up(template: Path) -> None:
    """Run one task here, so that no child has to import and compile what runs need."""
    nodes = dict(flow.NODES)
    home = template.with_name("warm")
    shutil.copytree(template, home)
    drive({"home": str(home), "engine": "langgraph", "mode": "plan_execute"})
    flow.NODES.update(nodes)


def serve(template: Path) -> None:
    with open_plandeck(load_settings(home=template)):
        pass
    warm_up(template)
    for line in sys.stdin:
        order = json.loads(line)
        home = Path(order["home"])
        if not home.exists():
            shutil.copytree(template, home)
        child = os.fork()
        if child == 0:
            ended = 1
            try:
                drive(order)
                ended = 0
            except BaseException:  # noqa: BLE001  # the child ends here, whatever it was
                traceback.print_exc()
            finally:
                os._exit(ended)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
