"""The approvals page: the list of what waits, and one request with what happens after a yes."""

from __future__ import annotations

from functools import partial

import streamlit as st

from agent.planning.changes import ChangeKind
from agent.records import ApprovalRequest, Decision, Plan, RequestKind, RequestStatus, Run
from dashboard.approvals import editing, editor, model, repairs
from dashboard.approvals.changes import ChangeRow, Difference, change_rows
from dashboard.approvals.deciding import decide_now, goes_on, note_key, refusal
from dashboard.approvals.editing import Checked, Draft
from dashboard.look import places
from dashboard.look.colours import palette
from dashboard.look.figures import show_figure
from dashboard.look.formats import cut, groups, moment
from dashboard.look.graph import graph_alt, plan_graph
from dashboard.look.parts import (
    TWO_TO_ONE,
    clickable_table,
    empty,
    fail,
    gray,
    guarded,
    head,
    item,
    section,
    small,
    small_table,
    warn,
)
from dashboard.look.status import badge, badge_of, glyph, look_of
from dashboard.look.text import code, escape, escape_lines
from dashboard.services import services


def show() -> None:
    """The request that the address names, or the list."""
    request_id = places.selected("request")
    if request_id:
        show_request(request_id)
    else:
        show_list()


# --- the list


def show_list() -> None:
    """What waits, the longest waiting first, and what was decided last."""
    app = services()
    now = app.now()
    pending = app.records.requests(app.project, status=RequestStatus.PENDING)
    decided = [
        request
        for request in app.records.requests(app.project, limit=model.DECIDED_SHOWN + len(pending))
        if request.status is not RequestStatus.PENDING
    ][: model.DECIDED_SHOWN]
    count = app.records.count_pending(app.project)
    head("", model.headline(count))
    if not pending:
        empty("A run asks here before its plan runs, and when it needs an answer. Start one on the page Runs.")
    for index, request in enumerate(pending):
        plan = model.plan_of(request)
        effect = model.gravest(plan)
        marks = [badge(effect)] if effect else []
        if model.was_cut(plan):
            marks.append(":yellow-badge[:material/warning: steps were cut]")
        opened = item(
            request.request_id,
            icon=glyph(request.kind),
            title=cut(model.title(request), 120),
            second=" ".join([*marks, escape(model.asked(request, now))]),
            button={RequestKind.PLAN: "Review plan", RequestKind.QUESTION: "Answer"}.get(request.kind, "Review"),
            primary=index == 0,
        )
        if opened:
            places.go(places.APPROVALS, request=request.request_id)
    if decided:
        section("Decided")
        _decided_table(decided)
    _watch_list(count)


def _decided_table(decided: list[ApprovalRequest]) -> None:
    now = services().now()
    shown = [
        {
            "Status": look_of(request.status),
            "Task": cut(model.title(request), 70),
            "Decision": model.decided_words(request),
            "When": moment(request.decided_at, now),
        }
        for request in decided
    ]
    text = st.column_config.TextColumn
    columns = {"Task": text(width=420), "Decision": text(width=230), "When": text(width=100)}
    opened = clickable_table(shown, columns, key="decided", alt="Requests that were decided, newest first")
    if opened is not None:
        places.go(places.APPROVALS, request=decided[opened].request_id)


def _watch_list(count: int) -> None:
    """Draw the list anew when something new waits or was decided elsewhere."""

    @st.fragment(run_every=model.POLL_SECONDS)
    @guarded
    def look() -> None:
        app = services()
        if app.records.count_pending(app.project) != count:
            st.rerun()

    look()


# --- one request


def show_request(request_id: str) -> None:
    """Everything that a person has to know before saying yes, and the bar in which to say it."""
    app = services()
    request = app.records.request(app.project, request_id)
    if goes_on(request):
        places.go(places.RUNS, run=request.run_id)
    run = app.records.run(app.project, request.run_id)
    plan = model.plan_of(request)
    now = app.now()
    head(
        _path(request, plan),
        model.title(request),
        badge=badge(request.status, _since(request)),
        facts=f":material/person: {escape(model.facts(request, run, plan, now))}",
        actions=partial(_head_actions, request),
    )
    said = refusal(request)
    if said:
        fail(said)
    editing_now = request.status is RequestStatus.PENDING and places.selected("edit") is not None
    checked = None
    if plan and editing_now:
        checked = _edit_plan(request, plan)
    elif plan:
        _show_plan(request, plan)
    else:
        _show_question(request, run)
    if checked is None:
        _history(request, run)
    with st.bottom, st.container(border=True, key="decision-bar"):
        _bar(request, plan, checked)
    _watch_request(request)


def _path(request: ApprovalRequest, plan: Plan | None) -> str:
    parts = ["Approvals", f"request {code(request.request_id)}"]
    if plan:
        parts += [f"plan version {plan.version}", code(f"sha256 {groups(plan.hash)}")]
    return " · ".join(parts)


def _since(request: ApprovalRequest) -> str:
    words = model.waits(request, services().now())
    return words.removeprefix("waits ") if request.status is RequestStatus.PENDING else ""


def _head_actions(request: ApprovalRequest) -> None:
    app = services()
    waiting = app.records.requests(app.project, status=RequestStatus.PENDING)
    following = [other for other in waiting if other.request_id != request.request_id]
    if st.button("Run", icon=":material/play_circle:", key="to-run"):
        places.go(places.RUNS, run=request.run_id)
    if following and st.button("Next request", icon=":material/arrow_forward:", key="to-next"):
        places.go(places.APPROVALS, request=following[0].request_id)


def _show_plan(request: ApprovalRequest, plan: Plan) -> None:
    _goal(plan)
    serious = repairs.serious(plan)
    if serious:
        warn("Read this before you decide.", " ".join(serious))
    _drawing(plan)
    _steps(plan)
    _arguments(plan)
    before = _version_before(request, plan)
    if before:
        section(f"Changes since version {before.version}")
        _changes(before, plan)


def _goal(plan: Plan) -> None:
    with st.container(border=True, key="goal"):
        understood, yes = st.columns(TWO_TO_ONE, gap="medium")
        with understood, st.container(gap="xsmall"):
            st.caption("The agent understood")
            st.markdown(f"**{escape(plan.goal)}**")
            if plan.rationale:
                st.caption(escape_lines(plan.rationale))
        with yes, st.container(gap="xsmall"):
            st.caption("If you approve")
            st.markdown("  \n".join(_consequence(line) for line in model.consequences(plan)))
            mended = repairs.harmless(plan)
            if mended:
                st.caption(f":material/build: {escape(mended)}")


def _consequence(line: model.Consequence) -> str:
    words = escape(line.words)
    return f"{line.look.glyph} {f'**{words}**' if line.grave else words}"


def _drawing(plan: Plan) -> None:
    drawn = model.nodes(plan)
    with st.container(horizontal=True, vertical_alignment="center"):
        section("Plan")
        st.space("stretch")
        used = sorted({step.effect for step in plan.steps}, key=lambda effect: effect.gravity)
        st.markdown(small(" ".join(badge(effect) for effect in used)), width="content")
    show_figure(plan_graph(drawn, palette()), alt=graph_alt(drawn), key="plan-graph")


def _steps(plan: Plan) -> None:
    small_table(
        [
            {
                "": f"**{escape(step.id)}**",
                "Step": escape(step.description),
                "Tool": escape(step.tool) if step.tool else gray("in words"),
                "After": escape(", ".join(step.dependencies)) or "–",
                "Done when": escape(step.acceptance_criteria) or "–",
                "Effect": badge(step.effect),
            }
            for step in plan.steps
        ],
        alt="Steps of the plan",
    )


def _arguments(plan: Plan) -> None:
    with st.expander("Exact arguments of every step", icon=":material/data_object:"):
        st.caption("What is fixed here is what runs. Arguments that are not named are filled in when the step runs.")
        for step in plan.steps:
            st.markdown(f"**{escape(step.id)}** {escape(step.tool or 'in words')}")
            st.code(editing.pretty(step.args), language="json", wrap_lines=True)


def _version_before(request: ApprovalRequest, plan: Plan) -> Plan | None:
    app = services()
    earlier = [old for old in app.records.plans(app.project, request.run_id) if old.version < plan.version]
    return earlier[-1] if earlier else None


def _changes(old: Plan, new: Plan) -> None:
    """Added, changed, removed and kept steps, by sign and word; no colour, since neither is good or bad."""
    small_table(
        [
            {"": f"**{row.sign}** {row.kind}", "What": f"**{escape(row.step)}** {_change(row)}"}
            for row in change_rows(old, new)
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


def _show_question(request: ApprovalRequest, run: Run) -> None:
    with st.container(border=True, key="question"):
        if request.kind is RequestKind.QUESTION:
            st.caption("The task, which goes on with your answer")
            st.markdown(escape_lines(run.task))
        else:
            st.caption("The graph waits with this")
            st.code(editing.pretty(request.payload), language="json", wrap_lines=True)


def _history(request: ApprovalRequest, run: Run) -> None:
    app = services()
    requests = app.records.requests(app.project, run_id=request.run_id)
    section("History")
    lines = [
        small(
            f"{line.look.glyph} **{escape(line.title)}**" + (f" {gray('·')} {escape(line.more)}" if line.more else "")
        )
        for line in model.history(requests, run, app.now())
    ]
    st.markdown("  \n".join(lines))


# --- the bar


def _bar(request: ApprovalRequest, plan: Plan | None, checked: Checked | None) -> None:
    if request.status is not RequestStatus.PENDING:
        _closed_bar(request)
    elif plan and checked:
        _editing_bar(request, plan, checked)
    elif plan:
        _plan_bar(request, plan)
    else:
        _question_bar(request)


def _closed_bar(request: ApprovalRequest) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"{badge_of(look_of(request.status))} {escape(model.bar_sentence(request, services().now()))}",
            width="stretch",
        )
        if st.button("Open run", type="primary", key="open-run"):
            places.go(places.RUNS, run=request.run_id)


def _plan_bar(request: ApprovalRequest, plan: Plan) -> None:
    with st.container(horizontal=True, vertical_alignment="center", wrap=False):
        st.caption(" · ".join(f"**{name}** {what}" for name, what in model.explained(plan)), width="stretch")
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
        _with_words(request, Decision.RESPOND, "Send back", "What should the planner do differently?", "undo")
        _with_words(request, Decision.REJECT, "Reject", "Why? The person who asked will read it.", "close")


def _question_bar(request: ApprovalRequest) -> None:
    key = note_key(request, Decision.RESPOND)
    st.text_area("Your answer", key=key, height=72)
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.button(
            "Answer",
            type="primary",
            icon=":material/check:",
            key=f"answer-{request.request_id}",
            on_click=decide_now,
            args=(request, Decision.RESPOND),
        )
        _with_words(request, Decision.REJECT, "Reject", "Why? The person who asked will read it.", "close")


def _with_words(request: ApprovalRequest, decision: Decision, label: str, question: str, icon: str) -> None:
    """A decision that needs words: the field opens above the bar, where no refresh comes."""
    with st.popover(label, icon=f":material/{icon}:", key=f"open-{decision}-{request.request_id}"):
        st.text_area(question, key=note_key(request, decision), height=100)
        st.button(
            label,
            type="primary",
            key=f"{decision}-{request.request_id}",
            on_click=decide_now,
            args=(request, decision),
        )


# --- editing


def _edit_plan(request: ApprovalRequest, plan: Plan) -> Checked:
    st.caption(
        f"Your edits become version {plan.version + 1}. They stay in this tab until you approve or discard them."
    )
    fields, result = st.columns((1.9, 1), gap="medium")
    with fields:
        draft = editor.edit(request, plan, _tools(request))
    checked = _check(request, plan, draft)
    with result:
        section("What it makes")
        for problem in checked.problems:
            st.markdown(f":red[:material/error:] {escape(problem)}")
        if not checked.problems:
            mark = ":green[:material/check_circle:] " if checked.changed else ""
            st.markdown(f"{mark}{escape(checked.sentence)}")
        if checked.plan:
            st.markdown("  \n".join(_consequence(line) for line in model.consequences(checked.plan)))
        if checked.plan and checked.changed:
            section("Your changes")
            _changes(plan, checked.plan)
    return checked


def _tools(request: ApprovalRequest) -> list[str]:
    """What the steps of an edited plan may use: the tools that the run began with."""
    app = services()
    return list(app.records.run(app.project, request.run_id).tools)


def _check(request: ApprovalRequest, plan: Plan, draft: Draft) -> Checked:
    """Check the edits like a model's plan."""
    from agent.run.usecases import check_edited_plan  # noqa: PLC0415 - pages are served while the agent is imported

    steps, wrong = editing.steps_of(draft)
    parsed = None if wrong else check_edited_plan(services(), request.run_id, steps)
    problems = wrong if parsed is None else [problem.message for problem in parsed.errors]
    return Checked(steps, parsed.plan if parsed else None, tuple(problems), editing.changed(draft, plan))


def _editing_bar(request: ApprovalRequest, plan: Plan, checked: Checked) -> None:
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


def _watch_request(request: ApprovalRequest) -> None:
    """Draw the page anew once somebody else decided, or the run moved on without a decision."""
    if request.status is not RequestStatus.PENDING:
        return

    @st.fragment(run_every=model.POLL_SECONDS)
    @guarded
    def look() -> None:
        app = services()
        if app.records.request(app.project, request.request_id).status is not RequestStatus.PENDING:
            st.rerun()

    look()


show()
