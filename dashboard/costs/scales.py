"""Round values and places for charts. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise


def ticks(count: int, most: int = 6) -> tuple[int, ...]:
    """Which bars of an axis are labelled: evenly, beginning with the first."""
    if count <= 0:
        return ()
    step = max(1, -(-count // most))
    for pretty in (1, 2, 3, 4, 6, 7, 14, 30, 61, 92, 183, 366):
        if pretty >= step:
            step = pretty
            break
    return tuple(range(0, count, step))


def nice_steps(highest: float, most: int = 4) -> tuple[float, ...]:
    """Round values from 0 up, at most `most` of them above it, the last not above `highest`."""
    if highest <= 0:
        return (0.0,)
    rough = Decimal(repr(highest)) / most
    power = Decimal(1).scaleb(rough.adjusted())
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    values = [step * number for number in range(most + 1)]
    return tuple(float(value) for value in values if float(value) <= highest * 1.001)


def axis_money(value: float) -> str:
    """Dollars beside an axis: no more digits than needed, `$0.02`, `$10`, `$1,500`."""
    text = format(Decimal(repr(round(value, 12))).normalize(), "f")
    whole, _, rest = text.partition(".")
    return f"${int(whole):,}" + (f".{rest}" if rest else "")


def spread(places: Sequence[float], gap: float, top: float) -> list[float]:
    """The places in their order, moved apart so that neighbours keep the gap and none is above the top."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    moved = list(places)
    for below, above in pairwise(order):
        moved[above] = max(moved[above], moved[below] + gap)
    ceiling = top
    for index in reversed(order):
        moved[index] = min(moved[index], ceiling)
        ceiling = moved[index] - gap
    return moved
