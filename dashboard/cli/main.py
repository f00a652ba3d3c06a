"""`plandeck`: every command, and the boundary at which errors become one sentence and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from agent.errors import AgentError
from dashboard.cli import approving, checking, describing, history, model_serving, money, running, serving
from dashboard.cli.options import JSON
from dashboard.cli.output import print_error
from traces.errors import TracesError


class Commands(TyperGroup):
    """Runs a command; a refused or failed one answers its error and exits with 1."""

    def invoke(self, ctx: Any) -> Any:
        """Run it; what is not an expected refusal is a defect and keeps its traceback on stderr."""
        try:
            return super().invoke(ctx)
        except (AgentError, TracesError) as error:
            code, message = getattr(error, "code", "traces"), str(error)
        except BrokenPipeError:
            raise
        except OSError as error:
            code, message = "storage", _os_sentence(error)
        print_error(code, message, as_json=bool(ctx.meta.get(JSON)))
        raise typer.Exit(1)


def _os_sentence(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}. Check the name, the permissions and the free space."


app = typer.Typer(
    cls=Commands,
    name="plandeck",
    help="Approve the plans of LangGraph agents, watch them run, see what they cost, replay what they did.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMANDS: dict[str, Callable[..., None]] = {
    "serve": serving.serve,
    "worker": serving.worker,
    "serve-model": model_serving.serve_model,
    "run": running.run,
    "resume": running.resume,
    "cancel": running.cancel,
    "agents": describing.agents,
    "runs": running.runs,
    "show": running.show,
    "approvals": approving.approvals,
    "decide": approving.decide,
    "threads": history.threads,
    "history": history.history,
    "state": history.state,
    "diff": history.diff,
    "usage": money.usage,
    "traces": money.traces,
    "trace": money.trace,
    "ingest": money.ingest,
    "parse-plan": checking.parse_plan,
    "doctor": checking.doctor,
}
for name, command in COMMANDS.items():
    app.command(name)(command)


def main() -> None:
    """Run the command line; exits with 0, 1 (refused or failed, also a run that ended so) or 2 (wrong usage)."""
    for argument in sys.argv[1:]:
        if "\0" in argument or any("\ud800" <= sign <= "\udfff" for sign in argument):
            print(f"plandeck: {argument[:80]!a} is no UTF-8 text.", file=sys.stderr)
            sys.exit(2)
    app(prog_name="plandeck", args=sys.argv[1:])
