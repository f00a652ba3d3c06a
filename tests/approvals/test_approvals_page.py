from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from page_seeds import GOAL, TASK, Seeds, a_plan
from pages import button, labels, open_pages, page, title, words

from agent.records import Decision, RequestStatus
from agent.run.usecases import Plandeck
from dashboard.services import current_user

APPROVALS = "approvals/view.py"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Plandeck, Seeds]]:
    with open_pages(tmp_path / "home") as both:
        yield both


def test_an_empty_page_says_what_would_fill_it(opened: tuple[Plandeck, Seeds]) -> None:
    test = page(APPROVALS)
    assert title(test) == "Nothing waits for you"
    assert "A run asks here before its plan runs" in words(test)


def test_the_longest_waiting_is_first_and_primary(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    seeds.asking()
    seeds.waiting()
    test = page(APPROVALS)
    assert title(test) == "2 requests wait for you"
    assert [label for label in labels(test) if label in ("Review plan", "Answer")] == ["Review plan", "Answer"]
    assert list(test.dataframe[0].value["Decision"]) == ["li sent version 1 back"]


def test_an_item_opens_its_request(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    request = seeds.waiting()
    test = page(APPROVALS)
    button(test, "Review plan").click().run()
    assert test.query_params["request"] == request.request_id
    assert title(test) == TASK


def test_a_request_shows_all_that_a_yes_means(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    request = seeds.waiting()
    test = page(APPROVALS, request=request.request_id)
    shown = words(test)
    for part in (GOAL, "3 steps only read", "1 step writes a file here", "code fence", "Changes since version 1",
                 "li sent version 1 back", "What is fixed here is what runs"):  # fmt: skip
        assert part in shown, part
    steps = test.table[0].value
    assert steps["Tool"].iloc[0].replace("\\", "") == "sql_query"
    assert any("SELECT project" in block.value for block in test.code)


def test_exact_arguments_are_shown_to_the_end(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    run = seeds.run("r-1", 5)
    own = a_plan(1)
    sql = "SELECT 1 -- " + "x" * 30_000 + " the end"
    plan = seeds.plan(run, replace(own, steps=(replace(own.steps[0], args={"sql": sql}), *own.steps[1:])), seeds.now)
    test = page(APPROVALS, request=seeds.request(run, seeds.now, plan).request_id)
    assert any(sql in block.value for block in test.code)


def test_approving_is_recorded_once_whichever_tab_is_clicked_next(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.waiting()
    test, other = (page(APPROVALS, request=request.request_id) for _ in range(2))
    button(test, "Approve version 2").click().run()
    button(other, "Approve version 2").click().run()
    assert "approved by" in words(other)
    stored = app.records.request(app.project, request.request_id)
    assert stored.decision is Decision.APPROVE
    assert stored.decided_by == current_user()
    assert stored.hash == request.hash
    assert title(test) == app.records.run(app.project, request.run_id).task
    again = page(APPROVALS, request=request.request_id)
    assert f"{current_user()} approved version 2" in words(again)
    assert "Approve version 2" not in labels(again)
    events = [event for event in app.records.events(app.project, request.run_id) if event.kind == "approved"]
    assert len(events) == 1


def test_who_comes_second_reads_who_was_first(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.waiting()
    test = page(APPROVALS, request=request.request_id)
    seeds.decide(request, Decision.REJECT, app.now(), by="omar", note="No")
    button(test, "Approve version 2").click().run()
    shown = words(test)
    assert "omar rejected version 2" in shown
    assert "by omar" in shown
    assert app.records.request(app.project, request.request_id).decision is Decision.REJECT


def text_area(test, label: str):
    return next(area for area in test.text_area if area.label == label)


def test_a_rejection_needs_its_reason(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.waiting()
    test = page(APPROVALS, request=request.request_id)
    button(test, "Reject").click().run()
    assert "needs a reason" in words(test)
    assert app.records.request(app.project, request.request_id).status is RequestStatus.PENDING
    text_area(test, "Why? The person who asked will read it.").input("Not this month").run()
    button(test, "Reject").click().run()
    stored = app.records.request(app.project, request.request_id)
    assert (stored.decision, stored.note) == (Decision.REJECT, "Not this month")


def test_feedback_sends_the_plan_back(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.waiting()
    test = page(APPROVALS, request=request.request_id)
    text_area(test, "What should the planner do differently?").input("Ask finance first").run()
    button(test, "Send back").click().run()
    stored = app.records.request(app.project, request.request_id)
    assert (stored.decision, stored.value) == (Decision.RESPOND, "Ask finance first")


def test_a_question_is_answered(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.asking()
    test = page(APPROVALS, request=request.request_id)
    assert title(test) == "Which fiscal calendar does “last quarter” mean?"
    text_area(test, "Your answer").input("It begins in April").run()
    button(test, "Answer").click().run()
    stored = app.records.request(app.project, request.request_id)
    assert (stored.decision, stored.value) == (Decision.RESPOND, "It begins in April")
    assert "answered the question" in words(page(APPROVALS, request=request.request_id))


def test_an_answer_without_words_is_refused(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.asking()
    test = page(APPROVALS, request=request.request_id)
    button(test, "Answer").click().run()
    assert app.records.request(app.project, request.request_id).status is RequestStatus.PENDING
    assert "Say in words" in words(test)


def test_an_unknown_request_is_a_sentence(opened: tuple[Plandeck, Seeds]) -> None:
    assert "q-nope" in words(page(APPROVALS, request="q-nope"))


# --- editing


def field(test, label: str, index: int = 0):
    kinds = [*test.text_input, *test.text_area, *test.selectbox, *test.multiselect]
    return [widget for widget in kinds if widget.label == label][index]


def editor(seeds: Seeds):
    request = seeds.waiting()
    return request, page(APPROVALS, request=request.request_id, edit="plan")


def test_three_edits_in_a_row_are_exactly_what_is_approved(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request, test = editor(seeds)
    assert button(test, "Approve as edited").disabled
    field(test, "What it does", 0).input("one").run()
    field(test, "What it does", 1).input("two").run()
    field(test, "What it does", 0).input("one again").run()
    button(test, "Approve as edited").click().run()
    stored = app.records.request(app.project, request.request_id)
    assert stored.decision is Decision.EDIT
    approved = app.records.plan(app.project, request.run_id, 3)
    assert [step.description for step in approved.steps] == [
        "one again", "two", "Rank projects, compute spend minus budget", "Write the report with a source per figure",
    ]  # fmt: skip
    assert "approved it as edited" in words(page(APPROVALS, request=request.request_id))


def test_a_renamed_step_still_comes_before_the_steps_that_need_it(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request, test = editor(seeds)
    for name in ("s2", "spend"):
        field(test, "Id", 0).input(name).run()
    button(test, "Approve as edited").click().run()
    approved = app.records.plan(app.project, request.run_id, 3)
    assert [(step.id, step.dependencies) for step in approved.steps] == [
        ("spend", ()), ("s2", ()), ("s3", ("spend",)), ("s4", ("s2", "s3")),
    ]  # fmt: skip


def test_edits_survive_a_look_at_the_plan(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    _, test = editor(seeds)
    field(test, "What it does", 0).input("one").run()
    button(test, "Back to the plan").click().run()
    assert "Edit" in labels(test)
    button(test, "Edit").click().run()
    assert field(test, "What it does", 0).value == "one"


def test_discarded_edits_are_gone(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    _, test = editor(seeds)
    field(test, "What it does", 0).input("one").run()
    button(test, "Discard edits").click().run()
    assert field(test, "What it does", 0).value == "Query November spend per project"


def test_wrong_edits_are_named_live_and_cannot_be_approved(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    _, test = editor(seeds)
    field(test, "Arguments, JSON", 0).input("{nope").run()
    assert "s1: the arguments are not JSON" in words(test)
    assert button(test, "Approve as edited").disabled
    field(test, "Arguments, JSON", 0).input("{}").run()
    field(test, "After", 0).set_value(["s4"]).run()
    assert "s1" in words(test)
    assert button(test, "Approve as edited").disabled


def test_steps_are_added_moved_and_removed(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request, test = editor(seeds)
    button(test, "Add a step").click().run()
    field(test, "What it does", 4).input("Say it in a sentence").run()
    field(test, "Done when", 4).input("One sentence").run()
    next(b for b in test.button if b.key == f"arrow_upward-{request.request_id}-4").click().run()
    next(b for b in test.button if b.key == f"delete-{request.request_id}-1").click().run()
    button(test, "Approve as edited").click().run()
    approved = app.records.plan(app.project, request.run_id, 3)
    assert [step.id for step in approved.steps] == ["s1", "s3", "s5", "s4"]
    assert approved.step("s4").dependencies == ("s3",)
    assert approved.step("s5").tool is None


def test_a_plan_that_was_decided_while_it_was_edited_is_not_approved_again(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request, test = editor(seeds)
    field(test, "What it does", 0).input("one").run()
    seeds.decide(request, Decision.APPROVE, app.now(), by="omar")
    button(test, "Approve as edited").click().run()
    assert not test.exception
    assert "omar approved version 2" in words(test)
    assert app.records.request(app.project, request.request_id).decision is Decision.APPROVE
    assert len(app.records.plans(app.project, request.run_id)) == 2
