"""The runs page: the list with the box for a new task, and one run as it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from agent.errors import AgentError
from agent.records import AttemptStatus, RunStatus
from dashboard.approvals import kinds
from dashboard.look import places
from dashboard.look.colours import palette
from dashboard.look.figures import show_figure
from dashboard.look.formats import cut, duration, groups, moment, money, plural, short_name, size, tokens
from dashboard.look.graph import graph_alt, plan_graph
from dashboard.look.parts import (
    TWO_TO_ONE,
    clickable_table,
    empty,
    fail,
    gray,
    guarded,
    head,
    section,
    small,
    small_table,
)
from dashboard.look.status import NOT_DOABLE, badge, glyph, look_of
from dashboard.look.text import code, escape, escape_lines, safe_markdown
from dashboard.look.timeline import timeline_alt, timeline_figure
from dashboard.runs import asking, charts, model
from dashboard.runs.happened import timeline
from dashboard.runs.sources import numbers, told, wording
from dashboard.runs.start import prefill, start_box
from dashboard.runs.work import figures, free_steps, mode_line, plan_versions, tool_calls
from dashboard.services import current_user, services

if TYPE_CHECKING:
    from agent.records import Artifact, Run, Source

SHOWN_CHARACTERS = 200_000
EVENTS_SHOWN = 20
CHART_ENDING = ".plotly.json"
CANCEL_REFUSED = "cancel-refused"
ALL = "all"


def show() -> None:
    """The run that the address names, or the list."""
    run_id = places.selected("run")
    if run_id:
        show_run(run_id)
    else:
        show_list()


# --- one run


def show_run(run_id: str) -> None:
    """Everything about a run, by itself up to date until it ends."""
    seen = asking.observe(services(), run_id)
    run = seen.run
    head(
        " · ".join(["Runs", code(run.run_id), *([f"plan {code(groups(seen.plan.hash))}"] if seen.plan else [])]),
        run.task,
        badge=badge(seen.status),
        facts=f":material/person: {escape(model.facts(seen))}",
        actions=partial(_actions, seen),
    )
    mode_line(seen)
    _strip(seen)
    with st.container(key="result"):  # always there, so that nothing below it moves when it fills
        _result(seen)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        section("As it happened")
        st.space("stretch")
        drawn = None if seen.free else _which_drawing()
    _details(seen, drawn == "Graph")
    if run.status.ended:
        _previews(seen)


def _which_drawing() -> str | None:
    return st.segmented_control(
        "Drawing",
        ["Timeline", "Graph"],
        default="Timeline",
        required=True,
        key="drawing",
        label_visibility="collapsed",
    )


def _strip(drawn: model.Observed) -> None:
    """The figures. They tick by themselves until the run ends; the rest of the page is drawn anew when it changes.

    The part that is drawn every second is small and holds nothing that a person could be using.
    """
    every = model.poll_seconds(drawn)
    if every is None:
        figures(drawn)
        return

    @st.fragment(run_every=every)
    @guarded
    def tick() -> None:
        seen = asking.observe(services(), drawn.run.run_id)
        if model.signature(seen) != model.signature(drawn):
            st.rerun()
        figures(seen)

    tick()


def _actions(seen: model.Observed) -> None:
    run, pending = seen.run, seen.pending
    refused = st.session_state.pop(CANCEL_REFUSED, None)
    if refused:
        st.caption(f":red[{escape(refused)}]", width="content")
    if run.cancel_requested and not run.status.ended:
        st.caption("stops at the next safe point", width="content")
    elif not run.status.ended:
        st.button("Cancel", icon=":material/stop_circle:", on_click=_cancel, args=(run.run_id,), key="cancel")
    if st.button("Replay", icon=":material/history:", key="replay"):
        places.go(places.THREADS, thread=run.thread_id)
    if pending and st.button(kinds.button(pending), type="primary", key="review"):
        places.go(places.APPROVALS, request=pending.request_id)


def _cancel(run_id: str) -> None:
    from agent.run.usecases import cancel_run  # noqa: PLC0415 - pages are served while the agent is imported

    try:
        cancel_run(services(), run_id, current_user())
    except AgentError as error:
        st.session_state[CANCEL_REFUSED] = error.message


def _result(seen: model.Observed) -> None:
    """How the run ended, or what it waits for."""
    refusal = model.refusal(seen.run)
    if refusal:
        _refused(seen.run, refusal)
        return
    ending = model.ending(seen)
    if ending and ending.broken:
        fail(ending.title, ending.body)
        _try_again(seen.run)
    elif ending:
        with st.container(border=True, key="ending"):
            st.markdown(f":gray[:material/cancel:] **{escape(ending.title)}** {escape(ending.body)}")
    if seen.run.answer:
        _answer(seen)
    said = model.moving(seen)
    if said:
        st.markdown(f"{glyph(seen.status)} {escape(said)}")


def _refused(run: Run, words: str) -> None:
    """The planner said that the task cannot be done: nothing broke, and there is something to do about it."""
    with st.container(border=True, key="refused", gap="small"):
        st.markdown(f"{NOT_DOABLE.glyph} **The agent can’t do this task**")
        st.markdown(escape_lines(words))
        st.markdown(gray(escape(model.what_to_do(run))))
        with st.container(horizontal=True, vertical_alignment="center"):
            _try_again(run, primary=True)
            if model.offline(run):
                st.page_link(places.SETTINGS, label="How to set a provider", icon=":material/tune:", width="content")


def _try_again(run: Run, *, primary: bool = False) -> None:
    again = st.button(
        "Try again with changed words",
        type="primary" if primary else "secondary",
        icon=":material/edit:",
        key="again",
        on_click=prefill,
        args=(run.task,),
    )
    if again:
        places.go(places.RUNS)


def _answer(seen: model.Observed) -> None:
    run = seen.run
    section("Answer" if run.status is RunStatus.SUCCEEDED else "Answer so far")
    with st.container(border=True, key="answer"):
        words, sources = st.columns(TWO_TO_ONE, gap="medium")
        words.markdown(safe_markdown(run.answer or "", citations=True), anchors=False)
        with sources, st.container(gap="xsmall"):
            if run.sources:
                st.caption("Sources")
            for source in run.sources:
                _source(source)
        left = model.undone(seen)
        if left:
            st.markdown(small(":material/warning: Not done: " + escape("; ".join(left))))


def _source(source: Source) -> None:
    shown = told(source)
    name = f"{code(str(source.n))} **{escape(source.step_id)}** {escape(source.tool or 'in words')}"
    lines = [f"{name}: {escape(shown.words)}", *map(escape, shown.sentences)]
    st.caption("  \n".join([*lines, *(["and more"] if shown.more and not shown.rows else [])]))
    if shown.rows:
        frame: dict[str, Sequence[str | float]] = {
            escape(name): [escape(row[place]) for row in shown.rows] for place, name in enumerate(shown.columns)
        }
        figures = {escape(name): cells for name, cells in numbers(shown).items()}
        rows = [dict(zip(frame, row, strict=True)) for row in zip(*{**frame, **figures}.values(), strict=True)]
        small_table(
            rows, {escape(name): how for name, how in wording(shown).items()}, alt=f"What {source.step_id} showed"
        )
        if shown.more:
            st.caption("and more")


def _details(seen: model.Observed, as_graph: bool) -> None:
    _drawing(seen, as_graph)
    left, right = st.columns(TWO_TO_ONE, gap="medium")
    with left:
        if not free_steps(seen):
            section("Steps")
            _steps(seen)
        tool_calls(seen)
        plan_versions(seen)
    with right:
        section("Events")
        _events(seen)
        section("Files")
        _files(seen)


def _drawing(seen: model.Observed, as_graph: bool) -> None:
    happened = timeline(seen, asking.parts(services(), seen.run.run_id))
    if as_graph and seen.plan:
        drawn = model.nodes(seen)
        show_figure(plan_graph(drawn, palette()), alt=graph_alt(drawn), key="graph")
    elif happened:
        show_figure(timeline_figure(happened, palette()), alt=timeline_alt(happened), key="timeline")
    else:
        empty("Nothing has happened yet; the first bar appears when a worker takes the run.")


def _steps(seen: model.Observed) -> None:
    rows = [
        {
            "": f"**{escape(row.step.id)}**",
            "Step": f"{escape(row.step.description)}  \n"
            + gray(f"{escape(row.step.tool or 'in words')} · {look_of(row.step.effect).word}"),
            "Status": badge(AttemptStatus.PAUSED if row.waits else row.status),
            "Tries": row.tries,
            "Time": row.seconds,
            "Tokens": row.tokens,
            "Cost": row.cost,
        }
        for row in model.step_rows(seen)
    ]
    if not rows:
        ended = seen.run.status.ended
        empty("There was no plan." if ended else "No steps yet; they are in the plan that the model proposes.")
        return
    formats = {"Tries": lambda count: f"{count:.0f}", "Time": duration, "Tokens": _whole(tokens), "Cost": _whole(money)}
    small_table(
        rows,
        formats,
        alt="Steps of the plan with status, tries, time, tokens and cost",
        stands_out={"Tries": lambda tries: tries > 1},
    )


def _whole(form: Callable[[int | None], str]) -> Callable[[float], str]:
    return lambda value: escape(form(int(value)))


def _events(seen: model.Observed) -> None:
    newest = list(reversed(seen.events))[:EVENTS_SHOWN]
    rows = [
        {
            "at": gray(moment(event.at, seen.now)),
            "what": f"{model.event_look(seen, event).glyph} {escape(cut(model.event_words(seen, event), 120))}",
        }
        for event in newest
    ]
    if rows:
        small_table(rows, alt="Events, newest first", heads=False)
    if len(seen.events) > EVENTS_SHOWN:
        st.caption(f"the newest {EVENTS_SHOWN} of {plural(len(seen.events), 'event')}")


def _files(seen: model.Observed) -> None:
    if not seen.artifacts:
        empty("No files yet." if not seen.run.status.ended else "The run wrote no files.")
    for artifact in seen.artifacts:
        with st.container(horizontal=True, vertical_alignment="center", wrap=False):
            st.markdown(small(f":material/draft: {escape(short_name(artifact.name))}"), width="stretch")
            st.caption(size(artifact.bytes), width="content")
            st.download_button(
                "Download",
                data=partial(_bytes_of, artifact),
                file_name=artifact.name,
                mime=artifact.media_type,
                icon=":material/download:",
                on_click="ignore",
                type="tertiary",
                key=f"download-{artifact.name}",
            )


def _bytes_of(artifact: Artifact) -> bytes:
    return asking.file_of(services(), artifact).read_bytes()


def _previews(seen: model.Observed) -> None:
    """Charts of an ended run, and its reports and pictures, folded."""
    for artifact in seen.artifacts:
        if artifact.name.endswith(CHART_ENDING):
            _chart(artifact)
        if artifact.media_type not in ("text/markdown", "image/png"):
            continue
        with st.expander(escape(artifact.name), icon=":material/draft:"):
            path = asking.file_of(services(), artifact)
            if artifact.media_type == "image/png":
                st.image(path.read_bytes())
            else:
                st.markdown(safe_markdown(path.read_text(encoding="utf-8", errors="replace")[:SHOWN_CHARACTERS]))


def _chart(artifact: Artifact) -> None:
    with st.expander(escape(artifact.name), icon=":material/draft:", expanded=True):
        text = asking.file_of(services(), artifact).read_text(encoding="utf-8", errors="replace")
        drawn = charts.drawn(text, palette())
        if drawn is None:
            empty("This chart cannot be drawn. Its file can be downloaded above.")
        else:
            show_figure(drawn.figure, alt=drawn.alt, key=f"chart-{artifact.name}")


# --- the list


def show_list() -> None:
    """The box for a new task and a page of the runs, newest first; the address may name a status."""
    app = services()
    status = asking.status_named(places.selected("status"))
    rows = asking.listed(app, status, places.selected("before"))
    counts = app.records.count_runs(app.project)
    head("", model.list_headline(counts))
    start_box()
    if not any(counts.values()):
        empty("Type a task above and start it, or run `plandeck run TASK`: it appears here with its plan.")
        return
    _status_filter(counts, status)
    if rows:
        _runs_table(rows)
        _older(rows)
    else:
        empty("No run has this status now.")
    _watch(counts)


def _status_filter(counts: Mapping[RunStatus, int], status: RunStatus | None) -> None:
    words = {look_of(each).word: each for each in RunStatus if counts.get(each) or each is status}
    key = f"runs-status-{status}"  # a new key for a new address, which may come from a link

    def chosen() -> None:
        found = words.get(st.session_state[key])
        places.select(status=str(found) if found else None, before=None)

    with st.container(horizontal=True, vertical_alignment="center"):
        st.segmented_control(
            "Status",
            [ALL, *words],
            default=look_of(status).word if status else ALL,
            required=True,
            format_func=lambda word: f"{word} {counts.get(words[word], 0):,}" if word in words else word,
            key=key,
            label_visibility="collapsed",
            on_change=chosen,
        )
        st.space("stretch")
        st.caption("A click on a run opens it.", width="content")


def _older(rows: list[model.ListRow]) -> None:
    with st.container(horizontal=True):
        if places.selected("before"):
            st.button("Newest", icon=":material/first_page:", on_click=lambda: places.select(before=None))
        if len(rows) == asking.LISTED:
            last = rows[-1].run.run_id
            st.button("Older runs", icon=":material/arrow_forward:", on_click=lambda: places.select(before=last))


def _runs_table(rows: list[model.ListRow]) -> None:
    shown = [
        {
            "Status": look_of(row.status),
            "Task": cut(row.task, 58),
            "Who": cut(row.run.requested_by, 12),
            "Asked": row.when,
            "Steps": row.steps,
            "Computing": duration(row.computing),
            "People": duration(row.people),
            "Cost": money(row.cost),
        }
        for row in rows
    ]
    text = st.column_config.TextColumn
    columns = {
        "Task": text(width=334),
        "Who": text(width=64),
        "Asked": text(width=92),
        "Steps": text(width=58),
        "Computing": text(width=78, alignment="right"),
        "People": text(width=72, alignment="right"),
        "Cost": text(width=66, alignment="right"),
    }
    opened = clickable_table(shown, columns, key="runs", alt="Runs, newest first")
    if opened is not None:
        places.go(places.RUNS, run=rows[opened].run.run_id)


def _watch(counts: dict[RunStatus, int]) -> None:
    """Look whether anything moved, and draw the list anew only then."""

    @st.fragment(run_every=model.WAITING_SECONDS)
    @guarded
    def look() -> None:
        app = services()
        if app.records.count_runs(app.project) != counts:
            st.rerun()

    look()


show()
