"""A report: one text file in the run's folder."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from agent.records import Effect
from agent.tools.files import plain_name, write_whole
from agent.tools.registry import Observation, Tool, ToolArguments, ToolContext
from agent.tools.text import one_line

BODY_BYTES = 200_000


def file_name(value: str) -> str:
    """A plain name of a .md or .txt file; ValueError saying what is wrong with another."""
    return plain_name(value, ".md", ".txt")


def report_body(value: str) -> str:
    """The text of a report; ValueError when there is none or too much of it."""
    body = value.strip()
    if not body:
        raise ValueError("a report needs a text")
    if len(body.encode()) > BODY_BYTES:
        raise ValueError(f"a report has at most {BODY_BYTES:,} bytes")
    return body


class ReportArguments(ToolArguments):
    """What `report_file` takes."""

    filename: Annotated[str, AfterValidator(file_name)] = Field(description="Plain name that ends in .md or .txt.")
    title: str = Field(max_length=200, description="One line; the report's heading.")
    body: Annotated[str, AfterValidator(report_body)] = Field(
        description="Markdown, every figure from an earlier step's result."
    )


def _run(arguments: ReportArguments, context: ToolContext) -> Observation:
    """Write the file; the same step of the same run writes it anew, whatever the attempt."""
    title = one_line(arguments.title.strip())
    whole = arguments.body.startswith("# ") or not title
    text = arguments.body if whole else f"# {title}\n\n{arguments.body}"
    size = write_whole(context.artifacts / arguments.filename, f"{text}\n")
    return Observation(
        text=f"{arguments.filename} written, {size:,} bytes.",
        data={"filename": arguments.filename, "bytes": size},
        artifacts=(arguments.filename,),
    )


REPORT = Tool(
    name="report_file",
    version=1,
    summary="Writes a report in Markdown into the run's folder of files.",
    arguments=ReportArguments,
    effect=Effect.DRAFT,
    run=_run,
)
