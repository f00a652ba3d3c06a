"""The free modes: `direct` answers at once; `react` lets the model look with tools until it answers.

Nothing was approved beforehand, so only reading needs no yes. Each call counts as a step, `c1`, `c2`, …
"""

from __future__ import annotations

import json
import logging
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from agent.planning import prompts
from agent.records import Effect, EventKind, JsonObject, PlanStep, StepStatus
from agent.run.deps import Deps
from agent.run.failing import NO_FAILED_TRY, AskError, LimitError, StoppedError, is_final, one_sentence, patiently
from agent.run.state import RunState, StepResult, seconds_to_wait, status_of
from agent.run.stepping import failed_try, typed
from agent.tools.registry import ErrorKind, Observation, ToolError

log = logging.getLogger(__name__)


def answer_directly(state: RunState, deps: Deps) -> RunState:
    """One answer, no plan, no tool."""
    with deps.tracing.part("answer", kind="answer"):
        messages = prompts.direct_messages(state["task"])
        return {"answer": patiently(lambda: deps.models.write(messages), deps.wait)}


def think(state: RunState, deps: Deps) -> RunState:
    """One turn of the model: calls to make, or the answer."""
    turns = state.get("turns", [])
    with deps.tracing.part(f"turn {len(turns) + 1}", kind="plan"):
        messages = [*prompts.react_messages(state["task"], state.get("feedback", [])), *_transcript(state)]
        answer = patiently(lambda: deps.models.turn("execution", messages, deps.registry.ready), deps.wait)
    made = sum(len(turn["calls"]) for turn in turns)
    calls = [
        {"id": f"c{made + n}", "tool": call["name"], "arguments": call["args"]}
        for n, call in enumerate(_calls(answer), start=1)
    ]
    turn: JsonObject = {"text": str(answer.text), "calls": calls}
    if calls:
        return {"turns": [turn], "statuses": {call["id"]: str(StepStatus.PENDING) for call in calls}}
    return {"turns": [turn], "answer": str(answer.text).strip()}


def _calls(answer: AIMessage) -> list[dict[str, Any]]:
    broken = [{"name": call["name"] or "", "args": {"": call["args"]}} for call in answer.invalid_tool_calls]
    return [*({"name": call["name"], "args": dict(call["args"])} for call in answer.tool_calls), *broken]


def _transcript(state: RunState) -> list[BaseMessage]:
    """The model's turns and what its calls showed, as the model is told them again."""
    messages: list[BaseMessage] = []
    for turn in state.get("turns", []):
        calls = [{"id": call["id"], "name": call["tool"], "args": call["arguments"]} for call in turn["calls"]]
        messages.append(AIMessage(content=turn["text"], tool_calls=calls))
        messages.extend(ToolMessage(_shown(state, call["id"]), tool_call_id=call["id"]) for call in turn["calls"])
    return messages


def _shown(state: RunState, call_id: str) -> str:
    result = state.get("results", {}).get(call_id)
    if result is None:
        error = state.get("errors", {}).get(call_id, "it was not made")
        return json.dumps({"error": "not_done", "message": error}, ensure_ascii=False)
    number = int(call_id.removeprefix("c"))
    return f"[{number}] {result['observation']['text']}"


def waiting_calls(state: RunState) -> list[JsonObject]:
    """The calls of the last turn that are still to be made."""
    turns = state.get("turns", [])
    return [
        call for call in (turns[-1]["calls"] if turns else []) if status_of(state, call["id"]) is StepStatus.PENDING
    ]


def act(state: RunState, deps: Deps) -> RunState:
    """Make one of the last turn's calls. What a tool refuses is for the model to read; the rest is tried again."""
    waiting = waiting_calls(state)
    call = next(item for item in waiting if item["id"] == state.get("current", waiting[0]["id"]))
    step = _as_step(call, deps)
    if not deps.wait(seconds_to_wait(state, step.id, deps.now())):
        return {}
    started = deps.now()
    try:
        with deps.tracing.part(f"call {step.id}", kind="step", step=step.id, attempt=1):
            arguments, observation = _made(state, call, step, deps)
    except NO_FAILED_TRY:
        raise
    except StoppedError:
        return {}
    except AskError as question:
        return {"asked": {step.id: question.payload}}
    except LimitError as limit:
        return {"stop_reason": str(limit.reason), "error": limit.message}
    except Exception as error:  # the boundary of a try, as in `stepping.execute`
        log.warning("call %s failed", step.id, exc_info=error)
        return _failed(state, step, error, deps)
    return _result(step, arguments, observation, started.isoformat(), deps)


def _made(state: RunState, call: JsonObject, step: PlanStep, deps: Deps) -> tuple[JsonObject, Observation]:
    said = state.get("answered", {}).get(step.id)
    if said is not None and said["decision"] == "reject":
        return call["arguments"], Observation(
            text=f"{said.get('by')} refused this call: {said.get('note')}", empty=True
        )
    if said is not None and said["decision"] == "respond":
        return call["arguments"], Observation(text=f"{said.get('by')} says: {said.get('value') or said.get('note')}")
    allowed = said is not None and said["kind"] == "tool_call"
    arguments = dict(said["arguments"]) if said is not None and allowed else dict(call["arguments"])
    if call["tool"] not in deps.registry:
        offered = ", ".join(tool.name for tool in deps.registry.ready)
        raise ToolError(f"There is no tool {call['tool']!r}; there are {offered}.", code="unknown_tool")
    return arguments, deps.call_tool(deps.registry[call["tool"]], arguments, step, 1, seen=allowed, version=None)


def _failed(state: RunState, step: PlanStep, error: Exception, deps: Deps) -> RunState:
    tool = deps.registry.get(step.tool)
    update = failed_try(state, step, error, deps)
    if isinstance(error, ToolError) and (error.kind is ErrorKind.BAD_ARGUMENT or is_final(error, tool)):
        return {**update, "errors": {step.id: typed(error)}, "statuses": {step.id: str(StepStatus.FAILED)}}
    if update.get("statuses"):
        return {**update, "statuses": {step.id: str(StepStatus.FAILED)}, "errors": {step.id: one_sentence(error)}}
    return update


def _as_step(call: JsonObject, deps: Deps) -> PlanStep:
    tool = call["tool"]
    effect = deps.registry[tool].effect if tool in deps.registry else Effect.READ
    return PlanStep(call["id"], f"Call {tool}", tool, dict(call["arguments"]), effect=effect)


def _result(step: PlanStep, arguments: JsonObject, observation: Observation, started: str, deps: Deps) -> RunState:
    result: StepResult = {
        "key_result": observation.text[:300],
        "criterion_met": True,
        "reason": "The model asked for it.",
        "arguments": arguments,
        "observation": observation.to_json(),
        "started_at": started,
        "finished_at": deps.now().isoformat(),
    }
    deps.recorder.tell(EventKind.STEP_COMPLETED, f"{step.id} {step.tool}", step_id=step.id, once=f"call:{step.id}")
    gone: dict[str, Any] = {step.id: None}
    return {
        "statuses": {step.id: str(StepStatus.COMPLETED)},
        "results": {step.id: dict(result)},
        "answered": gone,
        "errors": gone,
        "retry_at": gone,
    }
