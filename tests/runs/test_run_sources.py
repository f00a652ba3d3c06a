import pytest

from agent.records import Source
from dashboard.runs.sources import numbers, told, wording


def source(text: str) -> Source:
    return Source(1, "s1", "sql_query", text)


def test_rows_are_read_back_as_a_small_table() -> None:
    shown = told(source("2 rows:\nproject | total_cost_usd\nAtlas | 132190.57\nBorealis | 98898.65"))
    assert shown.words == "2 rows"
    assert shown.columns == ("project", "total cost usd")
    assert shown.rows == (("Atlas", "132190.57"), ("Borealis", "98898.65"))
    assert not shown.more


def test_columns_of_numbers_are_known_and_long_ids_are_none_of_them() -> None:
    shown = told(source("2 rows:\nproject | spent | id\nAtlas | 5.5 | 12345678901234567\nB-7 | -2 | 12345678901234568"))
    assert numbers(shown) == {"spent": (5.5, -2.0)}


def test_thousands_stand_apart_where_a_column_has_decimals_and_years_stay_as_they_are() -> None:
    shown = told(source("2 rows:\nyear | spent\n2025 | 132190.57\n2026 | 1200"))
    words = {name: [wording(shown)[name](value) for value in cells] for name, cells in numbers(shown).items()}
    assert words == {"year": ["2025", "2026"], "spent": ["132,190.57", "1,200"]}
    assert told(source("1 row:\nyear | spent\n2025 | 132190.57")).sentences == ("year 2025, spent 132,190.57",)


def test_one_row_is_a_sentence() -> None:
    shown = told(source("1 row:\nfirst_month | last_month\n2026-01 | 2026-08"))
    assert (shown.words, shown.sentences) == ("1 row", ("first month 2026-01, last month 2026-08",))


def test_a_wide_table_is_a_sentence_a_row() -> None:
    shown = told(source("2 rows:\nproject | cost | budget | over\nAtlas | 5 | 4 | 1\nCinder | 2 | 4 | -2"))
    assert shown.sentences == ("Atlas: cost 5, budget 4, over 1", "Cinder: cost 2, budget 4, over -2")
    assert shown.rows == ()


def test_a_text_that_was_cut_shows_no_half_row_and_says_that_there_is_more() -> None:
    text = "90 rows; 90 are shown here, all 90 are in s1-rows.csv:\nname | spent\n" + "Atlas | 13\n" * 60
    shown = told(source(text[:400]))
    assert len(shown.rows) == 4
    assert shown.more
    assert told(source(("1 row:\nname | spent\nAtlas | " + "1" * 400)[:400])).rows == ()


@pytest.mark.parametrize(
    "text",
    [
        "FIN-07, 4.2: Overruns above 5 % are told to the project owner.",
        "2 passages:\nFIN-07 | told\nFIN-08 | kept",
        "2 rows:\nname | note\nAtlas | a | b",
        "0 rows (project).",
        "",
    ],
)
def test_anything_else_is_shown_in_its_words(text: str) -> None:
    shown = told(source(text))
    assert shown.words == " ".join(text.split())
    assert not shown.rows
    assert not shown.sentences
