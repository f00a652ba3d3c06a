from collections.abc import Iterator
from pathlib import Path

import pytest
from page_seeds import Seeds
from pages import MAIN, open_pages, page, words

from agent.run.usecases import Plandeck
from dashboard.look import places
from dashboard.services import current_user

PAGES = (
    places.OVERVIEW, places.APPROVALS, places.RUNS, places.THREADS, places.COSTS, places.SETTINGS,
)  # fmt: skip


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Plandeck, Seeds]]:
    with open_pages(tmp_path / "home") as both:
        yield both


@pytest.mark.parametrize("name", PAGES)
def test_every_page_opens_on_an_empty_home(opened: tuple[Plandeck, Seeds], name: str) -> None:
    test = page(name)
    assert len(test.title) == 1


@pytest.mark.parametrize("name", PAGES)
def test_every_page_opens_on_a_busy_home(opened: tuple[Plandeck, Seeds], name: str) -> None:
    opened[1].everything()
    test = page(name)
    assert len(test.title) == 1


def test_who_acts_is_named_beside_every_page(opened: tuple[Plandeck, Seeds]) -> None:
    shown = words(page(places.RUNS))
    assert f"{current_user()} · project default" in shown
    assert "Times are UTC" in shown


def test_a_page_that_fails_unforeseen_is_a_sentence_without_details(
    opened: tuple[Plandeck, Seeds], monkeypatch: pytest.MonkeyPatch
) -> None:
    from streamlit.testing.v1 import AppTest

    from dashboard.runs import asking

    def fail(*_: object) -> None:
        raise ZeroDivisionError("secret words")

    test = AppTest.from_file(str(MAIN), default_timeout=60).run()
    monkeypatch.setattr(asking, "listed", fail)
    test.switch_page(places.RUNS).run()
    assert not test.exception
    assert "could not be drawn** (ZeroDivisionError)" in test.error[0].value
    assert "secret" not in test.error[0].value
