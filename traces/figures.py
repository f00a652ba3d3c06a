"""What a span adds to sums: the same figures in Python, for the rollups, and in SQL, for questions about spans.

Sums are over spans that matter: model calls, spans that are counted, and spans whose usage repeats what others say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from traces.schema import DIMENSIONS, ENTITIES, SUMS, spans

HOUR = 3_600_000_000_000
DAY = 24 * HOUR

USAGE_COLUMNS: Mapping[str, str] = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_write_tokens",
    "cache_write_1h": "cache_write_1h_tokens",
    "reasoning": "reasoning_tokens",
    "input_audio": "input_audio_tokens",
    "output_audio": "output_audio_tokens",
}
"""Fields of `Usage` and their columns."""

FITS_ALL = 15
_CACHE, _REASONING, _INPUT_AUDIO, _OUTPUT_AUDIO = 1, 2, 4, 8

NEEDED = (
    *(
        "started_at",
        "ended_at",
        "duration",
        "is_call",
        "counted",
        "covered",
        "usage_state",
        "cost",
        "price_source",
        "rates_id",
    ),
    *("illustrative", *DIMENSIONS, *ENTITIES, *USAGE_COLUMNS.values()),
)
"""The columns of a span that its figures are made of."""

Key = tuple[Any, ...]
Figures = tuple[int, ...]
"""Values of `SUMS`."""

NOTHING: Figures = (0,) * len(SUMS)


def figures_of(span: Mapping[str, Any]) -> Figures | None:
    """What a span, a row of its table, adds to the sums; None if it does not matter."""
    is_call, counted, cost = span["is_call"], span["counted"], span["cost"]
    given, made = span["input_tokens"], span["output_tokens"]
    has_usage = given is not None or made is not None
    if not (is_call or counted or has_usage):
        return None
    own_call = is_call and not span["covered"]
    state = span["usage_state"]
    unpriced = own_call and cost is None and state == "known"
    tokens = [(span[column] or 0) if counted else 0 for column in USAGE_COLUMNS.values()]
    charged = (cost or 0) if counted else 0
    priced = int(counted and cost is not None)
    made_up, reported = bool(span["illustrative"]), span["price_source"] == "reported"
    return (
        1,
        int(is_call),
        int(is_call and span["status"] == "error"),
        int(unpriced),
        (given or 0) + (made or 0) if unpriced else 0,
        int(own_call and state == "unknown"),
        int(own_call and state == "invalid"),
        priced,
        int(has_usage and not counted),
        int(counted and given is not None),
        int(counted and made is not None),
        *tokens,
        charged,
        priced if made_up else 0,
        charged if made_up else 0,
        priced if reported else 0,
        charged if reported else 0,
    )


def dimensions_of(span: Mapping[str, Any]) -> Key:
    """The values of `DIMENSIONS`."""
    return tuple(span[name] or "" for name in DIMENSIONS)


def charged_of(span: Mapping[str, Any]) -> Key:
    """The values of `CHARGED`."""
    in_run, illustrative = span["run_id"] is not None, bool(span["illustrative"])
    return (in_run, illustrative, span["price_source"] or "", span["rates_id"] or "", fits_of(span))


def entities_of(span: Mapping[str, Any]) -> Key:
    """The values of `ENTITIES`."""
    return tuple(span[name] or "" for name in ENTITIES)


def fits_of(span: Mapping[str, Any]) -> int:
    """Which details of a span fit into their whole, as `Usage.classes` decides it, so that sums may be split."""
    count = {name: span[column] or 0 for name, column in USAGE_COLUMNS.items()}
    cached = count["cache_read"] + count["cache_write"]
    cache = count["input"] >= cached and count["cache_write"] >= count["cache_write_1h"]
    reasoning = count["output"] >= count["reasoning"]
    uncached = count["input"] - (cached if cache else 0)
    answer = count["output"] - (count["reasoning"] if reasoning else 0)
    audio_in, audio_out = uncached >= count["input_audio"], answer >= count["output_audio"]
    return _CACHE * cache + _REASONING * reasoning + _INPUT_AUDIO * audio_in + _OUTPUT_AUDIO * audio_out


def unfitting(fits: int) -> dict[str, None]:
    """The details of a usage that do not fit, each as None, as `replace` takes them."""
    left_out = [] if fits & _CACHE else ["cache_read", "cache_write", "cache_write_1h"]
    details = {"reasoning": _REASONING, "input_audio": _INPUT_AUDIO, "output_audio": _OUTPUT_AUDIO}
    return dict.fromkeys([*left_out, *(name for name, bit in details.items() if not fits & bit)])


# In SQL


def matters() -> sa.ColumnElement[bool]:
    """Whether a span adds anything to the sums."""
    return sa.or_(spans.c.is_call, spans.c.counted, _has_usage())


def span_figures() -> dict[str, sa.ColumnElement[int]]:
    """`figures_of` as expressions over a row of spans, by name of `SUMS`."""
    own_call = sa.and_(spans.c.is_call, sa.not_(spans.c.covered))
    unpriced = sa.and_(own_call, spans.c.cost.is_(None), spans.c.usage_state == "known")
    tokens = sa.func.coalesce(spans.c.input_tokens, 0) + sa.func.coalesce(spans.c.output_tokens, 0)
    counted = spans.c.counted
    priced = sa.and_(counted, spans.c.cost.is_not(None))
    reported = sa.and_(priced, spans.c.price_source == "reported")
    made_up = sa.and_(priced, spans.c.illustrative)
    return {
        "spans": sa.literal_column("1", sa.Integer),
        "calls": _one_if(spans.c.is_call),
        "errors": _one_if(spans.c.is_call, spans.c.status == "error"),
        "unpriced_calls": _one_if(unpriced),
        "unpriced_tokens": sa.case((unpriced, tokens), else_=0),
        "calls_without_usage": _one_if(own_call, spans.c.usage_state == "unknown"),
        "calls_with_invalid_usage": _one_if(own_call, spans.c.usage_state == "invalid"),
        "priced_spans": _one_if(priced),
        "not_counted": _one_if(_has_usage(), sa.not_(counted)),
        "input_known": _one_if(counted, spans.c.input_tokens.is_not(None)),
        "output_known": _one_if(counted, spans.c.output_tokens.is_not(None)),
        **{
            column: sa.case((counted, sa.func.coalesce(spans.c[column], 0)), else_=0)
            for column in (*USAGE_COLUMNS.values(), "cost")
        },
        "illustrative_calls": _one_if(made_up),
        "illustrative_cost": sa.case((made_up, spans.c.cost), else_=0),
        "reported_calls": _one_if(reported),
        "reported_cost": sa.case((reported, spans.c.cost), else_=0),
    }


def span_keys() -> dict[str, sa.ColumnElement[Any]]:
    """The values of every dimension of the rollups as expressions over a row of spans."""
    words = {name: sa.func.coalesce(spans.c[name], "") for name in (*DIMENSIONS, *ENTITIES)}
    return {
        **words,
        "in_run": spans.c.run_id.is_not(None),
        "illustrative": spans.c.illustrative,
        "price_source": sa.func.coalesce(spans.c.price_source, ""),
        "rates_id": sa.func.coalesce(spans.c.rates_id, ""),
        "fits": _span_fits(),
    }


def _has_usage() -> sa.ColumnElement[bool]:
    return sa.or_(spans.c.input_tokens.is_not(None), spans.c.output_tokens.is_not(None))


def _one_if(*clauses: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.case((sa.and_(*clauses), _digit(1)), else_=_digit(0))


def _digit(number: int) -> sa.ColumnElement[int]:
    return sa.literal_column(str(number), sa.Integer)


def _span_fits() -> sa.ColumnElement[int]:
    count = {name: sa.func.coalesce(spans.c[column], 0) for name, column in USAGE_COLUMNS.items()}
    cached = count["cache_read"] + count["cache_write"]
    cache = sa.and_(count["input"] >= cached, count["cache_write"] >= count["cache_write_1h"])
    reasoning = count["output"] >= count["reasoning"]
    uncached = count["input"] - sa.case((cache, cached), else_=0)
    answer = count["output"] - sa.case((reasoning, count["reasoning"]), else_=0)
    bits = (
        (cache, _CACHE),
        (reasoning, _REASONING),
        (uncached >= count["input_audio"], _INPUT_AUDIO),
        (answer >= count["output_audio"], _OUTPUT_AUDIO),
    )
    first, *others = (sa.case((clause, _digit(bit)), else_=_digit(0)) for clause, bit in bits)
    total: sa.ColumnElement[int] = first
    for other in others:
        total = total + other
    return total
