"""A plan that waits: goal, drawing, steps, arguments, changes; its bar and its editor."""

from __future__ import annotations

import streamlit as st

from agent.planning.changes import ChangeKind
from agent.records import ApprovalRequest, Decision, Effect, Plan, StepStatus
from dashboard.approvals import calls, editing, editor, model, repairs
from dashboard.approvals.bars import explanation, warn_of_hidden, with_words
from dashboard.approvals.changes import ChangeRow, Difference, change_rows
from dashboard.approvals.deciding import decide_now
from dashboard.approvals.editing import Checked, Draft
from dashboard.approvals.replans import BY_PEOPLE, Trigger, done_steps, trigger
from dashboard.look import places
from dashboard.look.colours import palette
from dashboard.look.figures import show_figure
from dashboard.look.formats import plural
from dashboard.look.graph import graph_alt, plan_graph
from dashboard.look.hidden import exact_json
from dashboard.look.parts import TWO_TO_ONE, gray, section, small, small_table, warn
from dashboard.look.status import REPLANNED, badge
from dashboard.look.text import escape, escape_lines
from dashboard.services import services


def show_plan(request: ApprovalRequest, plan: Plan) -> None:
    """Everything that a person has to know before saying yes to a plan."""
    done = _done(request, plan)
    before = _version_before(request, plan)
    why = _trigger(request, plan, before)
    if why:
        _why_anew(why, len(done))
    _goal(plan, done)
    made = calls.acted(services().records.ledger.calls(services().project, request.run_id))
    if made:
        warn("This run has already acted.", made)
    warn_of_hidden(plan.to_json())
    serious = repairs.serious(plan)
    if serious:
        warn("Read this before you decide.", " ".join(serious))
    own = why is not None and plan.trigger not in BY_PEOPLE
    if before and own:
        _changes_since(before, plan, done)
    _drawing(plan, done)
    _steps(plan, done)
    _arguments(plan)
    if before and not own:
        _changes_since(before, plan, done)


def _done(request: ApprovalRequest, plan: Plan) -> frozenset[str]:
    app = services()
    return done_steps(app.records.steps(app.project, request.run_id, plan.version))


def _trigger(request: ApprovalRequest, plan: Plan, before: Plan | None) -> Trigger | None:
    """Why the run planned anew by itself or was told to; None for a first version."""
    app = services()
    progress = app.records.steps(app.project, request.run_id, before.version) if before else []
    return trigger(plan, progress, app.records.requests(app.project, run_id=request.run_id), before)


def _why_anew(why: Trigger, done: int) -> None:
    with st.container(border=True, key="trigger", gap="xsmall"):
        st.caption("Why there is a new version")
        st.markdown(f"{REPLANNED.glyph} **{escape(why.title)}**" + (f"  \n{escape(why.reason)}" if why.reason else ""))
        if done:
            st.caption(f"{escape(plural(done, 'step'))} {'is' if done == 1 else 'are'} done and not run again.")


def _changes_since(before: Plan, plan: Plan, done: frozenset[str]) -> None:
    section(f"Changes since version {before.version}")
    _changes(before, plan, done)


def _goal(plan: Plan, done: frozenset[str]) -> None:
    with st.container(border=True, key="goal"):
        understood, yes = st.columns(TWO_TO_ONE, gap="medium")
        with understood, st.container(gap="xsmall"):
            st.caption("The agent understood")
            st.markdown(f"**{escape(plan.goal)}**")
            if plan.rationale:
                st.caption(escape_lines(plan.rationale))
        with yes, st.container(gap="xsmall"):
            st.caption("If you approve")
            st.markdown("  \n".join(_consequence(line) for line in model.consequences(plan, done)))
            mended = repairs.harmless(plan)
            if mended:
                st.caption(f":material/build: {escape(mended)}")


def _consequence(line: model.Consequence) -> str:
    words = escape(line.words)
    return f"{line.look.glyph} {f'**{words}**' if line.grave else words}"


def _drawing(plan: Plan, done: frozenset[str]) -> None:
    drawn = model.nodes(plan, done)
    with st.container(horizontal=True, vertical_alignment="center"):
        section("Plan")
        st.space("stretch")
        used = sorted({step.effect for step in plan.steps}, key=lambda effect: effect.gravity)
        st.markdown(small(" ".join(badge(effect) for effect in used)), width="content")
    show_figure(plan_graph(drawn, palette()), alt=graph_alt(drawn), key="plan-graph")


def _steps(plan: Plan, done: frozenset[str]) -> None:
    small_table(
        [
            {
                "": f"**{escape(step.id)}**",
                "Step": escape(step.description),
                "Tool": escape(step.tool) if step.tool else gray("in words"),
                "After": escape(", ".join(step.dependencies)) or "–",
                "Done when": escape(step.acceptance_criteria) or "–",
                "Effect": badge(step.effect),
                **({"Now": badge(StepStatus.COMPLETED if step.id in done else StepStatus.PENDING)} if done else {}),
            }
            for step in plan.steps
        ],
        alt="Steps of the plan",
    )


def _arguments(plan: Plan) -> None:
    # What goes beyond the run's own folder is read before a yes, so it is open.
    acts = any(step.effect.gravity > Effect.DRAFT.gravity for step in plan.steps)
    with st.expander("Exact arguments of every step", expanded=acts, icon=":material/data_object:"):
        st.caption("What is fixed here is what runs. Arguments that are not named are filled in when the step runs.")
        for step in plan.steps:
            st.markdown(f"**{escape(step.id)}** {escape(step.tool or 'in words')}")
            st.code(exact_json(step.args), language="json", wrap_lines=True)


def _version_before(request: ApprovalRequest, plan: Plan) -> Plan | None:
    app = services()
    earlier = [old for old in app.records.plans(app.project, request.run_id) if old.version < plan.version]
    return earlier[-1] if earlier else None


def _changes(old: Plan, new: Plan, done: frozenset[str]) -> None:
    """Added, changed, removed and kept steps, by sign and word; no colour, since neither is good or bad."""
    small_table(
        [
            {"": f"**{row.sign}** {row.kind}", "What": f"**{escape(row.step)}** {_change(row)}"}
            for row in change_rows(old, new, done)
        ],
        alt=f"Changes from version {old.version} to version {new.version}",
    )


def _change(row: ChangeRow) -> str:
    if not row.differences:
        words = escape(row.title)
        return f"~~{words}~~" if row.kind is ChangeKind.REMOVED else words
    return "  \n".join(_difference(part) for part in row.differences)


def _difference(part: Difference) -> str:
    before = f"~~{escape(part.before)}~~" if part.before else gray("nothing")
    after = f"**{escape(part.after)}**" if part.after else gray("nothing")
    return f"{gray(escape(part.field))} {before} → {after}"


def plan_bar(request: ApprovalRequest, plan: Plan) -> None:
    """Approve, edit, send back, reject."""
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        explanation(model.explained(plan, _done(request, plan)))
        st.button(
            f"Approve version {plan.version}",
            type="primary",
            icon=":material/check:",
            key=f"approve-{request.request_id}",
            on_click=decide_now,
            args=(request, Decision.APPROVE),
        )
        if st.button("Edit", icon=":material/edit:", key=f"edit-{request.request_id}"):
            places.go(places.APPROVALS, request=request.request_id, edit="plan")
        with_words(request, Decision.RESPOND, "Send back", "What should the planner do differently?", "undo")
        with_words(request, Decision.REJECT, "Reject", "Why? The person who asked will read it.", "close")


# --- editing


def edit_plan(request: ApprovalRequest, plan: Plan) -> Checked:
    """The editor beside what the edits make."""
    done = _done(request, plan)
    kept = " Steps that are done stay as they are." if done else ""
    st.caption(
        f"Your edits become version {plan.version + 1}. They stay in this tab until you approve or discard them.{kept}"
    )
    app = services()
    tools = list(app.records.run(app.project, request.run_id).tools)
    fields, result = st.columns((1.9, 1), gap="medium")
    with fields:
        draft = editor.edit(request, plan, tools, done)
    checked = _check(request, plan, draft)
    with result:
        section("What it makes")
        for problem in checked.problems:
            st.markdown(f":red[:material/error:] {escape(problem)}")
        if not checked.problems:
            mark = ":green[:material/check_circle:] " if checked.changed else ""
            st.markdown(f"{mark}{escape(checked.sentence)}")
        if checked.plan:
            st.markdown("  \n".join(_consequence(line) for line in model.consequences(checked.plan, done)))
        if checked.plan and checked.changed:
            section("Your changes")
            _changes(plan, checked.plan, done)
    return checked


def _check(request: ApprovalRequest, plan: Plan, draft: Draft) -> Checked:
    """Check the edits like a model's plan."""
    from agent.run.usecases import check_edited_plan  # noqa: PLC0415 - pages are served while the agent is imported

    steps, wrong = editing.steps_of(draft)
    parsed = None if wrong else check_edited_plan(services(), request.run_id, steps)
    problems = wrong if parsed is None else [problem.message for problem in parsed.errors]
    return Checked(steps, parsed.plan if parsed else None, tuple(problems), editing.changed(draft, plan))


def editing_bar(request: ApprovalRequest, plan: Plan, checked: Checked) -> None:
    """Approve what the edits make, go back, or discard them."""
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        st.markdown(escape(checked.sentence), width="stretch")
        st.button(
            "Approve as edited",
            type="primary",
            icon=":material/check:",
            key=f"approve-edited-{request.request_id}",
            disabled=checked.plan is None or not checked.changed,
            on_click=decide_now,
            args=(request, Decision.EDIT, {"goal": plan.goal, "steps": checked.steps}),
        )
        if st.button("Back to the plan", key=f"back-{request.request_id}"):
            places.go(places.APPROVALS, request=request.request_id)
        st.button(
            "Discard edits",
            key=f"discard-{request.request_id}",
            disabled=not checked.changed,
            on_click=editor.discard,
            args=(request,),
        )
    st.caption("**Approve as edited** runs exactly these steps once · **Back to the plan** keeps the edits in this tab")
