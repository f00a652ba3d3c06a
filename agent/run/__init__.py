"""The agent graph and the use cases that start, advance and decide runs."""
