from dataclasses import replace

from page_seeds import a_plan

from dashboard.approvals import editing
from dashboard.approvals.editing import Row

PLAN = a_plan(2)


def test_an_untouched_draft_is_the_plan() -> None:
    draft = editing.begin(PLAN)
    steps, wrong = editing.steps_of(draft)
    assert wrong == []
    assert [{**step, "effect": str(own.effect)} for step, own in zip(steps, PLAN.steps, strict=True)] == [
        own.to_json() for own in PLAN.steps
    ]
    assert not editing.changed(draft, PLAN)


def test_typed_words_stay_in_their_row_whatever_else_happens() -> None:
    draft = editing.begin(PLAN)
    draft = editing.with_row(draft, replace(draft.rows[0], description="one"))
    draft = editing.moved(draft, 0, 1)
    draft = editing.with_row(draft, replace(draft.rows[0], description="two"))
    draft = editing.added(draft)
    draft = editing.with_row(draft, replace(next(row for row in draft.rows if row.uid == 0), description="one again"))
    assert [row.description for row in draft.rows][:2] == ["two", "one again"]
    assert editing.changed(draft, PLAN)


def test_a_removed_step_is_nobody_s_dependency_any_more() -> None:
    draft = editing.removed(editing.begin(PLAN), 1)
    assert draft.ids == ["s1", "s3", "s4"]
    assert draft.rows[2].dependencies == (2,)


def test_a_new_step_gets_an_id_that_is_free() -> None:
    draft = editing.begin(PLAN)
    draft = editing.with_row(draft, replace(draft.rows[0], id="s5"))
    assert editing.added(draft).ids == ["s5", "s2", "s3", "s4", "s6"]
    again = editing.added(editing.removed(editing.added(draft), 4))
    assert [row.uid for row in again.rows] == [0, 1, 2, 3, 5]


def test_a_step_does_not_leave_the_plan_by_moving() -> None:
    draft = editing.begin(PLAN)
    assert editing.moved(draft, 0, -1) == draft
    assert editing.moved(draft, 3, 1) == draft


def test_arguments_that_are_no_json_object_are_named() -> None:
    draft = editing.begin(PLAN)
    draft = editing.with_row(draft, replace(draft.rows[0], args="{sql: 1}"))
    draft = editing.with_row(draft, replace(draft.rows[1], args="[1]"))
    steps, wrong = editing.steps_of(draft)
    assert len(steps) == 2
    assert wrong[0].startswith("s1: the arguments are not JSON")
    assert "an object" in wrong[1]


def test_empty_arguments_are_none() -> None:
    draft = editing.Draft((Row(0, " s1 ", " x ", args="  "),), 1, PLAN.hash)
    assert editing.steps_of(draft)[0][0]["args"] == {}
    assert editing.steps_of(draft)[0][0]["id"] == "s1"


def test_a_renamed_step_keeps_its_place_before_others_even_while_two_have_one_id() -> None:
    draft = editing.begin(PLAN)
    draft = editing.with_row(draft, replace(draft.rows[0], id="s2"))
    assert [draft.label(row.uid) for row in draft.rows] == ["s2 (step 1)", "s2 (step 2)", "s3", "s4"]
    draft = editing.with_row(draft, replace(draft.rows[0], id="spend"))
    steps, _ = editing.steps_of(draft)
    assert [step["dependencies"] for step in steps] == [[], [], ["spend"], ["s2", "s3"]]
