"""The headline of the costs page, its strip of figures, and what must be read before them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from dashboard.costs.observed import NO_MODEL, Seen, rows_by
from dashboard.costs.selection import Selection
from dashboard.look.formats import NONE, UNKNOWN, made_up_money, money, percent, plural, tokens
from dashboard.look.metric import PLANNING_HELP, Metric
from traces.records import PICO, UsageRow
from traces.usage import OVER_PLANNED, over_planned, planning_share

MADE_UP_HELP = "The offline model costs nothing; its rates show what a paid model's costs look like."


def headline(seen: Seen, chosen: Selection) -> str:
    """The answer in one line: what it cost and when; real money, unless none is."""
    total, words = seen.total, chosen.period.words
    if not total.calls:
        return f"Nothing spent {words}"
    if total.real_cost is not None:
        return f"{money(total.real_cost)} {words}"
    if total.all_illustrative:
        return f"{money(total.illustrative_cost)} {words}, all made-up (offline model)"
    return f"Cost unknown {words}"


def made_up_aside(seen: Seen) -> str:
    """What is made up and therefore beside the headline; empty where nothing is."""
    total = seen.total
    if total.illustrative_cost is None:
        return ""
    if total.all_illustrative:
        return MADE_UP_HELP
    where = "the charts show only that" if seen.made_up else "in no other figure of this page"
    figure = f"+ {made_up_money(total.illustrative_cost)}, offline model"
    return f"{figure}, {plural(total.illustrative_calls, 'call')}; {where}."


def metrics(seen: Seen) -> list[Metric]:
    """The figures of the strip; made-up money has one of its own."""
    total = seen.total
    figures = [
        Metric("Tokens", tokens(total.tokens), _cached(total)),
        Metric("Model calls", f"{total.calls:,}", _failed(total), _calls_help(total)),
        _planning(seen),
        _run_cost(seen),
    ]
    return [*_costs(seen), *figures]


def _costs(seen: Seen) -> list[Metric]:
    total = seen.total
    help_text = _cost_help(total)
    if seen.made_up and not help_text:
        return [Metric("Made-up cost", money(total.illustrative_cost), _change(seen), MADE_UP_HELP)]
    real = Metric("Cost", money(total.real_cost), "" if seen.made_up else _change(seen), help_text)
    if total.illustrative_cost is None:
        return [real]
    return [real, Metric("Made-up cost", money(total.illustrative_cost), "offline model", MADE_UP_HELP)]


def _change(seen: Seen) -> str:
    now, before = seen.amount(seen.total), seen.amount(seen.before)
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
    shares = [planning_share(rows) for rows in rows_by(seen.roles_of_runs, "run").values()]
    over = sum(over_planned(share) for share in shares)
    line = percent(OVER_PLANNED)
    context = f"{over:,} above {line}" if over else f"none above {line}" if shares else "no runs"
    share = planning_share(seen.roles_of_runs)
    return Metric("Planning share", NONE if share is None and not shares else percent(share), context, PLANNING_HELP)


def _run_cost(seen: Seen) -> Metric:
    by_run = rows_by(seen.roles_of_runs, "run")
    known = [cost for rows in by_run.values() if (cost := _cost_sum(seen, rows)) is not None]
    label = "A run’s made-up cost" if seen.made_up else "A run costs"
    if not known:
        return Metric(label, UNKNOWN if by_run else NONE, "none has a price" if by_run else "no runs")
    return Metric(label, money(Decimal(sum(known)) / len(known) / PICO), f"mean of {plural(len(known), 'run')}")


def _cost_sum(seen: Seen, rows: Iterable[UsageRow]) -> int | None:
    known = [amount for row in rows if (amount := seen.amount(row)) is not None]
    return sum(known) if known else None


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
