"""The last node: the answer from what was found, and why the run ends."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator

from agent.planning import prompts
from agent.records import JsonObject, Mode, Source, StepStatus, StopReason
from agent.run.deps import Deps
from agent.run.failing import NO_FAILED_TRY, AskError, LimitError, one_sentence, patiently
from agent.run.state import RunState, plan_of, status_of

log = logging.getLogger(__name__)

SPENT = frozenset({StopReason.BUDGET, StopReason.TIMEOUT})
"""Limits after which no model is asked for the answer either; a model call is kept aside for it."""


def complete(state: RunState, deps: Deps) -> RunState:
    """Write the answer from the observations of completed steps, and say why the run ends and what it did for good."""
    update = _completed(state, deps)
    acted = _acted_otherwise(state, deps)
    if acted:
        answer = update.get("answer") or state.get("answer")
        update["answer"] = f"{answer}\n\n{acted}" if answer else acted
    return update


def _acted_otherwise(state: RunState, deps: Deps) -> str:
    """Effects that happened in steps that do not count as done; nobody may miss them. Empty if there are none."""
    results = state.get("results", {})
    lines = [
        f"- {made['step_id']} called {made['tool']}: {json.dumps(made['arguments'], ensure_ascii=False)}"
        for made in deps.recorder.effects_made()
        if made["step_id"] not in results
    ]
    if not lines:
        return ""
    return "\n".join(["This was done, although its step is not counted as done:", "", *lines])


def _completed(state: RunState, deps: Deps) -> RunState:
    reason = state.get("stop_reason") or _stop_reason(state)
    observations = _observations(state)
    answer = state.get("answer")
    if answer is not None or not observations:
        return {"stop_reason": reason, "sources": _cited(answer, observations) if answer and observations else []}
    if reason in SPENT:
        return {"stop_reason": reason, "answer": _listing(observations), "sources": _cited("", observations)}
    try:
        written = _answer(state, observations, deps)
    except NO_FAILED_TRY:
        raise
    except (AskError, LimitError) as limit:
        log.warning("no call is left for the answer", exc_info=limit)
        return {"stop_reason": reason, "answer": _listing(observations), "sources": _cited("", observations)}
    except Exception as error:  # the answer cannot be written, and what was found is delivered all the same
        log.warning("the answer could not be written", exc_info=error)
        return {
            "stop_reason": str(StopReason.ERROR),
            "error": f"The answer could not be written: {one_sentence(error)}",
            "answer": _listing(observations),
            "sources": _cited("", observations),
        }
    return {"stop_reason": reason, "answer": written, "sources": _cited(written, observations)}


def _answer(state: RunState, observations: list[JsonObject], deps: Deps) -> str:
    messages = prompts.answer_messages(
        state["task"], (state.get("plan") or {}).get("goal", state["task"]), _step_reports(state), observations
    )
    with deps.tracing.part("answer", kind="answer"):
        return patiently(lambda: deps.models.write(messages), deps.wait)


def _listing(observations: list[JsonObject]) -> str:
    lines = [f"- {item['step_id']}: {item['key_result']} [{item['n']}]" for item in observations]
    return "\n".join(["No answer was written. The steps found:", "", *lines])


def _stop_reason(state: RunState) -> str:
    if state.get("mode") in (Mode.DIRECT, Mode.REACT):
        return str(StopReason.COMPLETED)
    current = plan_of(state)
    statuses = [status_of(state, step.id) for step in current.steps] if current else []
    if statuses and all(status is StepStatus.COMPLETED for status in statuses):
        return str(StopReason.COMPLETED)
    return str(StopReason.STEP_BLOCKED if StepStatus.BLOCKED in statuses else StopReason.MAX_STEPS)


def _observations(state: RunState) -> list[JsonObject]:
    """What completed steps, or calls of the free mode, showed; numbered as an answer cites them."""
    results = state.get("results", {})
    numbered = enumerate(((name, tool) for name, tool in _in_order(state) if name in results), start=1)
    return [
        {
            "n": int(name.removeprefix("c")) if state.get("mode") == Mode.REACT else n,
            "step_id": name,
            "tool": tool,
            "key_result": results[name]["key_result"],
            "text": results[name]["observation"]["text"],
            "data": results[name]["observation"]["data"],
        }
        for n, (name, tool) in numbered
    ]


def _in_order(state: RunState) -> Iterator[tuple[str, str | None]]:
    if state.get("mode") == Mode.REACT:
        for turn in state.get("turns", []):
            yield from ((call["id"], call["tool"]) for call in turn["calls"])
        return
    current = plan_of(state)
    yield from ((step.id, step.tool) for step in (current.steps if current else ()))


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


def sources_of(state: RunState) -> tuple[Source, ...]:
    """The state's sources as records."""
    return tuple(Source(**item) for item in state.get("sources", []))
