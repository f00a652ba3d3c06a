from collections.abc import Iterator
from pathlib import Path

import pytest
from page_seeds import TASK, Seeds
from pages import button, ingest, labels, metrics, open_pages, page, title, words
from runs import write_agent

from agent.records import RunStatus
from agent.run.usecases import Plandeck

RUNS = "runs/view.py"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Plandeck, Seeds]]:
    with open_pages(tmp_path / "home") as both:
        yield both


def test_an_empty_list_says_what_would_fill_it(opened: tuple[Plandeck, Seeds]) -> None:
    test = page(RUNS)
    assert title(test) == "No runs yet"
    assert "plandeck run" in words(test)
    assert button(test, "Start")


def test_the_list_shows_every_run_newest_first(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    seeds.everything()
    test = page(RUNS)
    assert title(test) == "8 runs, 5 not ended"
    shown = test.dataframe[0].value
    assert [status[0] for status in shown["Status"]] == [
        "queued", "planning", "waits for you", "executing", "waits for you", "succeeded", "failed", "cancelled",
    ]  # fmt: skip
    assert list(shown["Steps"])[3:6] == ["3 of 4", "0 of 4", "4 of 4"]


def test_a_task_that_is_started_opens_its_run(opened: tuple[Plandeck, Seeds]) -> None:
    app, _ = opened
    test = page(RUNS)
    test.text_area[0].input("Which region sold most?").run()
    button(test, "Start").click().run()
    run = app.records.runs(app.project)[0]
    assert run.task == "Which region sold most?"
    assert title(test) == "Which region sold most?"
    assert test.query_params["run"] == run.run_id


def test_a_task_goes_to_the_agent_that_was_chosen_and_an_unusable_one_is_not_offered(
    opened: tuple[Plandeck, Seeds],
) -> None:
    app, _ = opened
    write_agent(app.settings.home, "broken", mode="plan")
    test = page(RUNS)
    (select,) = test.selectbox
    assert select.options == ["analyst", "explorer", "assistant"]
    assert "nothing runs before you approve it" in words(test)
    select.select("explorer").run()
    assert "It can read and nothing else" in words(test)
    test.text_area[0].input("Which region sold most?").run()
    button(test, "Start").click().run()
    (run,) = app.records.runs(app.project)
    assert (run.agent, run.mode) == ("explorer", "react")


def test_a_second_click_of_start_starts_nothing(opened: tuple[Plandeck, Seeds]) -> None:
    app, _ = opened
    test = page(RUNS)
    test.text_area[0].input("Which region sold most?").run()
    start = button(test, "Start")
    start.click().run()
    start.click().run()
    assert len(app.records.runs(app.project)) == 1


@pytest.mark.parametrize(("task", "sentence"), [("  ", "The task is empty"), ("x" * 20_001, "20,000 is the limit")])
def test_a_refused_task_stays_in_the_field(opened: tuple[Plandeck, Seeds], task: str, sentence: str) -> None:
    app, _ = opened
    test = page(RUNS)
    test.text_area[0].input(task).run()
    button(test, "Start").click().run()
    assert sentence in words(test)
    assert test.text_area[0].value == task
    assert app.records.runs(app.project) == []


def test_a_run_in_motion_shows_how_far_it_is(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    run = seeds.executing()
    ingest(app, seeds)
    test = page(RUNS, run=run.run_id)
    assert title(test) == TASK
    shown = metrics(test)
    assert shown["Steps done"] == "3 of 4"
    assert shown["People"] == "11 m 04 s"
    assert shown["Tokens"] == "20,951"
    assert "Cancel" in labels(test)
    assert "Review plan" not in labels(test)
    steps = test.table[0].value
    assert list(steps["Tries"]) == [1, 2, 1, 1]


def test_a_run_that_waits_leads_to_its_approval(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    request = seeds.waiting()
    test = page(RUNS, run=request.run_id)
    button(test, "Review plan").click().run()
    assert test.query_params["request"] == request.request_id


def test_a_succeeded_run_shows_its_answer_with_sources_and_files(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    test = page(RUNS, run=seeds.succeeded().run_id)
    shown = words(test)
    assert "Only Atlas exceeded its budget, by $11,420" in shown
    assert "`2` s2 policy_search: FIN-07, 4.2" in shown
    assert "spend-2026-11.md" in shown
    assert "Cancel" not in labels(test)


def test_a_failed_run_says_why_and_what_was_kept(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    test = page(RUNS, run=seeds.failed().run_id)
    assert "no column “forecast_usd”" in words(test)
    assert "2 of 4 steps were done and are kept" in words(test)


def test_cancel_is_asked_once_and_shown(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    run = seeds.executing()
    test = page(RUNS, run=run.run_id)
    button(test, "Cancel").click().run()
    assert app.records.run(app.project, run.run_id).cancel_requested
    assert "stops at the next safe point" in words(test)
    assert "Cancel" not in labels(test)


def test_cancelling_what_has_ended_meanwhile_is_a_sentence(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    run = seeds.executing()
    test = page(RUNS, run=run.run_id)
    app.records.update_run(app.project, run.run_id, status=RunStatus.SUCCEEDED, finished_at=app.now())
    button(test, "Cancel").click().run()
    assert not test.exception
    assert "has ended already" in words(test)


def test_an_unknown_run_is_a_sentence(opened: tuple[Plandeck, Seeds]) -> None:
    test = page(RUNS, run="r-nope")
    assert "r-nope" in words(test)


def test_hostile_words_are_shown_as_they_are(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    task = "price is $x$ today <script>alert(1)</script> ![x](http://evil.example/x.png)"
    run = seeds.run("r-evil", 1, task=task)
    test = page(RUNS, run=run.run_id)
    assert title(test).replace("`", "") == task
    assert "$x$" not in test.title[0].value


def test_the_graph_can_be_chosen(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    test = page(RUNS, run=seeds.executing().run_id)
    test.segmented_control[0].set_value("Graph").run()
    assert not test.exception
