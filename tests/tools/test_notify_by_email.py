import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from loopback import unused_port

from agent.errors import ConfigurationError
from agent.settings import load_settings
from agent.tools import mail
from agent.tools.calling import call_tool
from agent.tools.mail import MailServer
from agent.tools.notify import notify_tool
from agent.tools.registry import ErrorKind, Observation, ToolContext, ToolError, idempotency_key

KEY = idempotency_key("r-1", "s1", 1, 1)
MESSAGE = {"to": ["ana@example.org"], "subject": "Budget", "body": "Atlas is over.", "channel": "email"}
SENDER = "plandeck@example.org"


@pytest.fixture
def keyed(tool_context: ToolContext) -> ToolContext:
    return replace(tool_context, idempotency_key=KEY)


class Postbox:
    """A handler of aiosmtpd: keeps what it accepts, and refuses what it is told to."""

    def __init__(self, recipients: dict[str, str] | None = None, data: str = "250 OK") -> None:
        self.recipients, self.data = recipients or {}, data
        self.kept: list[Envelope] = []

    async def handle_RCPT(self, _: SMTP, __: Session, envelope: Envelope, address: str, ___: list[str]) -> str:
        answer = self.recipients.get(address, "250 OK")
        if answer.startswith("250"):
            envelope.rcpt_tos.append(address)
        return answer

    async def handle_DATA(self, _: SMTP, __: Session, envelope: Envelope) -> str:
        if self.data.startswith("250"):
            self.kept.append(envelope)
        return self.data


@contextmanager
def mail_server(postbox: Postbox, **options: Any) -> Iterator[str]:
    """`host:port` of a real SMTP server."""
    controller = Controller(postbox, hostname="127.0.0.1", port=unused_port(), **options)
    controller.start()
    try:
        yield f"127.0.0.1:{controller.port}"
    finally:
        controller.stop()


def send(home: Path, keyed: ToolContext, url: str, **arguments: Any) -> Observation:
    tool = notify_tool(load_settings(home=home, smtp_url=url, smtp_from=SENDER))
    return call_tool(tool, MESSAGE | arguments, keyed)


def refusal(home: Path, keyed: ToolContext, url: str, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as refused:
        send(home, keyed, url, **arguments)
    assert "s3cret" not in refused.value.message
    return refused.value


def test_an_email_arrives_as_it_was_written(tmp_path: Path, keyed: ToolContext) -> None:
    postbox = Postbox()
    to = ["ana@example.org", "li@Köln.example", "ana@example.org"]
    body = "Atlas is 5 € over.\n.\n→ See it. " + "x" * 2_000
    with mail_server(postbox) as where:
        seen = send(tmp_path, keyed, f"smtp://{where}", to=to, subject="Budget of Größe " + "🙂" * 40, body=body)
    (envelope,) = postbox.kept
    assert (envelope.mail_from, envelope.rcpt_tos) == (SENDER, ["ana@example.org", "li@xn--kln-sna.example"])
    content = envelope.content
    assert isinstance(content, bytes)
    assert content.isascii()
    assert max(map(len, content.splitlines())) <= 998
    message = message_from_bytes(content, policy=default)
    assert message["Subject"] == "Budget of Größe " + "🙂" * 40
    assert message["From"] == SENDER
    assert message["To"] == "ana@example.org, li@xn--kln-sna.example"
    assert message["Message-ID"] == f"<{KEY}@example.org>"
    assert message["Date"] == "Tue, 01 Dec 2026 00:00:00 +0000"
    assert message.get_body().get_content().splitlines() == body.split("\n")  # type: ignore[union-attr]
    assert seen.text.startswith("Handed to the mail server 127.0.0.1: ")


def test_the_same_key_gives_the_same_message(tmp_path: Path, keyed: ToolContext) -> None:
    postbox = Postbox()
    with mail_server(postbox) as where:
        send(tmp_path, keyed, f"smtp://{where}")
        send(tmp_path, replace(keyed, attempt=2), f"smtp://{where}")
    assert postbox.kept[0].content == postbox.kept[1].content


@pytest.mark.parametrize("to", ["ana", "Ana <ana@example.org>", "a@b@c", "größe@example.org", "a@", "a b@c", "a@-x..y"])
def test_what_is_no_address_is_named_and_nothing_is_sent(to: str, tmp_path: Path, keyed: ToolContext) -> None:
    postbox = Postbox()
    with mail_server(postbox) as where:
        refused = refusal(tmp_path, keyed, f"smtp://{where}", to=["ana@example.org", to])
    assert refused.kind is ErrorKind.BAD_ARGUMENT
    assert repr(to) in refused.message
    assert postbox.kept == []


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("550 no such user", ErrorKind.PERMISSION_DENIED),
        ("450 busy", ErrorKind.UNAVAILABLE),
        ("501 syntax", ErrorKind.FAILED),
    ],
)
def test_one_refused_recipient_keeps_the_message_from_all(
    reply: str, kind: ErrorKind, tmp_path: Path, keyed: ToolContext
) -> None:
    postbox = Postbox({"li@example.org": reply})
    with mail_server(postbox) as where:
        refused = refusal(tmp_path, keyed, f"smtp://{where}", to=["ana@example.org", "li@example.org"])
    assert refused.kind is kind
    assert f"the recipient li@example.org: {reply}; nothing was sent" in refused.message
    assert postbox.kept == []


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("554 spam", ErrorKind.PERMISSION_DENIED),
        ("452 no room", ErrorKind.UNAVAILABLE),
        ("552 too large", ErrorKind.FAILED),
    ],
)
def test_a_refused_message_is_known_not_to_be_sent(
    reply: str, kind: ErrorKind, tmp_path: Path, keyed: ToolContext
) -> None:
    with mail_server(Postbox(data=reply)) as where:
        assert refusal(tmp_path, keyed, f"smtp://{where}").kind is kind


# --- TLS and passwords


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import subprocess

    folder = tmp_path_factory.mktemp("tls")
    out = ["-keyout", "key.pem", "-out", "certificate.pem", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=mail", *out],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    return folder / "certificate.pem"


def served(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return context


def let_ana_in(_: SMTP, __: Session, ___: Envelope, ____: str, given: Any) -> AuthResult:
    right = isinstance(given, LoginPassword) and (given.login, given.password) == (b"ana@example.org", b"s3cret/ pw")
    return AuthResult(success=right, handled=False)


def test_a_password_goes_over_tls(
    tmp_path: Path, keyed: ToolContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    postbox = Postbox()
    options = {"tls_context": served(certificate), "require_starttls": True, "authenticator": let_ana_in}
    with mail_server(postbox, **options, auth_required=True) as where:
        send(tmp_path, keyed, f"smtp://ana%40example.org:s3cret%2F%20pw@{where}")
        refused = refusal(tmp_path, keyed, f"smtp://ana%40example.org:s3cret@{where}")
    assert len(postbox.kept) == 1
    assert refused.kind is ErrorKind.PERMISSION_DENIED
    assert "PLANDECK_SMTP_URL" in refused.message


def test_tls_from_the_first_byte(
    tmp_path: Path, keyed: ToolContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    postbox = Postbox()
    with mail_server(postbox, ssl_context=served(certificate)) as where:
        send(tmp_path, keyed, f"smtps://{where}")
        monkeypatch.delenv("SSL_CERT_FILE")
        refused = refusal(tmp_path, keyed, f"smtps://{where}")
    assert len(postbox.kept) == 1
    assert refused.kind is ErrorKind.UNAVAILABLE
    assert "certificate verify failed" in refused.message


def test_a_server_without_passwords_refuses_one(tmp_path: Path, keyed: ToolContext) -> None:
    postbox = Postbox()
    with mail_server(postbox) as where:
        refused = refusal(tmp_path, keyed, f"smtp://ana:s3cret@{where}")
    assert refused.kind is ErrorKind.PERMISSION_DENIED
    assert postbox.kept == []


def test_a_password_is_not_sent_in_the_clear_to_another_machine(
    tmp_path: Path, keyed: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail, "LOCAL", frozenset())  # so that this machine counts as another one
    postbox = Postbox()
    with mail_server(postbox, authenticator=let_ana_in, auth_require_tls=False) as where:
        refused = refusal(tmp_path, keyed, f"smtp://ana:s3cret@{where}")
        assert "offers no TLS" in refused.message
        send(tmp_path, keyed, f"smtp://{where}")
    assert refused.kind is ErrorKind.PERMISSION_DENIED
    assert len(postbox.kept) == 1


# --- servers that break


class Breaking(socketserver.StreamRequestHandler):
    """Speaks SMTP up to a point, and then goes away or falls silent there."""

    silent: bool
    at: str

    def handle(self) -> None:
        if self._breaks("greeting"):
            return
        self._say("220 ready")
        while line := self.rfile.readline():
            word = line.strip().upper()[:4].decode()
            if self._breaks(word):
                return
            self._say("354 go on" if word == "DATA" else "250 OK")
            if word == "DATA":
                while self.rfile.readline().strip() != b".":
                    pass
                if self._breaks("end"):
                    return
                self._say("250 accepted")

    def _breaks(self, at: str) -> bool:
        if at == self.at and self.silent:
            self.server.stopping.wait(30)  # type: ignore[attr-defined]
        return at == self.at

    def _say(self, reply: str) -> None:
        self.wfile.write(f"{reply}\r\n".encode())


@contextmanager
def breaking_server(at: str, *, silent: bool) -> Iterator[str]:
    kind = type("Kind", (Breaking,), {"at": at, "silent": silent})
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), kind) as server:
        server.daemon_threads = True
        server.stopping = threading.Event()  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.stopping.set()  # type: ignore[attr-defined]
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("at", ["greeting", "MAIL", "RCPT"])
def test_what_breaks_before_the_message_was_handed_over_sent_nothing(
    at: str, silent: bool, tmp_path: Path, keyed: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail, "SECONDS", 1.5 if silent else 10)
    with breaking_server(at, silent=silent) as where:
        refused = refusal(tmp_path, keyed, f"smtp://{where}")
    assert refused.kind is (ErrorKind.TIMEOUT if silent else ErrorKind.UNAVAILABLE)
    assert "nothing was sent" in refused.message


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("at", ["DATA", "end"])
def test_what_breaks_while_the_message_is_handed_over_has_an_unknown_outcome(
    at: str, silent: bool, tmp_path: Path, keyed: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail, "SECONDS", 1.5 if silent else 10)
    with breaking_server(at, silent=silent) as where:
        assert refusal(tmp_path, keyed, f"smtp://{where}").kind is ErrorKind.OUTCOME_UNKNOWN


@pytest.mark.parametrize("silent", [False, True])
def test_a_goodbye_that_fails_does_not_unsend(
    silent: bool, tmp_path: Path, keyed: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail, "SECONDS", 1.5 if silent else 10)
    with breaking_server("QUIT", silent=silent) as where:
        assert send(tmp_path, keyed, f"smtp://{where}").text.startswith("Handed to")


def test_nobody_there_is_unavailable(tmp_path: Path, keyed: ToolContext) -> None:
    assert refusal(tmp_path, keyed, f"smtp://127.0.0.1:{unused_port()}").kind is ErrorKind.UNAVAILABLE


# --- the address of the server


def test_the_parts_of_the_address() -> None:
    server = MailServer.parse("smtps://ana%40example.org:p%3Aw@mail.example.org", None)
    assert server == MailServer("mail.example.org", 465, True, "ana@example.org", "ana@example.org", "p:w")
    assert "p:w" not in repr(server)
    assert MailServer.parse("smtp://mail.example.org", SENDER).port == 587


@pytest.mark.parametrize(
    "url",
    ["mail.example.org", "http://h", "smtp://", "smtp://u:s3cret@h:port", "smtp://h/s3cret", "smtp://u:s3cr\u00e9t@h",
     "smtp://u:s3cr%C3%A9t@h", "smtp://u:s3cret@[::1"],
)  # fmt: skip
def test_a_wrong_address_is_refused_without_showing_it(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="PLANDECK_SMTP_URL") as wrong:
        notify_tool(load_settings(home=tmp_path, smtp_url=url, smtp_from=SENDER))
    assert "s3cr" not in wrong.value.message


@pytest.mark.parametrize("sender", [None, "Plandeck", "a@b\nBcc: c@d"])
def test_a_sender_has_to_be_an_address(sender: str | None, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="PLANDECK_SMTP_FROM"):
        notify_tool(load_settings(home=tmp_path, smtp_url="smtp://ana:s3cret@h", smtp_from=sender))
