"""Pages as tests see them: a home of their own, seeded runs, and a page that is drawn without a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from page_seeds import Seeds
from streamlit.testing.v1 import AppTest

from agent.settings import load_settings
from dashboard.services import close_services, services, use_settings
from traces.ingest import Ingest

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck

MAIN = Path(__file__).parents[2] / "dashboard" / "main.py"


@contextmanager
def open_pages(home: Path) -> Iterator[tuple[Plandeck, Seeds]]:
    """The product in an empty home, as the pages find it, and seeds for it."""
    use_settings(load_settings(home=home))
    try:
        app = services()
        yield app, Seeds(app.records, app.now(), home / "artifacts")
    finally:
        close_services()


def ingest(app: Plandeck, seeds: Seeds) -> None:
    """Store the spans of the seeded runs."""
    Ingest(app.spans, app.prices).ingest(app.project, seeds.spans)


def page(name: str, **selected: str) -> AppTest:
    """Draw a page, e.g. `page("runs/view.py", run="r-1")`, inside the navigation."""
    # Streamlit knows pages by their files only after a first run.
    test = AppTest.from_file(str(MAIN), default_timeout=60).run()
    test.switch_page(name)
    for key, value in selected.items():
        test.query_params[key] = value
    test.run()
    assert not test.exception, test.exception[0].value
    assert not any("could not be drawn" in error.value for error in test.error), test.error[0].value
    return test


def plain(words: str) -> str:
    """Markdown as a reader sees it, roughly: without escapes, marks and no-break spaces."""
    unescaped = re.sub(r"\\(?=[\W_])", "", words).replace("\u00a0", " ").replace("\u2060", "")
    return re.sub(r":(?:[a-z-]+)\[((?:[^\[\]]|\[[^\]]*\])*)\]", r"\1", unescaped).replace("**", "")


def title(test: AppTest) -> str:
    """The headline."""
    return plain(str(test.title[0].value))


def words(test: AppTest) -> str:
    """All running text."""
    kinds = (test.markdown, test.caption, test.error, test.warning, test.info)
    return plain("\n".join(str(element.value) for kind in kinds for element in kind))


def metrics(test: AppTest) -> dict[str, str]:
    """Label to value of the strip."""
    return {plain(metric.label): plain(str(metric.value)) for metric in test.metric}


def button(test: AppTest, label: str):
    """The one button of that label."""
    found = [button for button in test.button if button.label == label]
    assert len(found) == 1, [button.label for button in test.button]
    return found[0]


def labels(test: AppTest) -> list[str]:
    """The labels of all buttons."""
    return [button.label for button in test.button]
