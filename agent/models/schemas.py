"""What a function's schema has to be for every provider to keep to it."""

from __future__ import annotations

from collections.abc import Iterator

from agent.records import JsonObject

UNIONS = ("anyOf", "oneOf", "allOf", "$ref", "not", "if")


def check_flat(function: JsonObject) -> None:
    """ValueError if the function's parameters are a union or a reference, which providers handle badly."""
    for part in _parts(function["parameters"]):
        found = [word for word in UNIONS if word in part]
        if found:
            raise ValueError(f"{function['name']} has {found[0]} in its parameters; they must be flat.")


def strict_schema(schema: JsonObject) -> JsonObject | None:
    """The schema as `strict` output wants it: nothing optional, nothing open. None where it cannot be that."""
    for part in _parts(schema):
        if part.get("type") == "object":
            properties = part.get("properties")
            if not properties or set(part.get("required", ())) != set(properties):
                return None
    return _closed(schema)


def _closed(part: JsonObject) -> JsonObject:
    """The schema without anything that it does not name."""
    closed = dict(part)
    if part.get("type") == "object":
        inner = {name: _closed(schema) for name, schema in part["properties"].items()}
        closed |= {"properties": inner, "additionalProperties": False}
    if isinstance(part.get("items"), dict):
        closed["items"] = _closed(part["items"])
    return closed


def _parts(part: JsonObject) -> Iterator[JsonObject]:
    """Every schema within a schema, itself included."""
    yield part
    for inner in (part.get("properties") or {}).values():
        yield from _parts(inner)
    if isinstance(part.get("items"), dict):
        yield from _parts(part["items"])
