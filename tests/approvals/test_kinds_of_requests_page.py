"""Each kind of request on the approvals page: what it shows, and what its buttons do."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from page_seeds import TASK, Seeds
from pages import button, labels, open_pages, page, plain, title, words

from agent.records import ApprovalRequest, Decision, RequestStatus
from agent.run.usecases import Plandeck

APPROVALS = "approvals/view.py"
REPORT = {"filename": "atlas.md", "title": "Atlas", "body": "Atlas is over its budget."}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Plandeck, Seeds]]:
    with open_pages(tmp_path / "home") as both:
        yield both


def report_call(seeds: Seeds) -> ApprovalRequest:
    """A call of a tool that this home has."""
    return seeds.call(tool="report_file", effect="draft", arguments=REPORT)


def shown(request: ApprovalRequest, **more: str):
    return page(APPROVALS, request=request.request_id, **more)


def field(test, label: str):
    return next(area for area in test.text_area if area.label == label)


def stored(app: Plandeck, request: ApprovalRequest) -> ApprovalRequest:
    return app.records.request(app.project, request.request_id)


def test_the_list_names_each_kind_with_its_own_button(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    seeds.call()
    seeds.outcome()
    seeds.budget()
    seeds.step_asking()
    test = page(APPROVALS)
    assert [label for label in labels(test) if label.startswith(("Review", "Say", "Answer"))] == [
        "Review call", "Say what happened", "Review budget", "Answer",
    ]  # fmt: skip
    text = words(test)
    for part in ("May send_notification send this out of the company?", "send external", "step s5 of the plan",
                 "Did the call of send_notification happen?", "May this run use more than its budget?",
                 TASK):  # fmt: skip
        assert part in text, part


# --- a tool call


def test_a_call_shows_exactly_what_would_happen_and_why_it_waits(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    test = shown(seeds.call())
    assert title(test) == "May send_notification send this out of the company?"
    text = words(test)
    for part in ("1 message leaves the company", "The approved plan fixed to", "nobody has seen that yet",
                 "calls it once with exactly these arguments", "the run goes on without s5", TASK):  # fmt: skip
        assert part in text, part
    blocks = [block.value for block in test.code]
    assert any('"urgent": true' in block and '"attachments": 1' in block for block in blocks)
    assert any(block.startswith("Hello,\n\nAtlas") for block in blocks)
    tables = plain(" ".join(str(table.value.to_dict("list")) for table in test.table))
    assert "owner-atlas@acme.example" in tables
    assert "One message to each owner" in tables


def test_an_allowed_call_is_decided_once(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.call()
    test, other = shown(request), shown(request)
    button(test, "Approve this call").click().run()
    button(other, "Approve this call").click().run()
    assert "decided" in words(other) or "approved by" in words(other)
    assert stored(app, request).decision is Decision.APPROVE
    assert "allowed the call of send_notification" in words(shown(request))


def test_a_refused_call_needs_a_reason(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.call()
    test = shown(request)
    button(test, "Reject").click().run()
    assert stored(app, request).status is RequestStatus.PENDING
    field(test, "Why? The person who asked will read it.").input("Not before Friday").run()
    button(test, "Reject").click().run()
    assert (stored(app, request).decision, stored(app, request).note) == (Decision.REJECT, "Not before Friday")
    assert "refused the call of send_notification" in words(shown(request))


def test_a_call_is_sent_back_with_words(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.call()
    test = shown(request)
    field(test, "What should the model do differently?").input("Leave out the figure").run()
    button(test, "Send back").click().run()
    assert (stored(app, request).decision, stored(app, request).value) == (Decision.RESPOND, "Leave out the figure")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ('{"filename": 3, "title": "Atlas", "body": "x"}', "filename"),
        ('{"filename": "a.md"', "cannot be read"),
        ("[1]", "arguments are an object"),
        ('{"title": "a", "title": "b"}', "title stands there twice"),
        ('{"title": NaN}', "no number that JSON has"),
    ],
)
def test_edited_arguments_that_do_not_fit_are_named_live(opened: tuple[Plandeck, Seeds], typed: str, said: str) -> None:
    app, seeds = opened
    request = report_call(seeds)
    test = shown(request, edit="call")
    assert button(test, "Approve as edited").disabled, "nothing is changed yet"
    field(test, "Arguments, JSON").input(typed).run()
    assert said in words(test)
    assert button(test, "Approve as edited").disabled
    assert stored(app, request).decision is None


def test_an_edited_call_is_allowed_with_exactly_the_edited_arguments(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = report_call(seeds)
    test = shown(request, edit="call")
    field(test, "Arguments, JSON").input(
        '{"filename": "atlas.md", "title": "Atlas, November", "body": "By 9.5 %.\\nSay why."}'
    ).run()
    assert "The tool takes these arguments." in words(test)
    button(test, "Approve as edited").click().run()
    decided = stored(app, request)
    assert decided.decision is Decision.EDIT
    assert decided.value == {"filename": "atlas.md", "title": "Atlas, November", "body": "By 9.5 %.\nSay why."}
    again = shown(request)
    assert "Changed by the person who allowed it" in words(again)
    assert any("Atlas, November" in block.value for block in again.code)


def test_edits_of_a_call_survive_a_look_back_and_can_be_discarded(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    test = shown(report_call(seeds), edit="call")
    field(test, "Arguments, JSON").input('{"filename": "other.md"}').run()
    button(test, "Back to the call").click().run()
    button(test, "Edit").click().run()
    assert field(test, "Arguments, JSON").value == '{"filename": "other.md"}'
    button(test, "Discard edits").click().run()
    assert '"filename": "atlas.md"' in field(test, "Arguments, JSON").value


# --- an outcome that nobody knows


def test_an_unknown_outcome_explains_itself_and_needs_a_claim(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.outcome()
    test = shown(request)
    text = words(test)
    for part in ("Nobody knows whether this call happened", "its process ended in the middle of the call",
                 "a second time if it did happen", "it happens twice"):  # fmt: skip
        assert part in text, part
    assert "Approve this call" not in labels(test)
    button(test, "It happened").click().run()
    assert stored(app, request).status is RequestStatus.PENDING, "a claim needs its words"
    field(test, "What did you find? The run goes on with it.").input("It is in the outbox").run()
    button(test, "It happened").click().run()
    assert (stored(app, request).decision, stored(app, request).value) == (Decision.RESPOND, "It is in the outbox")
    assert "counted as done" in words(shown(request))


def test_a_call_is_made_again_only_on_purpose(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.outcome()
    test = shown(request)
    button(test, "Call it again").click().run()
    assert stored(app, request).decision is Decision.APPROVE
    assert "had send_notification called again" in words(shown(request))


# --- a budget


def test_a_budget_shows_used_limit_and_what_it_would_be(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.budget()
    test = shown(request)
    bars = [plain(str(bar.proto.text)) for bar in test.get("progress")]
    assert bars == [
        "24,875 of 25,000 tokens used · 50,000 if you raise it",
        "$0.0098 of $0.0200 used · $0.0400 if you raise it",
    ]
    assert "4 of 5 steps done" in words(test)
    button(test, "Raise the limits").click().run()
    assert stored(app, request).decision is Decision.APPROVE
    limits = app.records.run(app.project, request.run_id).limits
    assert (limits.max_tokens, limits.max_cost_usd) == (50_000, "0.04")
    assert "raised the budget" in words(shown(request))


def test_stopping_at_a_budget_raises_nothing(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.budget()
    test = shown(request)
    field(test, "Why? The person who asked will read it.").input("Enough").run()
    button(test, "Stop here").click().run()
    assert stored(app, request).decision is Decision.REJECT
    assert app.records.run(app.project, request.run_id).limits.max_tokens == 25_000


# --- a question of a step


def test_a_question_of_a_step_names_the_step_and_is_answered(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.step_asking()
    test = shown(request)
    assert "Step s5 of the plan: Tell the owners of overrun projects" in words(test)
    assert "the run goes on without s5" in words(test)
    field(test, "Your answer").input("The second one").run()
    button(test, "Answer").click().run()
    assert (stored(app, request).decision, stored(app, request).value) == (Decision.RESPOND, "The second one")
    assert "answered" in words(shown(request))


# --- a replan


def test_a_replan_says_why_what_changes_and_what_is_done(opened: tuple[Plandeck, Seeds]) -> None:
    _, seeds = opened
    test = shown(seeds.replanned())
    text = words(test)
    for part in ("s3 (Rank projects, compute spend minus budget) failed", "14 rows have no budget",
                 "2 steps are done and not run again", "runs exactly these 3 steps once",
                 "2 steps only read"):  # fmt: skip
        assert part in text, part
    changes = plain(str(test.table[0].value.to_dict("list")))
    for part in ("+ added", "~ changed", "= kept", "done, and not run again"):
        assert part in changes, part
    assert [plain(cell) for cell in test.table[1].value["Now"]] == [
        ":material/check_circle: completed"] * 2 + [":material/radio_button_unchecked: pending"] * 3  # fmt: skip


def test_done_steps_are_locked_in_the_editor(opened: tuple[Plandeck, Seeds]) -> None:
    app, seeds = opened
    request = seeds.replanned()
    test = shown(request, edit="plan")
    assert "Steps that are done stay as they are" in words(test)
    assert "stays as it is" in words(test)
    described = [area for area in test.text_input if area.label == "What it does"]
    assert [area.value for area in described] == [
        "Read the budgets of November", "Rank projects with the budgets of s5",
        "Write the report with a source per figure",
    ]  # fmt: skip
    assert button(test, "Approve as edited").disabled, "nothing is changed yet"
    described[0].input("Read all budgets").run()
    button(test, "Approve as edited").click().run()
    before, approved = (app.records.plan(app.project, request.run_id, version) for version in (3, 4))
    assert approved.step("s1") == before.step("s1")
    assert approved.step("s5") == replace(before.step("s5"), description="Read all budgets")
