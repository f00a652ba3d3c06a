"""`agents`: who can take a task."""

from __future__ import annotations

from dashboard.cli.options import Json, settings_for
from dashboard.cli.output import print_json, print_table


def agents(json: Json = False) -> None:
    """List the agents: the shipped ones, and those described in the home's folder `agents`."""
    from agent.home import make_home
    from agent.manifests.catalogue import Catalogue
    from agent.shapes import agent_json, page_json
    from agent.tools.builtin import build_registry

    settings = settings_for()
    make_home(settings.home)
    registry = build_registry(settings)
    found = Catalogue(settings.home, registry).agents()
    documents = [agent_json(agent, registry) for agent in found]
    if json:
        print_json(page_json("agents", documents))
        return
    print_table(
        ("agent", "version", "mode", "owner", "tools", "what it does"),
        [
            (
                item["name"],
                item["agent_version"] or "-",
                item["mode"] or "-",
                item["owner"] or "-",
                " ".join(item["tools"]),
                f"cannot be used: {item['problem']}" if item["problem"] else item["description"],
            )
            for item in documents
        ],
        empty="no agents",
    )
