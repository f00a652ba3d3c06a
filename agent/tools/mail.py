"""Sending one e-mail over SMTP so that it is known whether it was sent, wherever that can be known."""

from __future__ import annotations

import re
import smtplib
import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import SMTP
from urllib.parse import unquote, urlsplit

from agent.errors import ConfigurationError
from agent.tools.registry import ErrorKind, ToolError
from agent.tools.text import one_line

VARIABLE = "PLANDECK_SMTP_URL"
SENDER_VARIABLE = "PLANDECK_SMTP_FROM"
PORTS = {"smtp": 587, "smtps": 465}
SECONDS = 10.0
"""For each exchange with the server."""
ADDRESS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?")
LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
REPLY_CHARACTERS = 200
DENIED = (530, 534, 535, 538, 550, 551, 553, 554)


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where e-mail is handed in, and as whom."""

    host: str
    port: int
    secure: bool
    """Whether TLS begins with the connection; otherwise it begins when the server offers it."""
    sender: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, url: str, sender: str | None) -> MailServer:
        """The server of a URL. ConfigurationError that names the variable and never its value."""
        wrong = ConfigurationError(f"{VARIABLE} is not of the form smtp://user:password@host:port (or smtps://…).")
        try:
            parts = urlsplit(url.strip())
            port = parts.port
        except ValueError as error:
            raise wrong from error
        if (
            not url.isascii()
            or parts.scheme not in PORTS
            or not parts.hostname
            or parts.path.strip("/")
            or parts.query
            or parts.fragment
        ):
            raise wrong
        user, password = unquote(parts.username or "") or None, unquote(parts.password or "")
        if not f"{user}{password}".isascii():  # which smtplib cannot send
            raise wrong
        said = (sender or user or "").strip()
        if not ADDRESS.fullmatch(said):
            raise ConfigurationError(
                f"{SENDER_VARIABLE} has to be the sender's address, since {VARIABLE} has none as its user."
                if sender is None
                else f"{SENDER_VARIABLE} is {said!r}, which is no e-mail address."
            )
        return cls(
            host=parts.hostname,
            port=port or PORTS[parts.scheme],
            secure=parts.scheme == "smtps",
            sender=said,
            user=user,
            password=password if user else None,
        )


def mail_address(text: str) -> str:
    """An address as SMTP takes it, its domain in ASCII; ValueError saying what is wrong with another."""
    local, at, domain = text.strip().rpartition("@")
    try:
        plain = f"{local}{at}{domain.encode('idna').decode('ascii')}"
    except UnicodeError as error:
        raise ValueError(f"{one_line(text, 80)!r} has no domain that there can be") from error
    if not ADDRESS.fullmatch(plain):
        raise ValueError(f"{one_line(text, 80)!r} is no e-mail address of plain letters, as in ana@example.org")
    return plain


def message_of(server: MailServer, to: Sequence[str], subject: str, body: str, *, key: str, date: str) -> EmailMessage:
    """The message; the same key gives the same Message-ID, by which a second copy can be told."""
    message = EmailMessage(policy=SMTP.clone(cte_type="7bit"))
    message["From"] = server.sender
    message["To"] = ", ".join(to)
    message["Subject"] = subject
    message["Date"] = date
    message["Message-ID"] = f"<{key}@{server.sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(body)
    return message


def send(server: MailServer, message: EmailMessage, to: Sequence[str]) -> None:
    """Hand the message in, for all recipients or for none.

    ToolError says what kept it from being sent; `outcome_unknown` if the connection broke after it was handed over.
    """
    with _session(server) as session:
        _agreed(session.mail(server.sender), f"the sender {server.sender}")
        for address in to:
            _agreed(session.rcpt(address), f"the recipient {address}")
        try:
            code, reply = session.data(message.as_bytes())
        except smtplib.SMTPDataError as error:  # it did not want to have the text
            raise _disagreed(error.smtp_code, error.smtp_error, "the message") from error
        except (smtplib.SMTPServerDisconnected, OSError) as error:
            raise ToolError(
                f"The mail server broke off while it took the message ({one_line(str(error), 120)}); whether it was "
                "sent is unknown.",
                kind=ErrorKind.OUTCOME_UNKNOWN,
            ) from error
        _agreed((code, reply), "the message")


@contextmanager
def _session(server: MailServer) -> Iterator[smtplib.SMTP]:
    """A session in which the next command can be MAIL. What breaks before the message is handed over sent nothing."""
    where = f"The mail server {server.host}:{server.port}"
    session: smtplib.SMTP | None = None
    try:
        session = _connected(server)
        _secured(session, server)
        yield session
        with suppress(smtplib.SMTPException, OSError):  # it is sent; how the server says goodbye changes nothing
            session.quit()
    except (smtplib.SMTPAuthenticationError, smtplib.SMTPNotSupportedError) as error:
        words = _words(error.smtp_error) if isinstance(error, smtplib.SMTPAuthenticationError) else str(error)
        raise ToolError(
            f"{where} refuses user or password of {VARIABLE}: {words}.", kind=ErrorKind.PERMISSION_DENIED
        ) from error
    except (smtplib.SMTPException, OSError) as error:
        late = any(isinstance(item, TimeoutError) for item in (error, error.__context__))
        raise ToolError(
            f"{where} cannot be used: {one_line(str(error), REPLY_CHARACTERS)}; nothing was sent.",
            kind=ErrorKind.TIMEOUT if late else ErrorKind.UNAVAILABLE,
        ) from error
    finally:
        if session is not None:
            session.close()


def _connected(server: MailServer) -> smtplib.SMTP:
    if server.secure:
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(server.host, server.port, timeout=SECONDS, context=context)
    return smtplib.SMTP(server.host, server.port, timeout=SECONDS)


def _secured(session: smtplib.SMTP, server: MailServer) -> None:
    """TLS where it is offered, then the password; never a password in the clear to another machine."""
    session.ehlo_or_helo_if_needed()
    if not server.secure and session.has_extn("starttls"):
        session.starttls(context=ssl.create_default_context())
        session.ehlo()
    elif not server.secure and server.user and server.host not in LOCAL:
        raise ToolError(
            f"The mail server {server.host} offers no TLS, so the password of {VARIABLE} is not sent to it.",
            kind=ErrorKind.PERMISSION_DENIED,
        )
    if server.user:
        session.login(server.user, server.password or "")


def _agreed(answer: tuple[int, bytes], what: str) -> None:
    """ToolError unless the server agreed."""
    code, reply = answer
    if not 200 <= code < 300:
        raise _disagreed(code, reply, what)


def _disagreed(code: int, reply: bytes | str, what: str) -> ToolError:
    """A 4xx may pass, a 5xx does not."""
    kind = ErrorKind.UNAVAILABLE if 400 <= code < 500 else ErrorKind.FAILED
    if code in DENIED:
        kind = ErrorKind.PERMISSION_DENIED
    return ToolError(
        f"The mail server refuses {what}: {code} {_words(reply)}; nothing was sent.", kind=kind, code=f"smtp_{code}"
    )


def _words(reply: bytes | str) -> str:
    text = reply.decode("utf-8", errors="replace") if isinstance(reply, bytes) else reply
    return one_line(" ".join(text.split()), REPLY_CHARACTERS).rstrip(".")
