"""The bytes of protobuf without its messages, for what the decoder of messages refuses as a whole. Pure."""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _EIGHT_BYTES, _SIZED, _FOUR_BYTES = 0, 1, 2, 5
_LONGEST_VARINT = 10


def fields(message: bytes, number: int) -> Iterator[bytes]:
    """The contents of each field of that number that has a size; ValueError if these bytes are no message."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        begin, at = _value(message, at, tag & 7)
        if at > len(message):
            raise ValueError("The message is cut off.")
        if tag == number << 3 | _SIZED:
            yield message[begin:at]


def _value(message: bytes, at: int, wire_type: int) -> tuple[int, int]:
    """Where a field's value begins and ends."""
    if wire_type == _VARINT:
        return at, _varint(message, at)[1]
    if wire_type == _SIZED:
        size, begin = _varint(message, at)
        return begin, begin + size
    if wire_type in (_EIGHT_BYTES, _FOUR_BYTES):
        return at, at + (8 if wire_type == _EIGHT_BYTES else 4)
    raise ValueError(f"There is no field of wire type {wire_type}.")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """A number and where it ends."""
    number = 0
    for place, byte in enumerate(message[at : at + _LONGEST_VARINT]):
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return number, at + place + 1
    raise ValueError("A number does not end.")
