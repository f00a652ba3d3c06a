"""The sample business: a small database and a folder of policies, with the traps that real data has.

The latest month of costs is 2026-08, whatever today is. Costs have months as dates, budgets and sales as text. Not
every project has costs in the latest month or a budget, and one product was never sold in one region.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.errors import StorageError
from traces.room import room_wanted

SEED = 20260831
MONTHS = [f"{year}-{month:02d}" for year in (2025, 2026) for month in range(1, 13)][2:20]
PROJECTS = [
    # name, owner, department, status, started, usual cost of a month, budget of a month (0: none)
    ("Atlas", "Mara Lindqvist", "Platform", "active", "2024-03-01", 118_000, 120_000),
    ("Borealis", "Tomas Reyes", "Data", "active", "2024-06-15", 94_000, 105_000),
    ("Cinder", "Aiko Tanaka", "Mobile", "active", "2025-01-10", 68_000, 80_000),
    ("Dunlin", "Pavel Novak", "Platform", "active", "2024-11-04", 51_000, 50_000),
    ("Ember", "Grace Okafor", "Research", "active", "2025-02-01", 43_500, 47_000),
    ("Fjord", "Lena Fischer", "Data", "paused", "2024-09-01", 22_000, 30_000),
    ("Gannet", "Omar Haddad", "Operations", "active", "2025-03-20", 36_000, 35_000),
    ("Harbor", "Ines Duarte", "Operations", "active", "2024-04-12", 29_500, 33_000),
    ("Isle", "Jonas Berg", "Research", "active", "2025-08-01", 18_000, 0),
    ("Juniper", "Mara Lindqvist", "Mobile", "closed", "2024-02-01", 15_500, 20_000),
    ("Kestrel", "Aiko Tanaka", "Platform", "active", "2025-05-05", 12_400, 15_000),
    ("Lumen", "Tomas Reyes", "Data", "active", "2025-06-30", 9_800, 11_000),
]
ENDED = {"Juniper": "2026-05", "Fjord": "2026-07"}
"""Projects without costs after this month."""
LATEST_FACTORS = {"Atlas": 1.1137, "Borealis": 1.0434, "Cinder": 1.0490, "Dunlin": 1.0821, "Gannet": 0.9312}
"""What the latest month was against a usual one, so that some exceed their budget and some do not."""
CATEGORIES = (("staff", 0.62), ("cloud", 0.24), ("licences", 0.09), ("travel", 0.05))
REGIONS = {"North": 1.0, "South": 0.72, "East": 0.86, "West": 1.21}
PRODUCTS = {"Beacon": 149.0, "Compass": 89.5, "Sextant": 412.0, "Tiller": 36.9}
NEVER_SOLD = ("South", "Sextant")

SCHEMA = """
CREATE TABLE projects (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, owner TEXT NOT NULL, department TEXT NOT NULL,
    status TEXT NOT NULL, started_on DATE NOT NULL
);
CREATE TABLE budgets (
    project_id INTEGER NOT NULL REFERENCES projects(id), month TEXT NOT NULL, amount_usd REAL NOT NULL,
    PRIMARY KEY (project_id, month)
);
CREATE TABLE monthly_costs (
    id INTEGER PRIMARY KEY, project_id INTEGER NOT NULL REFERENCES projects(id), month DATE NOT NULL,
    category TEXT NOT NULL, amount_usd REAL NOT NULL
);
CREATE TABLE sales (
    id INTEGER PRIMARY KEY, month TEXT NOT NULL, region TEXT NOT NULL, product TEXT NOT NULL,
    units INTEGER NOT NULL, revenue_usd REAL NOT NULL
);
CREATE INDEX monthly_costs_by_month ON monthly_costs (month);
"""


@dataclass(frozen=True, slots=True)
class SamplePaths:
    """Where the sample business is."""

    database: Path
    policies: Path


def ensure_sample(home: Path) -> SamplePaths:
    """Make what is missing below `<home>/sample`; what is there stays as it is, with what people added to it."""
    folder = home / "sample"
    paths = SamplePaths(database=folder / "business.db", policies=folder / "policies")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not paths.database.exists():
            _place_database(paths.database)
        if not paths.policies.exists():
            _place_policies(paths.policies)
    except (OSError, sqlite3.Error) as error:
        raise StorageError(
            f"The sample data cannot be written to {folder}: {error}. Check the permissions. {room_wanted(home)}"
        ) from error
    return paths


def _place_database(path: Path) -> None:
    """Write beside and put in place when whole; the first of several processes wins, all write the same."""
    with TemporaryDirectory(dir=path.parent, prefix=".part-") as part:
        made = Path(part) / path.name
        with closing(sqlite3.connect(made)) as connection, connection:
            connection.executescript(SCHEMA)
            _fill(connection, random.Random(SEED))  # noqa: S311  # the same data everywhere, nothing secret
        # A link, unlike a rename, never replaces what somebody may have added tables to meanwhile.
        try:
            path.hardlink_to(made)
        except FileExistsError:
            return
        except OSError:  # a file system without hard links
            if not path.exists():
                made.rename(path)


def _place_policies(folder: Path) -> None:
    """The same for a folder, which a rename replaces only while it is empty."""
    with TemporaryDirectory(dir=folder.parent, prefix=".part-") as part:
        made = Path(part) / folder.name
        made.mkdir()
        for source in files(__package__).joinpath("policies").iterdir():
            (made / source.name).write_bytes(source.read_bytes())
        try:
            made.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise


def _fill(connection: sqlite3.Connection, chance: random.Random) -> None:
    connection.executemany(
        "INSERT INTO projects (id, name, owner, department, status, started_on) VALUES (?, ?, ?, ?, ?, ?)",
        [(n, *project[:5]) for n, project in enumerate(PROJECTS, start=1)],
    )
    connection.executemany("INSERT INTO budgets VALUES (?, ?, ?)", _budgets())
    connection.executemany(
        "INSERT INTO monthly_costs (project_id, month, category, amount_usd) VALUES (?, ?, ?, ?)", _costs(chance)
    )
    connection.executemany(
        "INSERT INTO sales (month, region, product, units, revenue_usd) VALUES (?, ?, ?, ?, ?)", _sales(chance)
    )


def _budgets() -> Iterator[tuple[int, str, float]]:
    """From a project's start to its end; one that is paused keeps its budget."""
    for n, (name, _, _, status, started, _, budget) in enumerate(PROJECTS, start=1):
        last = ENDED[name] if status == "closed" else MONTHS[-1]
        if budget:
            yield from ((n, month, float(budget)) for month in MONTHS if started[:7] <= month <= last)


def _costs(chance: random.Random) -> Iterator[tuple[int, str, str, float]]:
    for n, project in enumerate(PROJECTS, start=1):
        name, started, usual = project[0], project[4], project[5]
        for month in MONTHS:
            if month < started[:7] or month > ENDED.get(name, MONTHS[-1]):
                continue
            factor = chance.uniform(0.88, 1.04)
            if month == MONTHS[-1]:
                factor = LATEST_FACTORS.get(name, factor)
            for category, share in CATEGORIES:
                yield n, f"{month}-01", category, round(usual * factor * share * chance.uniform(0.98, 1.02), 2)


def _sales(chance: random.Random) -> Iterator[tuple[str, str, str, int, float]]:
    for n, month in enumerate(MONTHS):
        for region, size in REGIONS.items():
            for product, price in PRODUCTS.items():
                if (region, product) == NEVER_SOLD:
                    continue
                units = round(120 * size * (1 + n / 60) * chance.uniform(0.7, 1.3) * (90 / price) ** 0.5)
                yield month, region, product, units, round(units * price * chance.uniform(0.93, 1.0), 2)
