"""A tool call that waits: what it would do, in words, and its arguments as they are edited. Pure; texts are plain."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.planning.hashing import NotHashableError, canonical_json
from agent.records import ApprovalRequest, Decision, Effect, JsonObject, JsonValue, Plan, PlanStep, ToolCall
from dashboard.approvals.changes import Difference, argument_differences
from dashboard.look.formats import NONE, at_moment, cut

FIRST = ("to", "recipient", "recipients", "cc", "bcc", "from", "channel", "subject", "title", "filename")
BODIES = ("body", "text", "message", "content", "html", "markdown")
TOLD = 200
"""Characters of an earlier call's arguments in a warning."""
SHORT = 160
"""What is longer, or has several lines, is shown as a block of its own."""
WHY = {
    Effect.READ: "This agent asks before it reads with this tool.",
    Effect.DRAFT: "It writes a file.",
    Effect.PUBLISH_INTERNAL: "It shows something to others in the company.",
    Effect.SEND_EXTERNAL: "What has left the company cannot be called back.",
    Effect.WRITE_SYSTEM: "It changes another system.",
}


@dataclass(frozen=True, slots=True)
class Reading:
    """Arguments as a reader takes them in: short ones by name, texts whole and last."""

    facts: tuple[tuple[str, str], ...]
    texts: tuple[tuple[str, str], ...]


def arguments_of(request: ApprovalRequest) -> JsonObject:
    """What the tool is to be called with; as edited if it was edited."""
    edited = request.decision is Decision.EDIT and isinstance(request.value, dict)
    arguments: JsonObject = request.value if edited else request.payload["arguments"]
    return arguments


def reading(arguments: JsonObject) -> Reading:
    """Every argument once: those of a letter's head first, then the others, then texts."""
    ordered = sorted(arguments, key=lambda name: FIRST.index(name.lower()) if name.lower() in FIRST else len(FIRST))
    facts: list[tuple[str, str]] = []
    texts: list[tuple[str, str]] = []
    for name in ordered:
        words = _words(arguments[name])
        is_text = name.lower() in BODIES or len(words) > SHORT or "\n" in words
        (texts if is_text else facts).append((_label(name), words))
    return Reading(tuple(facts), tuple(texts))


def _label(name: str) -> str:
    words = name.replace("_", " ").strip() or name
    return words[:1].upper() + words[1:]


def _words(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return NONE if value is None else json.dumps(value, ensure_ascii=False)


def acted(made: Sequence[ToolCall]) -> str:
    """What the run did that is done for good, a sentence a call; empty where it did nothing."""
    done = (call for call in made if call.has_acted)
    return " ".join(f"{call.step_id} called {call.tool}: {_told(call.arguments)}." for call in done)


def made_before(request: ApprovalRequest) -> str:
    """With which other arguments the same step has already called the tool; empty where it has not."""
    return " ".join(f"{_told(arguments)}." for arguments in request.payload.get("made_before", ()))


def _told(arguments: JsonObject) -> str:
    shown = reading(arguments)
    return cut(", ".join(f"{name} {value}" for name, value in (*shown.facts, *shown.texts)), TOLD)


def step_of(request: ApprovalRequest, plan: Plan | None) -> PlanStep | None:
    """The step of the approved plan that the call belongs to; None for a call without a plan."""
    steps = plan.steps if plan else ()
    return next((step for step in steps if step.id == request.payload.get("step_id")), None)


def why(request: ApprovalRequest, step: PlanStep | None) -> str:
    """Why the call waits for a person."""
    grave = WHY[Effect(request.payload["effect"])]
    if step is None:
        return f"{grave} No plan was approved for this run, so everything but reading asks first."
    opened = [name for name in request.payload["arguments"] if name not in step.args]
    if not opened:
        return f"{grave} Nobody has seen this call with exactly these arguments."
    fixed = f"The approved plan fixed {', '.join(step.args)}" if step.args else "The approved plan fixed no argument"
    return f"{grave} {fixed}; {', '.join(opened)} came when the step ran, and nobody has seen that yet."


def what_is_known(calls: list[ToolCall], request: ApprovalRequest) -> str:
    """What the ledger says of a call whose outcome is unknown."""
    found = [call for call in calls if call.step_id == request.payload.get("step_id")]
    if not found:
        return "No record says when it was made."
    last = found[-1]
    because = f": {last.error}" if last.error else ""
    return f"It was begun {at_moment(last.started_at, request.requested_at)}, and no answer came back{because}."


def explained(request: ApprovalRequest, *, goes_on: bool) -> tuple[tuple[str, str], ...]:
    """What each button under a call does; `goes_on` is whether the run does after a refusal."""
    return (
        ("Approve", "calls it once with exactly these arguments"),
        ("Edit", "changes them first"),
        ("Send back", "lets the model try again"),
        ("Reject", f"calls nothing, {refused(request, goes_on=goes_on)}"),
    )


def explained_outcome(request: ApprovalRequest, *, goes_on: bool) -> tuple[tuple[str, str], ...]:
    """What each button under a call of which nobody knows whether it happened does."""
    return (
        ("It happened", "counts as done with what you say"),
        ("Call again", "calls it once more"),
        ("Leave it", f"counts as not done, {refused(request, goes_on=goes_on)}"),
    )


def refused(request: ApprovalRequest, *, goes_on: bool) -> str:
    """What becomes of the run after a no to one of its steps."""
    return f"the run goes on without {request.payload['step_id']}" if goes_on else "the run ends"


# --- editing


@dataclass(frozen=True, slots=True)
class CheckedCall:
    """What the typed arguments make."""

    arguments: JsonObject | None
    """None while they are no JSON object."""
    problem: str | None
    differences: tuple[Difference, ...]

    @property
    def fit(self) -> bool:
        """Whether the call may be made with them."""
        return self.problem is None and bool(self.differences)

    @property
    def sentence(self) -> str:
        """How it stands, for the bar."""
        if self.problem:
            return "One thing to solve before this can be approved."
        return "The tool takes these arguments." if self.differences else "Nothing is changed yet."


def check_arguments(text: str, before: JsonObject, refusal: Callable[[JsonObject], str | None]) -> CheckedCall:
    """Read what was typed and have the tool look at it; `refusal` is what the tool says against it, or None."""
    try:
        arguments = _object(text)
    except (ValueError, RecursionError, NotHashableError) as error:
        return CheckedCall(None, f"These arguments cannot be read: {str(error).rstrip('.')}.", ())
    return CheckedCall(arguments, refusal(arguments), tuple(argument_differences(before, arguments)))


def _object(text: str) -> JsonObject:
    value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    if not isinstance(value, dict):
        raise ValueError("arguments are an object, {…}")
    canonical_json(value)
    return value


def _once(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"{twice} stands there twice")
    return dict(pairs)


def _no_number(name: str) -> JsonValue:
    raise ValueError(f"{name} is no number that JSON has")
