"""`parse-plan` and `doctor`: what can be checked without running anything."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from dashboard.cli.options import Json, settings_for
from dashboard.cli.output import print_json, print_table
from dashboard.cli.reading import read_text

if TYPE_CHECKING:
    from agent.planning.parsing import ParsedPlan
    from agent.planning.validation import Tools


def parse_plan(
    file: Annotated[str, typer.Argument(help="File with a model's plan; - reads standard input.", metavar="FILE")],
    tools: Annotated[
        str | None,
        typer.Option("--tools", help="Names of the known tools, by comma; the built-in ones otherwise."),
    ] = None,
    max_steps: Annotated[int, typer.Option("--max-steps", help="Steps beyond this are cut.", min=1)] = 8,
    json: Json = False,
) -> None:
    """Read a model's plan and say what was repaired and what is wrong with it.

    Exits with 0 whenever the text could be judged, also when the verdict is `invalid`: ask `outcome`. A tool of
    `--tools` that is not built in counts as one that writes to systems.
    """
    from agent.planning.parsing import parse_plan as parse
    from agent.shapes import parsed_plan_json

    parsed = parse(read_text(file), _tools(tools), max_steps=max_steps)
    if json:
        print_json(parsed_plan_json(parsed))
    else:
        _print_parsed(parsed)


def _tools(names: str | None) -> Tools:
    from agent.records import Effect
    from agent.tools.builtin import build_registry

    registry = build_registry(settings_for())
    if names is None:
        return registry
    # Of a tool that is only a name, the worst has to be assumed.
    return {
        name: (registry[name].effect, registry[name].schema) if name in registry else (Effect.WRITE_SYSTEM, {})
        for name in (part.strip() for part in names.split(","))
        if name
    }


def _print_parsed(parsed: ParsedPlan) -> None:
    sys.stdout.write(f"{parsed.outcome}\n")
    if parsed.plan:
        sys.stdout.write(f"{parsed.plan.goal}\n")
        print_table(
            ("step", "what", "tool", "after", "done when"),
            [
                (step.id, step.description, step.tool or "-", " ".join(step.dependencies), step.acceptance_criteria)
                for step in parsed.plan.steps
            ],
            empty="no steps",
        )
    for repair in parsed.repairs:
        sys.stdout.write(f"repaired: {repair}\n")
    for error in parsed.errors:
        sys.stdout.write(f"wrong: {error.message}\n")


def doctor(json: Json = False) -> None:
    """Check this machine: Python, settings, folders, databases, provider, tools, port. Exits with 1 if one fails."""
    from dashboard.cli.examination import examine

    checks = examine()
    if json:
        print_json([check.to_json() for check in checks])
    else:
        print_table(
            ("", "check", "found", "remedy"),
            [("ok" if check.ok else "FAILS", check.name, check.detail, check.remedy or "") for check in checks],
            empty="nothing to check",
        )
    if not all(check.ok for check in checks):
        raise typer.Exit(1)
