from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.records import Effect
from agent.tools.registry import Observation, ToolContext, ToolError
from agent.tools.report import REPORT, file_name


def write(context: ToolContext, **arguments: str) -> Observation:
    given_ = {"filename": "report.md", "title": "Costs", "body": "All is well."} | arguments
    return REPORT.run(REPORT.validate(given_), context)


def test_a_report_is_written_and_named_with_its_bytes(tool_context: ToolContext) -> None:
    seen = write(tool_context, body="Größe: 5 €")
    content = (tool_context.artifacts / "report.md").read_bytes()
    assert content.decode() == "# Costs\n\nGröße: 5 €\n"
    assert seen == Observation(
        text=f"report.md written, {len(content)} bytes.",
        data={"filename": "report.md", "bytes": len(content)},
        artifacts=("report.md",),
    )
    assert REPORT.effect is Effect.DRAFT
    assert REPORT.idempotent


def test_a_second_attempt_writes_the_same_file_anew_and_leaves_no_other(tool_context: ToolContext) -> None:
    write(tool_context, body="first")
    write(replace(tool_context, attempt=2), body="second")
    assert [path.name for path in tool_context.artifacts.iterdir()] == ["report.md"]
    assert (tool_context.artifacts / "report.md").read_text() == "# Costs\n\nsecond\n"


def test_a_title_is_one_line_and_not_said_twice(tool_context: ToolContext) -> None:
    write(tool_context, title="a\nb", filename="a.txt")
    assert (tool_context.artifacts / "a.txt").read_text() == "# a\\nb\n\nAll is well.\n"
    write(tool_context, body="# Own heading\n\ntext")
    assert (tool_context.artifacts / "report.md").read_text() == "# Own heading\n\ntext\n"


@pytest.mark.parametrize(
    "name",
    [
        "../report.md",
        "a/b.md",
        "a\\b.md",
        "/etc/report.md",
        "C:report.md",
        ".report.md",
        "..md",
        "a..md",
        ".md",
        "",
        "report",
        "report.html",
        "report.md.exe",
        "report.md\0",
        "report\n.md",
        "report.md\u202etxt",
        "a\u200b.md",
        "re\u202eport.md",
        "CON.md",
        "con.tar.md",
        "nul.txt",
        "Lpt1.md",
        "a" * 98 + ".md",
        "ü" * 100 + ".md",
        "-rf.md",
        "~root.md",
        "$HOME.md",
        "a;b.md",
        "a\uff0fb.md",
    ],
)
def test_names_that_lead_elsewhere_or_confuse_are_refused(name: str, tool_context: ToolContext) -> None:
    with pytest.raises(ToolError, match="filename") as refused:
        write(tool_context, filename=name)
    assert refused.value.code == "bad_arguments"
    assert list(tool_context.artifacts.iterdir()) == []


@pytest.mark.parametrize("name", ["report.md", "Top 3 (August).md", "größe.txt", "2026-08_costs.v2.md", "console.md"])
def test_plain_names_are_taken(name: str, tool_context: ToolContext) -> None:
    assert write(tool_context, filename=name).artifacts == (name,)


def test_two_spellings_of_one_name_are_one_file(tool_context: ToolContext) -> None:
    assert write(tool_context, filename="gro\u0308sse.md").artifacts == ("gr\u00f6sse.md",)


@pytest.mark.parametrize("body", ["", "  \n", "x" * 200_001, "€" * 70_000])
def test_a_report_without_text_or_with_too_much_is_refused(body: str, tool_context: ToolContext) -> None:
    with pytest.raises(ToolError, match="body"):
        write(tool_context, body=body)


def test_the_longest_report_is_taken(tool_context: ToolContext) -> None:
    assert write(tool_context, body="x" * 200_000).data["bytes"] > 200_000


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.one_of(st.text(), st.text("a./\\ -_é\u202e\0", max_size=12), st.text("ab .", max_size=120)).map(
        lambda t: f"{t}.md"
    )
)
def test_a_name_that_passes_is_one_file_of_the_folder(name: str, tmp_path: Path) -> None:
    try:
        plain = file_name(name)
    except ValueError:
        return
    file = tmp_path / plain
    file.write_text("x")
    assert [path.name for path in tmp_path.iterdir()] == [plain]
    assert file_name(plain) == plain
    assert len(plain) <= 100
    file.unlink()


def test_a_folder_that_is_gone_ends_the_attempt(tool_context: ToolContext) -> None:
    tool_context.artifacts.rmdir()
    with pytest.raises(FileNotFoundError):
        write(tool_context)
