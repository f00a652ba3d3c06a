"""The nodes of the agent graph: plain functions `(state, deps) -> update`.

LangGraph runs a node again from its first line when a pause in it is answered. So `review` and `ask` hold an
`interrupt` as their first statement and nothing before it.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import interrupt
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from agent.errors import AgentError, StorageError
from agent.models.failures import ModelError, is_refusal, is_transient, is_useless_answer
from agent.planning import prompts
from agent.planning.fallback import fallback_plan
from agent.planning.hashing import canonical_json, plan_hash
from agent.planning.ordering import dependents
from agent.planning.parsing import Outcome, ParsedPlan, parse_plan
from agent.planning.validation import PlanProblem
from agent.records import JsonObject, Plan, PlanSource, PlanStep, RequestKind, Source, StepStatus, StopReason
from agent.run.deps import Deps
from agent.run.state import RunState, StepResult, earlier_results, next_step, plan_of, status_of
from agent.store.errors import StaleLeaseError
from agent.tools.registry import Observation, ToolError
from traces.errors import TracesError

T = TypeVar("T")

log = logging.getLogger(__name__)

TOOL_TURNS = 3
"""How often a model may call the tool of one try, mending what the tool refused."""


class ContractError(AgentError):
    """The plan that would run is not the plan that a person approved; nothing runs."""

    code = "contract"


NO_FAILED_TRY = (ContractError, StaleLeaseError, StorageError, TracesError)
"""What says nothing about a step: the run itself must not, or cannot, go on here."""


class UnmetCriterionError(AgentError):
    """A step ran, and its result does not meet its acceptance criterion."""

    code = "criterion_unmet"


# --- plan -----------------------------------------------------------------------------------------------------------


def plan(state: RunState, deps: Deps) -> RunState:
    """Ask the model for a plan; mend, check, ask once more, fall back. Never calls a tool."""
    rounds = state.get("plan_rounds", 0) + 1
    with deps.tracing.part(f"plan v{rounds}", kind="plan"), deps.tracing.role("planning"):
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
    )
    try:
        raw = patiently(lambda: deps.models.ask(messages, prompts.PROPOSE_PLAN))
    except ModelError as error:
        if not is_useless_answer(error):
            raise
        problem = PlanProblem("not_a_plan", None, error.message)
        return ParsedPlan(plan=None, repairs=(), errors=(problem,), outcome=Outcome.INVALID)
    return _no_plan(raw) or parse_plan(
        raw,
        deps.registry,
        goal=state["task"],
        max_steps=deps.limits.max_steps,
        version=previous.version + 1 if previous else 1,
        parent_hash=previous.hash if previous else None,
        trigger="feedback" if previous else None,
    )


def patiently(call: Callable[[], T]) -> T:
    """Make a model call that changes nothing; a passing fault of the provider is waited out twice."""
    waits = wait_exponential_jitter(multiplier=0.5, max=8)
    attempts = Retrying(stop=stop_after_attempt(3), wait=waits, retry=retry_if_exception(is_transient), reraise=True)
    return attempts(call)


def _no_plan(raw: str | JsonObject) -> JsonObject | None:
    """The question, or the word that there is no plan, if the planner answered one of them; also as JSON text."""
    answer: object = raw
    if isinstance(raw, str):
        try:
            answer = json.loads(raw)
        except ValueError:
            return None
    if isinstance(answer, Mapping) and answer.get("kind") in ("question", "cannot") and answer.get("message"):
        return {"kind": answer["kind"], "message": str(answer["message"])}
    return None


def _reasons(parsed: ParsedPlan) -> tuple[str, ...]:
    return tuple(f"{problem.code}: {problem.message}" for problem in parsed.errors)


def _planned(state: RunState, answer: ParsedPlan | JsonObject, deps: Deps) -> RunState:
    """What a planner's last answer does to the state."""
    if not isinstance(answer, ParsedPlan):
        if answer["kind"] == "question":
            return {"question": answer["message"]}
        return {
            "stop_reason": str(StopReason.EMPTY_PLAN),
            "answer": answer["message"],
            "error": "The planner made no plan.",
        }
    if answer.plan:
        return with_plan(state, answer.plan)
    if answer.question:
        return {"question": answer.question}
    if any(problem.code == "empty_plan" for problem in answer.errors):
        return {"stop_reason": str(StopReason.EMPTY_PLAN), "error": "The planner gave a plan without steps twice."}
    return _fall_back(state, answer, deps)


def _fall_back(state: RunState, refused: ParsedPlan, deps: Deps) -> RunState:
    """The generic plan; the reasons why the model's own was refused go with it as repairs."""
    previous = plan_of(state)
    parsed = parse_plan(
        fallback_plan(state["task"], deps.registry),
        deps.registry,
        goal=state["task"],
        max_steps=deps.limits.max_steps,
        version=previous.version + 1 if previous else 1,
        parent_hash=previous.hash if previous else None,
        trigger="invalid_plan",
        source=PlanSource.FALLBACK,
    )
    if parsed.plan is None:
        return {"stop_reason": str(StopReason.INVALID_PLAN), "error": "; ".join(_reasons(refused))}
    return with_plan(state, parsed.plan)


def with_plan(state: RunState, new: Plan) -> RunState:
    """Make `new` the current version: nothing of an older one's progress or approval stays."""
    gone: dict[str, Any] = dict.fromkeys(state.get("statuses", {}))
    fresh: dict[str, Any] = {step.id: str(StepStatus.PENDING) for step in new.steps}
    return {"plan": new.to_json(), "approved_hash": None, "statuses": {**gone, **fresh}}


# --- ask and review: the pauses -------------------------------------------------------------------------------------


def ask(state: RunState) -> RunState:
    """Put the planner's question to a person."""
    decision = interrupt({"kind": str(RequestKind.QUESTION), "question": state.get("question")})
    if decision["decision"] != "respond":
        return _rejected(decision)
    said = f"You asked: {state.get('question')} The answer is: {decision.get('value') or decision.get('note')}"
    return {"question": None, "feedback": [*state.get("feedback", []), said]}


def review(state: RunState, deps: Deps) -> RunState:
    """Wait for a person's decision on the plan, and take it."""
    decision = interrupt({"kind": str(RequestKind.PLAN), "plan": state.get("plan"), "task": state["task"]})
    proposed = plan_of(state)
    if proposed is None or decision["hash"] != proposed.hash:
        raise ContractError("The decision names another plan version than the one that waits; nothing was run.")
    if decision["decision"] == "reject":
        return _rejected(decision)
    if decision["decision"] == "respond":
        return _sent_back(state, decision, deps)
    if decision["decision"] == "edit":
        edited = Plan.from_json(decision["value"])
        return {**with_plan(state, edited), "approved_hash": edited.hash}
    if decision["decision"] != "approve":
        raise ContractError(f"{decision['decision']!r} is no decision; nothing was run.")
    return {"approved_hash": proposed.hash}


def _rejected(decision: JsonObject) -> RunState:
    return {"stop_reason": str(StopReason.REJECTED), "question": None, "error": decision.get("note")}


def _sent_back(state: RunState, decision: JsonObject, deps: Deps) -> RunState:
    send_backs = state.get("send_backs", 0) + 1
    if send_backs > deps.limits.max_replans:
        return {
            "stop_reason": str(StopReason.MAX_REPLANS),
            "error": f"The plan was sent back more than {deps.limits.max_replans} times.",
        }
    said = str(decision.get("value") or decision.get("note") or "")
    return {"feedback": [*state.get("feedback", []), said], "send_backs": send_backs, "approved_hash": None}


# --- execute --------------------------------------------------------------------------------------------------------


def execute(state: RunState, deps: Deps) -> RunState:
    """Try the next ready step once. What is raised inside ends the try and is counted; it is never a result."""
    step = next_step(state)
    if step is None:
        return {}
    check_contract(state, deps)
    try:
        return _tried(state, step, deps)
    except (GraphBubbleUp, *NO_FAILED_TRY):
        raise
    except Exception as error:  # the boundary of a try: whatever model, tool or provider raised
        log.info("%s failed", step.id, exc_info=error)
        return failed_try(state, step, error, deps)


def _tried(state: RunState, step: PlanStep, deps: Deps) -> RunState:
    """What one try adds to the state, if it succeeds."""
    started = deps.now()
    attempt = deps.recorder.step_started(step)
    with deps.tracing.part(f"step {step.id}", kind="step", step=step.id, attempt=attempt):
        arguments, observation = _run_step(state, step, attempt, deps)
        judgement = _judge(step, observation, deps)
        if not judgement["criterion_met"]:
            raise UnmetCriterionError(f"The result does not meet the criterion: {judgement['reason']}")
    result: StepResult = {
        "key_result": judgement["key_result"],
        "criterion_met": True,
        "reason": judgement["reason"],
        "arguments": arguments,
        "observation": observation.to_json(),
        "started_at": started.isoformat(),
        "finished_at": deps.now().isoformat(),
    }
    return {
        "statuses": {step.id: str(StepStatus.COMPLETED)},
        "results": {step.id: dict(result)},
        "errors": {step.id: None},  # type: ignore[dict-item]  # None removes the entry, see `merge`
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


def _run_step(state: RunState, step: PlanStep, attempt: int, deps: Deps) -> tuple[JsonObject, Observation]:
    """The tool's arguments and what it showed, or the model's words for a step without a tool."""
    plan_goal = (state.get("plan") or {}).get("goal", "")
    shown = {**step.to_json(), "last_error": state.get("errors", {}).get(step.id)}
    messages = prompts.execute_messages(state["task"], plan_goal, shown, earlier_results(state, step))
    if step.tool is None:
        with deps.tracing.role("execution"):
            words = text_of(deps.models.turn(messages, None))
        return {}, Observation(text=words, empty=not words.strip())
    return _tool_turns(messages, step, attempt, deps)


def _tool_turns(
    messages: list[BaseMessage], step: PlanStep, attempt: int, deps: Deps
) -> tuple[JsonObject, Observation]:
    tool = deps.registry[str(step.tool)]
    refused = "the model did not call the tool"
    for _ in range(TOOL_TURNS):
        with deps.tracing.role("execution"):
            answer = deps.models.turn(messages, tool)
        call = _tool_call(answer)
        if call is None:
            said = text_of(answer)[:300].rstrip(".") or "the model answered nothing"
            raise ToolError(f"{tool.name} was not called: {said}.")
        try:
            arguments = _covered(step, call)
            return arguments, deps.call_tool(tool, arguments, step, attempt)
        except ToolError as error:
            refused = error.message
            messages = [*messages, answer, *_answers(answer, call, error)]
    raise ToolError(f"{tool.name} refused {TOOL_TURNS} calls: {refused}")


def _answers(answer: AIMessage, call: Mapping[str, Any], error: ToolError) -> list[ToolMessage]:
    """An answer to every call of the turn, since providers refuse a turn with an unanswered one."""
    ids = [item["id"] for item in [*answer.tool_calls, *answer.invalid_tool_calls]]
    only_one = ToolError("Only the first call of a turn is looked at; call once.", code="one_call")
    return [ToolMessage(_typed(error if item == call["id"] else only_one), tool_call_id=item or "call") for item in ids]


def _typed(error: ToolError) -> str:
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


def _judge(step: PlanStep, observation: Observation, deps: Deps) -> JsonObject:
    """Whether the criterion is met. An answer that cannot be read is no yes."""
    with deps.tracing.role("check"):
        raw = deps.models.ask(prompts.judge_messages(step.to_json(), observation.to_json()), prompts.JUDGE_STEP)
    if not isinstance(raw, Mapping) or not isinstance(raw.get("criterion_met"), bool):
        raise UnmetCriterionError("The check of the step gave no readable yes or no.")
    return {
        "criterion_met": raw["criterion_met"],
        "reason": str(raw.get("reason") or "no reason given"),
        "key_result": str(raw.get("key_result") or observation.text[:300]),
    }


def failed_try(state: RunState, step: PlanStep, error: Exception, deps: Deps) -> RunState:
    """Count a failed try: the step is tried again, or blocked, and what depends on it skipped."""
    tries = state.get("tries", {}).get(step.id, 0) + 1
    update: RunState = {"tries": {step.id: tries}, "errors": {step.id: one_sentence(error)}}
    if tries >= deps.limits.tries_per_step or is_refusal(error):
        update["statuses"] = _blocked(state, step)
    return update


def _blocked(state: RunState, step: PlanStep) -> dict[str, str]:
    current = plan_of(state)
    skipped = dependents(current.steps if current else (), step.id)
    return {step.id: str(StepStatus.BLOCKED)} | {other: str(StepStatus.SKIPPED) for other in skipped}


def one_sentence(error: BaseException) -> str:
    """An exception in words for a person, without a traceback and not longer than a line or two."""
    if isinstance(error, AgentError):
        return error.message
    words = " ".join(str(error).split()) or "no further word"
    return f"{type(error).__name__}: {words}"[:400]


# --- complete -------------------------------------------------------------------------------------------------------


def complete(state: RunState, deps: Deps) -> RunState:
    """Write the answer from the observations of completed steps, and say why the run ends."""
    reason = state.get("stop_reason") or _stop_reason(state)
    observations = _observations(state)
    if state.get("answer") is not None or not observations:
        return {"stop_reason": reason, "sources": []}
    try:
        answer = _answer(state, observations, deps)
    except (GraphBubbleUp, *NO_FAILED_TRY):
        raise
    except Exception as error:  # the answer cannot be written, and what was found is delivered all the same
        log.warning("the answer could not be written", exc_info=error)
        return _without_answer(observations, error)
    return {"stop_reason": reason, "answer": answer, "sources": _cited(answer, observations)}


def _answer(state: RunState, observations: list[JsonObject], deps: Deps) -> str:
    messages = prompts.answer_messages(
        state["task"], (state.get("plan") or {}).get("goal", ""), _step_reports(state), observations
    )
    with deps.tracing.part("answer", kind="answer"), deps.tracing.role("synthesis"):
        return text_of(patiently(lambda: deps.models.turn(messages, None))).strip()


def _without_answer(observations: list[JsonObject], error: Exception) -> RunState:
    lines = [f"- {item['step_id']}: {item['key_result']} [{item['n']}]" for item in observations]
    return {
        "stop_reason": str(StopReason.ERROR),
        "error": f"The answer could not be written: {one_sentence(error)}",
        "answer": "\n".join(["The answer could not be written. The steps found:", "", *lines]),
        "sources": _cited("", observations),
    }


def _stop_reason(state: RunState) -> str:
    current = plan_of(state)
    statuses = [status_of(state, step.id) for step in current.steps] if current else []
    if statuses and all(status is StepStatus.COMPLETED for status in statuses):
        return str(StopReason.COMPLETED)
    return str(StopReason.STEP_BLOCKED if StepStatus.BLOCKED in statuses else StopReason.MAX_STEPS)


def _observations(state: RunState) -> list[JsonObject]:
    current = plan_of(state)
    done = [(step, state.get("results", {}).get(step.id)) for step in (current.steps if current else ())]
    return [
        {
            "n": n,
            "step_id": step.id,
            "tool": step.tool,
            "key_result": result["key_result"],
            "text": result["observation"]["text"],
            "data": result["observation"]["data"],
        }
        for n, (step, result) in enumerate(((step, result) for step, result in done if result), start=1)
    ]


def _step_reports(state: RunState) -> list[JsonObject]:
    current = plan_of(state)
    return [
        {
            "id": step.id,
            "description": step.description,
            "status": str(status_of(state, step.id)),
            "error": state.get("errors", {}).get(step.id),
        }
        for step in (current.steps if current else ())
    ]


def _cited(answer: str, observations: list[JsonObject]) -> list[JsonObject]:
    """The observations that the answer cites as `[n]`; all of them when it cites none."""
    cited = {int(number) for number in re.findall(r"\[(\d{1,3})\]", answer)}
    kept = [item for item in observations if item["n"] in cited] or observations
    return [
        {"n": item["n"], "step_id": item["step_id"], "tool": item["tool"], "text": item["text"][:400]} for item in kept
    ]


def text_of(message: AIMessage) -> str:
    """The words of a model's message, whatever blocks they came in."""
    return str(message.text)


def sources_of(state: RunState) -> tuple[Source, ...]:
    """The state's sources as records."""
    return tuple(Source(**item) for item in state.get("sources", []))


# --- edges ----------------------------------------------------------------------------------------------------------


def after_plan(state: RunState) -> str:
    """Where a planner's answer leads."""
    if state.get("stop_reason"):
        return "complete"
    return "ask" if state.get("question") else "review"


def after_pause(state: RunState) -> str:
    """Where a person's decision leads: run, plan again, or end."""
    if state.get("stop_reason"):
        return "complete"
    return "execute" if state.get("approved_hash") else "plan"


def after_step(state: RunState, deps: Deps) -> str:
    """The executing edge: go on while a step is ready and fewer steps were done than the limit allows."""
    done = sum(1 for value in state.get("statuses", {}).values() if value == StepStatus.COMPLETED)
    return "execute" if next_step(state) and done < deps.limits.max_steps else "complete"
