import re
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

Frames = dict[str, pd.DataFrame]
Expected = Callable[[Frames], Any]


def month(frame: pd.DataFrame) -> pd.Series:
    dates = frame.get("shipped_on", frame.get("opened_on", frame.get("issued_on")))
    return dates.str[:7]


def rows(series: pd.Series, n: int | None = None, *, ascending: bool = False) -> list[list[Any]]:
    ordered = series.round(2).sort_values(ascending=ascending, kind="stable")
    return [[name, value] for name, value in ordered.head(n or len(ordered)).items()]


def named_invoices(frames: Frames) -> pd.DataFrame:
    return frames["invoices"].merge(frames["customers"], left_on="customer_id", right_on="id")


def by(table: str, group: str, column: str, how: str = "sum", **only: str) -> Callable[[Frames], pd.Series]:
    def work_out(frames: Frames) -> pd.Series:
        frame = named_invoices(frames) if table == "invoices" else frames[table]
        for name, value in only.items():
            frame = frame[(month(frame) if name == "month" else frame[name]) == value]
        return frame.groupby(group)[column].agg(how)

    return work_out


TASKS: list[tuple[str, Expected]] = [
    # top n
    ("Which two carriers shipped the most parcels in May 2026?",
     lambda f: rows(by("shipments", "carrier", "parcels", month="2026-05")(f), 2)),
    ("Top 2 carriers by parcels in 2026-05",
     lambda f: rows(by("shipments", "carrier", "parcels", month="2026-05")(f), 2)),
    ("Which customer had the highest total amount?", lambda f: rows(by("invoices", "name", "amount_eur")(f), 1)),
    ("List the three sites with the highest consumption",
     lambda f: rows(by("energy_readings", "site", "consumption_kwh")(f), 3)),
    ("Which team had the most tickets?", lambda f: rows(by("tickets", "team", "hours", "count")(f), 1)),
    # bottom n
    ("Which warehouse shipped the fewest parcels?",
     lambda f: rows(by("shipments", "warehouse", "parcels")(f), 1, ascending=True)),
    ("Show the bottom two carriers by weight in the warehouse Graz",
     lambda f: rows(by("shipments", "carrier", "weight_kg", warehouse="Graz")(f), 2, ascending=True)),
    ("Which carrier has the lowest average weight?",
     lambda f: rows(by("shipments", "carrier", "weight_kg", "mean")(f), 1, ascending=True)),
    # comparison by group
    ("Total hours by team in April 2026", lambda f: rows(by("tickets", "team", "hours", month="2026-04")(f))),
    ("How many hours did each team need in 2026-04?",
     lambda f: rows(by("tickets", "team", "hours", month="2026-04")(f))),
    ("How many tickets are there per priority?", lambda f: rows(by("tickets", "priority", "hours", "count")(f))),
    ("Number of shipments by carrier", lambda f: rows(by("shipments", "carrier", "parcels", "count")(f))),
    ("Compare the average hours of the teams", lambda f: rows(by("tickets", "team", "hours", "mean")(f))),
    ("Show the amount by country", lambda f: rows(by("invoices", "country", "amount_eur")(f))),
    # comparison of values
    ("Compare the parcels of Velox and Quill",
     lambda f: rows(by("shipments", "carrier", "parcels")(f)[["Velox", "Quill"]])),
    ("Velox versus Quill: parcels in Lisbon",
     lambda f: rows(by("shipments", "carrier", "parcels", warehouse="Lisbon")(f)[["Velox", "Quill"]])),
    ("What is the difference in hours between Red and Blue?",
     lambda f: rows(by("tickets", "team", "hours")(f)[["Red", "Blue"]])),
    # over a number
    ("Which carriers shipped more than 1,000 parcels?",
     lambda f: rows((s := by("shipments", "carrier", "parcels")(f))[s > 1_000])),
    ("Carriers with over 900 kg weight in March 2026",
     lambda f: rows((s := by("shipments", "carrier", "weight_kg", month="2026-03")(f))[s > 900])),
    ("Which teams had at least 20 tickets?",
     lambda f: rows((s := by("tickets", "team", "hours", "count")(f))[s >= 20])),
]  # fmt: skip

SINGLE: list[tuple[str, Expected]] = [
    ("How many parcels were shipped in June 2026?",
     lambda f: f["shipments"][month(f["shipments"]) == "2026-06"]["parcels"].sum()),
    ("What is the total number of parcels for Nordpost since May 2026?",
     lambda f: f["shipments"][(month(f["shipments"]) >= "2026-05") & (f["shipments"]["carrier"] == "Nordpost")][
         "parcels"].sum()),
    ("Total weight of Velox in Tallinn in Q2 2026",
     lambda f: f["shipments"][(month(f["shipments"]) >= "2026-04") & (f["shipments"]["carrier"] == "Velox")
                              & (f["shipments"]["warehouse"] == "Tallinn")]["weight_kg"].sum()),
    ("What was the average weight in the Graz warehouse?",
     lambda f: f["shipments"][f["shipments"]["warehouse"] == "Graz"]["weight_kg"].mean()),
    ("Average hours of urgent tickets", lambda f: f["tickets"][f["tickets"]["priority"] == "urgent"]["hours"].mean()),
    ("How many tickets were opened in May 2026?", lambda f: (month(f["tickets"]) == "2026-05").sum()),
    ("Number of urgent tickets", lambda f: (f["tickets"]["priority"] == "urgent").sum()),
    ("How much consumption did the site Mill have in April 2026?",
     lambda f: f["energy_readings"].query("site == 'Mill' and month == 'Apr 2026'")["consumption_kwh"].sum()),
    ("Total kWh of Barn and Dock together from April 2026 to May 2026",
     lambda f: f["energy_readings"].query("site != 'Mill' and month in ('Apr 2026', 'May 2026')")[
         "consumption_kwh"].sum()),
    ("What is the total amount of Elm?",
     lambda f: named_invoices(f).query("name == 'Elm'")["amount_eur"].sum()),
    ("Total amount in Austria in the latest month with data",
     lambda f: (n := named_invoices(f))[(month(n) == "2026-06") & (n["country"] == "Austria")]["amount_eur"].sum()),
    ("How many parcels did Velox ship last month?",
     lambda f: f["shipments"][(f["shipments"]["carrier"] == "Velox") & (month(f["shipments"]) == "2026-06")][
         "parcels"].sum()),
]  # fmt: skip

TRENDS: list[tuple[str, Expected]] = [
    ("How did the parcels develop over time?",
     lambda f: f["shipments"].groupby(month(f["shipments"]))["parcels"].sum()),
    ("Trend of the hours of Green from March 2026 to May 2026",
     lambda f: (t := f["tickets"][(f["tickets"]["team"] == "Green") & (month(f["tickets"]) < "2026-06")])
     .groupby(month(t))["hours"].sum()),
    ("Monthly consumption of Dock",
     lambda f: f["energy_readings"].query("site == 'Dock'").set_index("month")["consumption_kwh"]
     .rename(dict(zip(["Mar 2026", "Apr 2026", "May 2026", "Jun 2026"],
                      ["2026-03", "2026-04", "2026-05", "2026-06"], strict=True)))),
    ("Number of tickets by month", lambda f: f["tickets"].groupby(month(f["tickets"]))["hours"].count()),
    ("Compare the weight in April 2026 and June 2026",
     lambda f: f["shipments"].groupby(month(f["shipments"]))["weight_kg"].sum()[["2026-04", "2026-06"]]),
]  # fmt: skip


def close(found: Any, expected: Any) -> bool:
    return found == expected if isinstance(expected, str) else abs(found - expected) < 0.006


def assert_same(found: list[list[Any]], expected: list[list[Any]]) -> None:
    assert len(found) == len(expected)
    for row, wanted in zip(found, expected, strict=True):
        assert all(close(a, b) for a, b in zip(row, wanted, strict=True)), (found, expected)


def numbers(text: str) -> set[float]:
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    return {float(found) for found in re.findall(r"\d+(?:\.\d+)?", plain)}


def assert_grounded(told: Any) -> None:
    """Each number of a paragraph or line stands in an observation that it cites."""
    assert all(judged["criterion_met"] for judged in told.judgements), told.judgements
    seen = {entry["n"]: numbers(entry["text"]) for entry in told.observations}
    for part in told.answer.splitlines():
        cited = [int(n) for n in re.findall(r"\[(\d+)\]", part)]
        said = numbers(re.sub(r"\[\d+\]", "", part))
        if "|" in part and not cited:
            assert not said
            continue
        if said:
            assert said <= set().union(*(seen[n] for n in cited)), (part, told.answer)


@pytest.mark.parametrize(("task", "expected"), TASKS, ids=[task for task, _ in TASKS])
def test_groups_have_the_figures_of_pandas(bench: Any, frames: Frames, task: str, expected: Expected) -> None:
    told = bench.tell(task)
    assert_same([row[:2] for row in told.main], expected(frames))
    assert_grounded(told)
    assert str(told.main[0][0]) in told.answer.splitlines()[0]


@pytest.mark.parametrize(("task", "expected"), SINGLE, ids=[task for task, _ in SINGLE])
def test_single_figures_are_those_of_pandas(bench: Any, frames: Frames, task: str, expected: Expected) -> None:
    told = bench.tell(task)
    assert close(told.main[0][0], expected(frames)), (told.main, expected(frames), told.plan)
    assert_grounded(told)
    assert any(close(number, expected(frames)) for number in numbers(told.answer.splitlines()[0]))


@pytest.mark.parametrize(("task", "expected"), TRENDS, ids=[task for task, _ in TRENDS])
def test_courses_have_the_figures_of_pandas(bench: Any, frames: Frames, task: str, expected: Expected) -> None:
    told = bench.tell(task)
    series = expected(frames).round(2)
    assert_same(told.main, [[name, value] for name, value in series.items()])
    assert_grounded(told)
    change = told.observations[2]["data"]["rows"][0][4]
    assert close(change, series.iloc[-1] - series.iloc[0])


def test_a_limit_of_single_things_says_nothing_about_groups_of_them(bench: Any) -> None:
    answer = bench.plan("Which countries exceeded their credit limit?")
    assert answer["kind"] == "cannot"
    assert "credit" in answer["message"]


@pytest.mark.parametrize(
    "task", ["Which customers exceeded their credit limit?", "Which customers are over their limit? Write a report."]
)
def test_limits_of_another_table_are_held_against_the_figures(bench: Any, frames: Frames, task: str) -> None:
    told = bench.tell(task)
    spent = by("invoices", "name", "amount_eur")(frames).round(2)
    limits = frames["credit_limits"].merge(frames["customers"], left_on="customer_id", right_on="id")
    limit = limits.set_index("name")["limit_eur"]
    over = {name: value - limit[name] for name, value in spent.items() if name in limit and value > limit[name]}
    assert {row[0] for row in told.main} == set(over)
    assert all(close(row[3], over[row[0]]) for row in told.main)
    first = told.answer.splitlines()[0]
    assert all((name in first) == (name in over) for name in spent.index)
    assert told.observations[2]["data"]["rows"][0] == [5, len(over), 1]
    assert_grounded(told)


def test_the_latest_month_is_named_in_goal_and_answer(bench: Any) -> None:
    told = bench.tell("How many parcels did Velox ship last month?")
    assert "latest month with data" in told.plan["goal"]
    assert "2026-06" in told.answer.splitlines()[0]


def test_nothing_in_the_latest_month_is_said_with_the_month(bench: Any) -> None:
    told = bench.tell("How many parcels did Quill ship in the latest month with data?")
    assert told.answer == "There is no data for this in 2026-06, the latest month with data: 0 rows [1]."


def test_a_period_without_data_is_said_to_have_none(bench: Any) -> None:
    for task in ("Total parcels in 2031", "Top 2 carriers by parcels in May 2031", "Trend of parcels in 2031",
                 "Total hours by team in 2031"):  # fmt: skip
        told = bench.tell(task)
        assert told.answer.startswith("There is no data for this")
        assert_grounded(told)
