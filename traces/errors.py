"""The one base error of the `traces` package."""

from __future__ import annotations


class TracesError(Exception):
    """Something about spans or prices is refused or cannot be done; its text is the sentence that a user reads.

    `code` is a stable word for scripts (`{"error": {"code": …, "message": …}}`).
    """

    code = "traces"

    @property
    def message(self) -> str:
        """One sentence that names the thing and the remedy."""
        return str(self.args[0])


class UndecodableError(TracesError):
    """A body is not OTLP at all."""

    code = "undecodable"


class SpanStorageError(TracesError):
    """The database of spans cannot be opened, read or written."""

    code = "storage"


class PriceFileError(TracesError):
    """The file of own prices is missing or wrong; the message names the file and the entry."""

    code = "prices"
