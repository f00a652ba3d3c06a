"""Wordings of real users over tables that the code does not name: terse, with names that look like other words."""

import random
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from offline_whole_way import Agent, make_agent, numbers_not_seen

Frame = Callable[[str], pd.DataFrame]
Rows = list[tuple[Any, ...]]


def inserts(table: str, rows: Rows) -> list[str]:
    def literal(value: Any) -> str:
        return "NULL" if value is None else f"'{value}'" if isinstance(value, str) else repr(value)

    return [f"INSERT INTO {table} VALUES ({', '.join(map(literal, row))});" for row in rows]


def hotels() -> str:
    """A channel that is called like a row, a flag beside figures, months as numbers, nulls, an empty table."""
    chance = random.Random(1)
    houses = [(1, "Hill Top", "Zug", 40, 4), (2, "Seehof", "Thun", 65, 3), (3, "Bellevue", "Zug", 22, 5)]
    bookings = [
        (f"BK{m}{p}{n}", p, chance.choice(["Booking", "Expedia", "Direct"]), chance.choice(["DE", "CH", None]),
         f"2026-{m:02d}-{chance.randint(1, 28):02d}", chance.randint(1, 9), round(chance.uniform(90, 2400), 2),
         round(chance.uniform(5, 240), 2), chance.randint(0, 1))
        for m in (1, 2, 3) for p in (1, 2, 3) for n in range(chance.randint(4, 8))
    ]  # fmt: skip
    nights = [(p, m, chance.randint(200, 900)) for m in (202601, 202602, 202603) for p in (1, 2, 3)]
    return "\n".join([
        "CREATE TABLE properties (property_id INTEGER PRIMARY KEY, property_name TEXT, city TEXT, rooms INTEGER,"
        " stars INTEGER);",
        "CREATE TABLE bookings (ref TEXT PRIMARY KEY, property_id INTEGER REFERENCES properties(property_id), channel"
        " TEXT, country TEXT, arrival TEXT, nights INTEGER, revenue_chf REAL, commission_chf REAL, cancelled INTEGER);",
        "CREATE TABLE occupancy (property_id INTEGER REFERENCES properties(property_id), month INTEGER, room_nights"
        " INTEGER);",
        "CREATE TABLE refunds (id INTEGER PRIMARY KEY, refunded_on DATE, amount_chf REAL);",
        *inserts("properties", houses), *inserts("bookings", bookings), *inserts("occupancy", nights),
    ])  # fmt: skip


def fields() -> str:
    """'Long Acre' is no length, quotas for each month, three kinds of pay in a table of wages."""
    chance = random.Random(2)
    water = [
        (p, f"{m:02d}/2025", round(chance.uniform(100, 900), 1), round(chance.uniform(5, 60), 1))
        for m in (5, 6, 7) for p in ("P1", "P2", "P3")
    ]  # fmt: skip
    plots = [("P1", "Long Acre", "Marsh", 12.5), ("P2", "Top End", "Marsh", 3.0), ("P3", "Bit", "Ox", 8.0)]
    wages = [
        (worker, gang, f"2025-{m:02d}-25", round(chance.uniform(1800, 2900), 2), round(chance.uniform(1200, 1700), 2))
        for m in (5, 6, 7) for worker, gang in (("Ada Finch", "north"), ("Ben Roe", "north"), ("Cem Ak", "south"))
    ]  # fmt: skip
    return "\n".join([
        "CREATE TABLE plots (code TEXT PRIMARY KEY, plot_name TEXT, village TEXT, hectares REAL);",
        "CREATE TABLE irrigation (plot_code TEXT REFERENCES plots(code), reading_month TEXT, water_m3 REAL,"
        " pump_hours REAL);",
        "CREATE TABLE water_quotas (plot_code TEXT REFERENCES plots(code), monthly_quota_m3 REAL);",
        "CREATE TABLE wages (worker TEXT, gang TEXT, paid_on TEXT, gross REAL, net REAL);",
        *inserts("plots", plots),
        *inserts("irrigation", water), *inserts("water_quotas", [("P1", 300.0), ("P2", 350.0)]),
        *inserts("wages", wages),
    ])  # fmt: skip


def works() -> str:
    """A log that is called `machines`, a column called `made`, targets beside figures, headcounts by month."""
    chance = random.Random(4)
    machines = [
        (name, line, f"2026-{m:02d}-{d:02d}", chance.randint(80, 200), chance.randint(1, 15), 150)
        for m in (4, 5) for d in (2, 9, 16) for name, line in (("Press", "red"), ("Mill", "red"), ("Saw", "blue"))
    ]  # fmt: skip
    trips = [
        (n, chance.choice(["AB-12", "CD-34", "EF-56"]), chance.choice(["Jo Park", "Li Moe"]),
         f"2026-{1 + n % 3:02d}-{1 + n % 28:02d}T08:10:00", round(chance.uniform(5, 700), 1),
         round(chance.uniform(1, 70), 1))
        for n in range(1, 40)
    ]  # fmt: skip
    return "\n".join([
        "CREATE TABLE machines (machine TEXT, line TEXT, day DATE, made INTEGER, scrap INTEGER, target INTEGER);",
        'CREATE TABLE "Vehicle Trips" ("Trip No" INTEGER PRIMARY KEY, Plate TEXT, Driver TEXT, StartedAt TEXT,'
        " DistanceKm REAL, FuelLitres REAL);",
        "CREATE TABLE headcounts (depot TEXT, period TEXT, employees INTEGER, salary_total_eur REAL);",
        *inserts("machines", machines), *inserts('"Vehicle Trips"', trips),
        *inserts("headcounts", [(d, f"{m} 2026", n, n * 2000.5) for d, n in (("Bergen", 30), ("Turku", 12))
                                for m in ("Jan", "Feb")]),
    ])  # fmt: skip


WORLDS = {"hotels": hotels, "fields": fields, "works": works}


# --- independent answers


def by(data: pd.DataFrame, group: str, column: str, how: str = "sum", top: int | None = None) -> Rows:
    """Groups with their figures; the first of the highest (or of the lowest, if negative)."""
    found = data.groupby(group)[column].agg(how).reset_index().sort_values(column, ascending=bool(top and top < 0))
    return list(found.head(abs(top or len(found))).itertuples(index=False, name=None))


def bookings(f: Frame, month: str = "") -> pd.DataFrame:
    data = f("bookings").merge(f("properties"), on="property_id")
    return data[data.arrival.str.startswith(month)]


def water(f: Frame, month: str = "") -> pd.DataFrame:
    data = f("irrigation").merge(f("plots"), left_on="plot_code", right_on="code")
    data["month"] = data.reading_month.str[3:] + "-" + data.reading_month.str[:2]
    return data[data.month.str.startswith(month)]


def over_quota(f: Frame) -> Rows:
    data = water(f, "2025-07").merge(f("water_quotas"), on="plot_code")
    data = data[data.water_m3 > data.monthly_quota_m3]
    return list(data[["plot_name", "water_m3"]].itertuples(index=False, name=None))


def machines(f: Frame, month: str = "") -> pd.DataFrame:
    data = f("machines")
    return data[data.day.str.startswith(month)]


def trips(f: Frame, month: str = "") -> pd.DataFrame:
    data = f('"Vehicle Trips"')
    return data[data.StartedAt.str.startswith(month)]


def one(value: Any) -> Rows:
    return [(value,)]


ANSWERED: list[tuple[str, str, Callable[[Frame], Rows]]] = [
    ("hotels", "top 2 properties by revenue", lambda f: by(bookings(f), "property_name", "revenue_chf", top=2)),
    ("hotels", "which city had the most bookings in 2026?", lambda f: by(bookings(f), "city", "ref", "count", 1)),
    ("hotels", "which channel brought in the least revenue since February 2026",
     lambda f: by((d := bookings(f))[d.arrival >= "2026-02"], "channel", "revenue_chf", top=-1)),
    ("hotels", "How much revenue did Hill Top make in February 2026?",
     lambda f: one(bookings(f, "2026-02").query("property_name == 'Hill Top'").revenue_chf.sum())),
    ("hotels", "how much commission did we pay to Expedia",
     lambda f: one(bookings(f).query("channel == 'Expedia'").commission_chf.sum())),
    ("hotels", "total nights, Zug, Mar 2026",
     lambda f: one(bookings(f, "2026-03").query("city == 'Zug'").nights.sum())),
    ("hotels", "revenue in zug in feb 2026?",
     lambda f: one(bookings(f, "2026-02").query("city == 'Zug'").revenue_chf.sum())),
    ("hotels", "Booking vs Expedia revenue",
     lambda f: by(bookings(f).query("channel != 'Direct'"), "channel", "revenue_chf")),
    ("hotels", "how many bookings in January 2026?", lambda f: one(len(bookings(f, "2026-01")))),
    ("hotels", "average nights per booking", lambda f: one(bookings(f).nights.mean())),
    ("hotels", "room nights per month",
     lambda f: [(f"{str(m)[:4]}-{str(m)[4:]}", n)
                for m, n in f("occupancy").groupby("month").room_nights.sum().items()]),
    ("hotels", "Which properties had fewer than 18 bookings?",
     lambda f: [row for row in by(bookings(f), "property_name", "ref", "count") if row[1] < 18]),
    ("hotels", "which channels were above 5,000 revenue?",
     lambda f: [row for row in by(bookings(f), "channel", "revenue_chf") if row[1] > 5000]),
    ("hotels", "what share of the revenue came from Direct",
     lambda f: one(bookings(f).query("channel == 'Direct'").revenue_chf.sum())),
    ("hotels", "Compare nights of January and March 2026",
     lambda f: [(m, bookings(f, m).nights.sum()) for m in ("2026-01", "2026-03")]),
    ("hotels", "How much more did Direct bring in than Expedia in revenue?",
     lambda f: by(bookings(f).query("channel != 'Booking'"), "channel", "revenue_chf")),
    ("fields", "highest paid worker by net in 2025", lambda f: by(f("wages"), "worker", "net", top=1)),
    ("fields", "How much gross did we pay the north gang?",
     lambda f: one(f("wages").query("gang == 'north'").gross.sum())),
    ("fields", "how much water did Top End use in July 2025?",
     lambda f: one(water(f, "2025-07").query("plot_name == 'Top End'").water_m3.sum())),
    ("fields", "Water per village, 2025", lambda f: by(water(f), "village", "water_m3")),
    ("fields", "Which plots exceeded their water quota in July 2025?", over_quota),
    ("works", "Which line made the least in May 2026?", lambda f: by(machines(f, "2026-05"), "line", "made", top=-1)),
    ("works", "Which machines made less than 450 in May 2026?",
     lambda f: [row for row in by(machines(f, "2026-05"), "machine", "made") if row[1] < 450]),
    ("works", "how did scrap change over time",
     lambda f: list(machines(f).groupby(machines(f).day.str[:7]).scrap.sum().items())),
    ("works", "How many km did AB-12 drive?", lambda f: one(trips(f).query("Plate == 'AB-12'").DistanceKm.sum())),
    ("works", "how many trips did Jo Park do in Feb 2026",
     lambda f: one(len(trips(f, "2026-02").query("Driver == 'Jo Park'")))),
    ("works", "total employees in Feb 2026", lambda f: one(42)),
]  # fmt: skip

REFUSED = [
    # a person, a thing or a condition that no column gives
    ("works", "Who had the highest distance?"), ("fields", "Who earned the most net in 2025?"),
    ("works", "how many machines do we have"), ("hotels", "how many guests came from DE?"),
    ("hotels", "revenue excluding Expedia"), ("hotels", "revenue per night"), ("hotels", "revenue last quarter"),
    ("hotels", "cancellation rate by channel"), ("hotels", "net revenue after commission"),
    ("hotels", "revenue where channel != Expedia"),
    # counts or sums of what is over a limit
    ("hotels", "number of bookings with more than 5 nights"), ("hotels", "how many properties have more than 30 rooms"),
    ("hotels", "total revenue of bookings over 1,000"),
    # a figure that makes no sense, or could be several
    ("works", "total employees in 2026"), ("works", "which depot has the most employees"),
    ("works", "average salary in Jan 2026"), ("hotels", "Which city has the most stars?"),
    ("fields", "total wages"), ("fields", "how much did we pay in wages?"), ("fields", "net vs gross"),
    ("works", "Which machines were below their target in May 2026?"),
    ("fields", "which months did Long Acre go over its pump quota?"),
    # shares of what
    ("works", "scrap share"), ("hotels", "share of bookings cancelled"),
    ("hotels", "what share of the Expedia revenue came from Zug"),
]  # fmt: skip


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Agent]:
    return {world: make_agent(tmp_path_factory.mktemp(world), script()) for world, script in WORLDS.items()}


@pytest.mark.parametrize(("world", "task", "expected"), ANSWERED, ids=[task for _, task, _ in ANSWERED])
def test_free_wordings_get_the_figures_of_pandas(
    world: str, task: str, expected: Callable[[Frame], Rows], agents: dict[str, Agent]
) -> None:
    done = agents[world].run(task)
    assert not done.refused, done.plan["message"]
    wanted = expected(agents[world].frame)
    assert wanted, "the data has to have something to find"
    assert any(_same(rows, wanted) for rows in done.tables()), f"wanted {wanted}, seen {done.tables()}"
    assert numbers_not_seen(done) == []
    assert all(judged["criterion_met"] for judged in done.judgements.values())


def _same(rows: list[list[Any]], wanted: Rows) -> bool:
    """Whether these are the rows, in whatever order: names equal, figures equal to a thousandth."""
    left, right = sorted(rows, key=lambda row: str(row[0])), sorted(wanted, key=lambda row: str(row[0]))
    return len(left) == len(right) and all(
        len(row) >= len(want)
        and all(_equal(a, b) for a, b in zip(row, want, strict=False))
        for row, want in zip(left, right, strict=True)
    )  # fmt: skip


def _equal(shown: Any, wanted: Any) -> bool:
    return bool(shown == wanted if isinstance(wanted, str) else shown == pytest.approx(float(wanted), abs=1e-3))


@pytest.mark.parametrize(("world", "task"), REFUSED, ids=[task for _, task in REFUSED])
def test_what_these_tables_do_not_surely_say_is_refused(world: str, task: str, agents: dict[str, Agent]) -> None:
    answer = agents[world].plan(task)
    assert answer["kind"] == "cannot", answer["goal"]
    assert "PLANDECK_PROVIDER" in answer["message"]


def test_an_empty_table_is_said_to_have_no_data(agents: dict[str, Agent]) -> None:
    assert agents["hotels"].run("total refunds").answer == "There is no data for this: 0 rows [1]."


def test_the_least_of_things_says_that_only_those_with_rows_are_counted(agents: dict[str, Agent]) -> None:
    done = agents["hotels"].run("Which property had the fewest bookings in March 2026?")
    assert "Properties without any row in this data are not counted." in done.answer
