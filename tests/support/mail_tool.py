"""A tool that sends something, and remembers what it sent."""

from __future__ import annotations

from collections.abc import Callable

from pydantic import BaseModel
from runs import step

from agent.records import Effect
from agent.tools.registry import ErrorKind, Observation, Tool, ToolContext, ToolError


class MailArguments(BaseModel):
    """What `mail` takes."""

    to: str
    body: str


class Mailbox(list[tuple[str, str]]):
    """What was really sent."""


OPEN_MAIL = step("s2", "mail", ("s1",), to="bo@example.com")
"""A step whose body is open until it runs."""


def mail(sent: Mailbox, *, fail: Callable[[], None] = lambda: None) -> Tool:
    def run(arguments: MailArguments, context: ToolContext) -> Observation:
        sent.append((arguments.to, arguments.body))
        fail()
        return Observation(text=f"sent to {arguments.to}")

    return Tool("mail", 1, "Sends mail.", MailArguments, Effect.SEND_EXTERNAL, run, idempotent=False)


def unknown_outcome() -> None:
    raise ToolError("the line broke", kind=ErrorKind.OUTCOME_UNKNOWN)
