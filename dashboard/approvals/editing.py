"""The plan as it is edited. Pure: rows of fields as a person types them, and the steps that they mean.

Edits live in these rows only. Nothing that comes from the store is ever written into a row that has edits.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.records import JsonObject, Plan, PlanStep
from dashboard.look.hidden import exact_json

IN_WORDS = "in words, no tool"


@dataclass(frozen=True, slots=True)
class Row:
    """One step as it stands in the editor. `uid` stays the same while the step is moved or renamed."""

    uid: int
    id: str
    description: str = ""
    tool: str | None = None
    args: str = "{}"
    """JSON as typed."""
    dependencies: tuple[int, ...] = ()
    """The `uid` of each row that comes before, so that renaming a step loses nothing."""
    acceptance_criteria: str = ""
    done: bool = False
    """Whether the step is done already: it stays as it is."""


@dataclass(frozen=True, slots=True)
class Draft:
    """All rows in order."""

    rows: tuple[Row, ...]
    next_uid: int
    of_hash: str
    """The version that the edits began from."""

    @property
    def ids(self) -> list[str]:
        """The ids of the steps, in order."""
        return [row.id for row in self.rows]

    def label(self, uid: int) -> str:
        """The id of a row; with its place where another row has the same id at the moment."""
        index = next(index for index, row in enumerate(self.rows) if row.uid == uid)
        name = self.rows[index].id
        return name if self.ids.count(name) == 1 else f"{name} (step {index + 1})"


def begin(plan: Plan, done: Collection[str] = ()) -> Draft:
    """The plan as rows; `done` are the ids of steps that are done already."""
    uids = {step.id: uid for uid, step in enumerate(plan.steps)}
    rows = tuple(replace(_row(step, uids), done=step.id in done) for step in plan.steps)
    return Draft(rows, len(rows), plan.hash)


def _row(step: PlanStep, uids: Mapping[str, int]) -> Row:
    return Row(
        uid=uids[step.id],
        id=step.id,
        description=step.description,
        tool=step.tool,
        args=exact_json(step.args),
        dependencies=tuple(uids[name] for name in step.dependencies),
        acceptance_criteria=step.acceptance_criteria,
    )


def with_row(draft: Draft, row: Row) -> Draft:
    """The draft with one row as it was typed."""
    return replace(draft, rows=tuple(row if old.uid == row.uid else old for old in draft.rows))


def added(draft: Draft) -> Draft:
    """The draft with an empty step at its end, after which nothing depends on it yet."""
    number = len(draft.rows) + 1
    while f"s{number}" in draft.ids:
        number += 1
    row = Row(draft.next_uid, f"s{number}")
    return replace(draft, rows=(*draft.rows, row), next_uid=draft.next_uid + 1)


def removed(draft: Draft, uid: int) -> Draft:
    """The draft without a step; what depended on it does not any more."""
    rows = tuple(
        replace(row, dependencies=tuple(other for other in row.dependencies if other != uid))
        for row in draft.rows
        if row.uid != uid
    )
    return replace(draft, rows=rows)


def moved(draft: Draft, uid: int, by: int) -> Draft:
    """The draft with a step one place up (-1) or down (1)."""
    rows = list(draft.rows)
    index = next(index for index, row in enumerate(rows) if row.uid == uid)
    other = index + by
    if 0 <= other < len(rows):
        rows[index], rows[other] = rows[other], rows[index]
    return replace(draft, rows=tuple(rows))


def steps_of(draft: Draft) -> tuple[list[JsonObject], list[str]]:
    """The steps as a plan has them, and the sentences about arguments that are not JSON objects."""
    steps: list[JsonObject] = []
    wrong: list[str] = []
    names = {row.uid: row.id.strip() for row in draft.rows}
    for row in draft.rows:
        try:
            steps.append(_step(row, names))
        except ValueError as error:
            wrong.append(f"{row.id}: the arguments are not JSON ({error}).")
    return steps, wrong


def _step(row: Row, names: Mapping[int, str]) -> JsonObject:
    args = json.loads(row.args.strip() or "{}")
    if not isinstance(args, dict):
        raise ValueError("they have to be an object, {…}")
    return {
        "id": row.id.strip(),
        "description": row.description.strip(),
        "tool": row.tool,
        "args": args,
        "dependencies": [names[uid] for uid in row.dependencies],
        "acceptance_criteria": row.acceptance_criteria.strip(),
    }


@dataclass(frozen=True, slots=True)
class Checked:
    """What the edits make."""

    steps: list[JsonObject]
    plan: Plan | None
    """The version that they would be; None while something is wrong."""
    problems: tuple[str, ...]
    changed: bool

    @property
    def sentence(self) -> str:
        """How it stands, for the bar."""
        if self.problems:
            return f"{len(self.problems)} problem{'s' * (len(self.problems) > 1)} to solve before this can be approved."
        if not self.changed:
            return "Nothing is changed yet."
        version = f"Version {self.plan.version}" if self.plan else "The plan"
        return f"{version} is valid: {len(self.steps)} step{'s' * (len(self.steps) != 1)}."


def changed(draft: Draft, plan: Plan) -> bool:
    """Whether anything is other than in the plan."""
    return _bare(draft.rows) != _bare(begin(plan).rows)


def _bare(rows: Sequence[Row]) -> list[Row]:
    return [replace(row, uid=0, done=False) for row in rows]
