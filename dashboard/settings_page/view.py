"""The settings page: read only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from agent.manifests.catalogue import FOLDER
from agent.records import Limits
from dashboard.look.formats import short_id, size
from dashboard.look.parts import TWO_TO_ONE, fact_list, head, section, small_table, warn
from dashboard.look.status import badge
from dashboard.look.text import code, escape
from dashboard.named_stores import named_stores
from dashboard.services import services
from dashboard.settings_page.model import (
    CELL_CHARACTERS,
    Fact,
    Place,
    addresses,
    agent_rows,
    headline,
    limit_facts,
    model_facts,
    places,
    server_facts,
    tool_facts,
    tool_rows,
    versions,
)

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck


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
        _agents(app)
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
        if problem := app.prices.problem:
            warn("The price file is not in force as it stands.", problem)
        for problem in named_stores(app.settings).problems:
            warn("A store is missing.", problem)
        _facts(server_facts(app.settings))
    with right:
        section("Limits, where the agent sets none")
        fact_list({fact.name: escape(fact.value) for fact in limit_facts(Limits())})
        section("Data")
        fact_list({place.name: _place(place) for place in places(app.settings)})
        for fact in addresses(app.settings):
            _whole(fact)
        if not app.settings.database_url:
            st.caption(f"For PostgreSQL instead of files set {code('PLANDECK_DATABASE_URL')}")
        section("Versions")
        fact_list({fact.name: escape(fact.value) for fact in versions()})


def _agents(app: Plandeck) -> None:
    """Who can take a task, and which manifests are wrong."""
    section("Agents")
    agents = app.agents.agents()
    for agent in agents:
        if agent.problem:
            warn(f"The agent {agent.name} cannot be used.", agent.problem)
    small_table(
        [
            {
                "Agent": f"{escape(row.name)}  \n{code(row.version)}",
                "Mode": escape(row.mode.replace("_", " ")),
                "Models": escape(row.models),
                "Tools": escape(", ".join(row.tools)),
            }
            for row in agent_rows(agents, app.registry)
        ],
        alt="The agents with version, mode, models and tools",
    )
    st.caption(f"Describe one of your own in {code(f'{FOLDER}/NAME.yaml')} of the data folder; the next run has it.")


def _facts(facts: list[Fact]) -> None:
    small_table(
        [
            {
                "Setting": f":gray[{escape(fact.name)}]",
                "Value": escape(short_id(fact.value, CELL_CHARACTERS // 2 - 2) if fact.is_long else fact.value),
                "Set with": _variables(fact.variable),
            }
            for fact in facts
        ],
        alt="Settings with their values and variables",
    )
    for fact in facts:
        if fact.is_long:
            _whole(fact)


def _whole(fact: Fact) -> None:
    """A value with few places to break at, as a block of code, which breaks anywhere."""
    st.caption(f"{escape(fact.name)}, set with {_variables(fact.variable)}")
    st.code(fact.value, language=None, wrap_lines=True)


def _variables(names: str | None) -> str:
    return " ".join(code(name) for name in (names or "").split(", ") if name)


def _place(place: Place) -> str:
    if place.file is None:
        return "on PostgreSQL"
    return f"{'nothing yet' if place.bytes is None else size(place.bytes)} {code(place.file)}"


view()
