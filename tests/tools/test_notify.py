import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from loopback import Reply, cut_off, http_server, unused_port

from agent.errors import ConfigurationError
from agent.records import Effect
from agent.settings import load_settings
from agent.tools import notify
from agent.tools.calling import call_tool
from agent.tools.notify import notify_tool
from agent.tools.registry import ErrorKind, Observation, ToolContext, ToolError, idempotency_key

KEY = idempotency_key("r-1", "s1", 1, 1)
MESSAGE = {"to": ["ana@example.org"], "subject": "Budget of Größe", "body": "Atlas is 5 € over.\n→ See it."}


@pytest.fixture
def keyed(tool_context: ToolContext) -> ToolContext:
    return replace(tool_context, idempotency_key=KEY)


def send(home: Path, keyed: ToolContext, hook: str | None = None, **arguments: Any) -> Observation:
    return call_tool(notify_tool(load_settings(home=home, notify_webhook=hook)), MESSAGE | arguments, keyed)


def refusal(home: Path, keyed: ToolContext, hook: str | None = None, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as refused:
        send(home, keyed, hook, **arguments)
    return refused.value


def outbox(home: Path) -> list[Path]:
    return sorted((home / "outbox").glob("*")) if (home / "outbox").exists() else []


def test_the_tool_sends_to_others_and_tells_its_channels(tmp_path: Path) -> None:
    tool = notify_tool(load_settings(home=tmp_path, notify_webhook="https://hooks.example/s3cret"))
    assert (tool.effect, tool.idempotent, tool.missing) == (Effect.SEND_EXTERNAL, False, None)
    assert "Channels that are configured: outbox, webhook." in tool.description
    assert "s3cret" not in tool.description


def test_by_default_a_message_is_laid_down_in_the_outbox(tmp_path: Path, keyed: ToolContext) -> None:
    seen = send(tmp_path, keyed)
    (file,) = outbox(tmp_path)
    assert file.name == f"{KEY}.json"
    assert json.loads(file.read_text()) == {"key": KEY, "at": "2026-12-01T00:00:00+00:00", **MESSAGE}
    assert seen.text == "Laid down in the outbox: Budget of Größe → ana@example.org."
    assert seen.data == {"channel": "outbox", "key": KEY, **MESSAGE}


def test_the_same_key_again_changes_nothing(tmp_path: Path, keyed: ToolContext) -> None:
    send(tmp_path, keyed)
    (file,) = outbox(tmp_path)
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    later = replace(keyed, attempt=2, now=lambda: datetime(2027, 1, 1, tzinfo=UTC))
    assert send(tmp_path, later).text.startswith("Already in the outbox")
    assert outbox(tmp_path) == [file]
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before


def test_another_message_under_the_same_key_is_refused_and_not_taken_for_sent(
    tmp_path: Path, keyed: ToolContext
) -> None:
    send(tmp_path, keyed)
    before = outbox(tmp_path)[0].read_bytes()
    refused = refusal(tmp_path, keyed, body="Another text")
    assert (refused.kind, refused.code) == (ErrorKind.FAILED, "key_reused")
    assert outbox(tmp_path)[0].read_bytes() == before


def test_another_key_is_another_message(tmp_path: Path, keyed: ToolContext) -> None:
    send(tmp_path, keyed)
    send(tmp_path, replace(keyed, idempotency_key=idempotency_key("r-1", "s1", 2, 1)))
    assert len(outbox(tmp_path)) == 2


@pytest.mark.parametrize("arguments", [{}, {"channel": "webhook"}, {"channel": "email"}])
def test_nothing_is_sent_without_a_key(arguments: dict[str, Any], tmp_path: Path, tool_context: ToolContext) -> None:
    with http_server({"/": Reply()}) as server:
        assert refusal(tmp_path, tool_context, server.url, **arguments).kind is ErrorKind.FAILED
        assert (server.asked, outbox(tmp_path)) == ([], [])


@pytest.mark.parametrize("content", ["", "[]", '{"key": 1}', "\ufffd"])
def test_a_strange_file_in_the_outbox_is_never_taken_for_a_sent_message(
    content: str, tmp_path: Path, keyed: ToolContext
) -> None:
    (tmp_path / "outbox").mkdir()
    (tmp_path / "outbox" / f"{KEY}.json").write_text(content)
    assert refusal(tmp_path, keyed).kind is ErrorKind.FAILED


def test_an_outbox_that_cannot_be_written_is_unavailable(tmp_path: Path, keyed: ToolContext) -> None:
    (tmp_path / "outbox").write_text("a file")
    refused = refusal(tmp_path, keyed)
    assert refused.kind is ErrorKind.UNAVAILABLE
    assert "nothing was sent" in refused.message


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"to": []}, "to"),
        ({"to": ["a@b.example"] * 21}, "to"),
        ({"to": ["a@b.example\nBcc: c@d.example"]}, "to.0"),
        ({"to": [""]}, "to.0"),
        ({"to": "a@b.example"}, "to"),
        ({"subject": "Hello\r\nBcc: c@d.example"}, "subject"),
        ({"subject": "Hello\u2028there"}, "subject"),
        ({"subject": " "}, "subject"),
        ({"subject": "x" * 201}, "subject"),
        ({"body": " \n"}, "body"),
        ({"body": "a\0b"}, "body"),
        ({"body": "x" * 20_001}, "body"),
        ({"body": "half \ud83d"}, "half a character"),
        ({"channel": "pigeon"}, "channel"),
        ({"bcc": ["c@d.example"]}, "bcc"),
    ],
)
@pytest.mark.parametrize("channel", ["outbox", "webhook"])
def test_wrong_arguments_are_named_and_nothing_is_sent(
    channel: str, arguments: dict[str, Any], named: str, tmp_path: Path, keyed: ToolContext
) -> None:
    with http_server({"/": Reply()}) as server:
        refused = refusal(tmp_path, keyed, server.url, **({"channel": channel} | arguments))
        assert refused.kind is ErrorKind.BAD_ARGUMENT
        assert named in refused.message
        assert (server.asked, outbox(tmp_path)) == ([], [])


@pytest.mark.parametrize(
    ("channel", "variable"), [("email", "PLANDECK_SMTP_URL"), ("webhook", "PLANDECK_NOTIFY_WEBHOOK")]
)
def test_a_channel_that_is_not_configured_names_its_variable(
    channel: str, variable: str, tmp_path: Path, keyed: ToolContext
) -> None:
    refused = refusal(tmp_path, keyed, channel=channel)
    assert refused.kind is ErrorKind.NOT_CONFIGURED
    assert variable in refused.message
    assert outbox(tmp_path) == []


# --- webhook


def test_a_webhook_gets_json_with_the_key(tmp_path: Path, keyed: ToolContext) -> None:
    with http_server({"/hook/s3cret": Reply("ok")}) as server:
        seen = send(tmp_path, keyed, f"{server.url}/hook/s3cret", channel="webhook")
        (asked,) = server.asked
    assert (asked.method, asked.headers["idempotency-key"]) == ("POST", KEY)
    assert asked.json == {"text": f"{MESSAGE['subject']}\n\n{MESSAGE['body']}", **MESSAGE}
    assert "s3cret" not in seen.text
    assert outbox(tmp_path) == []


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Reply("", 301, {"Location": "/other"}), ErrorKind.FAILED),
        (Reply("", 400), ErrorKind.FAILED),
        (Reply("", 403), ErrorKind.PERMISSION_DENIED),
        (Reply("", 404), ErrorKind.FAILED),
        (Reply("", 429, {"Retry-After": "9"}), ErrorKind.RATE_LIMITED),
        (Reply("", 500), ErrorKind.UNAVAILABLE),
        (Reply("", 502), ErrorKind.OUTCOME_UNKNOWN),
        (Reply("", 503, {"Retry-After": "9"}), ErrorKind.UNAVAILABLE),
        (Reply("", 504), ErrorKind.OUTCOME_UNKNOWN),
        (cut_off, ErrorKind.OUTCOME_UNKNOWN),
    ],
)
def test_a_webhook_that_does_not_accept_is_no_success(
    answer: Reply | Callable[..., None], kind: ErrorKind, tmp_path: Path, keyed: ToolContext
) -> None:
    with http_server({"/s3cret": answer}) as server:
        refused = refusal(tmp_path, keyed, f"{server.url}/s3cret", channel="webhook")
        assert [item.path for item in server.asked] == ["/s3cret"]
    assert refused.kind is kind
    assert refused.retry_after == (9.0 if isinstance(answer, Reply) and "Retry-After" in answer.headers else None)
    assert "s3cret" not in refused.message


def test_a_webhook_that_is_silent_after_the_request_leaves_the_outcome_unknown(
    tmp_path: Path, keyed: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "SECONDS", 1.5)
    servers: list[Any] = []
    with http_server({"/": lambda _: servers[0].stopping.wait(30)}) as server:
        servers.append(server)
        refused = refusal(tmp_path, keyed, server.url, channel="webhook")
        assert len(server.asked) == 1
    assert refused.kind is ErrorKind.OUTCOME_UNKNOWN


def test_a_webhook_that_accepted_and_breaks_off_its_words_has_accepted(tmp_path: Path, keyed: ToolContext) -> None:
    with http_server({"/": Reply("o", headers={"Content-Length": "1000"})}) as server:
        assert send(tmp_path, keyed, server.url, channel="webhook").text.startswith("Posted to the webhook")


def test_a_webhook_where_nobody_listens_is_unavailable(tmp_path: Path, keyed: ToolContext) -> None:
    refused = refusal(tmp_path, keyed, f"http://127.0.0.1:{unused_port()}", channel="webhook")
    assert refused.kind is ErrorKind.UNAVAILABLE


@pytest.mark.parametrize("address", ["hooks.example/s3cret", "mailto:s3cret@example", "http://h:s3cret"])
def test_a_wrong_webhook_is_refused_without_showing_it(address: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="PLANDECK_NOTIFY_WEBHOOK") as wrong:
        notify_tool(load_settings(home=tmp_path, notify_webhook=address))
    assert "s3cret" not in wrong.value.message
