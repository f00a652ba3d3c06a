import re
import socket
from pathlib import Path

import pytest

from agent.errors import ConfigurationError, RefusedError, StorageError
from agent.settings import load_settings
from dashboard.server import address_of, check_exposure, check_port, only_server_of


def test_a_busy_port_is_named_with_the_option_that_changes_it() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(RefusedError, match=rf"Port {port} .* --port"):
            check_port("127.0.0.1", port)
    check_port("127.0.0.1", port)


def test_an_address_that_is_not_here_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"'nowhere\.invalid' is no address here"):
        check_port("nowhere.invalid", 8501)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.4", "plandeck.internal"])
@pytest.mark.parametrize("token", [None, "t"], ids=["without-token", "with-token"])
def test_listening_to_other_machines_is_refused_while_nobody_can_sign_in(host: str, token: str | None) -> None:
    with pytest.raises(ConfigurationError, match=rf"{re.escape(host)}.*sign-in.*PLANDECK_HOST.*tunnel"):
        check_exposure(load_settings(host=host, otlp_token=token))


def test_loopback_is_served() -> None:
    check_exposure(load_settings(host="127.0.0.1"))
    check_exposure(load_settings(host="localhost"))


def test_a_second_server_on_one_home_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    first = load_settings(home=tmp_path, port=8601)
    with only_server_of(first):
        with pytest.raises(RefusedError, match=r"8601.*PLANDECK_HOME"), only_server_of(load_settings(home=tmp_path)):
            pass
        with only_server_of(load_settings(home=tmp_path / "other")):
            pass
    with only_server_of(first):
        pass


def test_on_postgresql_any_number_of_servers_share_a_home(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path, database_url="postgresql://h/db")
    with only_server_of(settings), only_server_of(settings):
        assert list(tmp_path.iterdir()) == []


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="PLANDECK_HOME"), only_server_of(load_settings(home=tmp_path / "file")):
        pass


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8501"),
        ("localhost", "http://localhost:8501"),
        ("::1", "http://[::1]:8501"),
    ],
)
def test_the_address_opens_in_a_browser_here(host: str, address: str) -> None:
    assert address_of(load_settings(host=host, port=8501)) == address
