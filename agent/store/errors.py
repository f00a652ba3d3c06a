"""What the record store refuses."""

from __future__ import annotations

from agent.errors import RefusedError
from agent.records import ApprovalRequest


class StaleLeaseError(RefusedError):
    """Another process took the run's lease; whoever gets this stops working on the run."""

    code = "stale_lease"


class StaleHashError(RefusedError):
    """The decision names another version than the one that waits."""

    code = "stale_hash"


class AlreadyDecidedError(RefusedError):
    """Somebody else was first; `request` says who decided what and when."""

    code = "already_decided"

    def __init__(self, request: ApprovalRequest) -> None:
        super().__init__(_already(request))
        self.request = request


def _already(request: ApprovalRequest) -> str:
    if request.decided_at is None or request.decided_by is None:
        return f"Request {request.request_id} is {request.status}; no decision is wanted any more."
    return (
        f"Request {request.request_id} was {request.status} by {request.decided_by} "
        f"at {request.decided_at:%Y-%m-%d %H:%M:%S} UTC already."
    )
