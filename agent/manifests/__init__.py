"""Agents described in YAML: who they are, how they plan, with which models and tools, and what they may do unasked."""
