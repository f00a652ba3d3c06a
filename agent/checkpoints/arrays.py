"""NumPy arrays as LangGraph stores them, read without NumPy."""

from __future__ import annotations

import math
import struct
from typing import Any

from agent.records import JsonObject, JsonValue

_SHOWN_ELEMENTS = 1_000
_MOST_DIMENSIONS = 32
_CODES = {
    "b1": "?",
    "i1": "b",
    "i2": "h",
    "i4": "i",
    "i8": "q",
    "u1": "B",
    "u2": "H",
    "u4": "I",
    "u8": "Q",
    "f2": "e",
    "f4": "f",
    "f8": "d",
}


def read_array(parts: Any) -> JsonObject:
    """Dtype and shape, and the values when they are few numbers; `values` is None otherwise."""
    dtype, shape, order, body = (parts + [None] * 4)[:4] if isinstance(parts, list) else (None,) * 4
    sizes = shape if isinstance(shape, list) and all(isinstance(size, int) for size in shape) else []
    return {"dtype": str(dtype), "shape": sizes, "values": _values(str(dtype), sizes, order, body)}


def _values(dtype: str, shape: list[int], order: Any, body: Any) -> JsonValue:
    code = _CODES.get(dtype.lstrip("<>|="))
    if code is None or not isinstance(body, bytes):
        return None
    count = math.prod(shape)
    if not 0 <= count <= _SHOWN_ELEMENTS or count * struct.calcsize(f"={code}") != len(body):
        return None
    if count == 0 or len(shape) > _MOST_DIMENSIONS or min(shape, default=1) < 0:
        return [] if count == 0 else None
    flat = struct.unpack(f"{'>' if dtype.startswith('>') else '<'}{count}{code}", body)
    return _nest([_finite(value) for value in flat], shape, _strides(shape, fortran=order == "F"))


def _finite(value: Any) -> JsonValue:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _strides(shape: list[int], *, fortran: bool) -> list[int]:
    strides, step = [], 1
    for size in shape if fortran else reversed(shape):
        strides.append(step)
        step *= size
    return strides if fortran else strides[::-1]


def _nest(flat: list[JsonValue], shape: list[int], strides: list[int], offset: int = 0) -> JsonValue:
    if not shape:
        return flat[offset] if flat else None
    return [_nest(flat, shape[1:], strides[1:], offset + index * strides[0]) for index in range(shape[0])]
