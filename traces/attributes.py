"""Names of the attributes by which a traced program says what a span belongs to.

Any program may set them; the agent sets all. They win over every convention's own names.
"""

from __future__ import annotations

PROJECT = "plandeck.project"
RUN_ID = "plandeck.run_id"
STEP_ID = "plandeck.step_id"
ATTEMPT = "plandeck.attempt"
ROLE = "plandeck.role"
"""What the model calls inside are for: `planning`, `execution`, `check` or `synthesis`."""
KIND = "plandeck.kind"
"""Which part of a run the span is: `run`, `plan`, `step`, `answer`, `approval` or `waiting`."""
AGENT = "plandeck.agent"
PROVIDER = "plandeck.provider"
"""The provider, where the instrumentation cannot know it (an OpenAI-compatible server)."""
CHECKPOINT_ID = "plandeck.checkpoint_id"
DECISION = "plandeck.decision"
RUN_STATUS = "plandeck.run_status"
USER = "enduser.id"
THREAD_ID = "gen_ai.conversation.id"

PLANNING = "planning"
"""The role whose tokens the planning share counts."""
WAITING_KINDS = ("waiting", "approval")
"""Kinds of spans in which people, not the agent, were at work."""
WORKING_KINDS = ("plan", "step", "answer")
"""Kinds of spans whose durations are a run's computing time."""
