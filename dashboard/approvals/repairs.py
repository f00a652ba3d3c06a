"""What tolerant reading mended in a plan, in words for the person who approves it. Pure."""

from __future__ import annotations

from agent.records import Plan, PlanSource

SERIOUS = {
    "truncated": "The plan had more steps than the limit; {about} were left out.",
    "cut_off": "The model’s answer broke off; what came after is missing.",
    "torn_step_dropped": "The last step was torn and left out.",
    "broken_json": "The plan was not well formed and was mended by guessing.",
    "last_of_several_plans": "The model gave several plans; this is the last one.",
    "args_dropped": "Arguments that could not be read were left open: {about}.",
    "tool_name": "Tools were named differently and matched to known ones: {about}.",
    "repeated_key": "A field stood there twice and the last one counts: {about}.",
    "no_acceptance_criteria": "No criterion says when these steps are done: {about}.",
}
"""Repairs that can change what was meant."""

HARMLESS = {
    "code_fence": "code fence",
    "surrounding_text": "text around it",
    "thinking_removed": "thinking removed",
    "trailing_commas": "trailing commas",
    "single_quotes": "single quotes",
    "bare_keys": "keys without quotes",
    "python_literals": "Python words",
    "raw_line_breaks": "line breaks in texts",
    "odd_characters": "odd characters",
    "json_in_text": "JSON inside text",
    "numbered_text": "a numbered list",
    "text_steps": "steps as sentences",
    "key_names": "other field names",
    "ids_assigned": "ids given",
    "ids_as_text": "ids as text",
    "dependencies_in_order": "steps follow each other",
    "dependencies_read": "dependencies read",
    "dependencies_filled": "dependencies filled in",
    "effect_from_registry": "effects from the registry",
}


def serious(plan: Plan) -> list[str]:
    """Sentences that have to be read before a yes."""
    found = ["The model’s own plan could not be used twice; this is a generic one."] * (
        plan.source is PlanSource.FALLBACK
    )
    for repair in plan.repairs:
        code, about = _parts(repair)
        if code in SERIOUS:
            found.append(SERIOUS[code].format(about=about or "some"))
    return found


def harmless(plan: Plan) -> str | None:
    """The other repairs in one line; None if there were none."""
    told = [_harmless(repair) for repair in plan.repairs if _parts(repair)[0] not in SERIOUS]
    return f"Mended while reading: {', '.join(told)}." if told else None


def _harmless(repair: str) -> str:
    code, about = _parts(repair)
    words = HARMLESS.get(code, code.replace("_", " "))
    return f"{words} ({about})" if about else words


def _parts(repair: str) -> tuple[str, str]:
    code, _, about = repair.partition(":")
    return code.strip(), about.strip()
