"""The pages as files beside `main.py`, and the way from one to another."""

from __future__ import annotations

from typing import NoReturn

import streamlit as st

OVERVIEW = "overview/view.py"
APPROVALS = "approvals/view.py"
RUNS = "runs/view.py"
THREADS = "threads_page/view.py"
COSTS = "costs/view.py"
SETTINGS = "settings_page/view.py"


def go(page: str, **selected: str) -> NoReturn:
    """Switch to a page in the same tab, with what is selected there in its address: `go(RUNS, run="r-12")`."""
    st.switch_page(page, query_params=selected)


def selected(name: str) -> str | None:
    """What the address selects on this page, e.g. `selected("run")`; None for the list."""
    return st.query_params.get(name) or None


def select(**chosen: str | None) -> None:
    """Put a selection of this page into its address; None takes it out."""
    for name, value in chosen.items():
        if value is None:
            st.query_params.pop(name, None)
        else:
            st.query_params[name] = value
