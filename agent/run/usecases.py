"""What people and programs can do with runs. Pages and commands change things through these functions only."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from langchain_core.language_models import BaseChatModel

from agent.accounts import system_user
from agent.errors import NotFoundError, RefusedError, StorageError
from agent.home import make_home
from agent.manifests.catalogue import DEFAULT_AGENT, Catalogue
from agent.models.client import build_model
from agent.models.providers import Provider, provider_of
from agent.planning.parsing import ParsedPlan, check_plan
from agent.records import (
    ApprovalRequest,
    Decision,
    JsonObject,
    JsonValue,
    Mode,
    Plan,
    PlanSource,
    RequestKind,
    RequestStatus,
    Run,
    RunStatus,
)
from agent.run.advance import advance
from agent.run.asking import RunModels
from agent.run.calling import RunCaller
from agent.run.checkpointer import open_checkpointer
from agent.run.deps import Deps
from agent.run.equipment import in_force, manifest_of, models_of, tools_of
from agent.run.lease import Lease
from agent.run.meter import RunMeter
from agent.run.recorder import RunRecorder
from agent.run.tracing import RunTracing
from agent.settings import Settings
from agent.store.gateway import RecordStore, open_record_store
from agent.store.owners import this_process
from agent.tools.builtin import build_registry
from agent.tools.registry import ToolError, ToolRegistry
from traces.exporter import StoreExporter
from traces.ingest import Ingest
from traces.prices import PriceBook
from traces.room import room_wanted
from traces.store import SpanStore, open_span_store
from traces.values import DEEPEST, is_too_deep, storable

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

TASK_CHARACTERS = 20_000
NAME_CHARACTERS = 200
WAIT_SLICE_SECONDS = 0.25
OFFLINE_PRICE = {"id": "offline", "provider": "offline", "input": 0.25, "output": 2.0, "illustrative": True}
"""Dollars per million tokens that the offline model would cost if it cost something: pages mark them as made up."""

__all__ = [
    "Plandeck",
    "advance",
    "cancel_run",
    "check_edited_plan",
    "decide",
    "open_plandeck",
    "resume_thread",
    "start_run",
]


def utc_now() -> datetime:
    """The clock."""
    return datetime.now(UTC)


def wait_unless_stopped(app: Plandeck, run: Run, stopping: Callable[[], bool], seconds: float) -> bool:
    """Let seconds pass; False as soon as the run should stop."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if stopping() or app.records.run(run.project, run.run_id).cancel_requested:
            return False
        time.sleep(min(WAIT_SLICE_SECONDS, left))
    return True


@dataclass(frozen=True, slots=True)
class Plandeck:
    """The open product: everything that the use cases need. Tests replace any part of it."""

    settings: Settings
    records: RecordStore
    spans: SpanStore
    prices: PriceBook
    registry: ToolRegistry
    checkpointer: BaseCheckpointSaver[Any] | None
    """None where LangGraph cannot be imported: runs that begin then work without it."""
    provider: Provider
    model: BaseChatModel
    exporter: StoreExporter
    now: Callable[[], datetime] = utc_now
    owner: str = field(default_factory=this_process)
    wait: Callable[[Plandeck, Run, Callable[[], bool], float], bool] = field(default=wait_unless_stopped)

    @property
    def project(self) -> str:
        """The project that this process works in."""
        return self.settings.project

    @property
    def agents(self) -> Catalogue:
        """The agents that there are now."""
        return Catalogue(self.settings.home, self.registry)

    def artifacts_of(self, run_id: str) -> Path:
        """The folder of a run's files; made if missing."""
        folder = self.settings.home / "artifacts" / run_id
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"{folder} cannot be made: {error.strerror}. Check the permissions. {room_wanted(self.settings.home)}"
            ) from error
        return folder

    def deps_for(self, run: Run, lease: Lease, tracing: RunTracing, stopping: Callable[[], bool]) -> Deps:
        """Everything that the nodes of one run need."""
        behaviour = manifest_of(self, run).behaviour
        planner, executor = models_of(self, run)
        meter = RunMeter(self.records.ledger, run, lease.fence)
        return Deps(
            models=RunModels(planner, executor, meter, tracing, partial(self._show, run, lease.fence)),
            registry=tools_of(self, run),
            recorder=RunRecorder(self, run, lease.fence),
            tracing=tracing,
            call_tool=RunCaller(self, run, lease, meter, behaviour, self.artifacts_of(run.run_id)),
            limits=run.limits,
            behaviour=behaviour,
            meter=meter,
            now=self.now,
            wait=partial(self.wait, self, run, stopping),
        )

    def _show(self, run: Run, fence: int, text: str) -> None:
        self.records.ledger.put_draft(run.project, run.run_id, text, fence=fence)


@contextmanager
def open_plandeck(settings: Settings) -> Iterator[Plandeck]:
    """Open every store, the tools and the model; AgentError or TracesError with one sentence if one of them refuses."""
    provider = provider_of(settings)
    model = build_model(settings)
    make_home(settings.home)
    with ExitStack() as stack:
        records = stack.enter_context(open_record_store(settings.records_url))
        spans = stack.enter_context(open_span_store(settings.spans_url))
        prices = price_book(settings)
        yield Plandeck(
            settings=settings,
            records=records,
            spans=spans,
            prices=prices,
            registry=build_registry(settings),
            checkpointer=stack.enter_context(open_checkpointer(settings.checkpoints_location)),
            provider=provider,
            model=model,
            exporter=StoreExporter(Ingest(spans, prices), settings.project),
        )


def start_run(
    app: Plandeck,
    task: str,
    *,
    by: str,
    agent: str = DEFAULT_AGENT,
    mode: str | None = None,
    thread_id: str | None = None,
) -> Run:
    """Queue a run of a task; nothing runs and no model is asked before a worker advances it.

    The mode is the manifest's unless one is given. The run keeps what the manifest says now.
    """
    words = task.strip()
    if not words:
        raise RefusedError("The task is empty; say in a sentence what the agent should find out.", code="empty_task")
    if len(words) > TASK_CHARACTERS:
        raise RefusedError(
            f"The task has {len(words):,} characters, and {TASK_CHARACTERS:,} is the limit; put long material into "
            "the documents and describe the task.",
            code="task_too_long",
        )
    check_name(by)
    if thread_id is not None and not (thread_id.isprintable() and 0 < len(thread_id) <= NAME_CHARACTERS):
        raise RefusedError("A thread's id is one line of at most 200 printable characters.", code="bad_thread")
    if mode is not None and mode not in list(Mode):
        raise RefusedError(f"There is no mode {mode!r}; the choice is: {', '.join(Mode)}.", code="unknown_mode")
    declared = app.agents.agent(agent)
    manifest = in_force(app, declared)
    executor = manifest.models.executor
    key = secrets.token_hex(6)
    thread = thread_id or f"th-{key}"
    if app.records.run_of_thread(app.project, thread):
        raise RefusedError(f"Thread {thread} belongs to a run already; leave out the thread or choose another id.")
    if thread_id and app.checkpointer and app.checkpointer.get_tuple({"configurable": {"thread_id": thread}}):
        raise RefusedError(f"Thread {thread} has checkpoints already; leave out the thread or choose another id.")
    return app.records.add_run(
        Run(
            project=app.project,
            run_id=f"r-{key}",
            thread_id=thread,
            agent=agent,
            agent_version=declared.agent_version,
            task=words,
            mode=mode or str(manifest.mode),
            provider=str(executor.provider),
            model=str(executor.model),
            status=RunStatus.QUEUED,
            requested_by=by,
            created_at=app.now(),
            limits=manifest.limits.limits(),
            tools={tool.name: tool.version for tool in manifest.tools_of(app.registry)},
            trace_id=secrets.token_hex(16),
            root_span_id=secrets.token_hex(8),
            manifest=manifest.to_json(),
        )
    )


def decide(
    app: Plandeck,
    request_id: str,
    decision: Decision,
    *,
    hash: str,  # the outside's word
    by: str,
    plan: JsonObject | None = None,
    value: JsonValue = None,
    note: str | None = None,
) -> ApprovalRequest:
    """Record a person's decision, once. It names the hash it decides on; the run goes on when `advance` is called."""
    request = app.records.request(app.project, request_id)
    check_name(by)
    value, plan, note = _said(value), _said(plan), _said(note)
    if app.records.run(app.project, request.run_id).cancel_requested:
        raise RefusedError("This run is being cancelled; nothing can be decided about it any more.", code="cancelled")
    if decision is Decision.REJECT and not (note or "").strip():
        raise RefusedError("A rejection needs a reason: the person who asked will read it.", code="reason_missing")
    if decision is Decision.RESPOND and not str(note or "" if value is None else value).strip():
        raise RefusedError("Say in words what should change, or what the answer is.", code="answer_missing")
    _require_fitting(app, request, decision, value)
    new_plan = _edited(app, request, plan) if decision is Decision.EDIT and request.kind is RequestKind.PLAN else None
    run = app.records.run(app.project, request.run_id)
    raises = decision is Decision.APPROVE and request.payload.get("about") == "budget"
    return app.records.decide(
        app.project,
        request_id,
        decision=decision,
        hash=hash,
        by=by,
        system_user=system_user(),
        at=app.now(),
        note=note,
        value=new_plan.to_json() if new_plan else value,
        new_plan=new_plan,
        new_limits=replace(run.limits, **request.payload["raise_to"]) if raises else None,
    )


_Said = TypeVar("_Said")


def _said(value: _Said) -> _Said:
    """What a person said with texts and values that every store takes; RefusedError where it is nested too deeply."""
    if is_too_deep(value):
        raise RefusedError(
            f"The answer is nested more than {DEEPEST} levels deep; say it more simply.", code="too_deep"
        )
    kept: _Said = storable(value)
    return kept


def _require_fitting(app: Plandeck, request: ApprovalRequest, decision: Decision, value: JsonValue) -> None:
    """RefusedError for a decision that a request of this kind cannot take."""
    budget = request.payload.get("about") == "budget"
    if budget and decision not in (Decision.APPROVE, Decision.REJECT):
        raise RefusedError("A budget is raised (approve) or not (reject).", code="wrong_decision")
    if request.kind is RequestKind.QUESTION and not budget and decision in (Decision.APPROVE, Decision.EDIT):
        raise RefusedError("A question is answered (respond) or rejected.", code="wrong_decision")
    if request.kind is RequestKind.TOOL_CALL and decision is Decision.EDIT:
        if not isinstance(value, dict):
            raise RefusedError("An edited call needs its arguments as a JSON object.", code="arguments_missing")
        tool = request.payload["tool"]
        tools = tools_of(app, app.records.run(app.project, request.run_id))
        if tool not in tools:
            raise RefusedError(f"This run has no tool {tool}.", code="unknown_tool")
        try:
            tools[tool].validate(value)
        except ToolError as error:
            raise RefusedError(error.message, code="bad_arguments") from error


def _edited(app: Plandeck, request: ApprovalRequest, plan: JsonObject | None) -> Plan:
    if plan is None:
        raise RefusedError("An edit needs the edited plan.", code="plan_missing")
    checked = check_edited_plan(app, request.run_id, plan.get("steps", []), plan.get("goal"))
    if checked.plan is None:
        problems = "; ".join(problem.message for problem in checked.errors)
        raise RefusedError(f"The edited plan is not valid: {problems}", code="invalid_plan")
    return checked.plan


def check_edited_plan(app: Plandeck, run_id: str, steps: Sequence[JsonObject], goal: str | None = None) -> ParsedPlan:
    """What the editor shows live: the plan version that an edit would make, or what is wrong with it."""
    versions = app.records.plans(app.project, run_id)
    if not versions:
        raise RefusedError("There is no plan to edit yet.")
    current = versions[-1]
    run = app.records.run(app.project, run_id)
    return check_plan(
        goal or current.goal,
        current.rationale,
        list(steps),
        tools_of(app, run),
        max_steps=run.limits.max_steps,
        version=current.version + 1,
        parent_hash=current.hash,
        trigger="edit",
        source=PlanSource.PERSON,
    )


def cancel_run(app: Plandeck, run_id: str, by: str) -> Run:
    """Ask a run to stop at the next safe point; what was done is kept."""
    run = app.records.run(app.project, run_id)
    if run.status.ended:
        raise RefusedError(f"Run {run_id} has ended already ({run.status}).", code="already_ended")
    return app.records.update_run(app.project, run_id, cancel_requested=True, cancelled_by=by)


def resume_thread(app: Plandeck, thread_id: str) -> Run:
    """Go on with a thread's run where its last checkpoint left it, also after it failed with an error."""
    run = app.records.run_of_thread(app.project, thread_id)
    if run is None:
        raise NotFoundError(
            f"No run of this project has thread {thread_id}; `plandeck runs --json` lists them with theirs."
        )
    return advance(app, run.run_id, revive=True)


def check_name(name: str) -> None:
    """RefusedError unless the text can be a person's name: some characters, one line, not endless."""
    if not name.strip() or len(name) > NAME_CHARACTERS or not name.isprintable():
        raise RefusedError("Give the name of the person in one line of at most 200 characters.", code="bad_name")


def pending_request(app: Plandeck, run_id: str) -> ApprovalRequest | None:
    """The request that a run waits for, or None."""
    waiting = app.records.requests(app.project, run_id=run_id, status=RequestStatus.PENDING)
    return waiting[0] if waiting else None


def price_book(settings: Settings) -> PriceBook:
    """Own prices over the built-in ones; the offline model's are illustrative and marked as such."""
    default = settings.home / "prices.toml"
    return PriceBook(settings.prices or default, [OFFLINE_PRICE], optional=settings.prices is None)
