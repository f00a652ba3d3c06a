from collections.abc import Iterator
from pathlib import Path

import pytest
from page_seeds import Seeds
from pages import button, ingest, labels, metrics, open_pages, page, plain, title, words

from agent.records import Decision, RunStatus
from agent.run.usecases import Plandeck, advance, start_run
from dashboard.overview.asking import observe
from dashboard.overview.model import EXAMPLE_TASKS

OVERVIEW = "overview/view.py"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Plandeck, Seeds]]:
    with open_pages(tmp_path / "home") as both:
        yield both


def test_the_first_visit_offers_tasks_and_a_click_fills_the_field(opened: tuple[Plandeck, Seeds]) -> None:
    app, _ = opened
    test = page(OVERVIEW)
    assert title(test) == "Nothing waits for you"
    assert "No run has been asked for yet" in words(test)
    button(test, EXAMPLE_TASKS[1]).click().run()
    assert test.text_area[0].value == EXAMPLE_TASKS[1]
    assert app.records.runs(app.project) == []
    button(test, "Start").click().run()
    assert [run.task for run in app.records.runs(app.project)] == [EXAMPLE_TASKS[1]]


def test_what_waits_runs_failed_and_finished_is_there_with_one_primary_button(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    seeds.everything()
    ingest(app, seeds)
    test = page(OVERVIEW)
    assert title(test) == "Two things wait for you"
    assert [item.value for item in test.markdown if item.value.startswith("#####")] == [
        "##### Running",
        "##### Failed today",
        "##### Finished",
        "##### Health",
    ]
    assert {"Review plan", "Answer", "Open run"} <= set(labels(test))
    assert [item.label for item in test.button if item.proto.type == "primary"] == ["Review plan"]
    assert metrics(test)["Oldest request"] == "15 min"
    assert "1 succeeded" in [plain(item.delta) for item in test.metric]


def test_three_failed_runs_are_shown_and_the_rest_is_a_link(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    for number in range(7):
        seeds.run(f"r-{number}", 60, status=RunStatus.FAILED, finished_at=seeds.now)
    test = page(OVERVIEW)
    assert labels(test).count("Open run") == 3
    (link,) = [link.proto for link in test.get("page_link") if "and 4 more" in link.proto.label]
    assert link.query_string == "status=failed"


def test_what_waits_and_runs_beyond_what_is_shown_is_counted(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    for number in range(7):
        seeds.waiting(f"r-w{number}", 30 + number)
        seeds.run(f"r-q{number}", 5)
    test = page(OVERVIEW)
    assert title(test) == "Seven things wait for you"
    assert labels(test).count("Review plan") == 5
    assert [plain(link.proto.label) for link in test.get("page_link") if "more" in link.proto.label] == [
        "and 2 more"
    ] * 2


def test_a_decided_run_that_no_worker_took_on_yet_is_among_those_that_run(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    seeds.waiting("r-1")
    request = seeds.waiting("r-2")
    seeds.records.decide(
        request.project, request.request_id, decision=Decision.APPROVE, hash=request.hash, by="li", system_user="li",
        at=seeds.now,
    )  # fmt: skip
    seen = observe(opened[0], seeds.now)
    assert [run.run_id for run in seen.running] == ["r-2"]
    assert "decided, goes on" in [plain(bar.proto.text) for bar in page(OVERVIEW).get("progress")]


@pytest.mark.parametrize("task", EXAMPLE_TASKS)
def test_every_example_gets_a_plan_from_the_offline_model(opened: tuple[Plandeck, Seeds], task: str) -> None:
    app, _ = opened
    run = advance(app, start_run(app, task, by="ana").run_id)
    assert (run.status, run.error) == (RunStatus.WAITING_HUMAN, None)


def test_old_runs_that_ended_just_now_are_there_however_many_are_younger(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    for name, minutes_ago in (("old", 60 * 24 * 3), *((f"new-{n}", 60 * 24 * 2) for n in range(40))):
        ended = seeds.now if name == "old" else seeds.ago(60 * 24)
        for status in (RunStatus.FAILED, RunStatus.SUCCEEDED):
            seeds.run(f"r-{name}-{status}", minutes_ago, status=status, finished_at=ended)
    seen = observe(app, seeds.now)
    assert [run.run_id for run in seen.failed] == ["r-old-failed"]
    assert seen.finished[0].run_id == "r-old-succeeded"


def test_a_waiting_item_opens_its_request_and_a_failed_one_its_run(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    request = seeds.waiting()
    run = seeds.failed()
    test = page(OVERVIEW)
    button(test, "Open run").click().run()
    assert test.query_params["run"] == run.run_id
    test = page(OVERVIEW)
    button(test, "Review plan").click().run()
    assert test.query_params["request"] == request.request_id


def test_strange_words_of_a_task_stay_text(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    seeds.run("r-1", 2, task="$5 and $6 <b>bold</b> ![x](http://evil.example/x.png)")
    (label,) = [link.proto.label for link in page(OVERVIEW).get("page_link") if "bold" in link.proto.label]
    assert "\\$5 and \\$6 \\<b\\>bold\\<\\/b\\>" in label
    assert "![x]" not in label
    assert "`http://evil.example/x.png`" in label
