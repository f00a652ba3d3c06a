import html
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from streamlit.testing.v1 import AppTest

from dashboard.look.text import code, escape, escape_lines, safe_markdown

CASE = Path(__file__).parents[1] / "cases" / "hand" / "E01_dollar_amounts" / "texts.json"
DOLLARS = [
    "Cost $0.12 so far, limit $5.00",
    "$1 and $2",
    "Total: $0.0004 (prompt $0.0001, completion $0.0003)",
    "Budget used: 40% of $10",
    "US$5 / EUR 4 / $6",
    "price is $x$ today",
]
HOSTILE = [
    "*not* **bold** _it_ __b__ ~~s~~",
    "`code` and ``more``",
    "[link](http://evil.example) ![pic](http://evil.example/x.png)",
    "<script>document.title='owned'</script> <img src=x onerror=alert(1)>",
    "# heading",
    "- item",
    "1. item",
    "> quote",
    "| a | b |",
    "ana@acme.example wrote to www.acme.example and https://acme.example/a?b=c.",
    ":smile: :material/help: :red[x] :blue-background[y] :+1:",
    "a -> b <- c <-> d -- e >= f <= g ~= h",
    "trailing backslash \\",
    "&amp; &lt;b&gt; &#58;",
    "    four spaces",
    "[1]: http://evil.example",
    "`https://evil.example`",
]


def rendered(markdown: str) -> str:
    """What a reader sees, by a parser of its own."""
    page = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown)
    return html.unescape(re.sub(r"<[^>]+>", "", page)).strip()


def outside_code(markdown: str) -> str:
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", re.sub(r"\\.", "", markdown))


@pytest.mark.parametrize("text", DOLLARS + HOSTILE)
def test_escaped_text_shows_exactly_what_it_says(text: str) -> None:
    assert rendered(escape(text)) == text.strip()


def test_the_dollar_texts_are_those_of_the_case() -> None:
    if CASE.exists():
        assert json.loads(CASE.read_text()) == DOLLARS


@given(st.text(alphabet=st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs"), include_characters=" \n\t")))
def test_any_text_survives_escaping(text: str) -> None:
    seen = re.sub(r"\s+", " ", rendered(escape(text)))
    assert seen == re.sub(r"\s+", " ", text).strip()


@given(st.text(alphabet="$:*_`[]()<>!@.wh tps/\\-a1=~\n", max_size=60))
def test_nothing_in_escaped_text_can_begin_a_formula_a_directive_or_a_link(text: str) -> None:
    plain = outside_code(escape(text))
    assert not re.search(r"[$:\[<`*_@]", plain)
    assert not re.search(r"https?://|www\.", plain)


def test_line_breaks_are_spaces_or_kept() -> None:
    assert escape("a\nb\r\n c") == "a b c"
    assert escape_lines("a\nb\n\nc $1") == "a  \nb\n\nc \\$1"


def test_code_holds_anything() -> None:
    assert rendered(code("a`b``c")) == "a`b``c"
    assert rendered(code("`x`")) == "`x`"
    assert code("  ") == ""


ANSWER = """# Result: $1 and $2

| Project | Spend |
| --- | ---: |
| Atlas | **$131,420** [1] |
| `a|b` | $5 |

1. first
2. second
   - nested *words*

> quoted

```python
print("$1")
```
"""


def test_what_a_model_wrote_keeps_its_structure() -> None:
    page = MarkdownIt("commonmark").enable("table").render(safe_markdown(ANSWER, citations=True))
    assert "<strong>Result: $1 and $2</strong>" in page
    assert '<td style="text-align:right"><strong>$131,420</strong> <code>1</code></td>' in page
    assert page.count("<li>") == 3
    assert "<em>words</em>" in page
    assert "<blockquote>" in page
    assert "print(&quot;$1&quot;)" in page
    assert "<h1>" not in page


@pytest.mark.parametrize(
    "text",
    [
        "![x](http://evil.example/x.png)",
        "[click](http://evil.example) and <http://evil.example>",
        "[ref][1]\n\n[1]: http://evil.example",
        "\\`![x](http://evil.example/x.png)`",
        "`\n\n![x](http://evil.example/x.png)\n\n`",
        "<img src='http://evil.example/x.png'>",
        "<div>\n![x](http://evil.example/x.png)\n</div>",
        "| a |\n| --- |\n| ![x](http://evil.example/x.png) |",
        "a ~~~ ![x](http://evil.example/x.png)",
    ],
)
def test_no_picture_no_link_and_no_html_gets_through(text: str) -> None:
    written = safe_markdown(text)
    page = MarkdownIt("commonmark").enable("table").render(written)
    assert not re.search(r"<(img|a|script|div|iframe)\b", page)
    assert "evil.example" not in outside_code(written)


@given(st.text(alphabet="$:*_`[]()<>!@.whtps/\\-#|1 \n~=a", max_size=120))
def test_whatever_a_model_writes_loads_nothing(text: str) -> None:
    page = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(safe_markdown(text, citations=True))
    assert not re.search(r"<(img|a)\b", page)


def test_streamlit_takes_the_texts_as_they_are() -> None:
    def page(texts: list[str]) -> None:
        import streamlit as st

        from dashboard.look.text import escape

        for text in texts:
            st.markdown(escape(text))

    test = AppTest.from_function(page, args=(DOLLARS + HOSTILE,)).run()
    assert not test.exception
    assert [rendered(element.value) for element in test.markdown] == [text.strip() for text in DOLLARS + HOSTILE]
