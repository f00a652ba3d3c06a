"""Runs commands in this process, each against a home of its own, and checks every JSON answer's shape."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shape_schemas import assert_shape
from typer.testing import CliRunner

from dashboard.cli.main import app


@dataclass(frozen=True)
class Answer:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The code of the error document."""
        document = json.loads(self.out)
        assert_shape("error", document)
        return str(document["error"]["code"])


@dataclass(frozen=True)
class CommandLine:
    """`plandeck` with a home; further settings by name."""

    home: Path
    settings: tuple[tuple[str, str], ...] = ()

    def __call__(self, *words: str, given: str | None = None) -> Answer:
        """Run a command; a traceback fails the test."""
        environment = {"PLANDECK_HOME": str(self.home), **dict(self.settings)}
        result = CliRunner().invoke(app, list(words), env=environment, input=given, prog_name="plandeck")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(result.exit_code, result.stdout, result.stderr)

    def json(self, shape: str, *words: str, code: int = 0) -> Any:
        """Run a command with `--json`; its answer has the shape."""
        answer = self(*words, "--json")
        assert answer.code == code, answer
        document = json.loads(answer.out)
        assert_shape(shape, document)
        return document

    def with_settings(self, **settings: str) -> CommandLine:
        """The same home with further settings."""
        return CommandLine(self.home, tuple(settings.items()))
