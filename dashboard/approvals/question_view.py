"""A question, a budget to raise, and a pause of another graph, each with its bar."""

from __future__ import annotations

import streamlit as st

from agent.records import ApprovalRequest, Decision, Run, StepStatus
from dashboard.approvals import budgets, calls
from dashboard.approvals.bars import explanation, with_words
from dashboard.approvals.call_view import goes_on, plan_of_run
from dashboard.approvals.deciding import decide_now, note_key
from dashboard.approvals.kinds import Asked, asked_for
from dashboard.look.formats import cut, plural
from dashboard.look.hidden import exact_json
from dashboard.look.parts import TWO_TO_ONE, meter, section, small_table
from dashboard.look.status import badge
from dashboard.look.text import escape, escape_lines
from dashboard.services import services


def show_question(request: ApprovalRequest, run: Run) -> None:
    """Who asks, and what goes on with the answer."""
    with st.container(border=True, key="question"):
        if asked_for(request) is not Asked.QUESTION:
            st.caption("The graph waits with this")
            st.code(exact_json(request.payload), language="json", wrap_lines=True)
            return
        task, asker = st.columns(TWO_TO_ONE, gap="medium")
        with task, st.container(gap="xsmall"):
            st.caption("The task, which goes on with your answer")
            st.markdown(escape_lines(run.task))
        with asker, st.container(gap="xsmall"):
            st.caption("Who asks")
            st.markdown(escape(_asker(request, run)))


def _asker(request: ApprovalRequest, run: Run) -> str:
    step = calls.step_of(request, plan_of_run(run))
    if step:
        return f"Step {step.id} of the plan: {step.description}"
    if request.payload.get("step_id"):
        return f"Call {request.payload['step_id']} of the run"
    return "The planner, before it proposes a plan"


def question_bar(request: ApprovalRequest) -> None:
    """A field for the answer."""
    key = note_key(request, Decision.RESPOND)
    st.text_area("Your answer", key=key, height=72)
    with st.container(horizontal=True, vertical_alignment="center"):
        explanation([("Answer", "the same run goes on with it"), ("Reject", _after_no(request))])
        st.button(
            "Answer",
            type="primary",
            icon=":material/check:",
            key=f"answer-{request.request_id}",
            on_click=decide_now,
            args=(request, Decision.RESPOND),
        )
        with_words(request, Decision.REJECT, "Reject", "Why? The person who asked will read it.", "close")


def _after_no(request: ApprovalRequest) -> str:
    """What becomes of the run when its question is rejected."""
    return calls.refused(request, goes_on=goes_on(request)) if request.payload.get("step_id") else "ends the run"


def show_budget(request: ApprovalRequest, run: Run) -> None:
    """What is used, what the limits are, and what they would be."""
    rows = budgets.rows(request, run.limits)
    with st.container(border=True, key="budget"):
        columns = st.columns(len(rows), gap="medium")
        for column, row in zip(columns, rows, strict=True):
            with column:
                meter(row.share, row.sentence, over="The next model call would pass it." * row.reached)
        st.caption(escape(_so_far(request, run)))
    _found(run)


def _found(run: Run) -> None:
    """What the steps showed so far: what the money was for."""
    app = services()
    plan = plan_of_run(run)
    if plan is None:
        return
    section("Found so far")
    small_table(
        [
            {
                "": f"**{escape(step.step_id)}**",
                "Step": escape(plan.step(step.step_id).description),
                "Status": badge(step.status),
                "Result": escape(cut(str((step.result or {}).get("key_result") or ""), 160)) or "–",
            }
            for step in app.records.steps(app.project, run.run_id, plan.version)
        ],
        alt="Steps of the plan with status and result",
    )


def _so_far(request: ApprovalRequest, run: Run) -> str:
    app = services()
    meter_now = app.records.ledger.meter(app.project, run.run_id)
    said = [f"{plural(request.payload['used']['llm_calls'], 'model call')} so far"]
    if run.plan_version:
        steps = app.records.steps(app.project, run.run_id, run.plan_version)
        done = sum(step.status is StepStatus.COMPLETED for step in steps)
        said.append(f"{done} of {plural(len(steps), 'step')} done")
    if meter_now.unpriced_calls:
        said.append(f"the price of {plural(meter_now.unpriced_calls, 'model call')} is unknown and not in the cost")
    return " · ".join([*said, "nothing more is used while this waits"])


def budget_bar(request: ApprovalRequest) -> None:
    """Raise, or stop."""
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        explanation(budgets.explained())
        st.button(
            "Raise the limits",
            type="primary",
            icon=":material/arrow_upward:",
            key=f"raise-{request.request_id}",
            on_click=decide_now,
            args=(request, Decision.APPROVE),
        )
        with_words(request, Decision.REJECT, "Stop here", "Why? The person who asked will read it.", "stop_circle")
