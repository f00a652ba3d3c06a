import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.run.usecases import start_run
from agent.settings import load_settings
from dashboard import background as module
from dashboard.background import STARTING, Background
from dashboard.services import close_services, use_settings


@pytest.fixture
def background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Background]:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.05)
    close_services()
    use_settings(load_settings(home=tmp_path / "home"))
    made = Background()
    yield made
    made.stop()


def await_true(what, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def test_a_store_that_refuses_is_named_and_tried_again(background: Background, tmp_path: Path) -> None:
    assert background.failing() == {"stores": STARTING}
    (tmp_path / "home").mkdir()
    damaged = tmp_path / "home" / "records.db"
    damaged.write_bytes(b"no database" * 1_000)
    background.start()
    await_true(lambda: "records.db" in background.failing().get("stores", ""))
    damaged.unlink()
    await_true(lambda: background.failing() == {})


def test_wrong_prices_and_stores_are_warned_of_and_keep_nobody_from_working(
    background: Background, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "prices.json").write_text("{")
    stores = f"nothing,lost={tmp_path / 'lost.db'}"
    use_settings(load_settings(home=tmp_path / "home", prices=tmp_path / "prices.json", stores=stores))
    background.start()
    await_true(lambda: len(caplog.messages) == 3)
    assert background.failing() == {}
    for message, words in zip(caplog.messages, ("prices.json", "'nothing'", "lost.db"), strict=True):
        assert words in message


def test_it_moves_runs_until_it_is_stopped_and_then_says_so(background: Background) -> None:
    background.start()
    await_true(lambda: background.failing() == {})
    app = background.app
    assert app is not None
    run = start_run(app, "Which region sold most in 2026?", by="ana")
    await_true(lambda: app.records.run(app.project, run.run_id).status == "waiting_human")
    assert background._worker is not None
    background._worker.stop()
    assert background.failing() == {"worker": "not running"}
