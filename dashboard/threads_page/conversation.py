"""The messages in a state, as a conversation. Pure; texts are plain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from agent.records import JsonObject, JsonValue, PlanSource
from dashboard.look.formats import plural
from dashboard.threads_page.model import OwnRun, worded

PERSON, AGENT, TOOL, SYSTEM, HAND, PLAN = "person", "smart_toy", "build", "settings", "front_hand", "edit_note"
_ROLES = {
    "human": ("person", PERSON),
    "user": ("person", PERSON),
    "ai": ("agent", AGENT),
    "assistant": ("agent", AGENT),
    "tool": ("tool", TOOL),
    "function": ("tool", TOOL),
    "system": ("system", SYSTEM),
    "developer": ("system", SYSTEM),
}


@dataclass(frozen=True, slots=True)
class Turn:
    """One message."""

    who: str
    icon: str
    """Name of a Material Symbol."""
    text: str
    note: str = ""
    written: bool = False
    """Whether a model wrote it, as Markdown."""
    new: bool = False
    """Whether it was not there at the checkpoint before."""


def turns(values: JsonObject, before: JsonObject | None, own: OwnRun | None) -> list[Turn]:
    """Every message of a state in order; for our own runs told from task, plan, results and answer."""
    if own is not None and "task" in values:
        now, old = _run_turns(values, own), _run_turns(before, own) if before else []
    else:
        now, old = _message_turns(values), _message_turns(before or {})
    seen = set(old)
    return [turn if turn in seen else replace(turn, new=True) for turn in now]


def _message_turns(values: JsonObject) -> list[Turn]:
    return [
        turn
        for channel in values.values()
        if isinstance(channel, list)
        for item in channel
        if (turn := _message(item)) is not None
    ]


def _message(item: JsonValue) -> Turn | None:
    if not isinstance(item, dict):
        return None
    fields = item.get("$value", item)
    if not isinstance(fields, dict) or "content" not in fields:
        return None
    role = _role(str(item.get("$type", "")), fields)
    if role is None:
        return None
    who, icon = _ROLES[role]
    name = fields.get("name")
    return Turn(
        who=str(name) if name else who,
        icon=icon,
        text=_text(fields["content"]),
        note=_calls(fields.get("tool_calls")),
        written=icon == AGENT,
    )


def _role(type_: str, fields: JsonObject) -> str | None:
    """By class for LangChain's messages, else by the `role` or `type` that the message says itself."""
    name = type_.rsplit(".", 1)[-1].removesuffix("Chunk").removesuffix("Message").lower()
    for word in (name, fields.get("role"), fields.get("type")):
        if isinstance(word, str) and word in _ROLES:
            return word
    return None


def _text(content: JsonValue) -> str:
    """The text of a content that may be a list of blocks."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else worded(content)
    return "\n\n".join(filter(None, (_block(block) for block in content)))


def _block(block: JsonValue) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, dict):
        return worded(block)
    for key in ("text", "thinking", "reasoning"):
        if isinstance(block.get(key), str):
            return str(block[key])
    return f"[{block.get('type', 'block')}]"


def _calls(calls: JsonValue) -> str:
    if not isinstance(calls, list):
        return ""
    return ", ".join(
        f"calls {call.get('name')} with {worded(call.get('args'), 120)}" for call in calls if isinstance(call, dict)
    )


def _run_turns(values: JsonObject, own: OwnRun) -> list[Turn]:
    return [
        Turn(own.run.requested_by, PERSON, str(values.get("task", ""))),
        *_planning(values, own),
        *_results(values),
        *([Turn("agent", AGENT, str(values["answer"]), written=True)] if values.get("answer") else []),
    ]


def _planning(values: JsonObject, own: OwnRun) -> Iterable[Turn]:
    for words in values.get("feedback") or ():
        yield Turn("person", PERSON, str(words), "sent back")
    if values.get("question"):
        yield Turn("planner", PLAN, str(values["question"]), "asks")
    plan = values.get("plan")
    if isinstance(plan, dict):
        count = plural(len(plan.get("steps") or ()), "step")
        by_person = plan.get("source") == PlanSource.PERSON
        author = own.deciders.get(str(plan.get("hash")), "a person") if by_person else "planner"
        does = "Makes" if by_person else "Proposes"
        yield Turn(author, PLAN, f"{does} version {plan.get('version')} with {count}. {plan.get('goal', '')}".strip())
        if values.get("approved_hash") and values["approved_hash"] == plan.get("hash"):
            who = own.deciders.get(str(plan["hash"]), "a person")
            yield Turn(who, HAND, f"Approves version {plan.get('version')}.")


def _results(values: JsonObject) -> Iterable[Turn]:
    results, errors = values.get("results") or {}, values.get("errors") or {}
    plan = values.get("plan") or {}
    order = [str(step.get("id")) for step in plan.get("steps") or () if isinstance(step, dict)]
    for step in [*order, *(name for name in (*results, *errors) if name not in order)]:
        if step in results:
            yield Turn(step, TOOL, str(results[step].get("key_result", "")))
        elif step in errors:
            yield Turn(step, TOOL, str(errors[step]), "failed")
