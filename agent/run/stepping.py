"""The node that tries one step: contract, model, tool, judgement. What is raised inside ends the try and is counted."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from agent.planning import prompts
from agent.planning.hashing import canonical_json, plan_hash
from agent.planning.ordering import dependents
from agent.records import JsonObject, PlanStep, RequestKind, StepStatus
from agent.run.deps import Deps
from agent.run.failing import (
    NO_FAILED_TRY,
    AskError,
    ContractError,
    EmptyObservationError,
    LimitError,
    StoppedError,
    UnmetCriterionError,
    is_final,
    one_sentence,
    seconds_before_retry,
    trigger_of,
)
from agent.run.state import RunState, StepResult, earlier_results, plan_of, ready, seconds_to_wait
from agent.tools.registry import ErrorKind, Observation, ToolError

log = logging.getLogger(__name__)

TOOL_TURNS = 3
"""How often a model may call the tool of one try, mending what the tool refused."""


def execute(state: RunState, deps: Deps) -> RunState:
    """Try the step that this task of the wave is about once. What is raised inside is never a result."""
    current = plan_of(state)
    if current is None:
        raise ContractError("There is no plan to run.")
    step = current.step(state["current"]) if "current" in state else ready(state)[0]
    check_contract(state, deps)
    if not deps.wait(seconds_to_wait(state, step.id, deps.now())):
        return {}
    try:
        return _tried(state, step, deps)
    except NO_FAILED_TRY:
        raise
    except StoppedError:
        return {}
    except AskError as question:
        return {"asked": {step.id: question.payload}}
    except LimitError as limit:
        return {"stop_reason": str(limit.reason), "error": limit.message}
    except Exception as error:  # the boundary of a try: whatever model, tool or judge raised ends it, and is told
        log.warning("step %s failed", step.id, exc_info=error)
        return failed_try(state, step, error, deps)


def _tried(state: RunState, step: PlanStep, deps: Deps) -> RunState:
    """What one try adds to the state, if it succeeds."""
    started = deps.now()
    attempt = deps.recorder.step_started(step)
    with deps.tracing.part(f"step {step.id}", kind="step", step=step.id, attempt=attempt):
        arguments, observation = _run_step(state, step, attempt, deps)
        judgement = _judge(step, observation, deps)
        _review(step, observation, deps)
    result: StepResult = {
        "key_result": judgement["key_result"],
        "criterion_met": True,
        "reason": judgement["reason"],
        "arguments": arguments,
        "observation": observation.to_json(),
        "started_at": started.isoformat(),
        "finished_at": deps.now().isoformat(),
    }
    gone: dict[str, Any] = {step.id: None}
    return {
        "statuses": {step.id: str(StepStatus.COMPLETED)},
        "results": {step.id: dict(result)},
        "errors": gone,
        "retry_at": gone,
        "answered": gone,
    }


def check_contract(state: RunState, deps: Deps) -> None:
    """Refuse to run anything but exactly the plan that a recorded decision approved."""
    current = plan_of(state)
    if current is None:
        raise ContractError("There is no plan to run.")
    actual = plan_hash(current.goal, current.steps)
    if not actual == current.hash == state.get("approved_hash"):
        raise ContractError("The plan changed after its approval; nothing more was run.")
    if not deps.recorder.is_approved(actual):
        raise ContractError("No recorded decision approves this plan; nothing was run.")


# --- the call -------------------------------------------------------------------------------------------------------


def _run_step(state: RunState, step: PlanStep, attempt: int, deps: Deps) -> tuple[JsonObject, Observation]:
    """The tool's arguments and what it showed, or the model's words for a step without a tool."""
    said = state.get("answered", {}).get(step.id)
    if said is not None and said["kind"] == RequestKind.TOOL_CALL and said["decision"] in ("approve", "edit"):
        return _allowed_call(state, step, said, attempt, deps)
    if said is not None and said.get("about") == "outcome" and said["decision"] == "respond":
        told = f"{said.get('by')} says: {said.get('value') or said.get('note')}"
        return dict(said.get("arguments") or {}), Observation(text=told)
    plan_goal = (state.get("plan") or {}).get("goal", "")
    shown = {**step.to_json(), "last_error": state.get("errors", {}).get(step.id)}
    if said is not None and said.get("about") != "budget":
        shown["a_person_said"] = said.get("value") or said.get("note")
    messages = prompts.execute_messages(state["task"], plan_goal, shown, earlier_results(state, step))
    if step.tool is None:
        words = str(deps.models.turn("execution", messages).text)
        return {}, Observation(text=words, empty=not words.strip())
    return _tool_turns(messages, step, attempt, deps, _version(state, step))


def _allowed_call(
    state: RunState, step: PlanStep, said: JsonObject, attempt: int, deps: Deps
) -> tuple[JsonObject, Observation]:
    """Exactly the call that a person allowed, without asking the model again."""
    arguments = dict(said["arguments"])
    tool = deps.registry[str(step.tool)]
    return arguments, deps.call_tool(tool, arguments, step, attempt, seen=True, version=_version(state, step))


def _version(state: RunState, step: PlanStep) -> int:
    return state.get("since", {}).get(step.id, 1)


def _tool_turns(
    messages: list[BaseMessage], step: PlanStep, attempt: int, deps: Deps, version: int
) -> tuple[JsonObject, Observation]:
    tool = deps.registry[str(step.tool)]
    refused = "the model did not call the tool"
    for _ in range(TOOL_TURNS):
        answer = deps.models.turn("execution", messages, [tool])
        call = _tool_call(answer)
        if call is None:
            said = str(answer.text)[:300].rstrip(".") or "the model answered nothing"
            raise ToolError(f"{tool.name} was not called: {said}.")
        try:
            arguments = _covered(step, call)
            seen = canonical_json(step.args) == canonical_json(arguments)
            return arguments, deps.call_tool(tool, arguments, step, attempt, seen=seen, version=version)
        except ToolError as error:
            if error.kind is ErrorKind.MISSING_INPUT:
                raise AskError(
                    {"kind": str(RequestKind.QUESTION), "question": error.message, "step_id": step.id}
                ) from error
            if error.kind is not ErrorKind.BAD_ARGUMENT:
                raise
            refused = error.message
            messages = [*messages, answer, *_answers(answer, call, error)]
    raise ToolError(f"{tool.name} refused {TOOL_TURNS} calls: {refused}")


def _answers(answer: AIMessage, call: Mapping[str, Any], error: ToolError) -> list[ToolMessage]:
    """An answer to every call of the turn, since providers refuse a turn with an unanswered one."""
    ids = [item["id"] for item in [*answer.tool_calls, *answer.invalid_tool_calls]]
    only_one = ToolError("Only the first call of a turn is looked at; call once.", code="one_call")
    return [ToolMessage(typed(error if item == call["id"] else only_one), tool_call_id=item or "call") for item in ids]


def typed(error: ToolError) -> str:
    """A tool's refusal as an observation that a model can act on."""
    return json.dumps({"error": error.code, "message": error.message}, ensure_ascii=False)


def _tool_call(answer: AIMessage) -> dict[str, Any] | None:
    if answer.tool_calls:
        return dict(answer.tool_calls[0])
    if answer.invalid_tool_calls:
        broken = answer.invalid_tool_calls[0]
        return {"name": broken["name"], "args": {"": broken["args"]}, "id": broken["id"]}
    return None


def _covered(step: PlanStep, call: Mapping[str, Any]) -> JsonObject:
    """The call's arguments, if the approved step covers the call: same tool, every fixed argument equal."""
    if call["name"] != step.tool:
        raise ToolError(f"Step {step.id} may call {step.tool} only, not {call['name']}.", code="not_covered")
    arguments = dict(call["args"])
    for name, value in step.args.items():
        if name not in arguments or canonical_json(arguments[name]) != canonical_json(value):
            raise ToolError(f"Step {step.id} fixes {name}; call again with it unchanged.", code="not_covered")
    return arguments


# --- the judgement --------------------------------------------------------------------------------------------------


def _judge(step: PlanStep, observation: Observation, deps: Deps) -> JsonObject:
    """The judgement of a result that meets its criterion. An answer that cannot be read is no yes."""
    messages = prompts.judge_messages(step.to_json(), observation.to_json())
    raw = deps.models.ask("check", messages, prompts.JUDGE_STEP)
    if not isinstance(raw, Mapping) or not isinstance(raw.get("criterion_met"), bool):
        raise UnmetCriterionError("The check of the step gave no readable yes or no.")
    reason = str(raw.get("reason") or "no reason given")
    if not raw["criterion_met"]:
        unmet = EmptyObservationError if observation.empty else UnmetCriterionError
        raise unmet(f"The result does not meet the criterion: {reason}")
    return {"reason": reason, "key_result": str(raw.get("key_result") or observation.text[:300])}


def _review(step: PlanStep, observation: Observation, deps: Deps) -> None:
    """Send a result back that the reviewer scores too low. A score that cannot be read is no good one."""
    threshold = deps.behaviour.review_below
    if threshold is None:
        return
    raw = deps.models.ask(
        "check", prompts.review_messages(step.to_json(), observation.to_json()), prompts.REVIEW_RESULT
    )
    score = raw.get("score") if isinstance(raw, Mapping) else None
    if not isinstance(score, int | float) or isinstance(score, bool):
        raise UnmetCriterionError("The reviewer gave no readable score.")
    if score < threshold:
        advice = raw.get("advice") if isinstance(raw, Mapping) else None
        raise UnmetCriterionError(f"The reviewer scored it {score:g}, below {threshold:g}: {advice or 'no advice'}")


# --- failure --------------------------------------------------------------------------------------------------------


def failed_try(state: RunState, step: PlanStep, error: Exception, deps: Deps) -> RunState:
    """Count a failed try: the step is tried again, at once or later, or is blocked and its dependents skipped."""
    tries = state.get("tries", {}).get(step.id, 0) + 1
    gone: dict[str, Any] = {step.id: None}
    update: RunState = {"tries": {step.id: tries}, "errors": {step.id: one_sentence(error)}, "answered": gone}
    tool = deps.registry.get(step.tool)
    if tries >= deps.limits.tries_per_step or is_final(error, tool):
        return {
            **update,
            "statuses": blocked(state, step.id),
            "triggers": {step.id: trigger_of(error)},
            "retry_at": gone,
        }
    seconds = seconds_before_retry(error, tries)
    if seconds:
        update["retry_at"] = {step.id: _later(deps, seconds)}
    return update


def _later(deps: Deps, seconds: float) -> str:
    return (deps.now() + timedelta(seconds=seconds)).isoformat()


def blocked(state: RunState, step_id: str) -> dict[str, str]:
    """The statuses by which a step is blocked, and what depends on it skipped."""
    current = plan_of(state)
    skipped = dependents(current.steps if current else (), step_id)
    return {step_id: str(StepStatus.BLOCKED)} | {other: str(StepStatus.SKIPPED) for other in skipped}
