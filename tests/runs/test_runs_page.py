from collections.abc import Iterator
from pathlib import Path

import pytest
from page_seeds import TASK, Seeds
from pages import button, ingest, labels, metrics, open_pages, page, plain, title, words
from runs import write_agent

from agent.records import Decision, RunStatus
from agent.run.usecases import Plandeck, advance, decide, start_run
from dashboard.runs.asking import LISTED

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
    assert title(test) == "8 runs, 3 in motion, 2 wait for you"
    shown = test.dataframe[0].value
    assert [status[0] for status in shown["Status"]] == [
        "queued", "planning", "waits for you", "executing", "waits for you", "succeeded", "failed", "cancelled",
    ]  # fmt: skip
    assert list(shown["Steps"])[3:6] == ["3 of 4", "0 of 4", "4 of 4"]


def test_the_list_shows_one_status_that_the_address_names(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    seeds.everything()
    test = page(RUNS, status="failed")
    assert [status[0] for status in test.dataframe[0].value["Status"]] == ["failed"]
    assert test.segmented_control[0].value == "failed"
    test.segmented_control[0].set_value("all").run()
    assert "status" not in test.query_params
    assert len(test.dataframe[0].value) == 8


def test_older_runs_are_a_page_further(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    for number in range(LISTED + 2):
        seeds.run(f"r-{number}", number + 1)
    test = page(RUNS)
    assert len(test.dataframe[0].value) == LISTED
    button(test, "Older runs").click().run()
    assert len(test.dataframe[0].value) == 2
    button(test, "Newest").click().run()
    assert len(test.dataframe[0].value) == LISTED


def test_a_status_that_there_is_not_is_a_sentence(opened: tuple[Plandeck, Seeds]) -> None:
    assert "There is no status broken; there are queued, planning" in words(page(RUNS, status="broken"))


def test_a_refused_task_is_told_calmly_and_can_be_tried_again(opened: tuple[Plandeck, Seeds]) -> None:
    app, _ = opened
    task = "Book me a flight to Mars"
    run = advance(app, start_run(app, task, by="ana").run_id)
    test = page(RUNS, run=run.run_id)
    shown = words(test)
    assert "The agent can’t do this task" in shown
    assert "I do not know what 'flight'" in shown
    assert "The planner made no plan" not in shown
    assert "Answer so far" not in shown
    assert not test.error
    assert [link.proto.page for link in test.get("page_link") if "provider" in link.proto.label]
    button(test, "Try again with changed words").click().run()
    assert test.text_area[0].value == task
    assert "run" not in test.query_params


def test_a_run_that_was_just_approved_does_not_say_that_it_waits(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.waiting()
    decide(app, request.request_id, Decision.APPROVE, hash=request.hash, by="li")
    shown = words(page(RUNS, run=request.run_id))
    assert "a worker goes on with it" in shown
    assert "waits for you" not in shown


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


def test_a_run_without_a_plan_is_complete_with_its_calls(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    test = page(RUNS, run=seeds.free().run_id)
    text = words(test)
    assert "The model chose react (looks with tools, no plan): One look into the figures is enough." in text
    assert metrics(test)["Calls made"] == "3"
    rows = test.table[0].value
    assert [plain(name) for name in rows[""]] == ["c1", "c2", "c3"]
    assert "SELECT region FROM sales" in plain(rows["Call"].iloc[0])
    assert "no column “region”" in plain(rows["What it showed"].iloc[0])
    assert "There was no plan." not in text
    assert not test.get("button_group"), "there is no graph to switch to"


def test_a_run_shows_what_it_used_of_its_limits(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    test = page(RUNS, run=seeds.limited().run_id)
    bars = [plain(str(bar.proto.text)) for bar in test.get("progress")]
    assert bars == ["$0.0024 of the $2.00 budget, 0.1 %", "6,120 of 200,000 tokens, 3.1 %"]
    text = words(test)
    for part in ("5 of 60 model calls", "3 of 3 tool calls", "The run made 3 tool calls, its limit.",
                 "Raise max_tool_calls in the limits of agent analyst"):  # fmt: skip
        assert part in text, part


def test_a_run_that_nobody_metered_shows_no_limits(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    run = seeds.succeeded()
    ingest(app, seeds)
    assert not page(RUNS, run=run.run_id).get("progress")


def test_a_step_that_waits_in_the_middle_says_so(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    request = seeds.call()
    test = page(RUNS, run=request.run_id)
    assert "waits for a person" in plain(test.table[0].value["Status"].iloc[-1])
    assert "s5 waits" in [plain(str(metric.delta)) for metric in test.metric]
    assert list(test.table[1].value[""]) == ["**1**", "**2**", "**3**", "**4**"], "the tool calls so far"
    button(test, "Review call").click().run()
    assert test.query_params["request"] == request.request_id


def test_a_run_that_planned_anew_keeps_its_tries_and_tells_why(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    test = page(RUNS, run=seeds.replanned().run_id)
    steps, *_, versions = (table.value for table in test.table if "Why" in table.value or "Step" in table.value)
    assert list(steps["Tries"].fillna(0)) == [1, 1, 0, 0, 0]
    assert [plain(name) for name in versions[""]] == ["3", "2", "1"]
    assert "no budget, so there is nothing to subtract" in plain(versions["Why"].iloc[0])
