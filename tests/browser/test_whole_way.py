import re
from pathlib import Path

from playwright.sync_api import Locator, Page, TimeoutError, expect
from served import served

from agent.records import AttemptStatus, RunStatus
from agent.run.usecases import open_plandeck
from agent.settings import load_settings

TASK = (
    "Which three projects cost most in the latest month with data, and did any exceed its budget? Write a short report."
)
WORDING = "Find the three dearest projects of the newest month"
PATIENCE_MS = 90_000


def start_task(window: Page, url: str) -> None:
    window.goto(f"{url}/runs")
    window.get_by_label("New run").fill(TASK)
    window.get_by_role("button", name="Start").click()
    expect(window.get_by_role("heading", level=1)).to_contain_text("Which three projects", timeout=PATIENCE_MS)


def appears(window: Page, locator: Locator) -> None:
    """Wait for a part of a page; one reload is allowed, see `CROSSED` in conftest.py."""
    try:
        expect(locator).to_be_enabled(timeout=PATIENCE_MS / 3)
    except AssertionError:
        window.reload()
        expect(locator).to_be_enabled(timeout=PATIENCE_MS)


def open_review(window: Page) -> None:
    window.get_by_role("button", name="Review plan").first.click()
    window.wait_for_url("**/approvals?request=*")
    appears(window, window.get_by_role("button", name="Approve version 1"))
    window.wait_for_load_state("networkidle")
    appears(window, window.get_by_role("button", name="Approve version 1"))


def downloaded(window: Page) -> str:
    """The report's text; a click can fall into the moment in which the page is drawn anew, so it is tried again."""
    for _ in range(4):
        try:
            with window.expect_download(timeout=PATIENCE_MS / 5) as download:
                window.get_by_test_id("stDownloadButton").get_by_role("button").first.click()
            return Path(download.value.path()).read_text()
        except TimeoutError:
            window.reload()
    raise AssertionError("the report could not be downloaded")


def lands_on_run(window: Page) -> None:
    """A yes leads to the run's page by itself."""
    window.wait_for_url("**/runs?run=*", timeout=PATIENCE_MS)


def test_a_task_becomes_an_approved_executed_costed_and_replayable_run(window: Page, home: Path) -> None:
    with served(home, PLANDECK_OFFLINE_DELAY_MS="150") as server:
        # Point 2: a plan appears, and nothing has been executed.
        start_task(window, server.url)
        open_review(window)
        for words in ("The agent understood", "sql_query", "report_file", "Done when", "draft"):
            expect(window.get_by_text(words).first).to_be_visible()
        with open_plandeck(load_settings(home=home)) as app:
            run = app.records.runs(app.project)[0]
            assert run.status is RunStatus.WAITING_HUMAN
            assert 3 <= len(app.records.plans(app.project, run.run_id)[0].steps) <= 6
            assert app.records.attempts(app.project, run.run_id) == []

        # Point 3: change a step's wording, approve, watch without touching the page, read the answer and the report.
        window.get_by_role("button", name="Edit").click()
        # By its key: while the page is drawn, rows can appear in any order.
        wording = window.locator("[class*='-1-description'] input")
        wording.fill(WORDING)
        wording.press("Tab")
        approve = window.get_by_role("button", name="Approve as edited")
        expect(approve).to_be_enabled()
        approve.click()
        lands_on_run(window)
        expect(window.get_by_text("succeeded").first).to_be_visible(timeout=PATIENCE_MS)
        expect(window.get_by_text(WORDING).first).to_be_visible()
        expect(window.get_by_text("Answer", exact=True)).to_be_visible()
        expect(window.get_by_text("132,190.57").first).to_be_visible()
        expect(window.get_by_text("12,190.57").first).to_be_visible()
        assert "132,190.57" in downloaded(window)

        # Point 4: calls, tokens, cost and planning share.
        window.goto(f"{server.url}/costs")
        for words in ("Cost", "Tokens", "Model calls", "Planning share", "offline"):
            expect(window.get_by_text(words).first).to_be_visible()

        # Point 5: every checkpoint in order, what each node wrote, the state, what changed.
        window.goto(f"{server.url}/threads?thread={run.thread_id}")
        expect(window.get_by_text(re.compile(r"Checkpoint \d+ of \d+"))).to_be_visible()
        expect(window.get_by_text("complete").first).to_be_visible()

        with open_plandeck(load_settings(home=home)) as app:
            done = app.records.run(app.project, run.run_id)
            assert done.status is RunStatus.SUCCEEDED
            assert app.records.plans(app.project, run.run_id)[1].step("s2").description == WORDING
            usage = app.spans.run_usage(app.project, run.run_id)
            assert usage.calls == len([span for span in app.spans.run_spans(app.project, run.run_id) if span.counted])


def test_a_server_killed_in_the_middle_of_a_step_goes_on_when_it_is_started_again(window: Page, home: Path) -> None:
    with served(home, PLANDECK_OFFLINE_DELAY_MS="1500") as server:
        start_task(window, server.url)
        open_review(window)
        window.get_by_role("button", name=re.compile("Approve version 1")).click()
        lands_on_run(window)
        address = window.url
        expect(window.get_by_text(re.compile(r"\brunning\b")).first).to_be_visible(timeout=PATIENCE_MS)
        server.kill()
        port = server.port
    with open_plandeck(load_settings(home=home)) as app:
        run = app.records.runs(app.project)[0]
        cut = [item for item in app.records.attempts(app.project, run.run_id) if item.status is AttemptStatus.RUNNING]
        assert cut, "nothing was killed in the middle of a step"
    with served(home, port=port) as server:
        window.goto(address)
        expect(window.get_by_text("succeeded").first).to_be_visible(timeout=PATIENCE_MS)
        with open_plandeck(load_settings(home=home)) as app:
            attempts = app.records.attempts(app.project, run.run_id)
            completed = [item.step_id for item in attempts if item.status is AttemptStatus.COMPLETED]
            # Steps of one wave end in any order.
            assert sorted(completed) == sorted(step.id for step in app.records.plans(app.project, run.run_id)[0].steps)
            again = [item.step_id for item in attempts if item.status is AttemptStatus.INTERRUPTED]
            assert sorted(again) == sorted(item.step_id for item in cut)
