"""Reads any LangGraph checkpoint store without running, importing or changing anything."""
