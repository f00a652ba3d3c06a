"""What does not show is written out."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.look.hidden import exact_json, hidden_in, is_hidden, written_out

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(value=VALUES)
def test_exact_json_stands_for_the_value_and_shows_every_character(value: object) -> None:
    text = exact_json(value)  # type: ignore[arg-type]  # hypothesis gives JSON
    assert json.loads(text) == value
    assert not any(is_hidden(sign) for sign in text)


@pytest.mark.parametrize(
    "sign", ["\u202e", "\u200b", "\u2066", "\x00", "\x85", "\ufeff", "\u3164", "\U000e0041", "\u2028"]
)
def test_controls_directions_and_blanks_are_hidden(sign: str) -> None:
    assert is_hidden(sign)
    assert written_out(f"a{sign}b").isascii()
    (told,) = hidden_in({"to": [f"x{sign}{sign}"]})
    assert told.startswith(f"U+{ord(sign):04X} ")


def test_what_everybody_sees_is_not() -> None:
    words = "Zürich, 東京 – €5\n\t مرحبا"
    assert hidden_in({"words": words}) == ()
    assert written_out(words) == words
    assert not any(is_hidden(chr(code)) for code in range(0x20, 0x7F))
    assert unicodedata.category("\u200d") == "Cf", "also the joiner of emoji, since it does not show"
