from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.tools.calculator import CALCULATOR, calculate, written
from agent.tools.registry import ToolContext, ToolError


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("131420.10 - 120000", "11420.1"),
        ("0.1 + 0.2", "0.3"),
        ("11420 / 120000 * 100", "9.51666666666667"),
        ("1.10 * 3", "3.3"),
        ("131420.1000000000000000001 - 131420", "0.1000000000000000001"),
        ("-2 ** 2", "-4"),
        ("+3 - -3", "6"),
        ("7 // 2 + 7 % 4", "6"),
        ("2 ** -2", "0.25"),
        ("sum(1, 2, 3.5)", "6.5"),
        ("sum([1, 2, 3.5])", "6.5"),
        ("avg(1, 2)", "1.5"),
        ("min(3, 1, 2) + max((3, 1, 2))", "4"),
        ("round(131420.105, 2)", "131420.1"),
        ("round(11420 / 120000 * 100, 1)", "9.5"),
        ("round(1234, -2)", "1200"),
        ("abs(-1.5)", "1.5"),
        ("1_000 + 0x10", "1016"),
        ("2 × 3 ÷ 4 − 1", "0.5"),
        (" (1 +\n 1) ", "2"),
        ("1e3", "1000"),
        ("1 / 3", "0.333333333333333"),
        ("10 ** 20 / 3", "33333333333333300000"),
        ("1 / 3 / 10 ** 30", "0.000000000000000000000000000000333333333333333"),
        ("10 ** -30", "0.000000000000000000000000000001"),
    ],
)
def test_values_are_exact_where_they_end(expression: str, value: str, tool_context: ToolContext) -> None:
    seen = CALCULATOR.run(CALCULATOR.validate({"expression": expression}), tool_context)
    assert seen.data["value"] == value
    assert seen.data["exact"] == (calculate(expression) == Fraction(value))
    assert seen.text.endswith(f"{'=' if seen.data['exact'] else '≈'} {value}")
    assert "\n" not in seen.text


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("9**9**9", "too_large"),
        ("9**9**9**9**9", "too_large"),
        ("10**64**2", "too_large"),
        ("((9**64)**64)**64", "too_large"),
        ("1e999999999", "too_large"),
        ("1e-999999999", "too_large"),
        ("2 ** 0.5", "too_large"),
        ("2 ** 1000", "too_large"),
        ("+".join("1" * 400), "too_large"),
        ("1" * 1_001, "too_large"),
        ("1 / 0", "division_by_zero"),
        ("1 % 0", "division_by_zero"),
        ("0 ** -1", "division_by_zero"),
        ("round(1, 1000000000)", "bad_expression"),
        ("round(1, 0.5)", "bad_expression"),
        ("round(1, 2, 3)", "bad_expression"),
        ("abs(1, 2)", "bad_expression"),
        ("sum()", "bad_expression"),
        ("max([])", "bad_expression"),
        ("sum([1], [2])", "bad_expression"),
        ("[1, 2]", "bad_expression"),
        ("131,420.10 - 120,000", "bad_expression"),
        ("", "bad_expression"),
        ("1 +", "bad_expression"),
        ("1; 2", "bad_expression"),
        ("x", "bad_expression"),
        ("'a' * 1000000", "bad_expression"),
        ("True + 1", "bad_expression"),
        ("1j", "bad_expression"),
        ("1 if 1 else 2", "bad_expression"),
        ("1 < 2", "bad_expression"),
        ("2 ^ 3", "bad_expression"),
        ("(lambda: 1)()", "bad_expression"),
        ("__import__('os').system('true')", "bad_expression"),
        ("().__class__", "bad_expression"),
        ("open('/etc/passwd')", "bad_expression"),
        ("sum(x for x in [1])", "bad_expression"),
        ("sum(*[1, 2])", "bad_expression"),
        ("round(number=1)", "bad_expression"),
        ("f'{1}\\n{2!r:>{3}}'", "bad_expression"),
        ("(" * 300 + "1" + ")" * 300, "bad_expression"),
        ("-" * 900 + "1", "too_large"),
        ("1\0", "bad_expression"),
        ("\ud800", "bad_expression"),
    ],
)
def test_what_is_no_arithmetic_or_too_much_is_told_to_the_model(expression: str, code: str) -> None:
    with pytest.raises(ToolError) as refused:
        calculate(expression)
    assert refused.value.code == code
    assert len(refused.value.message) < 250
    assert "\n" not in refused.value.message


def test_a_longer_expression_is_refused_by_the_schema() -> None:
    with pytest.raises(ToolError, match="expression"):
        CALCULATOR.validate({"expression": "1" * 1_001})


amounts = st.decimals(-(10**9), 10**9, places=2).map(str)


@settings(deadline=None)
@given(a=amounts, b=amounts, c=st.integers(1, 10**6))
def test_money_is_added_multiplied_and_divided_without_error(a: str, b: str, c: int) -> None:
    assert calculate(f"{a} + {b}") == Fraction(a) + Fraction(b)
    assert calculate(f"({a}) - ({b})") == Fraction(a) - Fraction(b)
    assert calculate(f"({a}) * ({b}) / {c}") == Fraction(a) * Fraction(b) / c
    assert calculate(f"({a}) // {c} * {c} + ({a}) % {c}") == Fraction(a)


@settings(deadline=None)
@given(value=st.fractions())
def test_what_is_written_is_the_value_or_close_to_it(value: Fraction) -> None:
    shown, exact = written(value)
    if exact:
        assert Fraction(shown) == value
    else:
        assert abs(Fraction(shown) - value) <= abs(value) / 10**14


leaves = st.one_of(
    st.integers(0, 10**30).map(str), st.floats(0, allow_nan=False).map(str), st.sampled_from(["x", "1j"])
)
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "**"]), inner).map(
            lambda t: f"({' '.join(t)})"
        ),
        inner.map(lambda text: f"-{text}"),
        st.tuples(st.sampled_from(["sum", "min", "max", "avg", "round", "abs"]), st.lists(inner, max_size=3)).map(
            lambda t: f"{t[0]}({', '.join(t[1])})"
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(expression=st.one_of(expressions, st.text(max_size=40), st.text("0123456789.e+-*/%() ,sumax", max_size=40)))
def test_any_text_gives_a_number_or_a_tool_error(expression: str) -> None:
    try:
        value = calculate(expression)
    except ToolError:
        return
    shown, _ = written(value)
    Fraction(shown)
