"""Spans of any OpenTelemetry program: receive, normalise, price, store, ask.

Imports neither `agent` nor `dashboard`, and nothing of LangGraph.
"""
