from dataclasses import replace

from cost_rows import a_run, row, seen

from agent.records import RunStatus
from dashboard.costs.runs import LINE_CHARACTERS, over_planned_note, run_rows, share_words


def test_the_dearest_runs_are_told_with_what_is_known_of_them() -> None:
    rows = run_rows(
        seen(
            dearest=[row(2.8, 4_420_981, run="r-1"), row(None, 5, run="r-2")],
            runs={"r-1": a_run("r-1")},
            computing={"r-1": 288 * 10**9},
            models_of_runs=[row(2, run="r-1", model="demo"), row(1, run="r-1", model="mini")],
            roles_of_runs=[row(1, 30, run="r-1", role="planning"), row(1, 70, run="r-1", role="execution")],
        )
    )
    ours, other = rows
    assert (ours.task, ours.user, ours.model, ours.status) == (
        "Compare invoices",
        "ana",
        "demo +1",
        RunStatus.SUCCEEDED,
    )
    assert (ours.bar, ours.cost, ours.made_up, ours.tokens) == (2.8, "$2.80", "", "4.4\u00a0M")
    assert (ours.planning, ours.computing) == ("30\u00a0%", "4\u00a0m\u00a048\u00a0s")
    assert (other.task, other.status, other.model, other.bar, other.cost) == (
        "run r-2, not one of ours",
        None,
        "–",
        0,
        "unknown",
    )
    assert (other.planning, other.computing) == ("unknown", "–")


def test_money_of_a_run_is_real_or_made_up_in_columns_of_their_own() -> None:
    real, made_up, both = run_rows(
        seen(dearest=[row(2, run="r-1"), row(None, run="r-2", made_up=0.5), row(1, run="r-3", made_up=0.5)])
    )
    assert (real.bar, real.cost, real.made_up) == (2, "$2.00", "")
    assert (made_up.bar, made_up.cost, made_up.made_up) == (0, "", "$0.5000")
    assert (both.bar, both.cost, both.made_up) == (1, "$1.00", "$0.5000")


def test_where_all_runs_are_made_up_their_bars_compare_that() -> None:
    shown = run_rows(seen(total=row(None, made_up=0.5), dearest=[row(None, run="r-2", made_up=0.5)]))
    assert shown[0].bar == 0.5


def test_a_long_task_ends_with_a_word() -> None:
    task = "Compare every invoice of the quarter before with its order and its delivery note"
    shown = run_rows(seen(dearest=[row(1, run="r-1")], runs={"r-1": a_run("r-1", task)}))[0].task
    assert len(shown) <= 2 * LINE_CHARACTERS
    assert task.startswith(shown.removesuffix("…") + " ")


def test_a_run_that_planned_too_much_is_told_when_it_is_over() -> None:
    over = a_run("r-1")
    assert over_planned_note(over, 0.48).startswith("Planning took 48\u00a0% of its tokens: this run was over-planned")
    assert over_planned_note(None, 0.48) == over_planned_note(over, 0.48)
    assert over_planned_note(over, 0.4) == over_planned_note(over, None) == ""
    assert over_planned_note(replace(over, status=RunStatus.EXECUTING), 0.48) == ""


def test_a_share_above_the_line_is_said_to_be_over_planned() -> None:
    assert share_words(0.4, ended=True) == "40\u00a0%"
    assert share_words(0.48, ended=True) == "48\u00a0%, over"
    assert share_words(1, ended=False) == "100\u00a0%"
    assert share_words(None, ended=True) == "unknown"
