"""The settings page: read only."""

from __future__ import annotations

import streamlit as st

from dashboard.look.formats import size
from dashboard.look.parts import TWO_TO_ONE, fact_list, head, section, small_table
from dashboard.look.status import badge
from dashboard.look.text import code, escape
from dashboard.services import services
from dashboard.settings_page.model import (
    Fact,
    headline,
    limit_facts,
    model_facts,
    places,
    server_facts,
    tool_facts,
    tool_rows,
    versions,
)


def view() -> None:
    """Draw the page."""
    app = services()
    head(
        "Settings",
        headline(app.provider.name, len(app.registry.ready)),
        facts=f"Read only. Set the named variables in the environment or in {code('plandeck.toml')} and start "
        "Plandeck again.",
    )
    left, right = st.columns(TWO_TO_ONE, gap="medium")
    with left:
        section("Model")
        _facts(
            model_facts(
                app.settings, app.provider.name, app.settings.model or app.provider.model, app.provider.base_url
            )
        )
        section("Tools")
        small_table(
            [
                {
                    "Tool": escape(row.name),
                    "Version": str(row.version),
                    "Effect": badge(row.effect),
                    "What it does": escape(row.summary),
                    "State": "ready" if row.ready else ":gray[not configured]",
                }
                for row in tool_rows(app.registry)
            ],
            alt="The tools with version, effect, summary and whether they are configured",
        )
        section("Settings of tools")
        _facts(tool_facts(app.settings))
        section("Server and sources")
        _facts(server_facts(app.settings))
    with right:
        section("Limits of a new run")
        fact_list({fact.name: escape(fact.value) for fact in limit_facts(app.limits)})
        section("Data")
        fact_list({place.name: _place(place.where, place.bytes) for place in places(app.settings)})
        st.caption(f"Folder: {code('PLANDECK_HOME')} · PostgreSQL: {code('PLANDECK_DATABASE_URL')}")
        section("Versions")
        fact_list({fact.name: escape(fact.value) for fact in versions()})


def _facts(facts: list[Fact]) -> None:
    small_table(
        [
            {
                "Setting": f":gray[{escape(fact.name)}]",
                "Value": escape(fact.value),
                "Set with": _variables(fact.variable),
            }
            for fact in facts
        ],
        alt="Settings with their values and variables",
    )


def _variables(names: str | None) -> str:
    return " ".join(code(name) for name in (names or "").split(", ") if name)


def _place(where: str, count: int | None) -> str:
    return f"{'nothing yet' if count is None else size(count)}  \n{code(where)}"


view()
