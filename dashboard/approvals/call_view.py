"""A tool call that waits: what would happen, its exact arguments, its bar and its editor."""

from __future__ import annotations

import streamlit as st

from agent.records import ApprovalRequest, Decision, Effect, JsonObject, Plan, PlanStep, Run
from agent.run.policy import Refusal
from agent.tools.registry import ToolError
from dashboard.approvals import calls
from dashboard.approvals.bars import explanation, warn_of_hidden, with_words
from dashboard.approvals.calls import CheckedCall
from dashboard.approvals.changes import Difference, argument_differences
from dashboard.approvals.deciding import decide_now
from dashboard.approvals.kinds import Asked, asked_for
from dashboard.approvals.model import consequence
from dashboard.look import places
from dashboard.look.hidden import exact_json, written_out
from dashboard.look.parts import TWO_TO_ONE, fact_list, gray, section, small, small_table, warn
from dashboard.look.status import badge
from dashboard.look.text import escape
from dashboard.services import services

EQUAL = (1, 1)
EXAMINED = "Look where it would have arrived, then say below what is true."


def plan_of_run(run: Run) -> Plan | None:
    """The plan that the call belongs to; None in a run without one."""
    app = services()
    return app.records.plan(app.project, run.run_id, run.plan_version) if run.plan_version else None


def show_call(request: ApprovalRequest, run: Run) -> None:
    """What will happen after a yes, and with what."""
    step = calls.step_of(request, plan_of_run(run))
    if asked_for(request) is Asked.OUTCOME:
        app = services()
        known = calls.what_is_known(app.records.ledger.calls(app.project, run.run_id), request)
        warn("Nobody knows whether this call happened.", f"{known} {EXAMINED}")
    elif calls.made_before(request):
        warn("This step has already acted, with other arguments.", calls.made_before(request))
    arguments = calls.arguments_of(request)
    warn_of_hidden(arguments)
    _what(request, step)
    _arguments(arguments)
    differences = argument_differences(request.payload["arguments"], arguments)
    if differences:
        section("Changed by the person who allowed it")
        _differences(differences)
    if step:
        section("The step that it belongs to")
        _step(step)


def _what(request: ApprovalRequest, step: PlanStep | None) -> None:
    effect = Effect(request.payload["effect"])
    tool = services().registry.get(request.payload["tool"])
    outcome = asked_for(request) is Asked.OUTCOME
    with st.container(border=True, key="call"):
        left, right = st.columns(TWO_TO_ONE, gap="medium")
        with left, st.container(gap="xsmall"):
            st.caption("The agent called" if outcome else "The agent wants to call")
            st.markdown(f"**{escape(request.payload['tool'])}** {badge(effect)}")
            st.caption(escape(tool.summary if tool else "This tool is not there any more, so it cannot be called."))
        with right, st.container(gap="xsmall"):
            line = consequence(effect, 1)
            words = f"**{escape(line.words)}**" if line.grave else escape(line.words)
            st.caption("If it is called again" if outcome else "If you approve")
            st.markdown(f"{line.look.glyph} {words}, {'a second time if it did happen' if outcome else 'once'}")
        if not outcome:
            st.markdown(small(f":yellow[:material/front_hand:] **Why it waits** {escape(calls.why(request, step))}"))


def _arguments(arguments: JsonObject) -> None:
    read, exact = st.columns(EQUAL, gap="medium")
    with read:
        section("What it says")
        shown = calls.reading(arguments)
        if shown.facts:
            fact_list({name: escape(value) or gray("empty") for name, value in shown.facts})
        for name, text in shown.texts:
            st.caption(escape(name))
            st.code(written_out(text), language=None, wrap_lines=True)
        if not arguments:
            st.markdown(gray("The tool is called without arguments."))
    with exact:
        section("Exact arguments")
        # Without the colours of JSON, which are hard to read on a dark page.
        st.code(exact_json(arguments), language=None, wrap_lines=True)


def _step(step: PlanStep) -> None:
    small_table(
        [
            {
                "": f"**{escape(step.id)}**",
                "Step": escape(step.description),
                "After": escape(", ".join(step.dependencies)) or "–",
                "Done when": escape(step.acceptance_criteria) or "–",
                "Fixed by the plan": escape(", ".join(step.args)) or "nothing",
            }
        ],
        alt="The step of the plan that calls the tool",
    )


def _differences(differences: list[Difference] | tuple[Difference, ...]) -> None:
    small_table(
        [
            {
                "": f"**{escape(part.field)}**",
                "Before": f"~~{escape(part.before)}~~" if part.before else gray("nothing"),
                "After": f"**{escape(part.after)}**" if part.after else gray("nothing"),
            }
            for part in differences
        ],
        alt="Arguments that were changed",
    )


# --- the bars


def goes_on(request: ApprovalRequest) -> bool:
    """Whether the run goes on after a no to this request, as its agent is described."""
    from agent.run.equipment import manifest_of  # noqa: PLC0415 - pages are served while the agent is imported

    app = services()
    run = app.records.run(app.project, request.run_id)
    return manifest_of(app, run).behaviour.refusal is Refusal.GO_ON


def call_bar(request: ApprovalRequest) -> None:
    """Approve, edit, send back, reject."""
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        explanation(calls.explained(request, goes_on=goes_on(request)))
        st.button(
            "Approve this call",
            type="primary",
            icon=":material/check:",
            key=f"approve-{request.request_id}",
            on_click=decide_now,
            args=(request, Decision.APPROVE),
        )
        if st.button("Edit", icon=":material/edit:", key=f"edit-{request.request_id}"):
            places.go(places.APPROVALS, request=request.request_id, edit="call")
        with_words(request, Decision.RESPOND, "Send back", "What should the model do differently?", "undo")
        with_words(request, Decision.REJECT, "Reject", "Why? The person who asked will read it.", "close")


def outcome_bar(request: ApprovalRequest) -> None:
    """It happened, call again, leave it: none of them by one click, since each is a claim about the world."""
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        explanation(calls.explained_outcome(request, goes_on=goes_on(request)))
        with_words(request, Decision.RESPOND, "It happened", "What did you find? The run goes on with it.", "check")
        with st.popover("Call again", icon=":material/replay:", key=f"open-again-{request.request_id}"):
            st.markdown("If the first call did happen, it happens twice.")
            st.button(
                "Call it again",
                type="primary",
                key=f"again-{request.request_id}",
                on_click=decide_now,
                args=(request, Decision.APPROVE),
            )
        with_words(request, Decision.REJECT, "Leave it", "Why? The person who asked will read it.", "close")


# --- editing


def _draft_key(request: ApprovalRequest) -> str:
    return f"call-draft-{request.request_id}"


def edit_call(request: ApprovalRequest) -> CheckedCall:
    """The arguments as JSON beside what the tool says to them."""
    before: JsonObject = request.payload["arguments"]
    st.caption(
        "What you type stays in this tab until you approve or discard it. Types are kept: 1 is a number, “1” is a text."
    )
    fields, result = st.columns((1.9, 1), gap="medium")
    field = f"call-arguments-{request.request_id}"
    # A field that is not on the page any more has lost its state; the draft has kept what it held.
    st.session_state.setdefault(field, st.session_state.get(_draft_key(request), exact_json(before)))
    with fields:
        typed = st.text_area("Arguments, JSON", key=field, height=360)
    st.session_state[_draft_key(request)] = typed
    checked = calls.check_arguments(typed, before, lambda arguments: _refusal(request, arguments))
    with result:
        section("What it makes")
        if checked.problem:
            st.markdown(f":red[:material/error:] {escape(checked.problem)}")
        else:
            mark = ":green[:material/check_circle:] " if checked.differences else ""
            st.markdown(f"{mark}{escape(checked.sentence)}")
        if checked.differences:
            section("Your changes")
            _differences(checked.differences)
    return checked


def _refusal(request: ApprovalRequest, arguments: JsonObject) -> str | None:
    """What the tool's schema says against the arguments; None if it takes them."""
    tool = services().registry.get(request.payload["tool"])
    if tool is None:
        return f"There is no tool {request.payload['tool']} any more."
    try:
        tool.validate(arguments)
    except ToolError as error:
        return error.message
    return None


def call_editing_bar(request: ApprovalRequest, checked: CheckedCall) -> None:
    """Allow the edited call, go back, or discard the edits."""
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        st.markdown(escape(checked.sentence), width="stretch")
        st.button(
            "Approve as edited",
            type="primary",
            icon=":material/check:",
            key=f"approve-edited-{request.request_id}",
            disabled=not checked.fit,
            on_click=decide_now,
            args=(request, Decision.EDIT),
            kwargs={"arguments": checked.arguments},
        )
        if st.button("Back to the call", key=f"back-{request.request_id}"):
            places.go(places.APPROVALS, request=request.request_id)
        st.button(
            "Discard edits",
            key=f"discard-{request.request_id}",
            disabled=not checked.differences and not checked.problem,
            on_click=_discard,
            args=(request,),
        )
    st.caption(
        "**Approve as edited** calls it once with exactly these arguments · **Back to the call** keeps the edits"
    )


def _discard(request: ApprovalRequest) -> None:
    st.session_state.pop(_draft_key(request), None)
    st.session_state.pop(f"call-arguments-{request.request_id}", None)
