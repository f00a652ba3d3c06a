"""The tools that Plandeck brings along."""

from __future__ import annotations

from agent.settings import Settings
from agent.tools.calculator import CALCULATOR
from agent.tools.chart import CHART
from agent.tools.httpget import http_get_tool
from agent.tools.notify import notify_tool
from agent.tools.registry import ToolRegistry
from agent.tools.report import REPORT
from agent.tools.sample import ensure_sample
from agent.tools.search import search_tool
from agent.tools.sql import sql_tool
from agent.tools.websearch import web_search_tool


def build_registry(settings: Settings) -> ToolRegistry:
    """Every tool, configured or not, over the sample data in the home folder, which is made if missing.

    ConfigurationError if a setting of a tool is wrong.
    """
    sample = ensure_sample(settings.home)
    return ToolRegistry(
        [
            sql_tool(sample.database),
            search_tool(sample.policies),
            CALCULATOR,
            REPORT,
            CHART,
            web_search_tool(settings.tavily_api_key, settings.tavily_base_url),
            http_get_tool(settings.http_allow),
            notify_tool(settings),
        ]
    )
