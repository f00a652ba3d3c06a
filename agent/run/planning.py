"""The nodes in which the model plans: choosing a mode, the first plan, a new one after a failure, looking back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage

from agent.models.failures import ModelError, is_useless_answer
from agent.planning import prompts
from agent.planning.fallback import fallback_plan
from agent.planning.parsing import Outcome, ParsedPlan, parse_plan
from agent.planning.revising import NoProgressError, extend, revise
from agent.planning.validation import PlanProblem
from agent.records import EventKind, JsonObject, Mode, Plan, PlanSource, StepStatus, StopReason
from agent.run.deps import Deps
from agent.run.failing import patiently
from agent.run.policy import Degrade, ReplanPolicy
from agent.run.state import RunState, plan_of, progress_summary, status_of, with_plan

MOST_FURTHER_STEPS = 2
"""How many steps looking back may add at a time."""


# --- route ----------------------------------------------------------------------------------------------------------


def route(state: RunState, deps: Deps) -> RunState:
    """Choose how to go about the task where the run leaves it open; a task that needs no tool is answered at once."""
    if state["mode"] != Mode.AUTO:
        return {}
    with deps.tracing.part("route", kind="plan"):
        messages = prompts.route_messages(state["task"], deps.registry.describe())
        raw = patiently(lambda: deps.models.ask("planning", messages, prompts.CHOOSE_MODE), deps.wait)
    chosen = _as_object(raw)
    mode = chosen.get("mode")
    reason = str(chosen.get("reason") or "no reason given")
    answer = str(chosen.get("answer") or "").strip()
    if mode == Mode.DIRECT and answer:
        update: RunState = {"mode": str(Mode.DIRECT), "mode_reason": reason, "answer": answer}
    elif mode in (Mode.DIRECT, Mode.REACT, Mode.PLAN_EXECUTE):
        update = {"mode": str(mode), "mode_reason": reason}
    else:
        update = {"mode": str(Mode.PLAN_EXECUTE), "mode_reason": "The model chose none, so it plans and asks first."}
    deps.recorder.tell(EventKind.MODE_CHOSEN, f"mode {update['mode']}: {update['mode_reason']}", once="mode")
    return update


def _as_object(raw: str | JsonObject) -> Mapping[str, Any]:
    """A function's arguments, also if the model gave them as JSON text; empty if it gave neither."""
    value: object = raw
    if isinstance(raw, str):
        try:
            value = json.loads(raw)
        except ValueError:
            return {}
    return value if isinstance(value, Mapping) else {}


# --- plan -----------------------------------------------------------------------------------------------------------


def plan(state: RunState, deps: Deps) -> RunState:
    """Ask the model for a plan; mend, check, ask once more, degrade. Never calls a tool."""
    rounds = state.get("plan_rounds", 0) + 1
    if rounds > deps.limits.max_iterations:
        return _stopped(StopReason.MAX_ITERATIONS, f"The task was planned {deps.limits.max_iterations} times.")
    with deps.tracing.part(f"plan v{rounds}", kind="plan"):
        answer = _propose(state, deps, refused=())
        if isinstance(answer, ParsedPlan) and not answer.plan and not answer.question:
            answer = _propose(state, deps, refused=_reasons(answer))
    return {"plan_rounds": rounds, "question": None, **_planned(state, answer, deps)}


def _propose(state: RunState, deps: Deps, refused: tuple[str, ...]) -> ParsedPlan | JsonObject:
    """One answer of the planner: a parsed plan, or `{kind: question|cannot, message}`."""
    previous = plan_of(state)
    messages = prompts.plan_messages(
        state["task"],
        deps.registry.describe(),
        deps.limits.max_steps,
        feedback=state.get("feedback", ()),
        refused=refused,
        previous=state.get("plan"),
        situation=_situation(deps),
    )
    raw = _asked(deps, messages, prompts.PROPOSE_PLAN)
    if isinstance(raw, ParsedPlan):
        return raw
    return _no_plan(raw) or parse_plan(
        raw,
        deps.registry,
        goal=state["task"],
        max_steps=deps.limits.max_steps,
        version=previous.version + 1 if previous else 1,
        parent_hash=previous.hash if previous else None,
        trigger="feedback" if previous else None,
    )


def _asked(deps: Deps, messages: list[BaseMessage], function: JsonObject) -> str | JsonObject | ParsedPlan:
    """The planner's raw answer; an invalid plan where it was cut off or empty, since that is no fault of the call."""
    try:
        return patiently(lambda: deps.models.ask("planning", messages, function), deps.wait)
    except ModelError as error:
        if not is_useless_answer(error):
            raise
        return ParsedPlan(None, (), (PlanProblem("not_a_plan", None, error.message),), Outcome.INVALID)


def _situation(deps: Deps) -> JsonObject:
    """What a planner should reckon with: what is left of the budget, which tools failed lately, what was done."""
    used, limits = deps.meter.used(), deps.limits
    left: JsonObject = {
        "model_calls": limits.max_llm_calls - used.llm_calls,
        "tool_calls": limits.max_tool_calls - used.tool_calls,
        "tokens": limits.max_tokens - used.tokens,
    }
    more = {
        "tools_that_failed_lately": deps.recorder.tool_health(),
        "done_already_and_not_to_be_done_again": deps.recorder.effects_made(),
    }
    return {"left": left, **{name: value for name, value in more.items() if value}}


def _no_plan(raw: str | JsonObject) -> JsonObject | None:
    """The question, or the word that there is no plan, if the planner answered one of them; also as JSON text."""
    answer = _as_object(raw)
    if answer.get("kind") in ("question", "cannot", "answer") and answer.get("message"):
        return {"kind": answer["kind"], "message": str(answer["message"])}
    return None


def _reasons(parsed: ParsedPlan) -> tuple[str, ...]:
    return tuple(f"{problem.code}: {problem.message}" for problem in parsed.errors)


def _planned(state: RunState, answer: ParsedPlan | JsonObject, deps: Deps) -> RunState:
    """What a planner's last answer does to the state."""
    if not isinstance(answer, ParsedPlan):
        if answer["kind"] == "question":
            return {"question": answer["message"]}
        return {**_stopped(StopReason.EMPTY_PLAN, "The planner made no plan."), "answer": answer["message"]}
    if answer.plan:
        return with_plan(state, answer.plan)
    if answer.question:
        return {"question": answer.question}
    if any(problem.code == "empty_plan" for problem in answer.errors):
        return _stopped(StopReason.EMPTY_PLAN, "The planner gave a plan without steps twice.")
    return _degrade(state, answer, deps)


def _degrade(state: RunState, refused: ParsedPlan, deps: Deps) -> RunState:
    """What becomes of a run whose planner gave no valid plan twice, as the agent is configured; the history says it."""
    reasons = "; ".join(_reasons(refused))
    if deps.behaviour.degrade is Degrade.FAIL:
        return _stopped(StopReason.INVALID_PLAN, reasons)
    deps.recorder.tell(
        EventKind.DEGRADED, f"no valid plan twice, goes on with {deps.behaviour.degrade}: {reasons}"[:400]
    )
    if deps.behaviour.degrade is Degrade.REACT:
        return {"mode": str(Mode.REACT), "mode_reason": f"The planner gave no valid plan twice: {reasons}"}
    return _fall_back(state, reasons, deps)


def _fall_back(state: RunState, reasons: str, deps: Deps) -> RunState:
    """The generic plan, which is approved like any other."""
    previous = plan_of(state)
    parsed = parse_plan(
        fallback_plan(state["task"], deps.registry.ready),
        deps.registry,
        goal=state["task"],
        max_steps=deps.limits.max_steps,
        version=previous.version + 1 if previous else 1,
        parent_hash=previous.hash if previous else None,
        trigger="invalid_plan",
        source=PlanSource.FALLBACK,
    )
    if parsed.plan is None:
        return _stopped(StopReason.INVALID_PLAN, reasons)
    return with_plan(state, parsed.plan)


def _stopped(reason: StopReason, error: str) -> RunState:
    return {"stop_reason": str(reason), "error": error}


# --- check and replan -----------------------------------------------------------------------------------------------


def check(state: RunState, deps: Deps) -> RunState:
    """Say whether a new plan is wanted now that no step is ready any more, and by which trigger."""
    failed = _failed_step(state)
    if failed is not None:
        return _wants_replan(state, failed, deps)
    current = plan_of(state)
    done = current is not None and all(status_of(state, step.id) is StepStatus.COMPLETED for step in current.steps)
    if not done or not deps.behaviour.reflect:
        return {}
    return _look_back(state, deps)


def _failed_step(state: RunState) -> str | None:
    """The first step that failed for good, in plan order; None if there is none that a replan could mend."""
    current = plan_of(state)
    triggers = state.get("triggers", {})
    for step in current.steps if current else ():
        blocked = status_of(state, step.id) is StepStatus.BLOCKED
        if blocked and triggers.get(step.id, "call_refused") != "call_refused":
            return step.id
    return None


def _wants_replan(state: RunState, step_id: str, deps: Deps) -> RunState:
    if deps.behaviour.replan is ReplanPolicy.OFF:
        return {}
    if state.get("replans", 0) >= deps.limits.max_replans:
        return _stopped(
            StopReason.MAX_REPLANS,
            f"{step_id} failed after {deps.limits.max_replans} new plans: {state.get('errors', {}).get(step_id)}",
        )
    trigger = {
        "kind": state["triggers"][step_id],
        "step_id": step_id,
        "reason": state.get("errors", {}).get(step_id, "no reason is known"),
    }
    return {"trigger": trigger}


def replan(state: RunState, deps: Deps) -> RunState:
    """Ask for the failed step and what depends on it anew. Completed work is kept; no progress stops the run."""
    rounds = state.get("plan_rounds", 0) + 1
    if rounds > deps.limits.max_iterations:
        return _stopped(StopReason.MAX_ITERATIONS, f"The task was planned {deps.limits.max_iterations} times.")
    counted: RunState = {"plan_rounds": rounds, "replans": state.get("replans", 0) + 1, "trigger": None}
    with deps.tracing.part(f"replan v{rounds}", kind="plan"):
        try:
            answer = _revision(state, deps, refused=())
            if isinstance(answer, ParsedPlan) and answer.plan is None:
                answer = _revision(state, deps, refused=_reasons(answer))
        except NoProgressError as error:
            last = state.get("errors", {}).get(error.step_id, "no reason is known")
            return {**counted, **_stopped(StopReason.NO_PROGRESS, f"{error.message} {error.step_id}: {last}")}
    return {**counted, **_replanned(state, answer)}


def _replanned(state: RunState, answer: ParsedPlan | JsonObject) -> RunState:
    if not isinstance(answer, ParsedPlan):
        if answer["kind"] == "question":
            return {"question": answer["message"]}
        if answer["kind"] == "answer":
            return {"answer": answer["message"], "stop_reason": str(StopReason.COMPLETED)}
        return _stopped(StopReason.STEP_BLOCKED, f"{_last_failure(state)} There is no other way: {answer['message']}")
    if answer.plan is None:
        wrong = "; ".join(_reasons(answer))
        return _stopped(StopReason.STEP_BLOCKED, f"{_last_failure(state)} The new plan is not valid: {wrong}")
    return with_plan(state, answer.plan)


def _last_failure(state: RunState) -> str:
    trigger = state.get("trigger") or {}
    return f"{trigger.get('step_id')} did not get done: {str(trigger.get('reason')).rstrip('.')}."


def _revision(state: RunState, deps: Deps, refused: tuple[str, ...]) -> ParsedPlan | JsonObject:
    """One answer of the replanner, merged into the plan; `{kind, message}` where it gives no steps."""
    current = _current(state)
    adaptive = deps.behaviour.replan is ReplanPolicy.ADAPTIVE
    messages = prompts.revise_messages(
        state["task"],
        deps.registry.describe(),
        plan=current.to_json(),
        progress=progress_summary(state),
        trigger=state["trigger"] or {},
        adaptive=adaptive,
        refused=refused,
        situation=_situation(deps),
    )
    raw = _asked(deps, messages, prompts.REVISE_PLAN)
    if isinstance(raw, ParsedPlan):
        return raw
    said = _no_plan(raw)
    if said and (said["kind"] != "answer" or adaptive):
        return said
    statuses = {step.id: status_of(state, step.id) for step in current.steps}
    return revise(
        current,
        statuses,
        raw,
        deps.registry,
        adaptive=adaptive,
        trigger=str((state["trigger"] or {}).get("kind")),
        max_steps=deps.limits.max_steps,
    )


def _current(state: RunState) -> Plan:
    current = plan_of(state)
    if current is None:
        raise LookupError("There is no plan to revise.")
    return current


# --- looking back ---------------------------------------------------------------------------------------------------


def _look_back(state: RunState, deps: Deps) -> RunState:
    """Ask whether what was found is enough; further steps make a new version, which is approved like any other."""
    rounds = state.get("reflections", 0) + 1
    with deps.tracing.part(f"look back {rounds}", kind="check"):
        messages = prompts.reflect_messages(
            state["task"], deps.registry.describe(), _current(state).goal, progress_summary(state), MOST_FURTHER_STEPS
        )
        try:
            raw = patiently(lambda: deps.models.ask("check", messages, prompts.REFLECT), deps.wait)
        except ModelError as error:
            if not is_useless_answer(error):
                raise
            # Every criterion is met already; an answer that says nothing adds no step.
            raw = {}
    update: RunState = {"reflections": rounds}
    said = _as_object(raw)
    if said.get("enough") is not False or not said.get("steps"):
        return update
    if state.get("plan_rounds", 0) >= deps.limits.max_iterations:
        return {**update, **_stopped(StopReason.MAX_ITERATIONS, f"It is not enough yet: {said.get('missing')}")}
    return {**update, **_extended(state, said, deps)}


def _extended(state: RunState, said: Mapping[str, Any], deps: Deps) -> RunState:
    steps = list(said["steps"])[:MOST_FURTHER_STEPS] if isinstance(said["steps"], list) else []
    parsed = extend(_current(state), {"steps": steps}, deps.registry, max_steps=deps.limits.max_steps)
    if parsed.plan is None:
        missing = str(said.get("missing") or "the model did not say what")
        deps.recorder.tell(EventKind.DEGRADED, f"more was wanted and could not be planned: {missing}"[:400])
        return {}
    return {"plan_rounds": state.get("plan_rounds", 0) + 1, **with_plan(state, parsed.plan)}
