"""Notifications: into the outbox folder, by e-mail, or to a webhook."""

from __future__ import annotations

import json
from email.utils import format_datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import httpx
from pydantic import AfterValidator, Field

from agent.records import Effect, JsonObject
from agent.settings import Settings
from agent.tools.files import write_whole
from agent.tools.mail import VARIABLE as SMTP_VARIABLE
from agent.tools.mail import MailServer, mail_address, message_of, send
from agent.tools.registry import ErrorKind, Observation, Tool, ToolArguments, ToolContext, ToolError
from agent.tools.text import one_line
from agent.tools.web import refused, unreached, web_address

WEBHOOK_VARIABLE = "PLANDECK_NOTIFY_WEBHOOK"
RECIPIENTS = 20
BODY_CHARACTERS = 20_000
SECONDS = 10.0
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)
"""Failures of a request before its first byte has left."""
BETWEEN = (502, 504)
"""What a gateway answers when it does not know what the server behind it did."""


def recipient(value: str) -> str:
    """A recipient on one line; ValueError otherwise."""
    return _one_line(value, 254, "a recipient")


def subject_line(value: str) -> str:
    """A subject on one line; ValueError otherwise."""
    return _one_line(value, 200, "a subject")


def _one_line(value: str, characters: int, what: str) -> str:
    line = value.strip()
    if not line or len(line) > characters or not line.isprintable():
        raise ValueError(f"{what} is one line of 1 to {characters} characters, without control characters")
    return line


def message_text(value: str) -> str:
    """A text of lines; ValueError when there is none, or where it has other control characters."""
    if not value.strip():
        raise ValueError("a notification needs a text")
    if any(mark < " " and mark not in "\n\r\t" for mark in value):
        raise ValueError("a text has no control characters but line breaks and tabs")
    return value


class NotifyArguments(ToolArguments):
    """What `notify` takes."""

    to: list[Annotated[str, AfterValidator(recipient)]] = Field(
        min_length=1, max_length=RECIPIENTS, description="Recipients; e-mail addresses where the channel is email."
    )
    subject: Annotated[str, AfterValidator(subject_line)] = Field(description="One line.")
    body: Annotated[str, AfterValidator(message_text)] = Field(
        max_length=BODY_CHARACTERS, description="Plain text, every figure from an earlier step's result."
    )
    channel: Literal["outbox", "email", "webhook"] = Field(
        default="outbox", description="outbox only lays the message down in a folder."
    )


def notify_tool(settings: Settings) -> Tool:
    """The tool with the channels that are configured; ConfigurationError if one of them is configured wrongly."""
    mail = settings.smtp_url and MailServer.parse(settings.smtp_url.get_secret_value(), settings.smtp_from)
    hook = settings.notify_webhook and web_address(settings.notify_webhook.get_secret_value(), WEBHOOK_VARIABLE)
    outbox = settings.home / "outbox"

    def run(arguments: NotifyArguments, context: ToolContext) -> Observation:
        key = context.idempotency_key
        if key is None:
            raise ToolError("A notification needs an idempotency key; nothing was sent.", kind=ErrorKind.FAILED)
        if arguments.channel == "outbox":
            return _lay_down(outbox, arguments, key, context)
        if arguments.channel == "email":
            return _mail(mail or _missing("email", SMTP_VARIABLE), arguments, key, context)
        return _post(hook or _missing("webhook", WEBHOOK_VARIABLE), arguments, key, context)

    ready = ["outbox", *(["email"] if mail else []), *(["webhook"] if hook else [])]
    return Tool(
        name="notify",
        version=1,
        summary="Sends a notification to people: into the outbox folder, by e-mail or to a webhook.",
        arguments=NotifyArguments,
        effect=Effect.SEND_EXTERNAL,
        run=run,
        timeout_seconds=60.0,
        idempotent=False,
        details=partial("Channels that are configured: {}.".format, ", ".join(ready)),
    )


def _missing(channel: str, variable: str) -> NoReturn:
    raise ToolError(
        f"The channel {channel} is not configured: set {variable}, or use the channel outbox.",
        kind=ErrorKind.NOT_CONFIGURED,
    )


def _content(arguments: NotifyArguments) -> JsonObject:
    return {"to": arguments.to, "subject": arguments.subject, "body": arguments.body}


def _done(arguments: NotifyArguments, key: str, what: str) -> Observation:
    return Observation(
        text=f"{what}: {one_line(arguments.subject)} → {', '.join(arguments.to)}.",
        data={"channel": arguments.channel, "key": key, **_content(arguments)},
    )


def _lay_down(outbox: Path, arguments: NotifyArguments, key: str, context: ToolContext) -> Observation:
    """One file a key. It is never changed: the same message again is there already, another one is refused."""
    path = outbox / f"{key}.json"
    try:
        outbox.mkdir(parents=True, exist_ok=True)
        if path.exists():
            return _laid_down_before(path, arguments, key)
        message = {"key": key, "at": context.now().isoformat(), **_content(arguments)}
        write_whole(path, json.dumps(message, ensure_ascii=False, indent=1) + "\n")
    except OSError as error:
        raise ToolError(
            f"The outbox {outbox} cannot be written: {error.strerror}; nothing was sent.", kind=ErrorKind.UNAVAILABLE
        ) from error
    return _done(arguments, key, "Laid down in the outbox")


def _laid_down_before(path: Path, arguments: NotifyArguments, key: str) -> Observation:
    try:
        before = json.loads(path.read_bytes())
    except ValueError as error:
        raise ToolError(f"{path} is there and is no message; nothing was sent.", kind=ErrorKind.FAILED) from error
    content = _content(arguments)
    if not isinstance(before, dict) or {name: before.get(name) for name in content} != content:
        raise ToolError(
            f"Another message was laid down under the same key in {path}; nothing was sent.",
            kind=ErrorKind.FAILED,
            code="key_reused",
        )
    return _done(arguments, key, "Already in the outbox")


def _mail(server: MailServer, arguments: NotifyArguments, key: str, context: ToolContext) -> Observation:
    try:
        to = list(dict.fromkeys(map(mail_address, arguments.to)))
    except ValueError as error:
        raise ToolError(f"notify refuses its arguments: to: {error}.", code="bad_arguments") from error
    date = format_datetime(context.now())
    send(server, message_of(server, to, arguments.subject, arguments.body, key=key, date=date), to)
    return _done(arguments, key, f"Handed to the mail server {server.host}")


def _post(hook: httpx.URL, arguments: NotifyArguments, key: str, context: ToolContext) -> Observation:
    """JSON that Slack and its like understand, too: they read `text`."""
    who = f"The webhook at {hook.host}"
    payload = {"text": f"{arguments.subject}\n\n{arguments.body}", **_content(arguments)}
    try:
        # Its status is the answer; a body that is cut off changes nothing.
        with httpx.stream("POST", hook, json=payload, headers={"Idempotency-Key": key}, timeout=SECONDS) as answer:
            _accepted(who, answer, context)
    except NOT_SENT as error:
        raise unreached(who, error) from error
    except httpx.TransportError as error:
        raise _unknown(f"{who} did not answer ({type(error).__name__})") from error
    return _done(arguments, key, f"Posted to the webhook at {hook.host}")


def _accepted(who: str, answer: httpx.Response, context: ToolContext) -> None:
    if answer.status_code in BETWEEN:
        raise _unknown(f"{who} answered {answer.status_code}, which is a gateway's word")
    if not answer.is_success:
        raise refused(who, answer, context.now())


def _unknown(what: str) -> ToolError:
    return ToolError(f"{what}; whether the notification arrived is unknown.", kind=ErrorKind.OUTCOME_UNKNOWN)
