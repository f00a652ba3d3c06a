import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.tools.registry import OBSERVATION_CHARACTERS, ToolContext, ToolError
from agent.tools.sample import SamplePaths
from agent.tools.search import fts_query, search, search_tool, split_document


def places(folder: Path, query: str, limit: int = 5) -> list[str]:
    return [f"{hit['document']} {hit['paragraph']}".strip() for hit in search(folder, query, limit).data["hits"]]


def test_a_paragraph_is_found_and_can_be_cited(sample: SamplePaths, tool_context: ToolContext) -> None:
    tool = search_tool(sample.policies)
    seen = tool.run(tool.validate({"query": "overrun of more than 15 percent"}), tool_context)
    assert seen.data["hits"][0] == {
        "document": "FIN-07",
        "title": "FIN-07 Budget overruns",
        "heading": "Thresholds",
        "paragraph": "2.3",
        "text": "An overrun of more than 15 percent stops new commitments until the head of department agrees.",
    }
    assert (
        "\nFIN-07, paragraph 2.3 (FIN-07 Budget overruns, Thresholds): An overrun of more than 15 percent" in seen.text
    )


@pytest.mark.parametrize("query", ["FIN-07, paragraph 4.2", "fin-07 4.2", "What does 4.2 of FIN-07 say?"])
def test_a_cited_place_comes_first(query: str, sample: SamplePaths) -> None:
    assert places(sample.policies, query)[0] == "FIN-07 4.2"


def test_words_are_found_in_other_forms_and_by_title(sample: SamplePaths) -> None:
    assert places(sample.policies, "overrunning budgets")[0].startswith("FIN-07")
    assert places(sample.policies, "procurement")[0].startswith("PRO-04")
    assert places(sample.policies, "budget_overrun")[0].startswith("FIN-07")


def test_words_that_carry_nothing_find_nothing_by_themselves(sample: SamplePaths) -> None:
    seen = search(sample.policies, "the weather on the moon", 5)
    assert seen.empty
    assert seen.data == {"hits": []}
    assert "weather on the moon" in seen.text


def test_the_limit_holds_and_its_bounds_are_told(sample: SamplePaths) -> None:
    assert len(places(sample.policies, "project", limit=3)) == 3
    tool = search_tool(sample.policies)
    for wrong in ({"query": ""}, {"query": "a", "limit": 0}, {"query": "a", "limit": 21}, {"query": "a", "top": 3}):
        with pytest.raises(ToolError) as refused:
            tool.validate(wrong)
        assert refused.value.code == "bad_arguments"


@pytest.mark.parametrize("query", ["", "!!!", "  ", '"', "* ^ - ( )"])
def test_a_query_without_a_word_is_told_to_the_model(query: str, sample: SamplePaths) -> None:
    with pytest.raises(ToolError, match="no word"):
        search(sample.policies, query, 5)


@pytest.mark.parametrize(
    "query",
    [
        'budget" OR "',
        "budget NEAR(x y, 5)",
        "document:FIN-07",
        "budget AND NOT",
        "bud*",
        "{document title}: x",
        "^budget",
        "budget'; DROP TABLE paragraphs; --",
        "a\0b",
        "AND OR NOT",
        " ".join(f"w{n}" for n in range(150)),
    ],
)
def test_syntax_of_the_index_is_only_text(query: str, sample: SamplePaths) -> None:
    search(sample.policies, query, 5)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    query=st.one_of(
        st.text(max_size=500),
        st.text(string.punctuation + "aN0 ", max_size=60),
        st.lists(st.sampled_from(["AND", "OR", "NOT", "NEAR", "(", ")", '"', "*", "budget", ":", "-", "+", "^"])).map(
            " ".join
        ),
    )
)
def test_any_text_can_be_looked_for(query: str, tmp_path: Path) -> None:
    (tmp_path / "A-1.md").write_text("# A-1 Budget\n\n1.1 A budget and near 0.\n")
    if fts_query(query):
        seen = search(tmp_path, query, 20)
        assert seen.empty == (seen.data["hits"] == [])
        assert len(seen.text) <= OBSERVATION_CHARACTERS


def test_a_changed_a_new_and_a_removed_document_count_at_once(sample: SamplePaths) -> None:
    tool = search_tool(sample.policies)
    assert places(sample.policies, "zebra") == []
    (sample.policies / "ZOO-01.md").write_text("# ZOO-01 Animals\n\n1.1 One zebra a year.\n")
    assert places(sample.policies, "zebra") == ["ZOO-01 1.1"]
    assert "ZOO-01 Animals" in tool.description
    (sample.policies / "ZOO-01.md").write_text("# ZOO-01 Animals\n\n2.1 No zebra.\n")
    assert places(sample.policies, "zebra") == ["ZOO-01 2.1"]
    (sample.policies / "ZOO-01.md").unlink()
    assert places(sample.policies, "zebra") == []


def test_a_document_is_split_at_numbers_headings_and_empty_lines() -> None:
    text = """# P-1 Title
Intro right below.
## 2 Rules
2.1 First
goes on over
5 percent of the lines.
2.2. Second
3) Third

Loose.
### 4.1 Numbered heading
Its text.

More of it.
## Last
**6.1** Bold.
"""
    assert [(each.heading, each.number, each.text) for each in split_document("P-1", text)] == [
        ("P-1 Title", "", "Intro right below."),
        ("Rules", "2.1", "First goes on over 5 percent of the lines."),
        ("Rules", "2.2", "Second"),
        ("Rules", "3", "Third"),
        ("Rules", "2", "Loose."),
        ("Numbered heading", "4.1", "Its text."),
        ("Numbered heading", "4.1", "More of it."),
        ("Last", "6.1", "Bold."),
    ]
    assert {each.title for each in split_document("P-1", text)} == {"P-1 Title"}
    assert [(each.title, each.place) for each in split_document("P-2", "Only text.")] == [("P-2", "P-2")]


@settings(max_examples=100, deadline=None)
@given(text=st.text())
def test_any_document_can_be_split(text: str) -> None:
    for paragraph in split_document("X", text):
        assert paragraph.text == paragraph.text.strip()


def test_odd_files_do_not_break_the_search(tmp_path: Path) -> None:
    (tmp_path / "BIN-1.md").write_bytes(b"\xff\xfe budget \x00")
    (tmp_path / "BIG-1.md").write_text("budget\n\n" * 300_000)
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "evil\nname.md").write_text("# Evil\n\n1.1 budget " + "word " * 1000)
    seen = search(tmp_path, "budget", 20)
    assert {hit["document"] for hit in seen.data["hits"]} == {"BIN-1", "evil\nname"}
    assert len(seen.text.splitlines()) == 3
    assert len(seen.text) <= OBSERVATION_CHARACTERS
    assert len(seen.data["hits"][0]["text"]) <= 601
    assert search_tool(tmp_path / "absent").description.endswith("Documents: none yet.")
