"""The tools that Plandeck brings along."""

from __future__ import annotations

from agent.settings import Settings
from agent.tools.calculator import CALCULATOR
from agent.tools.registry import ToolRegistry
from agent.tools.report import REPORT
from agent.tools.sample import ensure_sample
from agent.tools.search import search_tool
from agent.tools.sql import sql_tool


def build_registry(settings: Settings) -> ToolRegistry:
    """The four tools over the sample data in the home folder, which is made if missing."""
    sample = ensure_sample(settings.home)
    return ToolRegistry([sql_tool(sample.database), search_tool(sample.policies), CALCULATOR, REPORT])
