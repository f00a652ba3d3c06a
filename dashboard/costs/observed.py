"""What was read for the costs page, and which money of it is shown. Pure: no Streamlit, no stores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agent.records import Run
from dashboard.look.formats import NONE, money
from traces.records import Arithmetic, LatencyRow, UnpricedModel, UsageRow

NO_MODEL = "model not named"


@dataclass(frozen=True, slots=True)
class Opened:
    """A figure opened to its parts, real money and made-up money each on its own."""

    real: Arithmetic
    """With what has no price."""
    made_up: Arithmetic

    @property
    def parts(self) -> tuple[Arithmetic, ...]:
        """Those with calls, real money first."""
        return tuple(part for part in (self.real, self.made_up) if part.calls or part.rows)


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
    arithmetic: Opened
    choices: Sequence[UsageRow]
    """By model, agent, user and role, without the filters."""
    anything_ever: bool
    price_problem: str | None = None

    @property
    def made_up(self) -> bool:
        """Whether no money is real, so that charts and tables show what is made up; else they show real money only."""
        return self.total.real_cost is None and self.total.illustrative_cost is not None

    def amount(self, row: UsageRow) -> int | None:
        """Pico-dollars of the money that is shown; None where a row has none of it."""
        return row.illustrative_cost if self.made_up else row.real_cost

    def amount_words(self, row: UsageRow) -> str:
        """The same in words; – where the row's only money is of the other kind."""
        amount = self.amount(row)
        return NONE if amount is None and row.cost is not None else money(amount)


def rows_by(rows: Iterable[UsageRow], name: str) -> dict[str, list[UsageRow]]:
    """The rows by one of their groups; those without it are under the empty text."""
    grouped: dict[str, list[UsageRow]] = defaultdict(list)
    for row in rows:
        grouped[row.group[name] or ""].append(row)
    return grouped
