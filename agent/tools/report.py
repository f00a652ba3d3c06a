"""A report: one text file in the run's folder."""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field

from agent.records import Effect
from agent.tools.files import write_whole
from agent.tools.registry import Observation, Tool, ToolArguments, ToolContext

RESERVED = {"con", "prn", "aux", "nul"} | {f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10)}
BODY_CHARACTERS = 200_000


def file_name(value: str) -> str:
    """A plain name of a .md or .txt file; ValueError saying what is wrong with another."""
    name = unicodedata.normalize("NFC", value.strip())
    if not re.fullmatch(r"[\w][\w .()-]{0,95}\.(md|txt)", name) or ".." in name:
        raise ValueError("give a plain name that ends in .md or .txt, without folders, at most 100 characters")
    if name.split(".", 1)[0].strip().lower() in RESERVED or len(name.encode()) > 200:
        raise ValueError("this name is reserved or too long, choose another")
    return name


class ReportArguments(ToolArguments):
    """What `report_file` takes."""

    filename: Annotated[str, AfterValidator(file_name)] = Field(description="Plain name that ends in .md or .txt.")
    title: str = Field(max_length=200)
    body: str = Field(max_length=BODY_CHARACTERS, description="Markdown, every figure from an earlier step's result.")


def _run(arguments: ReportArguments, context: ToolContext) -> Observation:
    body = arguments.body.strip()
    text = body if body.startswith("# ") else f"# {arguments.title.strip()}\n\n{body}"
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
