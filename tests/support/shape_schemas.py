"""Checks documents against the published JSON Schemas."""

from __future__ import annotations

import json
from importlib.resources import files

from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource

SCHEMAS = {
    entry.name.removesuffix(".json"): json.loads(entry.read_text(encoding="utf-8"))
    for entry in files("agent.schemas").iterdir()
    if entry.name.endswith(".json")
}
REGISTRY = Registry().with_resources((f"{name}.json", Resource.from_contents(body)) for name, body in SCHEMAS.items())


def problems(name: str, document: object) -> list[str]:
    """What is wrong with a document of that shape, one line each."""
    validator = Draft202012Validator(SCHEMAS[name], registry=REGISTRY, format_checker=FormatChecker())
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


def assert_shape(name: str, document: object) -> None:
    """Fail naming every place that does not fit."""
    assert problems(name, document) == []
