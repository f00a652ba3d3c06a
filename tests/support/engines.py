"""Makes LangGraph unusable, in this process or in another."""

from __future__ import annotations

WITHOUT_LANGGRAPH = """
import sys

class NoLangGraph:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "langgraph":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NoLangGraph())
from dashboard.cli.main import main
main()
"""
"""A program that is `plandeck` where LangGraph is not installed."""


def no_graph(*_: object) -> None:
    """In place of `build_graph`."""
    raise ValueError("the graph cannot be compiled")
