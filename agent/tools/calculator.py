"""Exact arithmetic on an expression, with no names but a few functions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from typing import Any

from pydantic import Field

from agent.records import Effect
from agent.tools.registry import Observation, Tool, ToolArguments, ToolContext, ToolError
from agent.tools.text import one_line

EXPRESSION_CHARACTERS = 1_000
NODES = 300
BITS = 4_000
"""Of numerator and denominator; about 1,200 digits."""
EXPONENT = 64
DIGITS_SHOWN = 60
DECIMALS_OF_ROUND = 30
SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-"})
"""Signs of print, as models write them."""


class CalculatorArguments(ToolArguments):
    """What `calculator` takes."""

    expression: str = Field(
        max_length=EXPRESSION_CHARACTERS,
        description="Arithmetic with + - * / // % ** ( ) and sum, min, max, abs, round, avg; numbers without commas.",
    )


def calculate(expression: str) -> Fraction:
    """The exact value; ToolError naming what is wrong."""
    if len(expression) > EXPRESSION_CHARACTERS:
        raise _too_large("The expression is too long; split it.")
    source = expression.strip().translate(SIGNS)
    try:
        tree = ast.parse(source, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _bad(f"{one_line(source, 80)!r} is no arithmetic expression.") from error
    if sum(1 for _ in ast.walk(tree)) > NODES:
        raise _too_large("The expression is too long; split it.")
    try:
        return _Evaluation(source).number(tree.body)
    except ZeroDivisionError as error:
        raise ToolError("The expression divides by zero.", code="division_by_zero") from error


def written(value: Fraction) -> tuple[str, bool]:
    """The number in digits, and whether that is exact: otherwise it is rounded to 15 significant digits."""
    if value.denominator == 1:
        return str(value.numerator), True
    with localcontext() as context:
        context.prec = DIGITS_SHOWN
        digits = Decimal(value.numerator) / Decimal(value.denominator)
        if Fraction(digits) == value:
            return f"{digits:f}", True
        context.prec = 15
        context.rounding = ROUND_HALF_EVEN
        digits = +digits
        return f"{digits:f}" if abs(digits.adjusted()) < DIGITS_SHOWN else str(digits), False


def _bad(message: str) -> ToolError:
    return ToolError(message, code="bad_expression")


def _too_large(message: str) -> ToolError:
    return ToolError(message, code="too_large")


def _checked(value: Fraction) -> Fraction:
    """Keep numbers to a size that stays quick."""
    if max(abs(value.numerator), value.denominator).bit_length() > BITS:
        raise _too_large("The numbers become too large.")
    return value


def _literal(text: str) -> Fraction:
    """A number as it is written, not as a float would keep it."""
    if text[:2].lower() in {"0x", "0o", "0b"}:
        return _checked(Fraction(int(text, 0)))
    try:
        number = Decimal(text.replace("_", ""))
    except InvalidOperation as error:  # an imaginary number
        raise _bad(f"{text[:60]!r} is no number of this calculator.") from error
    if abs(number.adjusted()) > BITS // 3:
        raise _too_large(f"{text[:60]} is too large or too small.")
    return _checked(Fraction(number))


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1 or abs(exponent) > EXPONENT:
        raise _too_large(f"An exponent has to be a whole number from -{EXPONENT} to {EXPONENT}.")
    return Fraction(base ** int(exponent))


def _round(number: Fraction, decimals: Fraction = Fraction(0)) -> Fraction:
    if decimals.denominator != 1 or abs(decimals) > DECIMALS_OF_ROUND:
        raise _bad(f"round takes a whole number of decimals from -{DECIMALS_OF_ROUND} to {DECIMALS_OF_ROUND}.")
    return Fraction(round(number, int(decimals)))


OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: lambda a, b: Fraction(a // b),
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
OF_MANY: dict[str, Callable[[list[Fraction]], Fraction]] = {
    "sum": lambda values: sum(values, Fraction(0)),
    "min": min,
    "max": max,
    "avg": lambda values: sum(values, Fraction(0)) / len(values),
}
OF_FEW: dict[str, tuple[int, Callable[..., Fraction]]] = {"abs": (1, abs), "round": (2, _round)}
"""Name to the most arguments it takes, and what it does."""


class _Evaluation:
    """The value of each node of one expression."""

    def __init__(self, source: str) -> None:
        self._source = source

    def number(self, node: ast.AST) -> Fraction:
        match node:
            case ast.Constant(value=bool()):
                raise _bad("True and False are no numbers.")
            case ast.Constant(value=int() | float() | complex()):
                return _literal(ast.get_source_segment(self._source, node) or "")
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self.number(inner)
            case ast.UnaryOp(op=ast.UAdd(), operand=inner):
                return self.number(inner)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATORS:
                return _checked(OPERATORS[type(sign)](self.number(left), self.number(right)))
            case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in OF_MANY | OF_FEW:
                return _checked(self._call(name, given))
        part = one_line(ast.get_source_segment(self._source, node) or self._source, 60)
        raise _bad(f"{part!r} is not allowed; use numbers, + - * / // % ** ( ) and {', '.join(OF_MANY | OF_FEW)}.")

    def _call(self, name: str, given: list[ast.expr]) -> Fraction:
        if name in OF_FEW:
            most, function = OF_FEW[name]
            if not 1 <= len(given) <= most:
                raise _bad(f"{name} takes {'one number' if most == 1 else 'one or two numbers'}.")
            return function(*map(self.number, given))
        if len(given) == 1 and isinstance(given[0], ast.List | ast.Tuple):
            given = given[0].elts
        if not given:
            raise _bad(f"{name} needs at least one number.")
        return OF_MANY[name]([self.number(item) for item in given])


def _run(arguments: CalculatorArguments, _: ToolContext) -> Observation:
    shown, exact = written(calculate(arguments.expression))
    return Observation(
        text=f"{one_line(arguments.expression.strip())} {'=' if exact else '≈'} {shown}",
        data={"expression": arguments.expression, "value": shown, "exact": exact},
    )


CALCULATOR = Tool(
    name="calculator",
    version=1,
    summary="Works out an arithmetic expression exactly.",
    arguments=CalculatorArguments,
    effect=Effect.READ,
    run=_run,
    timeout_seconds=5.0,
)
