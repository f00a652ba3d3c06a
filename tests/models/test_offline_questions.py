import re
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from offline_whole_way import Agent, Done, make_agent, numbers_not_seen

Frames = dict[str, pd.DataFrame]
Rows = list[tuple[Any, ...]]


def shipments() -> str:
    """Real dates, two measures, limits of each carrier and month; one carrier has no limit, one no latest month."""
    lines = [
        "CREATE TABLE shipments (id INTEGER PRIMARY KEY, carrier TEXT, warehouse TEXT, shipped_on DATE, parcels"
        " INTEGER, weight_kg REAL);",
        "CREATE TABLE carrier_limits (carrier TEXT, month TEXT, max_parcels INTEGER);",
    ]
    months = [f"2025-{n:02d}" for n in range(9, 13)] + [f"2026-{n:02d}" for n in range(1, 6)]
    carriers = ["DHL", "UPS", "Hermes", "GLS", "Post Nord"]
    for m, month in enumerate(months):
        for c, carrier in enumerate(carriers):
            if (carrier, month) == ("GLS", "2026-05"):
                continue
            if carrier != "Hermes":
                lines.append(
                    f"INSERT INTO carrier_limits VALUES ('{carrier}', '{month}', {180 + (m * 37 + c * 29) % 90});"
                )
            for w, warehouse in enumerate(("Lyon", "Oslo", "Turin")):
                for day in (3, 17):
                    parcels = 5 + (m * 13 + c * 31 + w * 17 + day * 7) % 61
                    weight = round(10 + (m * 97.3 + c * 53.1 + w * 71.7 + day * 11.9) % 389, 2)
                    lines.append(
                        "INSERT INTO shipments (carrier, warehouse, shipped_on, parcels, weight_kg) VALUES "
                        f"('{carrier}', '{warehouse}', '{month}-{day:02d}', {parcels}, {weight});"
                    )
    return "\n".join(lines)


def energy() -> str:
    """English months, a code as the key, names in another table, quotas for some."""
    lines = [
        "CREATE TABLE buildings (code TEXT PRIMARY KEY, name TEXT, city TEXT);",
        "CREATE TABLE energy_readings (building_code TEXT REFERENCES buildings(code), month TEXT, kwh REAL,"
        " temperature_c REAL);",
        "CREATE TABLE quotas (building_code TEXT REFERENCES buildings(code), month TEXT, quota_kwh REAL);",
    ]
    buildings = [
        ("B1", "Town Hall", "Ghent"),
        ("B2", "Library", "Ghent"),
        ("B3", "Pool", "Bruges"),
        ("B4", "Depot", "Bruges"),
    ]
    lines += [f"INSERT INTO buildings VALUES {building};" for building in buildings]
    for m, month in enumerate(MONTH_NAMES * 2):
        year = 2025 + m // 12
        if m > 18:
            break
        for b, (code, _, _) in enumerate(buildings):
            kwh, warmth = 900 + (m * 613.7 + b * 1171.3) % 4000, (m * 7.3 + b * 5.1) % 28 - 2
            lines.append(f"INSERT INTO energy_readings VALUES ('{code}', '{month} {year}', {kwh:.1f}, {warmth:.1f});")
            if code != "B4":
                lines.append(f"INSERT INTO quotas VALUES ('{code}', '{month} {year}', 3000);")
    return "\n".join(lines)


MONTH_NAMES = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
               "November", "December"]  # fmt: skip


def tickets() -> str:
    """Names in another table by an undeclared reference, timestamps, two dates, values that are common words."""
    lines = [
        "CREATE TABLE agents (id INTEGER PRIMARY KEY, name TEXT, team TEXT);",
        "CREATE TABLE tickets (ticket_id INTEGER PRIMARY KEY, agent_id INTEGER, opened_on TEXT, closed_on TEXT,"
        " priority TEXT, status TEXT, hours REAL, satisfaction INTEGER);",
    ]
    for n, name in enumerate(("Ann Lee", "Bo Berg", "Cy Roy", "Di Fox"), start=1):
        lines.append(f"INSERT INTO agents VALUES ({n}, '{name}', '{('Network', 'Billing')[n % 2]}');")
    for n in range(240):
        opened = f"2026-{1 + n * 7 % 6:02d}-{1 + n * 5 % 27:02d}"
        status = ("open", "closed", "pending")[(n * n + n // 7) % 3]
        closed = f"'{opened[:8]}28 10:00:00'" if status == "closed" else "NULL"
        priority = ("low", "normal", "high")[(n // 5 + n) % 3]
        lines.append(
            f"INSERT INTO tickets VALUES ({n + 1}, {1 + (n * n + n) % 11 % 4}, '{opened} 09:00:00', {closed}, "
            f"'{priority}', '{status}', {0.2 + n * 37 % 90 / 10:.1f}, {1 + n * 3 % 5});"
        )
    return "\n".join(lines)


def invoices() -> str:
    """One amount, many customers (so that not all are shown), a date that is not called one."""
    lines = [
        "CREATE TABLE invoices (number TEXT PRIMARY KEY, customer TEXT, country TEXT, issued DATE, amount_eur REAL,"
        " status TEXT);"
    ]
    for n in range(180):
        day = f"{2024 + n % 3}-{1 + n * 5 % 9:02d}-{1 + n * 11 % 28:02d}"
        country, status = ("France", "Spain", "Italy")[n * 7 % 5 % 3], ("paid", "open", "overdue")[n * 5 % 7 % 3]
        amount = 20 + n * 379.37 % 2980
        lines.append(
            f"INSERT INTO invoices VALUES ('N{n:04d}', 'Firm {chr(65 + n % 23)}', '{country}', '{day}', {amount:.2f}, "
            f"'{status}');"
        )
    return "\n".join(lines)


WORLDS: dict[str, tuple[Callable[[], str], tuple[str, ...]]] = {
    "shipments": (shipments, ("shipments", "carrier_limits")),
    "energy": (energy, ("energy_readings", "buildings", "quotas")),
    "tickets": (tickets, ("tickets", "agents")),
    "invoices": (invoices, ("invoices",)),
}


# --- independent answers


def _s(f: Frames, month: str = "", carrier: str = "", warehouse: str = "") -> pd.DataFrame:
    d = f["shipments"]
    d = d[d.shipped_on.str.startswith(month)]
    d = d[d.carrier.isin(carrier.split(","))] if carrier else d
    return d[d.warehouse == warehouse] if warehouse else d


def _e(f: Frames, year: str = "", month: str = "") -> pd.DataFrame:
    d = f["energy_readings"].merge(f["buildings"], left_on="building_code", right_on="code")
    d["key"] = pd.to_datetime(d.month, format="%B %Y").dt.strftime("%Y-%m")
    return d[d.key.str.startswith(year) & d.key.str.startswith(month)]


def _t(f: Frames) -> pd.DataFrame:
    return f["tickets"].merge(f["agents"], left_on="agent_id", right_on="id")


def by(
    d: pd.DataFrame, group: str, column: str, how: str = "sum", top: int | None = None, *, least: bool = False
) -> Rows:
    found = d.groupby(group)[column].agg(how).reset_index().sort_values([column, group], ascending=[least, True])
    return list(found.head(top or len(found)).itertuples(index=False, name=None))


def over_limit(f: Frames, month: str) -> Rows:
    limits = f["carrier_limits"]
    sums = _s(f, month).groupby("carrier").parcels.sum().reset_index()
    both = sums.merge(limits[limits.month == month], on="carrier")
    both["over"] = both.parcels - both.max_parcels
    both = both[both.over > 0].sort_values("over", ascending=False)
    return list(both[["carrier", "parcels", "max_parcels", "over"]].itertuples(index=False, name=None))


def months_over_limit(f: Frames, carrier: str) -> Rows:
    d = _s(f, carrier=carrier).assign(month=lambda x: x.shipped_on.str[:7]).groupby("month").parcels.sum().reset_index()
    both = d.merge(f["carrier_limits"].query("carrier == @carrier"), on="month")
    both["over"] = both.parcels - both.max_parcels
    both = both[both.over > 0].sort_values("over", ascending=False)
    return list(both[["month", "parcels", "max_parcels", "over"]].itertuples(index=False, name=None))


def over_number(rows: Rows, number: float) -> Rows:
    return [(name, value, number, value - number) for name, value in rows if value > number]


def over_quota(f: Frames, month: str) -> Rows:
    d = _e(f, month=month).merge(f["quotas"], on=["building_code", "month"])
    d["over"] = d.kwh - d.quota_kwh
    d = d[d.over > 0].sort_values("over", ascending=False)
    return list(d[["name", "kwh", "quota_kwh", "over"]].itertuples(index=False, name=None))


def monthly(d: pd.DataFrame, date: str, column: str, how: str = "sum") -> Rows:
    return [(key, value) for key, value in d.groupby(d[date].str[:7])[column].agg(how).items()]


def year_sum(f: Frames, year: str) -> float:
    return float(f["invoices"][f["invoices"].issued.str[:4] == year].amount_eur.sum())


def one(value: Any) -> Rows:
    return [(value,)]


Expected = Callable[[Frames], Rows]
ASKED: dict[str, list[tuple[Expected, list[str]]]] = {
    "shipments": [
        (lambda f: by(_s(f, "2026-05"), "carrier", "parcels", top=3), [
            "Which three carriers moved the most parcels in the latest month with data?",
            "Top 3 carriers by parcels in May 2026",
            "List the 3 carriers with the highest number of parcels in 2026-05.",
            "In the most recent month with data, which three carriers had the most parcels?",
            "Show me the three carriers that carried the most parcels in May 2026, please.",
        ]),
        (lambda f: by(_s(f, "2026"), "carrier", "parcels", top=1, least=True), [
            "Which carrier shipped the fewest parcels in 2026?",
            "What is the carrier with the lowest total of parcels during 2026?",
        ]),
        (lambda f: by(_s(f, "2026"), "warehouse", "weight_kg", top=2), [
            "Which two warehouses had the highest total weight since January 2026?",
            "Top 2 warehouses by weight from January 2026 to May 2026",
            "Give me the two warehouses with the largest weight between 2026-01 and 2026-05.",
        ]),
        (lambda f: one(_s(f, "2026", "DHL").parcels.sum()), [
            "How many parcels did DHL ship in 2026?",
            "What is the total number of parcels for DHL in 2026?",
            "Total parcels of the carrier DHL in 2026",
        ]),
        (lambda f: one(len(_s(f, "2026-04"))), [
            "How many shipments were there in April 2026?",
            "What was the number of shipments in 2026-04?",
        ]),
        (lambda f: one(_s(f, "2026-04").weight_kg.mean()), [
            "What is the average weight per shipment in April 2026?",
            "What was the mean weight in April 2026?",
        ]),
        (lambda f: by(_s(f, "2026"), "carrier", "parcels"), [
            "Compare parcels by carrier in 2026.",
            "Show the number of parcels for each carrier in 2026",
            "How do the carriers compare in parcels in 2026?",
            "Break down parcels by carrier for 2026",
        ]),
        (lambda f: by(_s(f, "2026-05", "DHL,UPS"), "carrier", "parcels"), [
            "Compare DHL and UPS by parcels in the latest month with data.",
            "DHL versus UPS: parcels in May 2026",
            "Which shipped more parcels in May 2026, DHL or UPS?",
            "What is the difference in parcels between DHL and UPS in May 2026?",
        ]),
        (lambda f: by(_s(f, "2026-05", "DHL"), "warehouse", "parcels"), [
            "DHL's parcels by warehouse in May 2026",
            "Compare the parcels of DHL per warehouse in May 2026",
        ]),
        (lambda f: monthly(_s(f), "shipped_on", "parcels"), [
            "How did the number of parcels develop month by month?",
            "Show the monthly trend of parcels",
            "What is the trend in parcels over time?",
        ]),
        (lambda f: monthly(_s(f, warehouse="Oslo"), "shipped_on", "weight_kg"), [
            "How has the weight changed over time in the Oslo warehouse?",
            "Weight per month for Oslo",
        ]),
        (lambda f: [(m, v) for m, v in monthly(_s(f), "shipped_on", "parcels") if m in ("2026-03", "2026-04")], [
            "Compare parcels in March 2026 and April 2026.",
            "Parcels in April 2026 versus March 2026",
        ]),
        (lambda f: over_number(by(_s(f, "2026-05"), "carrier", "parcels"), 150), [
            "Which carriers exceeded 150 parcels in May 2026?",
            "Which carriers shipped more than 150 parcels in the latest month with data?",
            "Carriers above 150 parcels in 2026-05",
        ]),
        (lambda f: over_limit(f, "2026-04"), [
            "Which carriers exceeded their limit in April 2026?",
            "Did any carrier go over its parcel limit in April 2026, and by how much?",
            "Which carriers were above their limit in April 2026?",
        ]),
        (lambda f: months_over_limit(f, "UPS"), [
            "In which months did UPS exceed its limit?",
            "Which months was UPS over its limit?",
        ]),
    ],
    "energy": [
        (lambda f: by(_e(f, month="2026-07"), "name", "kwh", top=1), [
            "Which building used the most energy in the latest month with data?",
            "Which building had the highest electricity consumption in July 2026?",
        ]),
        (lambda f: one(_e(f, month="2026-03").query("name == 'Library'").kwh.sum()), [
            "How much electricity did the Library use in March 2026?",
            "What was the total kwh of the Library in March 2026?",
        ]),
        (lambda f: one(_e(f, "2025").temperature_c.mean()), [
            "What was the average temperature in 2025?",
            "What is the mean temperature during the year 2025?",
        ]),
        (lambda f: by(_e(f, "2026"), "city", "kwh"), [
            "Compare consumption by city in 2026",
            "How much energy did each city use in 2026?",
            "kwh per city in 2026",
        ]),
        (lambda f: [(k, v) for k, v in _e(f, "2026").groupby("key").kwh.sum().items()], [
            "How has energy consumption developed since January 2026?",
            "Show the monthly kwh in 2026",
        ]),
        (lambda f: over_quota(f, "2026-07"), [
            "Which buildings exceeded their quota in July 2026?",
            "Did any building exceed its quota in the latest month with data?",
        ]),
    ],
    "tickets": [
        (lambda f: one(f["tickets"].opened_on.str.startswith("2026-03").sum()), [
            "How many tickets were opened in March 2026?",
            "What is the number of tickets opened in March 2026?",
        ]),
        (lambda f: one(f["tickets"].closed_on.fillna("").str.startswith("2026-05").sum()), [
            "How many tickets were closed in May 2026?",
        ]),
        (lambda f: one((f["tickets"].priority == "high").sum()), [
            "How many high priority tickets are there?",
            "Number of tickets with priority high",
        ]),
        (lambda f: by(_t(f), "name", "ticket_id", "count", top=2), [
            "Which two agents have the most tickets?",
            "Top 2 agents by number of tickets",
        ]),
        (lambda f: by(_t(f), "team", "hours"), [
            "Total hours by team",
            "Compare the hours of the Billing and Network teams",
        ]),
        (lambda f: by(_t(f), "name", "satisfaction", "mean"), [
            "What is the average satisfaction per agent?",
            "Compare the average satisfaction by agent",
        ]),
        (lambda f: by(_t(f).query("status == 'open'"), "name", "ticket_id", "count"), [
            "How many open tickets does each agent have?",
        ]),
        (lambda f: monthly(f["tickets"], "opened_on", "ticket_id", "count"), [
            "Show the number of tickets opened per month",
            "How did the number of opened tickets develop over time?",
        ]),
    ],
    "invoices": [
        (lambda f: by(f["invoices"][f["invoices"].issued.str[:4] == "2025"], "customer", "amount_eur", top=5), [
            "Which five customers have the highest invoice amount in 2025?",
            "Top five customers by total amount in 2025",
        ]),
        (lambda f: one(f["invoices"].query("status == 'overdue'").amount_eur.sum()), [
            "What is the total amount of overdue invoices?",
            "What is the sum of the amounts of all overdue invoices?",
        ]),
        (lambda f: one((f["invoices"].status == "open").sum()), [
            "How many invoices are open?",
            "Number of open invoices",
        ]),
        (lambda f: one(f["invoices"].query("customer == 'Firm W'").amount_eur.sum()), [
            'What is the total invoice amount for "Firm W"?',
            "Total amount for customer Firm W",
        ]),
        (lambda f: by(f["invoices"], "country", "amount_eur", "mean"), [
            "Average invoice amount by country",
            "What is the average amount per country?",
        ]),
        (lambda f: [("2025", year_sum(f, "2025")), ("2026", year_sum(f, "2026"))], [
            "Compare invoice amounts of 2025 and 2026",
        ]),
    ],
}  # fmt: skip
CASES = [
    pytest.param(world, expected, task, id=task)
    for world, asked in ASKED.items()
    for expected, wordings in asked
    for task in wordings
]


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Agent]:
    return {world: make_agent(tmp_path_factory.mktemp(world), script()) for world, (script, _) in WORLDS.items()}


@pytest.mark.parametrize(("world", "expected", "task"), CASES)
def test_figures_are_those_of_an_independent_computation_and_each_is_cited(
    world: str, expected: Expected, task: str, agents: dict[str, Agent]
) -> None:
    agent, names = agents[world], WORLDS[world][1]
    done = agent.run(task)
    assert not done.refused, done.plan["message"]
    wanted = expected({name: agent.frame(name) for name in names})
    assert wanted, "the data has to have something to find"
    assert_rows(done, wanted)
    assert numbers_not_seen(done) == []
    assert all(judged["criterion_met"] for judged in done.judgements.values())
    assert 3 <= len(done.plan["steps"]) <= 6
    assert first_figure(wanted) in done.first_sentence
    assert re.search(r"\[\d+\]", done.first_sentence)


def first_figure(wanted: Rows) -> str:
    """What an answer has to begin with: the first name, or the figure as it is written."""
    figure = wanted[0][0]
    return figure if isinstance(figure, str) else f"{round(float(figure), 4):,}".removesuffix(".0")


def assert_rows(done: Done, wanted: Rows) -> None:
    """Some query showed exactly these rows: names equal, figures equal to a ten-thousandth."""
    shown = done.tables()
    assert any(_same_rows(rows, wanted) for rows in shown), f"wanted {wanted}, seen {shown}"


def _same_rows(rows: list[list[Any]], wanted: Rows) -> bool:
    return len(rows) == len(wanted) and all(
        len(row) >= len(want) and all(_same(a, b) for a, b in zip(row, want, strict=False))
        for row, want in zip(rows, wanted, strict=True)
    )


def _same(shown: Any, wanted: Any) -> bool:
    return shown == wanted if isinstance(wanted, str) else shown == pytest.approx(float(wanted), abs=1e-4)
