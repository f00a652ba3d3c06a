"""The box in which a task is given to the agent; on the overview and at the top of the runs."""

from __future__ import annotations

import streamlit as st

from agent.errors import AgentError
from dashboard.look import places
from dashboard.look.parts import gray, small
from dashboard.look.text import escape
from dashboard.services import current_user, services

TASK = "new-task"
AGENT = "new-task-agent"
AGENT_PIXELS = 170
REFUSED = "new-task-refused"
STARTED = "new-task-started"


def start_box(*, primary: bool = True, narrow: bool = False) -> None:
    """A field and a button; after the start the page of the run opens. A refused task stays in the field."""
    started = st.session_state.pop(STARTED, None)
    if started:
        places.go(places.RUNS, run=started)
    with st.container(border=True, key="start-box"):
        st.text_area(
            "New run",
            key=TASK,
            height=104 if narrow else 72,
            placeholder="What should the agent find out?",
        )
        agents = {agent.name: agent.manifest for agent in services().agents.agents() if agent.manifest}
        with st.container(horizontal=True, vertical_alignment="center"):
            chosen = st.selectbox(
                "Agent", list(agents), key=AGENT, width=AGENT_PIXELS, label_visibility="collapsed", filter_mode=None
            )
            st.space("stretch")
            st.button(
                "Start", type="primary" if primary else "secondary", icon=":material/play_arrow:", on_click=_start
            )
        refused = st.session_state.pop(REFUSED, None)
        if refused:
            st.markdown(f":red[:material/error: {escape(refused)}]")
        elif chosen:
            st.markdown(small(gray(escape(agents[chosen].description))))


def prefill(task: str) -> None:
    """Put a task into the field, for the callback of a button."""
    st.session_state[TASK] = task


def _start() -> None:
    """A click: runs once before the page is drawn again, so a second click of a double click finds an empty field."""
    from agent.manifests.catalogue import DEFAULT_AGENT  # noqa: PLC0415 - as below
    from agent.run.usecases import start_run  # noqa: PLC0415 - pages are served while the agent is imported

    task = st.session_state.get(TASK, "")
    agent = st.session_state.get(AGENT) or DEFAULT_AGENT
    # Set by hand it outlives the page of the run, and the next task is offered to the same agent.
    st.session_state[AGENT] = agent
    try:
        run = start_run(services(), task, by=current_user(), agent=agent)
    except AgentError as error:
        st.session_state[REFUSED] = error.message
        return
    st.session_state[TASK] = ""
    st.session_state[STARTED] = run.run_id
