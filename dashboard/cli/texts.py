"""Runs and requests as text for a person, made from the same documents that scripts get."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dashboard.cli.output import JsonObject, plain, print_facts, print_table

if TYPE_CHECKING:
    from agent.records import ApprovalRequest, ToolCall

CELL_CHARACTERS = 120


def print_run(run: JsonObject, calls: Sequence[ToolCall] = ()) -> None:
    """One run: where it stands, its steps, its tool calls, its answer."""
    usage = run["usage"]
    facts: dict[str, object] = {"run": run["run_id"], "thread": run["thread_id"], "task": run["task"]}
    facts["status"] = run["status"] + (f", {run['stop_reason']}" if run["stop_reason"] else "")
    if run["error"]:
        facts["error"] = run["error"]
    if run["degraded"]:
        facts["degraded"] = "works without LangGraph"
    facts["mode"] = run["mode"]
    if run["plan"]:
        facts["steps"] = f"{run['steps_done']} of {run['steps_total']}"
    facts["tokens"] = f"{_count(usage['input_tokens'])} in, {_count(usage['output_tokens'])} out"
    facts["cost"] = money(run["cost_usd"], usage["illustrative_cost_usd"])
    facts["used up"] = _used_up(run["meter"], run["limits"])
    print_facts(facts)
    if run["plan"]:
        _print_plan(run["plan"])
    if calls:
        _print_calls(calls)
    if run["answer"]:
        sys.stdout.write(f"\n{plain(run['answer'])}\n")


def _used_up(meter: JsonObject, limits: JsonObject) -> str:
    """What a run used of each of its limits."""
    return ", ".join(
        [
            f"{meter['llm_calls']:,} of {limits['max_llm_calls']:,} model calls",
            f"{meter['tool_calls']:,} of {limits['max_tool_calls']:,} tool calls",
            f"{meter['tokens']:,} of {limits['max_tokens']:,} tokens",
            f"{dollars(meter['cost_usd'])} of ${limits['max_cost_usd']}",
            f"{meter['active_ms'] / 1000:,.0f} of {limits['wall_seconds']:,} s",
        ]
    )


def _print_plan(plan: JsonObject) -> None:
    print_table(
        ("step", "what", "tool", "status", "tries", "result"),
        [
            (
                step["id"],
                step["description"],
                step["tool"] or "-",
                step["status"],
                step["attempts"],
                step["error"] or (step["result"] or {}).get("key_result", ""),
            )
            for step in plan["steps"]
        ],
        empty="The plan has no steps.",
    )


def _print_calls(calls: Sequence[ToolCall]) -> None:
    """The tool calls of a run, in the order in which they were made."""
    print_table(
        ("call", "step", "tool", "arguments", "state", "what came of it"),
        [
            (
                call.number,
                call.step_id,
                call.tool,
                _short(json.dumps(call.arguments, ensure_ascii=False)),
                call.state,
                _short(call.error or (call.observation or {}).get("text") or ""),
            )
            for call in calls
        ],
        empty="",
    )


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= CELL_CHARACTERS else f"{flat[: CELL_CHARACTERS - 1]}…"


def print_waiting(request: ApprovalRequest) -> None:
    """What a run waits for, with the commands that answer it."""
    lines = [*_asked(request), "", f"{request.request_id} waits for you. Answer with one of:"]
    decide, tail = f"  plandeck decide {request.request_id}", f"--hash {request.hash} --as YOU"
    lines += [f"{decide} {word} {tail}{f'   # {meaning}' if meaning else ''}" for word, meaning in _answers(request)]
    sys.stdout.write("\n" + "\n".join(plain(line) for line in lines) + "\n")


def _asked(request: ApprovalRequest) -> list[str]:
    """What is asked, word for word where it counts."""
    from dashboard.approvals.kinds import Asked, asked_for, step_words, title

    payload, kind = request.payload, asked_for(request)
    step = step_words(request)
    match kind:
        case Asked.CALL | Asked.OUTCOME:
            said = [title(request)] if kind is Asked.CALL else [str(payload.get("question"))]
            arguments = json.dumps(payload.get("arguments"), ensure_ascii=False, indent=2)
            about = f"{payload['tool']} ({payload['effect']}), {step}: {payload.get('description')}"
            return [*said, about, "With exactly these arguments:", *arguments.splitlines()]
        case Asked.BUDGET:
            return [str(payload.get("question"))]
        case Asked.QUESTION:
            return [f"{step.capitalize() if step else 'It'} asks: {payload.get('question')}"]
        case Asked.PLAN:
            return [f"Task: {payload['task']}", *_plan_asked(payload["plan"])]
        case _:
            return []


def _plan_asked(plan: JsonObject) -> list[str]:
    """Everything that a yes to a plan allows, the arguments word for word."""
    lines = [f"The agent understood: {plan['goal']}"]
    for step in plan["steps"]:
        after = f", after {', '.join(step['dependencies'])}" if step["dependencies"] else ""
        how = f"{step['tool']} ({step['effect']})" if step["tool"] else "in words"
        lines += ["", f"{step['id']}  {step['description']}", f"    {how}{after}"]
        if step["acceptance_criteria"]:
            lines.append(f"    done when: {step['acceptance_criteria']}")
        for name, value in step["args"].items():
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            first, *others = told.splitlines() or [""]
            lines += [f"    {name}: {first}", *(f"      {line}" for line in others)]
    return lines


def _answers(request: ApprovalRequest) -> list[tuple[str, str]]:
    """The decisions that the request can take, as they are typed, and what each does."""
    from dashboard.approvals.kinds import Asked, asked_for

    refuse = "reject --note REASON"
    match asked_for(request):
        case Asked.CALL:
            return [
                ("approve", "call it once with exactly these arguments"),
                ("edit --value JSON", "call it once with these arguments instead"),
                ("respond --note WORDS", "the model tries again with your words"),
                (refuse, "it is not called"),
            ]
        case Asked.OUTCOME:
            return [
                ("respond --note WHAT_HAPPENED", "it happened; count it as done"),
                ("approve", "call it again"),
                (refuse, "leave it undone"),
            ]
        case Asked.BUDGET:
            return [("approve", "raise the limits"), (refuse, "stop with what there is")]
        case Asked.QUESTION:
            return [("respond --note ANSWER", "the run goes on with it"), (refuse, "")]
        case Asked.PLAN:
            return [
                ("approve", "run exactly this plan"),
                ("edit --plan FILE", "run it as edited"),
                ("respond --note WORDS", "plan again with your words"),
                (refuse, "end the run"),
            ]
        case _:
            return [("approve", ""), (refuse, "")]


def print_request(request: ApprovalRequest) -> None:
    """One approval request and its decision."""
    from dashboard.approvals.kinds import asked_for, decided

    print_facts(
        {
            "request": request.request_id,
            "asked": asked_for(request),
            "status": request.status,
            "decided by": request.decided_by,
            **({"decision": f"{request.decided_by} {decided(request)}"} if decided(request) else {}),
            "run": request.run_id,
            "reached the run": "yes" if request.applied_at else "not yet",
        }
    )


def dollars(amount: str | None) -> str:
    """Money for a person; unknown is said."""
    return "unknown" if amount is None else f"${amount}"


def money(amount: str | None, made_up: str | None) -> str:
    """Money for a person, with what of it was charged at made-up rates."""
    if made_up is None:
        return dollars(amount)
    return f"{dollars(amount)} made-up" if made_up == amount else f"{dollars(amount)}, {dollars(made_up)} of it made-up"


def _count(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"
