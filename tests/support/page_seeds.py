"""Runs in every state, as records and spans, for tests of pages and for looking at them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from agent.planning.hashing import payload_hash
from agent.records import (
    ApprovalRequest,
    Artifact,
    AttemptStatus,
    CallState,
    Decision,
    Effect,
    EventKind,
    Limits,
    Meter,
    Plan,
    PlanStep,
    RequestKind,
    RequestStatus,
    Run,
    RunStatus,
    Source,
    StepProgress,
    StepStatus,
    StopReason,
    ToolCall,
)
from agent.store.gateway import RecordStore
from traces.records import SpanRecord

TOOLS = ("sql_query", "policy_search", "calculator", "report_file")
TASK = "Which three projects cost most last month, and did any exceed budget?"
GOAL = (
    "Find the three projects with the highest spend in November 2026, compare each with its budget, "
    "and write down which exceeded it."
)
ANSWER = """## Atlas, Borealis and Cinder cost most. Only Atlas exceeded its budget, by $11,420 (9.5 %).

| Project | Spend | Budget | Over budget |
| --- | ---: | ---: | ---: |
| Atlas | $131,420 | $120,000 | **+ $11,420** [1] |
| Borealis | $98,075 | $105,000 | − $6,925 [1] |
| Cinder | $71,330 | $80,000 | − $8,670 [1] |

The owner of Atlas has to be told, as the policy asks for overruns above 5 % [2]. All steps were done.
"""


def steps(version: int = 1) -> tuple[PlanStep, ...]:
    query = {"sql": "SELECT project, SUM(amount) AS spend\nFROM spend WHERE month = '2026-11'\nGROUP BY project"}
    made = (
        PlanStep("s1", "Query November spend per project", "sql_query", query, (), "A row per active project"),
        PlanStep(
            "s2", "Look up the budget-overrun policy", "policy_search", {"query": "budget overrun"}, (),
            "Cites the paragraph that says who must be told",
        ),
        PlanStep("s3", "Rank projects, compute spend minus budget", "calculator", {}, ("s1",), "Three projects"),
        PlanStep(
            "s4", "Write the report with a source per figure", "report_file", {"filename": "spend-2026-11.md"},
            ("s2", "s3"), "Every figure cites s1 or s3; policy cited once", Effect.DRAFT,
        ),
    )  # fmt: skip
    return made if version > 1 else (*made[:3], replace(made[3], dependencies=("s3",)))


def a_plan(version: int = 1, **changes: Any) -> Plan:
    own = changes.pop("steps", steps(version))
    text = json.dumps([GOAL, [step.to_json() for step in own]])
    plan = Plan(
        goal=GOAL,
        rationale="Spend and budget come from one table, so one query is enough. The policy decides who is told, "
        "so it is read before the report is written.",
        steps=own,
        version=version,
        hash=hashlib.sha256(text.encode()).hexdigest(),
        trigger="feedback" if version > 1 else None,
        repairs=("code_fence",) if version > 1 else (),
    )
    return replace(plan, **changes)


class Seeds:
    """Writes runs into a store, each with its own clock that is moved by hand."""

    def __init__(self, records: RecordStore, now: datetime, artifacts: Path) -> None:
        self.records = records
        self.now = now
        self.artifacts = artifacts
        self.spans: list[SpanRecord] = []

    def run(self, run_id: str, minutes_ago: float, **changes: Any) -> Run:
        run = Run(
            project="default", run_id=run_id, thread_id=run_id.replace("r-", "th-"), agent="analyst", agent_version="1",
            task=TASK, mode="plan_execute", provider="offline", model="offline-1", status=RunStatus.QUEUED,
            requested_by="ana", created_at=self.ago(minutes_ago), limits=Limits(),
            tools=dict.fromkeys(TOOLS, 1), trace_id=hashlib.sha256(run_id.encode()).hexdigest()[:32],
            root_span_id="0" * 15 + "1",
        )  # fmt: skip
        return self.records.add_run(replace(run, **changes))

    def ago(self, minutes: float) -> datetime:
        return self.now - timedelta(minutes=minutes)

    def plan(self, run: Run, plan: Plan, at: datetime) -> Plan:
        self.records.put_plan(run.project, run.run_id, plan, created_at=at, created_by="model")
        self.records.update_run(run.project, run.run_id, plan_version=plan.version)
        self.event(run, EventKind.PLAN_PROPOSED, f"plan version {plan.version}, {len(plan.steps)} steps", at)
        return plan

    def request(self, run: Run, at: datetime, plan: Plan | None = None, question: str | None = None) -> ApprovalRequest:
        key = f"{run.run_id}-{plan.version if plan else 'q'}"
        payload = {"plan": plan.to_json(), "task": run.task} if plan else {"question": question}
        event = f"plan version {plan.version} waits" if plan else "a question waits"
        self.event(run, EventKind.PLAN_WAITS, event, at)
        return self.records.put_request(
            ApprovalRequest(
                project=run.project, request_id=key.replace("r-", "q-"), run_id=run.run_id, thread_id=run.thread_id,
                kind=RequestKind.PLAN if plan else RequestKind.QUESTION, checkpoint_id=f"cp-{key}", interrupt_id="i-1",
                hash=plan.hash if plan else "0" * 64, status=RequestStatus.PENDING, requested_at=at,
                requested_by=run.requested_by, payload=payload,
            )
        )  # fmt: skip

    def decide(self, request: ApprovalRequest, decision: Decision, at: datetime, **said: Any) -> ApprovalRequest:
        decided = self.records.decide(
            request.project, request.request_id, decision=decision, hash=request.hash, by=said.pop("by", "li"),
            system_user="li", at=at, **said,
        )  # fmt: skip
        self.records.mark_applied(request.project, request.request_id, at)
        return decided

    def event(self, run: Run, kind: EventKind, text: str, at: datetime, step_id: str | None = None) -> None:
        self.records.add_event(run.project, run.run_id, kind, text, at, step_id=step_id)

    def attempt(  # noqa: PLR0917 - a try is told in one line
        self, run: Run, plan: Plan, step_id: str, begin: datetime, seconds: float | None, error: str | None = None
    ) -> None:
        """One try of a step; without seconds it runs, with an error it failed."""
        number = self.records.start_attempt(run.project, run.run_id, plan.version, step_id, begin)
        status, end = StepStatus.RUNNING, None
        if number == 1:
            self.event(run, EventKind.STEP_STARTED, f"{step_id} {plan.step(step_id).tool}", begin, step_id)
        else:
            self.event(run, EventKind.STEP_RETRIED, f"{step_id} try {number}", begin, step_id)
        if seconds is not None:
            end = begin + timedelta(seconds=seconds)
            ended = AttemptStatus.FAILED if error else AttemptStatus.COMPLETED
            self.records.finish_attempt(run.project, run.run_id, plan.version, step_id, number, ended, end, error)
            status = StepStatus.RUNNING if error else StepStatus.COMPLETED
            if error:
                self.event(run, EventKind.STEP_FAILED, f"{step_id} try {number} failed: {error}", end, step_id)
            else:
                self.event(run, EventKind.STEP_COMPLETED, f"{step_id} criterion met", end, step_id)
        self.step(run, plan, step_id, status, attempts=number, started_at=begin, finished_at=end, error=error)
        self.model_call(run, "execution", begin, seconds or 1.0, step_id, 2_400, 310)

    def step(self, run: Run, plan: Plan, step_id: str, status: StepStatus, **more: Any) -> None:
        progress = StepProgress(run_id=run.run_id, plan_version=plan.version, step_id=step_id, status=status, **more)
        self.records.put_steps(run.project, run.run_id, plan.version, [progress])

    def model_call(  # noqa: PLR0917 - a call is told in one line
        self, run: Run, role: str, begin: datetime, seconds: float, step_id: str | None, tokens_in: int, tokens_out: int
    ) -> None:
        start = int(begin.timestamp() * 1_000_000_000)
        marks = {"plandeck.run_id": run.run_id, "plandeck.role": role, "enduser.id": run.requested_by}
        if step_id:
            marks["plandeck.step_id"] = step_id
        self.spans.append(
            SpanRecord(
                trace_id=run.trace_id,
                span_id=f"{len(self.spans) + 2:016x}",
                parent_span_id=None,
                name="chat gpt-5-mini",
                started_at=start,
                ended_at=start + int(seconds * 0.8 * 1_000_000_000),
                attributes={
                    **marks,
                    "gen_ai.operation.name": "chat",
                    "gen_ai.provider.name": "openai",
                    "gen_ai.request.model": "gpt-5-mini",
                    "gen_ai.usage.input_tokens": tokens_in,
                    "gen_ai.usage.output_tokens": tokens_out,
                },
            )
        )

    def file(self, run: Run, name: str, content: bytes, media_type: str, at: datetime) -> None:
        step_id = "s4"
        folder = self.artifacts / run.run_id
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        self.records.put_artifact(
            run.project,
            Artifact(run.run_id, name, step_id, media_type, len(content), hashlib.sha256(content).hexdigest(), at),
        )
        self.event(run, EventKind.ARTIFACT_WRITTEN, f"{step_id} wrote {name}", at, step_id)

    # --- the runs of the story

    def waiting(self, run_id: str = "r-0471", minutes_ago: float = 22) -> ApprovalRequest:
        """Version 1 was sent back, version 2 waits."""
        run = self.run(run_id, minutes_ago)
        start = run.created_at
        self.records.update_run(run.project, run_id, started_at=start + timedelta(seconds=1))
        self.model_call(run, "planning", start, 4, None, 2_140, 612)
        first = self.plan(run, a_plan(1), start + timedelta(seconds=4))
        request = self.request(run, start + timedelta(seconds=4), first)
        self.decide(
            request, Decision.RESPOND, start + timedelta(minutes=6, seconds=44),
            value="Check the policy on who gets the overrun notice before writing.",
            note="Check the policy on who gets the overrun notice before writing.",
        )  # fmt: skip
        self.model_call(run, "planning", start + timedelta(minutes=6, seconds=45), 5, None, 3_800, 849)
        second = self.plan(run, a_plan(2, parent_hash=first.hash), start + timedelta(minutes=6, seconds=50))
        waits = self.request(run, start + timedelta(minutes=6, seconds=50), second)
        self.records.update_run(run.project, run_id, status=RunStatus.WAITING_HUMAN)
        return waits

    def approved(self, run_id: str, minutes_ago: float) -> tuple[Run, Plan, datetime]:
        request = self.waiting(run_id, minutes_ago)
        at = request.requested_at + timedelta(minutes=4, seconds=24)
        self.decide(request, Decision.APPROVE, at)
        run = self.records.update_run("default", run_id, status=RunStatus.EXECUTING)
        return run, a_plan(2, parent_hash=a_plan(1).hash), at

    def executing(self, run_id: str = "r-0472") -> Run:
        """s4 runs for six seconds; s2 needed a second try."""
        run, plan, at = self.approved(run_id, 11.57)
        self.attempt(run, plan, "s1", at, 4.1)
        self.attempt(run, plan, "s2", at, 5.0, "ToolTimeout: no answer in 5 s")
        self.attempt(run, plan, "s2", at + timedelta(seconds=5.6), 4.0)
        self.attempt(run, plan, "s3", at + timedelta(seconds=4.2), 3.2)
        self.file(run, "s1-rows.csv", b"project,spend\nAtlas,131420\n" * 30, "text/csv", at + timedelta(seconds=4))
        self.attempt(run, plan, "s4", at + timedelta(seconds=9.8), None)
        return run

    def succeeded(self, run_id: str = "r-0469", minutes_ago: float = 40) -> Run:
        run, plan, at = self.approved(run_id, minutes_ago)
        for step_id, offset, seconds in (("s1", 0, 4.1), ("s2", 4.1, 9.6), ("s3", 13.7, 3.2), ("s4", 17, 11.8)):
            self.attempt(run, plan, step_id, at + timedelta(seconds=offset), seconds)
        end = at + timedelta(seconds=32)
        self.model_call(run, "synthesis", end - timedelta(seconds=3), 3, None, 4_100, 690)
        self.file(run, "spend-2026-11.md", ANSWER.encode(), "text/markdown", end)
        self.event(run, EventKind.RUN_SUCCEEDED, "run succeeded", end)
        return self.records.update_run(
            "default", run_id, status=RunStatus.SUCCEEDED, stop_reason=StopReason.COMPLETED, finished_at=end,
            answer=ANSWER,
            sources=(
                Source(1, "s1", "sql_query", "14 rows: Atlas 131420, Borealis 98075, Cinder 71330"),
                Source(2, "s2", "policy_search", "FIN-07, 4.2: Overruns above 5 % are told to the project owner."),
            ),
        )  # fmt: skip

    def failed(self, run_id: str = "r-0463", minutes_ago: float = 55) -> Run:
        run, plan, at = self.approved(run_id, minutes_ago)
        self.attempt(run, plan, "s1", at, 2.2)
        self.attempt(run, plan, "s2", at + timedelta(seconds=2.3), 1.4)
        error = "sql_query: no column “forecast_usd”; there are project, month, amount, budget."
        for number in range(3):
            self.attempt(run, plan, "s3", at + timedelta(seconds=4 + 3 * number), 1.8, error)
        self.step(run, plan, "s3", StepStatus.BLOCKED, attempts=3, error=error)
        self.step(run, plan, "s4", StepStatus.SKIPPED)
        end = at + timedelta(seconds=13)
        self.event(run, EventKind.STEP_BLOCKED, f"s3 blocked: {error}", end, "s3")
        self.event(run, EventKind.RUN_FAILED, "run failed, step_blocked", end)
        return self.records.update_run(
            "default", run_id, status=RunStatus.FAILED, stop_reason=StopReason.STEP_BLOCKED, finished_at=end,
            error=f"s3 did not get done: {error}",
        )  # fmt: skip

    def rejected(self, run_id: str = "r-0460", minutes_ago: float = 90) -> Run:
        request = self.waiting(run_id, minutes_ago)
        at = request.requested_at + timedelta(minutes=2)
        reason = "Not this month: the books of November close on Friday."
        self.decide(request, Decision.REJECT, at, note=reason)
        self.event(self.records.run("default", run_id), EventKind.RUN_CANCELLED, "run cancelled, rejected", at)
        return self.records.update_run(
            "default", run_id, status=RunStatus.CANCELLED, stop_reason=StopReason.REJECTED, finished_at=at, error=reason
        )

    def asking(self, run_id: str = "r-0473", minutes_ago: float = 3) -> ApprovalRequest:
        run = self.run(
            run_id, minutes_ago, task="Compare the costs of last quarter with the quarter before", requested_by="omar"
        )
        self.records.update_run("default", run_id, started_at=run.created_at, status=RunStatus.WAITING_HUMAN)
        return self.request(
            run, run.created_at + timedelta(seconds=3), question="Which fiscal calendar does “last quarter” mean?"
        )

    def planning(self, run_id: str = "r-0474", minutes_ago: float = 0.05) -> Run:
        run = self.run(run_id, minutes_ago, task="Summarise support tickets about exports", requested_by="li")
        return self.records.update_run("default", run_id, status=RunStatus.PLANNING, started_at=run.created_at)

    # --- what a run may ask for in the middle

    def ask(self, run: Run, at: datetime, kind: RequestKind, payload: dict[str, Any]) -> ApprovalRequest:
        """A request that waits, with the payload as the run would put it."""
        self.event(run, EventKind.PLAN_WAITS, "a question waits", at)
        self.records.update_run(run.project, run.run_id, status=RunStatus.WAITING_HUMAN)
        return self.records.put_request(
            ApprovalRequest(
                project=run.project, request_id=f"{run.run_id.replace('r-', 'q-')}-{kind}", kind=kind,
                run_id=run.run_id, thread_id=run.thread_id, checkpoint_id=f"cp-{run.run_id}-{kind}", interrupt_id="i-2",
                hash=payload_hash(payload), status=RequestStatus.PENDING, requested_at=at,
                requested_by=run.requested_by, payload=payload,
            )
        )  # fmt: skip

    def made(self, run: Run, step_id: str, tool: str, arguments: dict[str, Any], **more: Any) -> ToolCall:
        """A tool call in the ledger; made, unless told otherwise."""
        call = ToolCall(
            run_id=run.run_id, number=0, key=hashlib.sha256(f"{run.run_id}{step_id}".encode()).hexdigest(),
            step_id=step_id, tool=tool, version=1, effect=more.pop("effect", Effect.READ), arguments=arguments,
            arguments_hash=payload_hash([tool, arguments]), state=CallState.COMMITTED,
            started_at=more.pop("started_at", run.created_at + timedelta(seconds=5)),
        )  # fmt: skip
        call = replace(call, finished_at=call.started_at + timedelta(seconds=0.4))
        return self.records.ledger.add_call(run.project, replace(call, **more))

    def sending(self, run_id: str, minutes_ago: float) -> tuple[Run, Plan, datetime]:
        """An approved plan whose last step sends a message; all before it is done, and a try of it began."""
        run = self.run(run_id, minutes_ago)
        at = run.created_at + timedelta(seconds=4)
        self.records.update_run(run.project, run_id, started_at=run.created_at, status=RunStatus.EXECUTING)
        tell = PlanStep(
            "s5", "Tell the owners of overrun projects", "send_notification", {"to": ["owner-atlas@acme.example"]},
            ("s4",), "One message to each owner", Effect.SEND_EXTERNAL,
        )  # fmt: skip
        plan = self.plan(run, a_plan(1, steps=(*steps(2), tell)), at)
        self.decide(self.request(run, at, plan), Decision.APPROVE, at + timedelta(seconds=40))
        at += timedelta(seconds=41)
        for place, step in enumerate(plan.steps[:-1]):
            begin = at + timedelta(seconds=4 * place)
            self.attempt(run, plan, step.id, begin, 3.1)
            self.made(run, step.id, str(step.tool), step.args, started_at=begin + timedelta(seconds=1))
        at += timedelta(seconds=17)
        number = self.records.start_attempt(run.project, run_id, plan.version, "s5", at)
        self.records.finish_attempt(
            run.project, run_id, plan.version, "s5", number, AttemptStatus.PAUSED, at + timedelta(seconds=1.2), None
        )
        meter = Meter(llm_calls=9, tokens=24_875, cost=9_800_000_000, active_ms=25_200)
        self.records.ledger.put_meter(run.project, run_id, meter)
        return run, plan, at + timedelta(seconds=1.2)

    def call(self, run_id: str = "r-0480", minutes_ago: float = 9, **payload: Any) -> ApprovalRequest:
        """The step that sends waits with its exact arguments."""
        run, plan, at = self.sending(run_id, minutes_ago)
        return self.ask(run, at, RequestKind.TOOL_CALL, {**self._of_step(plan), **payload})

    def outcome(self, run_id: str = "r-0481", minutes_ago: float = 8) -> ApprovalRequest:
        """Nobody knows whether the message was sent."""
        run, plan, at = self.sending(run_id, minutes_ago)
        payload = self._of_step(plan)
        self.made(
            run, "s5", payload["tool"], payload["arguments"], effect=Effect.SEND_EXTERNAL, state=CallState.UNKNOWN,
            error="its process ended in the middle of the call", started_at=at,
        )  # fmt: skip
        question = f"{payload['tool']} was called, and nobody knows whether it happened."
        return self.ask(run, at, RequestKind.TOOL_CALL, {**payload, "about": "outcome", "question": question})

    def _of_step(self, plan: Plan) -> dict[str, Any]:
        step = plan.step("s5")
        arguments = {
            **step.args,
            "subject": "Atlas is 9.5 % over its November budget",
            "body": "Hello,\n\nAtlas spent $131,420 in November against a budget of $120,000. FIN-07 asks you to say "
            "by Friday how you will make up for it.\n\nThe report: spend-2026-11.md",
            "urgent": True,
            "attachments": 1,
        }
        return {
            "kind": "tool_call", "tool": step.tool, "effect": str(step.effect), "arguments": arguments,
            "step_id": step.id, "description": step.description,
        }  # fmt: skip

    def budget(self, run_id: str = "r-0482", minutes_ago: float = 7) -> ApprovalRequest:
        """The next model call would pass the limit of tokens."""
        run, _, at = self.sending(run_id, minutes_ago)
        limits = replace(run.limits, max_tokens=25_000, max_cost_usd="0.02")
        self.records.update_run(run.project, run_id, limits=limits)
        payload = {
            "kind": "question",
            "about": "budget",
            "question": "24,875 of 25,000 tokens are used, and the next model call would pass the limit.",
            "limits": {"max_tokens": 25_000, "max_cost_usd": "0.02"},
            "used": {"tokens": 24_875, "cost_usd": "0.0098", "llm_calls": 9},
            "raise_to": {"max_tokens": 50_000, "max_cost_usd": "0.04"},
        }
        return self.ask(run, at, RequestKind.QUESTION, payload)

    def step_asking(self, run_id: str = "r-0483", minutes_ago: float = 6) -> ApprovalRequest:
        """A step misses something that only a person can say."""
        run, _, at = self.sending(run_id, minutes_ago)
        question = "Which address belongs to the owner of Atlas? The directory names two."
        return self.ask(run, at, RequestKind.QUESTION, {"kind": "question", "question": question, "step_id": "s5"})

    def replanned(self, run_id: str = "r-0484", minutes_ago: float = 12) -> ApprovalRequest:
        """s3 failed for good; a new plan waits that keeps the done steps, changes s3 and adds one."""
        run, plan, at = self.approved(run_id, minutes_ago)
        self.attempt(run, plan, "s1", at, 4.1)
        self.attempt(run, plan, "s2", at, 3.0)
        error = "calculator: 14 rows have no budget, so there is nothing to subtract."
        self.attempt(run, plan, "s3", at + timedelta(seconds=5), 2.0, error)
        self.step(run, plan, "s3", StepStatus.BLOCKED, attempts=1, error=error)
        self.step(run, plan, "s4", StepStatus.SKIPPED)
        old = plan.steps
        fresh = PlanStep(
            "s5", "Read the budgets of November", "sql_query", {"sql": "SELECT * FROM budgets"}, (), "14 rows"
        )
        ranked = replace(old[2], description="Rank projects with the budgets of s5", dependencies=("s1", "s5"))
        new = a_plan(3, steps=(*old[:2], fresh, ranked, old[3]), parent_hash=plan.hash, trigger="execution_error")
        at += timedelta(seconds=9)
        self.plan(run, new, at)
        for step_id in ("s1", "s2"):
            self.step(run, new, step_id, StepStatus.COMPLETED, attempts=1)
        waits = self.request(run, at, new)
        self.records.update_run(run.project, run_id, status=RunStatus.WAITING_HUMAN)
        return waits

    def free(self, run_id: str = "r-0485", minutes_ago: float = 5, **changes: Any) -> Run:
        """A run without a plan, as `auto` chose: three calls, of which the tool refused one, then the answer."""
        run = self.run(run_id, minutes_ago, mode="auto", task="Which region sold most in 2026?")
        self.event(run, EventKind.MODE_CHOSEN, "mode react: One look into the figures is enough.", run.created_at)
        begin = run.created_at + timedelta(seconds=2)
        for place, (sql, error) in enumerate(
            [
                ("SELECT region FROM sales", "sql_query: no column “region”; there are region_id, month, revenue."),
                ("SELECT region_id, SUM(revenue) FROM sales GROUP BY 1", None),
                ("SELECT name FROM regions WHERE id = 3", None),
            ]
        ):
            self.made(
                run, f"c{place + 1}", "sql_query", {"sql": sql}, started_at=begin + timedelta(seconds=3 * place),
                error=error, state=CallState.CANCELLED if error else CallState.COMMITTED,
                observation=None if error else {"text": "1 row: North 4,812,300", "data": None},
            )  # fmt: skip
        end = begin + timedelta(seconds=11)
        self.model_call(run, "execution", begin, 2, None, 1_900, 120)
        self.records.ledger.put_meter(
            run.project, run_id, Meter(llm_calls=5, tokens=6_120, cost=2_400_000_000, active_ms=11_000)
        )
        ended: dict[str, Any] = {
            "status": RunStatus.SUCCEEDED, "stop_reason": StopReason.COMPLETED, "finished_at": end,
            "answer": "North sold most in 2026: $4,812,300 [2].",
            "sources": (Source(2, "c2", "sql_query", "1 row: North 4,812,300"),),
        }  # fmt: skip
        return self.records.update_run(run.project, run_id, started_at=run.created_at, **{**ended, **changes})

    def limited(self, run_id: str = "r-0486", minutes_ago: float = 30) -> Run:
        """A run without a plan that made all the tool calls that it may."""
        limits = Limits(max_tool_calls=3)
        run = self.free(
            run_id, minutes_ago, status=RunStatus.FAILED, stop_reason=StopReason.MAX_TOOL_CALLS, limits=limits,
            error="The run made 3 tool calls, its limit.", answer="No answer was written. It found:\n\n- North [2]",
        )  # fmt: skip
        self.event(run, EventKind.RUN_FAILED, "run failed, max_tool_calls", self.ago(minutes_ago - 0.3))
        return run

    def everything(self) -> None:
        self.rejected()
        self.failed()
        self.succeeded()
        self.waiting()
        self.executing()
        self.asking()
        self.planning()
        self.run("r-0475", 0.01, task="Draft the December travel policy summary")
