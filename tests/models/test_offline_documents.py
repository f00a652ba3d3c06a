"""What a task asks of the documents, apart from what it asks of the database."""

import pytest

from agent.models.offline.documents import search_words, split_task


@pytest.mark.parametrize(
    ("task", "data", "documents"),
    [
        (
            "Compare sales by region, and search the policy for travel limits",
            "Compare sales by region",
            "search the policy for travel limits",
        ),
        (
            "Total sales by region and look in the handbook for approvals of overruns",
            "Total sales by region",
            "look in the handbook for approvals of overruns",
        ),
        (
            "Compare costs by project, then read the guideline on overruns.",
            "Compare costs by project",
            "read the guideline on overruns",
        ),
        ("Find the rules about travel", "", "Find the rules about travel"),
        (
            "Which project cost most and did any exceed its budget?",
            "Which project cost most and did any exceed its budget",
            "",
        ),
    ],
)
def test_each_part_of_a_task_goes_where_it_is_about(task: str, data: str, documents: str) -> None:
    assert split_task(task, "") == (data, documents)


def test_a_share_or_a_number_of_days_is_looked_for_and_a_year_is_not() -> None:
    assert search_words("What does the policy say about overruns above 15 percent in 2026?", "") == (
        "overruns above 15 percent"
    )
