"""Runs of agents: plan, approve, execute, checkpoint, replay.

Imports `traces`; never imports `dashboard`.
"""
