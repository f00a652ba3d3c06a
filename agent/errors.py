"""The one base error of the `agent` package."""

from __future__ import annotations


class AgentError(Exception):
    """Something the agent refuses or cannot do; its text is the sentence that a user reads.

    `code` is a stable word for scripts (`{"error": {"code": …, "message": …}}`).
    """

    code = "agent_error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code

    @property
    def message(self) -> str:
        """One sentence that names the thing and the remedy."""
        return str(self.args[0])


class ConfigurationError(AgentError):
    """A setting is wrong or missing; the message names the variable and the choices."""

    code = "configuration"


class NotFoundError(AgentError):
    """No run, request, thread, checkpoint or store of that name."""

    code = "not_found"


class RefusedError(AgentError):
    """The request is understood and refused: stale hash, already decided, invalid plan, wrong state."""

    code = "refused"


class StorageError(AgentError):
    """A database or folder cannot be read or written; the message names it and the remedy."""

    code = "storage"
