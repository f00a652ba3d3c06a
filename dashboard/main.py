"""The script that Streamlit runs: navigation, what every page has around it, and the page."""

from __future__ import annotations

import logging
from pathlib import Path

import streamlit as st

from agent.errors import AgentError
from dashboard.look import places
from dashboard.look.parts import shown_errors
from dashboard.look.text import escape
from dashboard.services import current_settings, current_user, services
from traces.errors import TracesError

log = logging.getLogger(__name__)

STATIC = Path(__file__).parent / "static"


def waiting() -> int:
    """How many requests wait; none are shown while the records cannot be read, the page says why."""
    try:
        app = services()
        return app.records.count_pending(app.project)
    except (AgentError, TracesError):
        return 0


def pages(count: int) -> dict[str, list[st.Page]]:
    """The pages by section, as files, so that tests can switch to them."""
    badge = f" :yellow-badge[{count}]" if count else ""
    return {
        "Work": [
            st.Page(places.OVERVIEW, title="Overview", icon=":material/home:", url_path="overview", default=True),
            st.Page(places.APPROVALS, title=f"Approvals{badge}", icon=":material/front_hand:", url_path="approvals"),
            st.Page(places.RUNS, title="Runs", icon=":material/play_circle:", url_path="runs"),
        ],
        "History": [st.Page(places.THREADS, title="Threads", icon=":material/history:", url_path="threads")],
        "Money": [st.Page(places.COSTS, title="Costs", icon=":material/payments:", url_path="costs")],
        "Plandeck": [st.Page(places.SETTINGS, title="Settings", icon=":material/tune:", url_path="settings")],
    }


def who() -> None:
    """The lines below the navigation: who acts, in which project, and which clock the times are of."""
    st.caption(
        f":material/account_circle: **{escape(current_user())}** · project {escape(current_settings().project)}  \n"
        "Times are UTC"
    )


def main() -> None:
    """Draw the page."""
    count = waiting()
    # An icon by name would be fetched from a stranger's server.
    icon = str(STATIC / "mark-light.svg")
    st.set_page_config(page_title=f"({count}) Plandeck" if count else "Plandeck", page_icon=icon, layout="wide")
    page = st.navigation(pages(count))
    kind = "dark" if st.context.theme.type == "dark" else "light"
    st.logo(STATIC / f"logo-{kind}.svg", icon_image=STATIC / f"mark-{kind}.svg")
    with st.sidebar, shown_errors():
        who()
    try:
        with shown_errors():
            page.run()
    except Exception as error:  # the boundary of every page: a reader gets a sentence, the log gets the rest
        log.exception("the page %s failed", page.title)
        kind = escape(type(error).__name__)
        sentence = f"**This page could not be drawn** ({kind}). Load it again; the server’s log says why."
        st.error(sentence, icon=":material/error:")


main()
