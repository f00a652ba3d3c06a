import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PATIENCE_MS = 60_000
CROSSED = "Bad delta path"
"""Streamlit 1.67 says this, and draws no further, when the answer of a refreshing part crosses a change of page (seen
once in some twenty passes on a busy machine). A reload mends it; docs/status.md names it."""


def chromium() -> str | None:
    """The system's Chromium; None where Playwright's own is to be used."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def own_browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def window(own_browser: Browser) -> Iterator[Page]:
    context = own_browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)) if CROSSED not in str(error) else None)
    yield page
    context.close()
    assert errors == []


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"
