import getpass
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.errors import AgentError, ConfigurationError
from agent.settings import load_settings
from dashboard import services as module
from dashboard.services import close_services, current_settings, current_user, services, use_settings


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    close_services()
    yield
    close_services()
    module._process.settings = None


def test_everything_is_opened_once_per_process(tmp_path: Path) -> None:
    use_settings(load_settings(home=tmp_path / "home"))
    app = services()
    assert services() is app
    assert app.records.runs(app.project) == []
    close_services()
    assert services() is not app


def test_a_home_that_cannot_be_opened_is_said_and_tried_again(tmp_path: Path) -> None:
    blocked = tmp_path / "home"
    blocked.write_text("a file")
    use_settings(load_settings(home=blocked))
    with pytest.raises(AgentError, match="home"):
        services()
    blocked.unlink()
    assert services().records.runs("default") == []


def test_settings_come_from_the_environment_unless_they_were_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLANDECK_PORT", "http")
    with pytest.raises(ConfigurationError, match="PLANDECK_PORT"):
        current_settings()
    monkeypatch.setenv("PLANDECK_PORT", "9000")
    assert current_settings().port == 9000
    use_settings(load_settings(port=9001))
    assert current_settings().port == 9001


def test_the_user_is_the_account_of_the_system_by_number_if_it_has_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ana")
    assert current_user() == "ana" == getpass.getuser()
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 987_654)
    assert current_user() == "uid 987654"
