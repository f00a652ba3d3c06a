"""What the costs page shows, worked out from what was read. Pure: no Streamlit, no stores."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import Literal

from agent.records import Run, RunStatus
from agent.shapes import dollars_json
from dashboard.costs.selection import Period, Selection, day_words
from dashboard.look.formats import NBSP, UNKNOWN, duration, money, percent, plural, tokens
from dashboard.look.metric import Metric
from dashboard.look.status import UNKNOWN_PRICE
from traces.records import (
    TOKEN_CLASSES,
    Arithmetic,
    ArithmeticRow,
    LatencyRow,
    Rates,
    UnpricedModel,
    UsageRow,
    dollars,
)
from traces.usage import planning_share

MOST_SERIES = 5
OVER_PLANNED = 0.4
"""From this planning share on a run was over-planned."""
OTHER = "other"
NO_MODEL = "model not named"
ROLES = ("planning", "execution", "check", "synthesis")
OUTSIDE = "outside runs"
SECOND = 1_000_000_000

CLASS_WORDS = {
    "input": "input",
    "input_audio": "audio in",
    "cache_read": "cache read",
    "cache_write_5m": "cache write",
    "cache_write_1h": "cache write, 1 h",
    "output": "output",
    "reasoning": "reasoning",
    "output_audio": "audio out",
}
"""Token classes in words."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What was read for one selection."""

    total: UsageRow
    before: UsageRow
    by_model: Sequence[UsageRow]
    """By hour or day, and model."""
    by_role: Sequence[UsageRow]
    roles_of_buckets: Sequence[UsageRow]
    roles_of_runs: Sequence[UsageRow]
    dearest: Sequence[UsageRow]
    models_of_runs: Sequence[UsageRow]
    """Of the dearest runs, the dearest model first."""
    runs: Mapping[str, Run]
    computing: Mapping[str, int]
    """Nanoseconds by run."""
    times_of_runs: Sequence[LatencyRow]
    times_of_calls: Sequence[LatencyRow]
    """Only read where no run ended."""
    unpriced: Sequence[UnpricedModel]
    arithmetic: Arithmetic
    choices: Sequence[UsageRow]
    """By model, agent, user and role, without the filters."""
    anything_ever: bool
    price_problem: str | None = None


def headline(seen: Seen, chosen: Selection) -> str:
    """The answer in one line: what it cost and when, and what is odd about the figure."""
    words = chosen.period.words
    if not seen.total.calls:
        return f"Nothing spent {words}"
    if seen.total.cost is None:
        return f"Cost unknown {words}"
    return f"{money(seen.total.cost)} {words}{', at made-up rates' if all_illustrative(seen.total) else ''}"


def all_illustrative(row: UsageRow) -> bool:
    """Whether every price in a sum is made up."""
    return row.illustrative_calls > 0 and row.illustrative_calls >= row.calls - _without_cost(row)


def _without_cost(row: UsageRow) -> int:
    return row.unpriced_calls + row.calls_without_usage + row.calls_with_invalid_usage


def metrics(seen: Seen) -> list[Metric]:
    """The figures of the strip."""
    total = seen.total
    return [
        Metric("Cost", money(total.cost), _change(seen), _cost_help(total)),
        Metric("Tokens", tokens(total.tokens), _cached(total)),
        Metric("Model calls", f"{total.calls:,}", _failed(total), _calls_help(total)),
        _planning(seen),
        _run_cost(seen),
    ]


def _change(seen: Seen) -> str:
    now, before = seen.total.cost, seen.before.cost
    if now is None or before is None:
        return ""
    if not before:
        return "nothing before" if now else ""
    change = now / before - 1
    if abs(change) < 0.005:
        return "as before"
    if change >= 9.95:
        return f"{now / before:,.0f} times as much"
    return f"{percent(abs(change))} {'more' if change > 0 else 'less'}"


def _cost_help(row: UsageRow) -> str | None:
    parts = [
        f"{plural(row.unpriced_calls, 'call')} without a price" * bool(row.unpriced_calls),
        f"{plural(row.calls_without_usage, 'call')} without token counts" * bool(row.calls_without_usage),
        f"{plural(row.calls_with_invalid_usage, 'call')} with impossible counts" * bool(row.calls_with_invalid_usage),
    ]
    missing = ", ".join(part for part in parts if part)
    return f"Not in this figure: {missing}." if missing else None


def _cached(row: UsageRow) -> str:
    if not row.input_tokens or row.cache_read_tokens is None:
        return ""
    return f"{percent(row.cache_read_tokens / row.input_tokens)} cached input"


def _failed(row: UsageRow) -> str:
    if not row.calls:
        return ""
    return f"{percent(row.errors / row.calls)} failed" if row.errors else "none failed"


def _calls_help(row: UsageRow) -> str | None:
    if not row.reported_calls:
        return None
    return f"No price book has the model of {plural(row.reported_calls, 'call')}; the cost is what the sender reported."


def _planning(seen: Seen) -> Metric:
    by_run = _by(seen.roles_of_runs, "run")
    shares = {run: planning_share(rows) for run, rows in by_run.items()}
    over = sum(share is not None and share > OVER_PLANNED for share in shares.values())
    context = f"{plural(over, 'run')} above 40{NBSP}%" if over else "none above 40\u00a0%" if shares else "no runs"
    share = planning_share(seen.roles_of_runs)
    return Metric("Planning share", percent(share), context)


def _run_cost(seen: Seen) -> Metric:
    by_run = _by(seen.roles_of_runs, "run")
    costs = [cost for rows in by_run.values() if (cost := _cost_sum(rows)) is not None]
    mean = Decimal(sum(costs)) / len(costs) / 10**12 if costs else None
    return Metric("A run costs", money(mean) if by_run else "–", f"mean of {plural(len(by_run), 'run')}")


def _cost_sum(rows: Iterable[UsageRow]) -> int | None:
    known = [row.cost for row in rows if row.cost is not None]
    return sum(known) if known else None


def _by(rows: Iterable[UsageRow], name: str) -> dict[str, list[UsageRow]]:
    grouped: dict[str, list[UsageRow]] = defaultdict(list)
    for row in rows:
        grouped[row.group[name] or ""].append(row)
    return grouped


@dataclass(frozen=True, slots=True)
class Notice:
    """What must be read before the figures; plain text."""

    title: str
    body: str


def unpriced_notice(seen: Seen) -> Notice | None:
    """Which calls are in no cost, and how to change that."""
    if not seen.unpriced:
        return None
    calls = sum(model.calls for model in seen.unpriced)
    names = [model.model or NO_MODEL for model in seen.unpriced]
    shown = " and ".join(names) if len(names) <= 2 else f"{names[0]} and {len(names) - 1} other models"
    missing = sum(model.tokens for model in seen.unpriced)
    return Notice(
        f"{plural(calls, 'call')} of {shown} {'has' if calls == 1 else 'have'} no price.",
        f"Their {tokens(missing)} tokens are counted, their cost is unknown and not in any figure here. "
        "Set a price in prices.toml of the data folder, or in the file that PLANDECK_PRICES names.",
    )


def illustrative_notice(seen: Seen) -> str | None:
    """That prices are made up, in one sentence; None if none is."""
    calls = seen.total.illustrative_calls
    if not calls:
        return None
    whose = "All prices here are" if all_illustrative(seen.total) else f"The prices of {plural(calls, 'call')} are"
    return f"{whose} made up: the offline model costs nothing, and its rates show what a paid model's costs look like."


# Charts


@dataclass(frozen=True, slots=True)
class Series:
    """One colour of a stacked chart: a value a bucket, in dollars."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CostBars:
    """Cost by bucket and model."""

    labels: tuple[str, ...]
    """A bar's time in words."""
    series: tuple[Series, ...]
    """The dearest model first; at most five, the last may be `other`."""

    @property
    def totals(self) -> tuple[float, ...]:
        """The height of each bar."""
        return tuple(sum(values) for values in zip(*(series.values for series in self.series), strict=True))

    @property
    def peak(self) -> int | None:
        """The highest bar; None where there is none or only one that is not empty."""
        filled = [total for total in self.totals if total > 0]
        return self.totals.index(max(filled)) if len(filled) > 1 else None


def cost_bars(seen: Seen, period: Period, now: datetime) -> CostBars:
    """Cost by hour or day, stacked by model."""
    positions = {_bucket_key(period, start): index for index, start in enumerate(period.starts)}
    costs: dict[str, list[int]] = defaultdict(lambda: [0] * len(positions))
    for row in seen.by_model:
        index = positions.get(row.group[period.bucket] or "")
        if index is not None and row.cost is not None:
            costs[row.group["model"] or NO_MODEL][index] += row.cost
    ranked = sorted(costs, key=lambda name: (-sum(costs[name]), name))
    shown = ranked if len(ranked) <= MOST_SERIES else ranked[: MOST_SERIES - 1]
    series = [Series(name, _in_dollars(costs[name])) for name in shown]
    rest = ranked[len(shown) :]
    if rest:
        series.append(Series(OTHER, _in_dollars([sum(parts) for parts in zip(*(costs[n] for n in rest), strict=True)])))
    return CostBars(bucket_labels(period, now), tuple(series))


def _in_dollars(values: Iterable[int]) -> tuple[float, ...]:
    return tuple(float(dollars(value)) for value in values)


def _bucket_key(period: Period, start: datetime) -> str:
    return f"{start:%Y-%m-%d}" if period.bucket == "day" else f"{start:%Y-%m-%dT%H}:00:00Z"


def bucket_labels(period: Period, now: datetime) -> tuple[str, ...]:
    """Each bar's time in words: `18 Nov`, or `09:00`."""
    if period.bucket == "hour":
        return tuple(f"{start:%H:%M}" for start in period.starts)
    return tuple(day_words(start.date(), now) for start in period.starts)


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


@dataclass(frozen=True, slots=True)
class Bar:
    """A horizontal bar with its words."""

    label: str
    value: float
    """Dollars that its length stands for; 0 where they are unknown."""
    first: str
    second: str = ""


def class_bars(opened: Arithmetic) -> list[Bar]:
    """Cost and tokens by token class, in the order of a call."""
    costs: dict[str, Decimal | None] = {}
    counts: dict[str, int] = {}
    for row in opened.rows:
        counts[row.token_class] = counts.get(row.token_class, 0) + row.tokens
        there = costs.get(row.token_class)
        costs[row.token_class] = there if row.cost is None else (there or Decimal(0)) + row.cost
    bars = [
        Bar(CLASS_WORDS[name], float(costs[name] or 0), money(costs[name]), tokens(counts[name]))
        for name in TOKEN_CLASSES
        if name in counts
    ]
    if opened.reported:
        bars.append(Bar("as reported", float(opened.reported), money(opened.reported), "by the sender"))
    return bars


def role_bars(seen: Seen) -> list[Bar]:
    """Cost by what model calls were for."""
    by_role = {row.group["role"]: row for row in seen.by_role}
    known = [name for name in ROLES if name in by_role]
    others = sorted(name for name in by_role if name is not None and name not in ROLES)
    bars = [_role_bar(name, by_role[name]) for name in (*known, *others)]
    if None in by_role and by_role[None].calls:
        bars.append(_role_bar(OUTSIDE if bars else "not in a run", by_role[None]))
    return bars


def _role_bar(name: str, row: UsageRow) -> Bar:
    return Bar(name, float(dollars(row.cost or 0)), money(row.cost), plural(row.calls, "call"))


@dataclass(frozen=True, slots=True)
class TimeLines:
    """Percentiles by bucket, in seconds; None where nothing ended."""

    title: str
    labels: tuple[str, ...]
    p50: tuple[float | None, ...]
    p95: tuple[float | None, ...]
    p99: tuple[float | None, ...]

    def last(self, name: Literal["p50", "p95", "p99"]) -> tuple[int, float] | None:
        """The last point of a line."""
        values: tuple[float | None, ...] = getattr(self, name)
        known = [(index, value) for index, value in enumerate(values) if value is not None]
        return known[-1] if known else None

    @property
    def highest(self) -> float:
        """The highest point of all lines."""
        return max((value for value in self.p99 if value is not None), default=0.0)


def time_lines(seen: Seen, period: Period, now: datetime) -> TimeLines:
    """How long runs computed; where there are no runs, how long model calls took."""
    rows = seen.times_of_runs or seen.times_of_calls
    title = "Run time, computing only" if seen.times_of_runs or not rows else "Time of a model call"
    found = {row.group: row for row in rows}
    in_order = [found.get(_bucket_key(period, start)) for start in period.starts]
    return TimeLines(
        title,
        bucket_labels(period, now),
        *(tuple(getattr(row, name) / SECOND if row else None for row in in_order) for name in ("p50", "p95", "p99")),
    )


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


@dataclass(frozen=True, slots=True)
class ShareBars:
    """Planning share by bucket, 0 to 1; None without tokens of runs."""

    labels: tuple[str, ...]
    shares: tuple[float | None, ...]

    @property
    def empty(self) -> bool:
        """Whether no run used a token."""
        return all(share is None for share in self.shares)


def share_bars(seen: Seen, period: Period, now: datetime) -> ShareBars:
    """Tokens of planning as a share of the tokens of runs, by hour or day."""
    rows = _by(seen.roles_of_buckets, period.bucket)
    shares = (planning_share(rows.get(_bucket_key(period, start), [])) for start in period.starts)
    return ShareBars(bucket_labels(period, now), tuple(shares))


# Runs and arithmetic


@dataclass(frozen=True, slots=True)
class RunRow:
    """One of the dearest runs."""

    run_id: str
    status: RunStatus | None
    """None for a run that our records do not have."""
    task: str
    user: str
    model: str
    cost: float
    """Dollars for its bar; 0 where they are unknown."""
    cost_words: str
    tokens: str
    planning: str
    computing: str


def run_rows(seen: Seen) -> list[RunRow]:
    """The dearest runs of the selection."""
    roles, models = _by(seen.roles_of_runs, "run"), _by(seen.models_of_runs, "run")
    return [_run_row(row, seen, roles, models) for row in seen.dearest]


def _run_row(
    row: UsageRow, seen: Seen, roles: Mapping[str, list[UsageRow]], models: Mapping[str, list[UsageRow]]
) -> RunRow:
    run_id = row.group["run"] or ""
    run, worked = seen.runs.get(run_id), seen.computing.get(run_id)
    names = [item.group["model"] or NO_MODEL for item in models.get(run_id, [])]
    return RunRow(
        run_id=run_id,
        status=run.status if run else None,
        task=run.task if run else f"run {run_id}, not one of ours",
        user=run.requested_by if run else "–",
        model=names[0] + (f" +{len(names) - 1}" if len(names) > 1 else "") if names else "–",
        cost=float(dollars(row.cost or 0)),
        cost_words=money(row.cost),
        tokens=tokens(row.tokens),
        planning=percent(planning_share(roles.get(run_id, []))),
        computing=duration(None if worked is None else worked / SECOND),
    )


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
    return f"The cost {whose} is unknown" if opened.cost is None else f"How the {money(opened.cost)} {whose} are made"


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
    return f"{said} The price is the one valid at the time of the call."


# Filters and export

FILTER_WORDS = {
    "model": ("All models", "models"),
    "agent": ("All agents", "agents"),
    "user": ("All users", "users"),
    "role": ("All purposes", "purposes"),
    "status": ("Every status", "statuses"),
}
STATUSES = {"ok": "succeeded", "error": "failed"}


def filter_label(name: str, accepted: Sequence[str]) -> str:
    """What the button of a filter says."""
    every, several = FILTER_WORDS[name]
    if not accepted:
        return every
    return choice_words(name, accepted[0]) if len(accepted) == 1 else f"{len(accepted)} {several}"


def choice_words(name: str, value: str) -> str:
    """A choice of a filter in words."""
    return STATUSES.get(value, value) if name == "status" else value


def choices_of(name: str, seen: Seen, accepted: Sequence[str]) -> list[str]:
    """What a filter may be set to in this period; what it is set to is among it."""
    if name == "status":
        return list(STATUSES)
    found = {row.group[name] for row in seen.choices}
    return sorted({value for value in found if value is not None} | set(accepted))


def csv_text(rows: Sequence[UsageRow], groups: Sequence[str]) -> str:
    """The rows as CSV with exact amounts; empty where something is unknown."""
    figures: dict[str, Callable[[UsageRow], int | str | None]] = {
        "calls": lambda row: row.calls,
        "errors": lambda row: row.errors,
        "input_tokens": lambda row: row.input_tokens,
        "output_tokens": lambda row: row.output_tokens,
        "cache_read_tokens": lambda row: row.cache_read_tokens,
        "cache_write_tokens": lambda row: row.cache_write_tokens,
        "reasoning_tokens": lambda row: row.reasoning_tokens,
        "cost_usd": lambda row: dollars_json(row.cost),
        "unpriced_calls": lambda row: row.unpriced_calls,
        "calls_without_usage": lambda row: row.calls_without_usage,
        "calls_with_invalid_usage": lambda row: row.calls_with_invalid_usage,
        "illustrative_calls": lambda row: row.illustrative_calls,
    }
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*groups, *figures])
    for row in rows:
        named = [_harmless(row.group[name] or "") for name in groups]
        writer.writerow([*named, *(figure(row) for figure in figures.values())])
    return text.getvalue()


def _harmless(text: str) -> str:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
