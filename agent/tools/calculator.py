"""Exact arithmetic on an expression, with no names but a few functions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from pydantic import BaseModel, Field

from agent.records import Effect
from agent.tools.registry import Observation, Tool, ToolContext, ToolError

DIGITS = 60
NODES = 200
Number = Fraction


class CalculatorArguments(BaseModel):
    """What `calculator` takes."""

    expression: str = Field(
        max_length=1_000, description="Arithmetic with + - * / // % ** ( ) and sum, min, max, abs, round, avg."
    )


def calculate(expression: str) -> Fraction:
    """The exact value; ToolError naming what is wrong."""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ToolError(f"{expression[:80]!r} is no arithmetic expression.", code="bad_expression") from error
    if sum(1 for _ in ast.walk(tree)) > NODES:
        raise ToolError("The expression is too long; split it.", code="too_large")
    try:
        value = _value(tree.body)
    except ZeroDivisionError as error:
        raise ToolError("The expression divides by zero.", code="division_by_zero") from error
    if not isinstance(value, Fraction):
        raise ToolError("The expression gives a list, not a number.", code="bad_expression")
    return value


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1 or abs(exponent) > 64:
        raise ToolError("An exponent has to be a whole number from -64 to 64.", code="too_large")
    return _checked(base ** int(exponent))


OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: lambda a, b: Fraction(a // b),
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
FUNCTIONS: dict[str, Callable[[list[Fraction]], Fraction]] = {
    "sum": lambda values: sum(values, Fraction(0)),
    "min": min,
    "max": max,
    "abs": lambda values: abs(_only(values)),
    "avg": lambda values: sum(values, Fraction(0)) / len(values),
    "round": lambda values: Fraction(round(values[0], int(values[1]) if len(values) > 1 else 0)),
}


def _only(values: list[Fraction]) -> Fraction:
    if len(values) != 1:
        raise ToolError("abs takes one number.", code="bad_expression")
    return values[0]


def _value(node: ast.AST) -> Fraction | list[Fraction]:
    match node:
        case ast.Constant(value=bool()):
            raise ToolError("True and False are no numbers.", code="bad_expression")
        case ast.Constant(value=int() | float() as number):
            return _checked(Fraction(Decimal(str(number))))
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_number(inner)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _number(inner)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return _checked(Fraction(OPERATORS[type(op)](_number(left), _number(right))))
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_number(item) for item in items]
        case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in FUNCTIONS and given:
            first = _value(given[0])
            values = first if isinstance(first, list) and len(given) == 1 else [_number(item) for item in given]
            if not values:
                raise ToolError(f"{name} needs at least one number.", code="bad_expression")
            return _checked(FUNCTIONS[name](values))
        case _:
            raise ToolError(
                f"{ast.unparse(node)[:60]!r} is not allowed; use numbers, + - * / // % ** ( ) and "
                f"{', '.join(FUNCTIONS)}.",
                code="bad_expression",
            )


def _number(node: ast.AST) -> Fraction:
    value = _value(node)
    if isinstance(value, list):
        raise ToolError("A list stands where a number is needed.", code="bad_expression")
    return value


def _checked(value: Fraction) -> Fraction:
    """Keep numbers to a size that stays quick."""
    if max(abs(value.numerator), value.denominator).bit_length() > 4_000:
        raise ToolError("The numbers become too large.", code="too_large")
    return value


def written(value: Fraction) -> str:
    """The number in digits: exact if it ends, else to 12 decimals."""
    if value.denominator == 1:
        return str(value.numerator)
    with localcontext() as context:
        context.prec = DIGITS
        exact = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{round(exact, 12):f}".rstrip("0").rstrip(".") if len(f"{exact:f}") > 24 else f"{exact:f}"


def _run(arguments: CalculatorArguments, _: ToolContext) -> Observation:
    value = calculate(arguments.expression)
    shown = written(value)
    return Observation(
        text=f"{arguments.expression.strip()} = {shown}", data={"expression": arguments.expression, "value": shown}
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
