"""A figure opened to tokens × rate = cost, in words. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dashboard.look.formats import NBSP, UNKNOWN, money, plural
from dashboard.look.status import UNKNOWN_PRICE
from traces.records import Arithmetic, ArithmeticRow, Rates, dollars


@dataclass(frozen=True, slots=True)
class ArithmeticLine:
    """One line of tokens × rate = cost; numbers as they are shown."""

    token_class: str
    tokens: str
    rate: str
    cost: str
    book: str


def arithmetic_lines(opened: Arithmetic) -> list[ArithmeticLine]:
    """The lines that make a cost, with as many digits as they need to add up."""
    digits = _digits(opened)
    lines = [_line(row, digits) for row in opened.rows]
    if opened.reported_calls:
        what = f"reported, {plural(opened.reported_calls, 'call')}"
        lines.append(ArithmeticLine(what, "", "", exact_money(opened.reported, digits), "what the sender claims"))
    if opened.rounding:
        rounding = format(opened.rounding.normalize(), "f")
        lines.append(ArithmeticLine("rounding", "", "", f"${rounding}", "each call to a trillionth of a dollar"))
    return lines


def _line(row: ArithmeticRow, digits: int) -> ArithmeticLine:
    return ArithmeticLine(
        _class_words(row.token_class),
        f"{row.tokens:,}",
        "no price" if row.rate is None else exact_money(row.rate, 3),
        UNKNOWN if row.cost is None else exact_money(row.cost, digits),
        book_words(row.rates) if row.rates else "in no price book",
    )


def total_line(opened: Arithmetic) -> ArithmeticLine:
    """The sum below the lines."""
    counted = sum(row.tokens for row in opened.rows)
    total = UNKNOWN if opened.cost is None else exact_money(dollars(opened.cost), _digits(opened))
    return ArithmeticLine(plural(opened.calls, "call"), f"{counted:,}", "", total, _verdict(opened))


def _verdict(opened: Arithmetic) -> str:
    if opened.cost is None:
        return "nothing has a price"
    verdict = "parts add up" if opened.adds_up else "parts do not add up"
    unknown = any(row.cost is None for row in opened.rows)
    return f"{verdict}, without the unknown" if unknown else verdict


def verdict_sign(opened: Arithmetic) -> str:
    """The icon before the verdict, as Markdown."""
    if opened.cost is None:
        return UNKNOWN_PRICE.glyph
    return ":green[:material/check_circle:]" if opened.adds_up else ":red[:material/error:]"


def arithmetic_title(opened: Arithmetic, whose: str) -> str:
    """`How the $2.80 of r-0418 are made`."""
    if opened.cost is None:
        return f"The cost {whose} is unknown"
    if _made_up(opened):
        return f"How the made-up {money(opened.cost)} {whose} come about"
    return f"How the {money(opened.cost)} {whose} are made"


def _made_up(opened: Arithmetic) -> bool:
    return any(row.rates is not None and row.rates.illustrative for row in opened.rows)


def _class_words(token_class: str) -> str:
    words = {
        "input": "input, uncached",
        "input_audio": "input, audio",
        "cache_read": "input, cache read",
        "cache_write_5m": "input, cache write",
        "cache_write_1h": "input, cache write 1 h",
        "output": "output, answer",
        "reasoning": "output, reasoning",
        "output_audio": "output, audio",
    }
    # A line of the table stays a line.
    return words[token_class].replace(" ", NBSP)


def _digits(opened: Arithmetic) -> int:
    """How many decimals show every part exactly, from four to twelve."""
    amounts = [row.cost for row in opened.rows if row.cost is not None] + [opened.reported]
    return min(12, max(4, *(_decimals(amount) for amount in amounts)))


def _decimals(amount: Decimal) -> int:
    exponent = amount.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def exact_money(amount: Decimal, digits: int) -> str:
    """Dollars with at least that many decimals and every digit that is not 0."""
    return f"${amount:,.{max(digits, min(15, _decimals(amount)))}f}"


def book_words(rates: Rates) -> str:
    """The entry of the price book: model, since when, whose."""
    parts = [rates.entry]
    if rates.since:
        parts.append(f"since {rates.since}")
    if rates.service_tier:
        parts.append(f"tier {rates.service_tier}")
    if rates.illustrative:
        parts.append("made up")
    elif rates.source == "own":
        parts.append("own price")
    return ", ".join(parts)


def arithmetic_note(opened: Arithmetic) -> str:
    """What the lines mean, and what was left out of them."""
    said = "Input includes cached tokens, output includes reasoning; each token is charged once."
    if opened.not_counted:
        repeats = "repeats" if opened.not_counted == 1 else "repeat"
        are = "is" if opened.not_counted == 1 else "are"
        said += f" {plural(opened.not_counted, 'span')} that {repeats} what others say {are} not counted."
    if _made_up(opened):
        return f"{said} The rates are made up."
    return f"{said} The price is the one valid at the time of the call."
