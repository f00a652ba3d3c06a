"""The options that several commands share, and the settings that they lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from agent.settings import Settings

JSON = "json"


def _remember(context: typer.Context, value: bool) -> bool:
    """Let the error boundary know how the answer is wanted."""
    context.meta[JSON] = value
    return value


Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON document on stdout.", callback=_remember)]
Project = Annotated[
    str | None, typer.Option("--project", help="The project to work in; PLANDECK_PROJECT otherwise.", metavar="NAME")
]
Limit = Annotated[int, typer.Option("--limit", help="At most this many.", min=1, max=10_000)]
Store = Annotated[
    str | None,
    typer.Option("--store", help="A name from PLANDECK_STORES, a path of a SQLite file, or a postgresql:// URL."),
]
Namespace = Annotated[str, typer.Option("--ns", help="Checkpoint namespace of a subgraph.", metavar="NS")]


def settings_for(project: str | None = None, **overrides: object) -> Settings:
    """The settings of this call; ConfigurationError naming the variable if one is wrong."""
    from agent.settings import load_settings

    given = {"project": project, **overrides}
    return load_settings(**{name: value for name, value in given.items() if value is not None})
