import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent.errors import StorageError
from agent.tools.sample import SamplePaths, ensure_sample


def asked(database: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(sql).fetchall()


def test_two_homes_get_the_same_data(tmp_path: Path) -> None:
    one, two = ensure_sample(tmp_path / "one"), ensure_sample(tmp_path / "two")
    for table in ("projects", "budgets", "monthly_costs", "sales"):
        rows = asked(one.database, f"SELECT * FROM {table}")
        assert rows
        assert rows == asked(two.database, f"SELECT * FROM {table}")
    # A golden value: the documentation shows figures of this data.
    assert asked(one.database, "SELECT round(sum(amount_usd), 2) FROM monthly_costs WHERE month = '2026-08-01'") == [
        (500294.05,)
    ]


def test_the_costs_cover_eighteen_months_that_end_before_now(sample: SamplePaths) -> None:
    months = [month for (month,) in asked(sample.database, "SELECT DISTINCT month FROM monthly_costs ORDER BY month")]
    assert (len(months), months[0], months[-1]) == (18, "2025-03-01", "2026-08-01")
    assert {month for (month,) in asked(sample.database, "SELECT DISTINCT month FROM sales")} == {
        month[:7] for month in months
    }


def test_the_data_has_the_traps_that_real_data_has(sample: SamplePaths) -> None:
    latest = """
        SELECT p.name, sum(c.amount_usd) AS spent,
               (SELECT b.amount_usd FROM budgets b WHERE b.project_id = p.id AND b.month = '2026-08') AS budget
        FROM projects p LEFT JOIN monthly_costs c ON c.project_id = p.id AND c.month = '2026-08-01' GROUP BY p.id
    """
    rows = {name: (spent, budget) for name, spent, budget in asked(sample.database, latest)}
    assert 10 <= len(rows) <= 14
    assert rows["Fjord"] == (None, 30_000)
    assert rows["Isle"][1] is None
    both = [(spent, budget) for spent, budget in rows.values() if spent and budget]
    assert [spent > budget for spent, budget in both].count(True) >= 2
    assert [spent > budget for spent, budget in both].count(False) >= 2
    assert asked(sample.database, "SELECT * FROM sales WHERE region = 'South' AND product = 'Sextant'") == []


def test_amounts_are_whole_cents_and_keys_hold(sample: SamplePaths) -> None:
    wrong = "SELECT * FROM monthly_costs WHERE abs(amount_usd * 100 - round(amount_usd * 100)) > 1e-6"
    assert asked(sample.database, wrong) == []
    assert asked(sample.database, "PRAGMA foreign_key_check") == []


def test_what_people_added_stays(tmp_path: Path) -> None:
    paths = ensure_sample(tmp_path)
    with closing(sqlite3.connect(paths.database)) as connection, connection:
        connection.execute("CREATE TABLE mine (a)")
        connection.execute("DELETE FROM sales")
    (paths.policies / "FIN-07.md").write_text("changed")
    (paths.policies / "TRV-02.md").unlink()
    assert ensure_sample(tmp_path) == paths
    assert asked(paths.database, "SELECT count(*) FROM sales, (SELECT count(*) FROM mine)") == [(0,)]
    assert (paths.policies / "FIN-07.md").read_text() == "changed"
    assert not (paths.policies / "TRV-02.md").exists()


def test_many_processes_at_once_make_one_whole_sample(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: ensure_sample(tmp_path), range(16)))
    (paths,) = made
    assert asked(paths.database, "SELECT count(*) FROM projects") == [(12,)]
    assert sorted(path.name for path in paths.database.parent.iterdir()) == ["business.db", "policies"]
    assert len(list(paths.policies.iterdir())) == 7


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file, not a folder")
    with pytest.raises(StorageError, match="PLANDECK_HOME"):
        ensure_sample(tmp_path / "home")


def test_every_policy_has_numbered_paragraphs(sample: SamplePaths) -> None:
    documents = sorted(sample.policies.glob("*.md"))
    assert {"FIN-07", "TRV-02", "PRO-04", "SEC-01"} <= {path.stem for path in documents}
    for path in documents:
        assert path.read_text().startswith(f"# {path.stem} ")
        assert "\n1.1 " in path.read_text()
