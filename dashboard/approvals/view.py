"""The approvals page: the list of what waits, and one request with what happens after a yes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from agent.records import ApprovalRequest, Plan, RequestKind, RequestStatus, Run
from dashboard.approvals import kinds, model
from dashboard.approvals.call_view import call_bar, call_editing_bar, edit_call, outcome_bar, show_call
from dashboard.approvals.deciding import goes_on, refusal
from dashboard.approvals.kinds import Asked, asked_for
from dashboard.approvals.plan_view import edit_plan, editing_bar, plan_bar, show_plan
from dashboard.approvals.question_view import budget_bar, question_bar, show_budget, show_question
from dashboard.look import places
from dashboard.look.formats import cut, groups, moment
from dashboard.look.parts import clickable_table, empty, fail, gray, guarded, head, item, section, small
from dashboard.look.status import badge, badge_of
from dashboard.look.text import code, escape
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
        effect = kinds.effect(request) or model.gravest(plan)
        marks = [badge(effect)] if effect else []
        if model.was_cut(plan):
            marks.append(":yellow-badge[:material/warning: steps were cut]")
        opened = item(
            request.request_id,
            icon=kinds.look(request).glyph,
            title=cut(kinds.title(request), 120),
            second=" ".join([*marks, escape(model.asked(request, now))]),
            third="" if request.kind is RequestKind.PLAN else escape(_task(request)),
            button=kinds.button(request),
            primary=index == 0,
        )
        if opened:
            places.go(places.APPROVALS, request=request.request_id)
    if decided:
        section("Decided")
        _decided_table(decided)
    _watch_list(count)


def _task(request: ApprovalRequest) -> str:
    app = services()
    return f"for: {cut(app.records.run(app.project, request.run_id).task, 110)}"


def _decided_table(decided: list[ApprovalRequest]) -> None:
    now = services().now()
    shown = [
        {
            "Status": kinds.status_look(request),
            "Asked": cut(kinds.title(request), 70),
            "Decision": model.decided_words(request),
            "When": moment(request.decided_at, now),
        }
        for request in decided
    ]
    text = st.column_config.TextColumn
    columns = {"Asked": text(width=420), "Decision": text(width=230), "When": text(width=100)}
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
        kinds.title(request),
        badge=badge_of(kinds.status_look(request), _since(request)),
        facts=_facts(request, run, model.facts(request, run, plan, now)),
        actions=partial(_head_actions, request),
    )
    said = refusal(request)
    if said:
        fail(said)
    bar = _body(request, run, plan)
    with st.bottom, st.container(border=True, key="decision-bar"):
        bar()
    _watch_request(request)


def _body(request: ApprovalRequest, run: Run, plan: Plan | None) -> Callable[[], None]:
    """Draw what is asked, as it is or in its editor; returns the bar that belongs to it."""
    pending = request.status is RequestStatus.PENDING
    if pending and places.selected("edit") is not None:
        if plan:
            return partial(editing_bar, request, plan, edit_plan(request, plan))
        if asked_for(request) is Asked.CALL:
            return partial(call_editing_bar, request, edit_call(request))
    bar = _shown(request, run, plan)
    _history(request, run)
    return bar if pending else partial(_closed_bar, request)


def _shown(request: ApprovalRequest, run: Run, plan: Plan | None) -> Callable[[], None]:
    if plan:
        show_plan(request, plan)
        return partial(plan_bar, request, plan)
    match asked_for(request):
        case Asked.CALL:
            show_call(request, run)
            return partial(call_bar, request)
        case Asked.OUTCOME:
            show_call(request, run)
            return partial(outcome_bar, request)
        case Asked.BUDGET:
            show_budget(request, run)
            return partial(budget_bar, request)
        case _:
            show_question(request, run)
            return partial(question_bar, request)


def _path(request: ApprovalRequest, plan: Plan | None) -> str:
    parts = ["Approvals", f"request {code(request.request_id)}"]
    if plan:
        parts += [f"plan version {plan.version}", code(f"sha256 {groups(plan.hash)}")]
    else:
        parts += [*filter(None, [escape(kinds.step_words(request) or "")]), code(f"sha256 {groups(request.hash)}")]
    return " · ".join(parts)


def _facts(request: ApprovalRequest, run: Run, facts: str) -> str:
    """Who and when, and the task where neither the headline nor the page says it."""
    task = asked_for(request) in (Asked.CALL, Asked.OUTCOME, Asked.BUDGET)
    line = f":material/person: {escape(facts)}"
    return f"{line}  \n:material/flag: {escape(cut(run.task, 200))}" if task else line


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


def _closed_bar(request: ApprovalRequest) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f"{badge_of(kinds.status_look(request))} {escape(model.bar_sentence(request, services().now()))}",
            width="stretch",
        )
        if st.button("Open run", type="primary", key="open-run"):
            places.go(places.RUNS, run=request.run_id)


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
