from dataclasses import replace

import pytest
from page_seeds import a_plan
from store_records import a_request, a_run, at

from agent.planning.changes import ChangeKind
from agent.records import Decision, Effect, PlanSource, PlanStep, RequestKind, RequestStatus
from dashboard.approvals import kinds, model, repairs
from dashboard.approvals.changes import Difference, change_rows

PLAN = a_plan(2)


def text(words: str) -> str:
    return words.replace("\u00a0", " ")


def request(**changes: object):
    return a_request(payload={"plan": PLAN.to_json(), "task": "Which?"}, hash=PLAN.hash, **changes)


def step(name: str, effect: Effect) -> PlanStep:
    return PlanStep(name, f"do {name}", "tool", effect=effect)


def test_consequences_are_counted_by_effect_from_harmless_to_grave() -> None:
    plan = replace(
        PLAN,
        steps=(
            step("a", Effect.SEND_EXTERNAL), step("b", Effect.READ), step("c", Effect.READ),
            step("d", Effect.DRAFT), step("e", Effect.WRITE_SYSTEM), step("f", Effect.PUBLISH_INTERNAL),
        ),
    )  # fmt: skip
    lines = model.consequences(plan)
    assert [text(line.words) for line in lines] == [
        "2 steps only read",
        "1 step writes a file here",
        "1 step publishes inside the company",
        "1 message leaves the company",
        "1 step changes another system",
    ]
    assert [line.grave for line in lines] == [False, False, False, True, True]


def test_every_effect_has_words_for_one_and_for_several() -> None:
    for effect in Effect:
        for count in (1, 2):
            steps = tuple(step(f"s{n}", effect) for n in range(count))
            assert text(model.consequences(replace(PLAN, steps=steps))[0].words).startswith(f"{count} ")


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "Nothing waits for you"),
        (1, "1 request waits for you"),
        (3, "3 requests wait for you"),
    ],
)
def test_the_headline_counts(count: int, words: str) -> None:
    assert text(model.headline(count)) == words


def test_an_item_says_who_asks_since_when_and_how_much() -> None:
    assert text(model.asked(request(), at(660))) == "ana asked · waits 11 min · 4 steps · plan version 2"
    done = request(status=RequestStatus.APPROVED, decided_at=at(40), decided_by="li", decision=Decision.APPROVE)
    assert "decided after 40.0 s" in text(model.asked(done, at(660)))


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (Decision.APPROVE, "li approved version 2"),
        (Decision.REJECT, "li rejected version 2"),
        (Decision.RESPOND, "li sent version 2 back"),
    ],
)
def test_decisions_name_who_and_what(decision: Decision, words: str) -> None:
    decided = request(status=decision.status, decided_at=at(40), decided_by="li", decision=decision)
    assert model.decided_words(decided) == words
    assert model.bar_sentence(decided, at(60)) == f"{words} at 12:00:40."


def test_an_edited_request_shows_the_plan_that_was_approved() -> None:
    edited = a_plan(3)
    decided = request(status=RequestStatus.EDITED, decided_by="li", decision=Decision.EDIT, value=edited.to_json())
    assert model.plan_of(decided) == edited
    assert "approved it as edited" in model.decided_words(decided)


def test_a_superseded_request_needs_nobody() -> None:
    assert "nobody has to decide it any more" in model.bar_sentence(request(status=RequestStatus.SUPERSEDED), at(60))


def test_the_history_is_newest_first_and_quotes_what_was_said() -> None:
    first = request(
        status=RequestStatus.RESPONDED, decided_at=at(40), decided_by="li", decision=Decision.RESPOND, note="Why?",
        request_id="q-0",
    )  # fmt: skip
    lines = model.history([request(requested_at=at(50)), first], a_run(), at(60))
    assert [line.title for line in lines] == [
        "Version 2 waits", "li sent version 2 back", "Version 2 proposed", "ana asked",
    ]  # fmt: skip
    assert "“Why?”" in lines[1].more


def test_a_question_is_its_own_headline_and_is_answered() -> None:
    asked = a_request(kind=RequestKind.QUESTION, payload={"question": "Which calendar?"})
    assert kinds.title(asked) == "Which calendar?"
    assert model.plan_of(asked) is None
    answered = replace(
        asked, status=RequestStatus.RESPONDED, decision=Decision.RESPOND, decided_by="li", decided_at=at(3)
    )
    assert model.decided_words(answered) == "li answered the question"


def test_repairs_that_can_change_the_meaning_are_told_apart() -> None:
    plan = replace(PLAN, repairs=("code_fence", "key_names: title", "truncated: 3 steps", "strange_new_code: s1"))
    assert repairs.serious(plan) == ["The plan had more steps than the limit; 3 steps were left out."]
    assert (
        repairs.harmless(plan) == "Mended while reading: code fence, other field names (title), strange new code (s1)."
    )
    assert model.was_cut(plan)
    assert repairs.harmless(replace(PLAN, repairs=())) is None


def test_a_generic_plan_says_so() -> None:
    assert "generic" in repairs.serious(replace(PLAN, source=PlanSource.FALLBACK))[0]


def test_changes_name_fields_before_and_after() -> None:
    old = a_plan(1)
    changed = replace(old.steps[0], args={"sql": "SELECT 2"}, effect=Effect.DRAFT)
    new = replace(old, steps=(changed, *old.steps[1:3], step("s9", Effect.READ)))
    rows = change_rows(old, new)
    assert [(row.sign, row.kind, row.step) for row in rows] == [
        ("~", ChangeKind.CHANGED, "s1"),
        ("+", ChangeKind.ADDED, "s9"),
        ("−", ChangeKind.REMOVED, "s4"),
        ("=", ChangeKind.KEPT, "s2, s3"),
    ]
    assert Difference("effect", "read", "draft") in rows[0].differences
    assert any(part.field == "argument sql" and part.after == "SELECT 2" for part in rows[0].differences)
    assert rows[2].title == "Write the report with a source per figure"


def test_a_new_dependency_is_a_change() -> None:
    rows = change_rows(a_plan(1), a_plan(2))
    assert rows[0].differences == (Difference("after", "s3", "s2, s3"),)


LONG = "SELECT project, SUM(amount) AS spend FROM spend WHERE note <> 'a long condition' " * 6


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (LONG + "AND year = 2025", LONG + "AND year = 2026", ("year = 2025", "year = 2026")),
        (LONG + "A", LONG + "B" + LONG, ("A", "more characters")),
        ("SELECT\n1", "SELECT 1", ("\\n", "SELECT 1")),
        ("SELECT\n1 " + LONG + "A", "SELECT 1 " + LONG + "B", ("\\n", "SELECT 1")),
        ("a  b", "a b", ("␠␠", "a b")),
        (1, "1", ("1", '"1"')),
    ],
    ids=["late", "longer", "line-break", "line-break-and-late", "spaces", "kind"],
)
def test_two_different_values_never_look_alike(before: object, after: object, shown: tuple[str, str]) -> None:
    old = a_plan(1)
    first, second = (replace(old, steps=(replace(old.steps[0], args={"sql": sql}),)) for sql in (before, after))
    (part,) = change_rows(first, second)[0].differences
    assert part.before
    assert part.after
    assert " ".join(part.before.split()) != " ".join(part.after.split())
    assert (shown[0] in text(part.before), shown[1] in text(part.after)) == (True, True)
    assert len(part.before) < 300


def test_what_a_cut_difference_leaves_out_is_told() -> None:
    old = a_plan(1)
    first, second = (
        replace(old, steps=(replace(old.steps[0], args={"sql": "x" * 500 + end}),)) for end in ("A" + "y" * 300, "B")
    )
    (part,) = change_rows(first, second)[0].differences
    assert text(part.before or "").startswith("(460 characters alike) … xxx")
    assert text(part.before or "").endswith("y … (141 more characters)")
    assert text(part.after or "").endswith("xB")
