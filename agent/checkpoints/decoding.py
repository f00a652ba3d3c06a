"""Stored bytes to plain JSON. Nothing that the bytes name is imported, looked up or called.

Classes become inert records `{"$type": "module.Class", "$value": …}`; pickle is never opened. Limits on size, number of
entries and depth hold for every value, so that no blob can hang or crash the reader.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, time, timedelta
from pathlib import PurePosixPath
from typing import Any, TypeAlias
from uuid import UUID

import msgpack

from agent.checkpoints.arrays import read_array
from agent.records import JsonObject, JsonValue

MAX_BYTES = 64 * 1024 * 1024
MAX_ENTRIES = 2_000_000
MAX_DEPTH = 100
_SHOWN_BYTES = 256 * 1024
"""How much of a byte string goes into its record."""

_NUMPY, _DELTA_SNAPSHOT = 6, 7
_CLASS_CODES = range(6)
"""Extension codes of `JsonPlusSerializer` whose payload begins with module, name, argument."""

Raw: TypeAlias = Any
"""What the parsers give: JSON, bytes, and the private classes below."""


class UndecodableError(Exception):
    """A stored value that is not shown; its text says why, as a clause."""


@dataclass(frozen=True, slots=True)
class DecodedCheckpoint:
    """A checkpoint's own fields, and its channels decoded one by one."""

    fields: JsonObject
    values: JsonObject
    failures: dict[str, str]
    """Channel name to the reason why it could not be decoded."""


def decode(format_: str, body: bytes) -> JsonValue:
    """The value of a stored blob; UndecodableError when it is not or must not be read."""
    raw = _parse(format_, body)
    return _Plain(envelopes=format_ == "json").value(raw)


def decode_checkpoint(format_: str, body: bytes) -> DecodedCheckpoint:
    """A whole checkpoint; one unreadable channel leaves the others readable."""
    raw = _parse(format_, body)
    if not isinstance(raw, dict):
        raise UndecodableError("it holds no checkpoint")
    channels = raw.pop("channel_values", {})
    envelopes = format_ == "json"
    values, failures = {}, {}
    for name, channel in channels.items() if isinstance(channels, dict) else ():
        try:
            values[name] = _Plain(envelopes=envelopes).value(channel)
        except UndecodableError as error:
            failures[name] = str(error)
    return DecodedCheckpoint(_Plain(envelopes=envelopes).value(raw), values, failures)


def decode_json(text: str | bytes) -> JsonValue:
    """JSON with the constructor envelopes of LangChain (`lc` 1 and 2) as inert records."""
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return decode("json", raw)


def plain_text(text: str) -> str:
    """Text without lone surrogates, which no page can show."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _parse(format_: str, body: bytes) -> Raw:
    if format_ == "pickle":
        raise UndecodableError("pickle is never opened, since opening it runs code")
    if len(body) > MAX_BYTES:
        raise UndecodableError(f"it is larger than the {MAX_BYTES // 1024 // 1024} MB that are decoded")
    match format_:
        case "null":
            return None
        case "bytes" | "bytearray":
            return body
        case "json":
            return _parse_json(body)
        case "msgpack":
            return _parse_msgpack(body, _Budget())
        case _:
            raise UndecodableError(f"its format {format_!r} is not known")


def _parse_json(body: bytes) -> Raw:
    # Counting separators, those in texts included, bounds the entries before any of them takes memory.
    if sum(body.count(separator) for separator in (b",", b"[", b"{")) > 2 * MAX_ENTRIES:
        raise UndecodableError(f"it has more than {MAX_ENTRIES:,} entries")
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UndecodableError(f"it is no valid JSON ({_short(error)})") from error


class _Budget:
    """Counts the entries of one value while it is parsed, so that a bomb stops early."""

    def __init__(self) -> None:
        self.left = MAX_ENTRIES

    def take(self, entries: int) -> None:
        self.left -= entries
        if self.left < 0:
            raise UndecodableError(f"it has more than {MAX_ENTRIES:,} entries")


@dataclass(frozen=True, slots=True)
class _Extension:
    code: int
    body: bytes


@dataclass(frozen=True, slots=True)
class _OddMap:
    """A mapping with keys that JSON does not have."""

    pairs: list[tuple[Raw, Raw]]


def _parse_msgpack(body: bytes, budget: _Budget) -> Raw:
    def mapping(pairs: list[tuple[Raw, Raw]]) -> Raw:
        budget.take(len(pairs) + 1)
        return dict(pairs) if all(isinstance(key, str) for key, _ in pairs) else _OddMap(pairs)

    def sequence(items: list[Raw]) -> list[Raw]:
        budget.take(len(items) + 1)
        return items

    try:
        return msgpack.unpackb(
            body,
            ext_hook=_Extension,
            object_pairs_hook=mapping,
            list_hook=sequence,
            strict_map_key=False,
            unicode_errors="backslashreplace",
        )
    except (ValueError, msgpack.UnpackException, RecursionError, MemoryError) as error:
        raise UndecodableError(f"it is no valid msgpack ({_short(error)})") from error


class _Plain:
    """Turns one parsed value into plain JSON; counts depth and entries across nested extensions."""

    def __init__(self, *, envelopes: bool) -> None:
        self._envelopes = envelopes
        self._budget = _Budget()

    def value(self, raw: Raw, depth: int = 0) -> JsonValue:  # noqa: PLR0911  # a table of types
        if depth > MAX_DEPTH:
            raise UndecodableError(f"it is nested more than {MAX_DEPTH} levels deep")
        match raw:
            case None | bool() | int():
                return raw
            case str():
                return plain_text(raw)
            case float():
                return raw if math.isfinite(raw) else record("float", str(raw))
            case bytes():
                return _bytes_record(raw)
            case list():
                self._budget.take(len(raw))
                return [self.value(item, depth + 1) for item in raw]
            case dict():
                return self._mapping(raw, depth)
            case _OddMap(pairs):
                return self._odd_mapping(pairs, depth)
            case _Extension(code, body):
                return self._extension(code, body, depth)
            case msgpack.Timestamp():
                return record("datetime.datetime", _timestamp_text(raw))
        raise UndecodableError(f"it holds a {type(raw).__name__}")

    def _mapping(self, raw: dict[str, Raw], depth: int) -> JsonValue:
        self._budget.take(len(raw))
        if self._envelopes and raw.get("lc") in (1, 2) and isinstance(raw.get("id"), list):
            return self._envelope(raw, depth)
        return {plain_text(key): self.value(item, depth + 1) for key, item in raw.items()}

    def _odd_mapping(self, pairs: list[tuple[Raw, Raw]], depth: int) -> JsonValue:
        self._budget.take(len(pairs))
        plain = [(self.value(key, depth + 1), self.value(item, depth + 1)) for key, item in pairs]
        names = [key if isinstance(key, str) else json.dumps(key) for key, _ in plain]
        scalar = all(not isinstance(key, dict | list) for key, _ in plain)
        if scalar and len(set(names)) == len(names):
            return dict(zip(names, (item for _, item in plain), strict=True))
        return record("dict", [list(pair) for pair in plain])

    def _envelope(self, raw: dict[str, Raw], depth: int) -> JsonValue:
        path = [str(part) for part in raw["id"]]
        module, name = ".".join(path[:-1]), path[-1] if path else ""
        if raw.get("type") == "secret":
            return record("secret", name)
        args, kwargs = raw.get("args") or [], raw.get("kwargs") or {}
        if not args and not kwargs and "repr" in raw:
            return record(_type_name(module, name), self.value(raw["repr"], depth + 1))
        if args and kwargs:
            arguments: Raw = {"args": args, "kwargs": kwargs}
        elif isinstance(args, list) and len(args) == 1 and not kwargs:
            arguments = args[0]
        else:
            arguments = kwargs or args
        return class_record(module, name, self.value(arguments, depth + 1))

    def _extension(self, code: int, body: bytes, depth: int) -> JsonValue:
        unknown = record(f"msgpack.ext{code}", _bytes_record(body)["$value"])
        try:
            parts = _parse_msgpack(body, self._budget)
        except UndecodableError:
            if self._budget.left < 0:
                raise
            return unknown
        if code == _DELTA_SNAPSHOT:
            return self.value(parts, depth + 1)
        if code == _NUMPY:
            return record("numpy.ndarray", read_array(parts))
        if code in _CLASS_CODES and isinstance(parts, list) and len(parts) >= 3:
            return class_record(str(parts[0]), str(parts[1]), self.value(parts[2], depth + 1))
        return unknown


def record(type_: str, value: JsonValue) -> JsonObject:
    """The inert stand-in for a value that JSON does not have."""
    return {"$type": type_, "$value": value}


def class_record(module: str, name: str, argument: JsonValue) -> JsonObject:
    """The stand-in for an instance of a class, with a readable value for common standard types."""
    type_ = _type_name(plain_text(module[:200]), plain_text(name[:200]))
    return record(type_, _readable(type_, argument))


def _type_name(module: str, name: str) -> str:
    return name if module in ("", "builtins") else f"{module}.{name}"


def _readable(type_: str, argument: JsonValue) -> JsonValue:
    """Wrong arguments are shown as they are: the data may be hostile."""
    try:
        return _standard_value(type_, argument)
    except (TypeError, ValueError, OverflowError, KeyError):
        return argument


def _standard_value(type_: str, argument: JsonValue) -> JsonValue:  # noqa: PLR0911  # a table of types
    match type_:
        case "uuid.UUID":
            return str(UUID(argument))
        case "set" | "frozenset":
            return _stable(argument)
        case "pathlib.Path" | "pathlib.PosixPath" | "pathlib.PurePosixPath":
            return str(PurePosixPath(*argument)) if isinstance(argument, list) else argument
        case "datetime.date":
            return date(*argument).isoformat()
        case "datetime.time":
            return time(**{key: value for key, value in argument.items() if key != "tzinfo"}).isoformat()
        case "datetime.timedelta":
            return str(timedelta(*argument))
        case "pydantic.types.SecretStr" | "pydantic.types.SecretBytes":
            return "**********"
        case "langgraph.types.Send":
            return dict(zip(("node", "arg", "timeout"), argument, strict=False))
        case _:
            return argument


def _stable(items: Iterable[JsonValue]) -> JsonValue:
    """A set in one order, whatever order it was stored in."""
    return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))


def _bytes_record(body: bytes) -> JsonObject:
    shown = body[:_SHOWN_BYTES]
    cut = {"cut": True} if len(body) > len(shown) else {}
    return {**record("bytes", base64.b64encode(shown).decode("ascii")), "size": len(body), **cut}


def _timestamp_text(timestamp: msgpack.Timestamp) -> str:
    try:
        return str(timestamp.to_datetime().isoformat())
    except (OverflowError, ValueError):
        return f"{timestamp.seconds}.{timestamp.nanoseconds:09d} seconds since 1970"


def _short(error: BaseException) -> str:
    return (str(error) or type(error).__name__)[:120]
