"""Records as the JSON of the command line and of HTTP: the shapes of INTERFACES, each with a JSON Schema in `schemas`.

Times are RFC 3339 in UTC with `Z`, money is a decimal string in US dollars, and unknown is null.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal
from importlib.resources import files
from typing import TYPE_CHECKING

from agent.records import ApprovalRequest, JsonObject, Meter, Plan, PlanStep, Run, StepProgress, StepStatus

if TYPE_CHECKING:
    from agent.manifests.catalogue import Agent
    from agent.planning.parsing import ParsedPlan
    from agent.run.savings import Savings
    from agent.tools.registry import ToolRegistry
    from traces.records import StoredSpan, TraceSummary, UsageRow

PICO = Decimal(10) ** 12


def schema(name: str) -> JsonObject:
    """The JSON Schema of a shape, e.g. `run` or `approval`."""
    text = files("agent.schemas").joinpath(f"{name}.json").read_text(encoding="utf-8")
    loaded: JsonObject = json.loads(text)
    return loaded


def time_json(at: datetime | None) -> str | None:
    """RFC 3339 in UTC, to the microsecond where there is one: `2026-12-01T09:42:00.125Z`."""
    if at is None:
        return None
    text = at.astimezone(UTC).replace(tzinfo=None).isoformat()
    return (text.rstrip("0") if "." in text else text) + "Z"


def nanoseconds_json(at: int | None) -> str | None:
    """A span's time (nanoseconds since 1970) as RFC 3339 with all its digits."""
    if at is None:
        return None
    seconds, rest = divmod(at, 1_000_000_000)
    text = datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat()
    return f"{text}.{rest:09d}".rstrip("0").rstrip(".") + "Z"


def dollars_json(pico_dollars: int | None) -> str | None:
    """Pico-dollars as an exact decimal string of dollars, without an exponent; null when unknown."""
    if pico_dollars is None:
        return None
    text = format(Decimal(pico_dollars) / PICO, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def page_json(name: str, items: Sequence[JsonObject], next_cursor: str | None = None) -> JsonObject:
    """A list of shapes under its name, and where the next page begins."""
    return {name: list(items), "next_cursor": next_cursor}


def run_json(
    run: Run, *, plan: Plan | None, steps: Sequence[StepProgress], usage: UsageRow, meter: Meter
) -> JsonObject:
    """A run with its current plan, each step of it with its progress, its limits and what it used up of them."""
    own = [item for item in steps if plan and item.plan_version == plan.version]
    return {
        "run_id": run.run_id,
        "thread_id": run.thread_id,
        "project": run.project,
        "agent": run.agent,
        "agent_version": run.agent_version,
        "task": run.task,
        "mode": run.mode,
        "provider": run.provider,
        "model": run.model,
        "status": str(run.status),
        "stop_reason": run.stop_reason,
        "error": run.error,
        "requested_by": run.requested_by,
        "cancelled_by": run.cancelled_by,
        "created_at": time_json(run.created_at),
        "started_at": time_json(run.started_at),
        "finished_at": time_json(run.finished_at),
        "plan": plan_json(plan, own) if plan else None,
        "plan_version": run.plan_version,
        "steps_done": sum(item.status is StepStatus.COMPLETED for item in own),
        "steps_total": len(plan.steps) if plan else 0,
        "usage": usage_figures_json(usage),
        "cost_usd": dollars_json(usage.cost),
        "limits": asdict(run.limits),
        "meter": meter_json(meter),
        "answer": run.answer,
        "sources": [
            {"n": item.n, "step_id": item.step_id, "tool": item.tool, "text": item.text} for item in run.sources
        ],
        "degraded": run.degraded,
        "trace_id": run.trace_id,
    }


def meter_json(meter: Meter) -> JsonObject:
    """What a run used up; cost is that of the calls whose price is known, made-up rates included."""
    return {
        "llm_calls": meter.llm_calls,
        "tool_calls": meter.tool_calls,
        "tokens": meter.tokens,
        "cost_usd": dollars_json(meter.cost),
        "unpriced_calls": meter.unpriced_calls,
        "active_ms": meter.active_ms,
    }


def savings_json(saved: Savings) -> JsonObject:
    """What resuming a run saved."""
    return {
        "steps": saved.steps,
        "llm_calls": saved.llm_calls,
        "tool_calls": saved.tool_calls,
        "tokens": saved.tokens,
        "cost_usd": dollars_json(saved.cost),
        "illustrative": saved.illustrative,
    }


def plan_json(plan: Plan, steps: Sequence[StepProgress] = ()) -> JsonObject:
    """A plan version; steps that nobody began are pending."""
    progress = {item.step_id: item for item in steps}
    return {**plan.to_json(), "steps": [_step_json(step, progress.get(step.id)) for step in plan.steps]}


def _step_json(step: PlanStep, progress: StepProgress | None) -> JsonObject:
    return {
        **step.to_json(),
        "status": str(progress.status if progress else StepStatus.PENDING),
        "result": progress.result if progress else None,
        "attempts": progress.attempts if progress else 0,
        "error": progress.error if progress else None,
        "started_at": time_json(progress.started_at) if progress else None,
        "finished_at": time_json(progress.finished_at) if progress else None,
    }


def agent_json(agent: Agent, registry: ToolRegistry) -> JsonObject:
    """An agent with the tools that a run of it would see now; one that cannot be used has a problem and little else."""
    manifest = agent.manifest
    return {
        "name": agent.name,
        "file": agent.file,
        "agent_version": manifest.agent_version if manifest else None,
        "mode": str(manifest.mode) if manifest else None,
        "owner": manifest.owner if manifest else None,
        "description": manifest.description if manifest else None,
        "models": manifest.models.model_dump() if manifest else None,
        "tools": {tool.name: tool.version for tool in manifest.tools_of(registry)} if manifest else {},
        "problem": agent.problem,
    }


def approval_json(request: ApprovalRequest) -> JsonObject:
    """An approval request, and what was decided."""
    return {
        "request_id": request.request_id,
        "kind": str(request.kind),
        "run_id": request.run_id,
        "thread_id": request.thread_id,
        "checkpoint_id": request.checkpoint_id,
        "interrupt_id": request.interrupt_id,
        "hash": request.hash,
        "status": str(request.status),
        "requested_at": time_json(request.requested_at),
        "requested_by": request.requested_by,
        "expires_at": time_json(request.expires_at),
        "decided_at": time_json(request.decided_at),
        "decided_by": request.decided_by,
        "decided_by_system_user": request.decided_by_system_user,
        "decision": str(request.decision) if request.decision else None,
        "note": request.note,
        "value": request.value,
        "applied_at": time_json(request.applied_at),
        "payload": request.payload,
    }


def parsed_plan_json(parsed: ParsedPlan) -> JsonObject:
    """What `parse-plan` found in a text."""
    return {
        "plan": plan_json(parsed.plan) if parsed.plan else None,
        "repairs": [str(repair) for repair in parsed.repairs],
        "errors": [{"code": str(error.code), "step": error.step, "message": error.message} for error in parsed.errors],
        "outcome": str(parsed.outcome),
    }


def usage_figures_json(row: UsageRow) -> JsonObject:
    """Calls, tokens and cost of a group of model calls."""
    return {
        "calls": row.calls,
        "errors": row.errors,
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "cache_read_tokens": row.cache_read_tokens,
        "cache_write_tokens": row.cache_write_tokens,
        "reasoning_tokens": row.reasoning_tokens,
        "cost_usd": dollars_json(row.cost),
        "illustrative_cost_usd": dollars_json(row.illustrative_cost),
        "unpriced_calls": row.unpriced_calls,
        "calls_without_usage": row.calls_without_usage,
        "calls_with_invalid_usage": row.calls_with_invalid_usage,
        "illustrative_calls": row.illustrative_calls,
        "reported_calls": row.reported_calls,
    }


def usage_json(rows: Sequence[UsageRow], total: UsageRow) -> JsonObject:
    """Usage by groups, each row beginning with its group fields, and in total."""
    return {"rows": [{**row.group, **usage_figures_json(row)} for row in rows], "total": usage_figures_json(total)}


def trace_summary_json(trace: TraceSummary) -> JsonObject:
    """One trace of a list, without its spans."""
    return {
        "trace_id": trace.trace_id,
        "name": trace.name,
        "started_at": nanoseconds_json(trace.started_at),
        "duration_ms": milliseconds_json(trace.duration),
        "status": trace.status,
        "incomplete": trace.incomplete,
        "agent": trace.agent,
        "thread_id": trace.thread_id,
        "run_id": trace.run_id,
        "span_count": trace.spans,
        "usage": usage_figures_json(trace.usage),
        "cost_usd": dollars_json(trace.usage.cost),
    }


def trace_json(trace: TraceSummary, spans: Sequence[StoredSpan]) -> JsonObject:
    """One trace with its spans."""
    return {**trace_summary_json(trace), "spans": [span_json(span) for span in spans]}


def span_json(span: StoredSpan) -> JsonObject:
    """One span; `usage` is null where nothing is known of it, and each count of it that is not known is null."""
    return {
        "span_id": span.span_id,
        "parent_span_id": span.parent_span_id,
        "name": span.name,
        "kind": span.kind,
        "operation": span.operation,
        "model": span.model,
        "provider": span.provider,
        "tool": span.tool,
        "run_id": span.run_id,
        "step_id": span.step_id,
        "attempt": span.attempt,
        "role": span.role,
        "started_at": nanoseconds_json(span.started_at),
        "duration_ms": milliseconds_json(span.duration),
        "status": span.status,
        "error": span.error,
        "usage": _span_usage_json(span),
        "cost_usd": dollars_json(span.cost),
        "price_source": span.price_source,
        "illustrative": span.illustrative,
        "counted": span.counted,
        "flags": list(span.flags),
        "attributes": span.attributes,
    }


def _span_usage_json(span: StoredSpan) -> JsonObject | None:
    counts = {
        "input_tokens": span.usage.input,
        "output_tokens": span.usage.output,
        "cache_read_tokens": span.usage.cache_read,
        "cache_write_tokens": span.usage.cache_write,
        "reasoning_tokens": span.usage.reasoning,
    }
    return None if all(count is None for count in counts.values()) else counts


def milliseconds_json(nanoseconds: int | None) -> float | None:
    """A duration in milliseconds; null while it runs."""
    return None if nanoseconds is None else nanoseconds / 1_000_000
