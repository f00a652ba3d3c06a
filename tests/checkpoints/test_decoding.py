import base64
import json
import pickle
import sys
from collections import deque
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from uuid import UUID

import msgpack
import numpy as np
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Send
from pydantic import BaseModel, SecretStr

from agent.checkpoints import decoding
from agent.checkpoints.decoding import UndecodableError, decode, decode_checkpoint


class Colour(Enum):
    RED = "red"


class Order(BaseModel):
    sku: str
    left: int | None = None


@dataclass
class Parcel:
    code: str
    inside: list[Any]


def stored(value: Any) -> Any:
    format_, body = JsonPlusSerializer().dumps_typed(value)
    decoded = decode(format_, body)
    assert json.loads(json.dumps(decoded, allow_nan=False)) == decoded
    return decoded


HERE = __name__


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        ({"a": [1, 2.5, True, "ü"]}, {"a": [1, 2.5, True, "ü"]}),
        ((1, 2), [1, 2]),
        ({1: "one", 2: "two"}, {"1": "one", "2": "two"}),
        ({1: "a", "1": "b"}, {"$type": "dict", "$value": [[1, "a"], ["1", "b"]]}),
        (float("nan"), {"$type": "float", "$value": "nan"}),
        (b"\x00\x01", {"$type": "bytes", "$value": "AAE=", "size": 2}),
        (
            UUID("12345678123456781234567812345678"),
            {"$type": "uuid.UUID", "$value": "12345678-1234-5678-1234-567812345678"},
        ),
        (
            datetime(2026, 11, 30, 9, tzinfo=UTC),
            {"$type": "datetime.datetime", "$value": "2026-11-30T09:00:00+00:00"},
        ),
        (date(2026, 11, 30), {"$type": "datetime.date", "$value": "2026-11-30"}),
        (time(9, 30), {"$type": "datetime.time", "$value": "09:30:00"}),
        (timedelta(days=1, seconds=5), {"$type": "datetime.timedelta", "$value": "1 day, 0:00:05"}),
        (Decimal("1.10"), {"$type": "decimal.Decimal", "$value": "1.10"}),
        ({"b", "a"}, {"$type": "set", "$value": ["a", "b"]}),
        (deque([1]), {"$type": "collections.deque", "$value": [1]}),
        (Path("/a/b"), {"$type": "pathlib.PosixPath", "$value": "/a/b"}),
        (ip_address("127.0.0.1"), {"$type": "ipaddress.IPv4Address", "$value": "127.0.0.1"}),
        (Colour.RED, {"$type": f"{HERE}.Colour", "$value": "red"}),
        (Order(sku="B-7"), {"$type": f"{HERE}.Order", "$value": {"sku": "B-7", "left": None}}),
        (
            Parcel("P", [Colour.RED]),
            {
                "$type": f"{HERE}.Parcel",
                "$value": {"code": "P", "inside": [{"$type": f"{HERE}.Colour", "$value": "red"}]},
            },
        ),
        (SecretStr("hunter2"), {"$type": "pydantic.types.SecretStr", "$value": "**********"}),
        (
            Send("work", {"n": 1}),
            {"$type": "langgraph.types.Send", "$value": {"node": "work", "arg": {"n": 1}}},
        ),
    ],
)
def test_values_as_langgraph_stores_them(value: Any, shown: Any) -> None:
    assert stored(value) == shown


def test_messages_keep_their_class_and_fields() -> None:
    call = {"name": "lookup", "args": {"sku": "B-7"}, "id": "c1", "type": "tool_call"}
    human, ai = stored([HumanMessage("how many?"), AIMessage("", tool_calls=[call])])
    assert human["$type"] == "langchain_core.messages.human.HumanMessage"
    assert human["$value"]["content"] == "how many?"
    assert ai["$value"]["tool_calls"][0]["args"] == {"sku": "B-7"}


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (np.arange(6, dtype="float32").reshape(2, 3), [[0, 1, 2], [3, 4, 5]]),
        (np.asfortranarray(np.arange(6).reshape(2, 3)), [[0, 1, 2], [3, 4, 5]]),
        (np.array([1, float("inf")]), [1, "inf"]),
        (np.arange(2000), None),
        (np.array(7), 7),
        (np.zeros((3, 0)), []),
    ],
)
def test_arrays_without_numpy(array: Any, values: Any) -> None:
    shown = stored(array)["$value"]
    assert (shown["shape"], shown["values"]) == (list(array.shape), values)


def test_json_envelopes_are_not_revived() -> None:
    body = json.dumps(
        {
            "m": {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain", "schema", "HumanMessage"],
                "kwargs": {"content": "x"},
            },
            "u": {"lc": 2, "type": "constructor", "id": ["uuid", "UUID"], "args": ["12345678123456781234567812345678"]},
            "s": {"lc": 2, "type": "constructor", "id": ["builtins", "set"], "args": [["b", "a"]], "kwargs": {}},
            "k": {"lc": 1, "type": "secret", "id": ["OPENAI_API_KEY"]},
            "n": {"lc": 1, "type": "not_implemented", "id": ["some", "Thing"], "repr": "<Thing>"},
            "e": {"lc": 2, "type": "constructor", "id": ["os", "system"], "args": ["true"], "kwargs": {"x": 1}},
            "odd": {"lc": 1, "id": "no list"},
        }
    )
    assert decode("json", body.encode()) == {
        "m": {"$type": "langchain.schema.HumanMessage", "$value": {"content": "x"}},
        "u": {"$type": "uuid.UUID", "$value": "12345678-1234-5678-1234-567812345678"},
        "s": {"$type": "set", "$value": ["a", "b"]},
        "k": {"$type": "secret", "$value": "OPENAI_API_KEY"},
        "n": {"$type": "some.Thing", "$value": "<Thing>"},
        "e": {"$type": "os.system", "$value": {"args": ["true"], "kwargs": {"x": 1}}},
        "odd": {"lc": 1, "id": "no list"},
    }


def hostile(module: str, name: str, argument: Any, code: int = 0) -> bytes:
    return msgpack.packb(msgpack.ExtType(code, msgpack.packb((module, name, argument, "__call__"))))


@pytest.mark.parametrize("code", range(6))
def test_what_an_extension_names_is_neither_called_nor_imported(code: int, tmp_path: Any) -> None:
    argument = str(tmp_path / "made")
    before = set(sys.modules)
    assert decode("msgpack", hostile("os", "mkdir", argument, code)) == {"$type": "os.mkdir", "$value": argument}
    assert decode("msgpack", hostile("antigravity", "x", 1, code))["$type"] == "antigravity.x"
    assert not list(tmp_path.iterdir())
    assert set(sys.modules) == before


def test_pickle_is_never_opened() -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (exec, ("raise SystemExit('opened')",))

    with pytest.raises(UndecodableError, match="never opened"):
        decode("pickle", pickle.dumps(Bomb()))


def nested_extension(levels: int) -> bytes:
    body = msgpack.packb(None)
    for _ in range(levels):
        body = msgpack.packb(msgpack.ExtType(0, msgpack.packb(("m", "C"))[:0] + b"\x93\xa1m\xa1C" + body))
    return body


@pytest.mark.parametrize(
    ("format_", "body", "reason"),
    [
        ("msgpack", b"\x91" * 300 + b"\xc0", "nested more than"),
        ("msgpack", b"\x91" * 100_000 + b"\xc0", "no valid msgpack"),
        ("msgpack", nested_extension(150), "nested more than"),
        ("msgpack", b"\xdd\x00\x0f\x42\x40" * 500 + b"\xc0" * 1_000_000, "no valid msgpack"),
        ("msgpack", b"\xdd\xff\xff\xff\xff", "no valid msgpack"),
        ("msgpack", b"\x93\x80", "no valid msgpack"),
        ("msgpack", b"", "no valid msgpack"),
        ("msgpack", b"\xc0\xc0", "no valid msgpack"),
        ("json", b"[" * 100_000, "no valid JSON"),
        ("json", b"[" * 400 + b"]" * 400, "nested more than"),
        ("json", b"9" * 10_000, "no valid JSON"),
        ("json", b"{", "no valid JSON"),
        ("msgpack+aes", b"x", "format 'msgpack\\+aes' is not known"),
    ],
)
def test_hostile_bytes_are_refused_with_a_reason(format_: str, body: bytes, reason: str) -> None:
    with pytest.raises(UndecodableError, match=reason):
        decode(format_, body)


def test_too_many_entries_and_too_many_bytes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "MAX_ENTRIES", 1000)
    bomb = msgpack.packb([[None] * 100 for _ in range(100)])
    inside = msgpack.packb(msgpack.ExtType(0, msgpack.packb(("m", "C", [[None] * 100 for _ in range(100)]))))
    for body in (bomb, inside):
        with pytest.raises(UndecodableError, match="more than 1,000 entries"):
            decode("msgpack", body)
    with pytest.raises(UndecodableError, match="more than 1,000 entries"):
        decode("json", json.dumps([0] * 3000).encode())
    monkeypatch.setattr(decoding, "MAX_BYTES", 1024 * 1024)
    with pytest.raises(UndecodableError, match="larger than the 1 MB"):
        decode("msgpack", msgpack.packb("x" * 2_000_000))


def test_odd_but_harmless_bytes_are_shown() -> None:
    assert decode("msgpack", msgpack.packb(msgpack.ExtType(99, b"ab"))) == {"$type": "msgpack.ext99", "$value": "YWI="}
    assert decode("msgpack", msgpack.packb(msgpack.ExtType(0, b"\xc1"))) == {"$type": "msgpack.ext0", "$value": "wQ=="}
    assert decode("msgpack", b"\xa2\xff\xfe") == "\\xff\\xfe"
    assert decode("json", b'"\\ud800"') == "\\ud800"
    assert decode("msgpack", hostile("uuid", "UUID", "no uuid"))["$value"] == "no uuid"
    assert decode("msgpack", hostile("datetime", "date", [9999, 99, 99]))["$value"] == [9999, 99, 99]
    array = msgpack.packb(msgpack.ExtType(6, msgpack.packb(("<f8", [10**9, 0], "C", b""))))
    assert decode("msgpack", array)["$value"]["values"] == []
    far = msgpack.packb(msgpack.Timestamp(2**40))
    assert "seconds since 1970" in decode("msgpack", far)["$value"]


def test_long_bytes_are_cut_and_say_so() -> None:
    shown = decode("bytes", b"x" * 1_000_000)
    assert (shown["size"], shown["cut"]) == (1_000_000, True)
    assert len(base64.b64decode(shown["$value"])) < 1_000_000


def test_one_unreadable_channel_leaves_the_others() -> None:
    deep: Any = None
    for _ in range(150):
        deep = [deep]
    body = msgpack.packb({"v": 4, "channel_values": {"fine": 1, "deep": deep}})
    decoded = decode_checkpoint("msgpack", body)
    assert decoded.values == {"fine": 1}
    assert decoded.failures == {"deep": "it is nested more than 100 levels deep"}


@pytest.mark.parametrize("body", [b"\x93\x01\x02\x03", b"\xc0"])
def test_a_body_that_is_no_checkpoint(body: bytes) -> None:
    with pytest.raises(UndecodableError, match="no checkpoint"):
        decode_checkpoint("msgpack", body)


def test_channels_that_are_none() -> None:
    assert decode_checkpoint("msgpack", msgpack.packb({"channel_values": 5})).values == {}
