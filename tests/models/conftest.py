"""A database whose tables the offline model's code does not name, and a way to put a task to it from end to end."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from langchain_openai import ChatOpenAI
from scripted_server import ScriptedServer, scripted_server

from agent.models.client import ask_function, build_model
from agent.models.providers import PROVIDERS
from agent.planning.prompts import (
    JUDGE_STEP,
    PROPOSE_PLAN,
    answer_messages,
    execute_messages,
    judge_messages,
    plan_messages,
)
from agent.settings import Settings
from agent.tools.calculator import CALCULATOR
from agent.tools.calling import call_tool
from agent.tools.registry import ToolContext, ToolRegistry
from agent.tools.report import REPORT
from agent.tools.sql import sql_tool

SCHEMA = """
CREATE TABLE shipments (
    id INTEGER PRIMARY KEY, carrier TEXT, warehouse TEXT, shipped_on DATE, parcels INTEGER, weight_kg REAL
);
CREATE TABLE energy_readings (site TEXT, month TEXT, consumption_kwh REAL);
CREATE TABLE tickets (id INTEGER PRIMARY KEY, team TEXT, priority TEXT, opened_on DATE, hours REAL);
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
CREATE TABLE invoices (
    id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), issued_on DATE, amount_eur REAL
);
CREATE TABLE credit_limits (customer_id INTEGER REFERENCES customers(id), limit_eur REAL);
"""
MONTHS = ["2026-03", "2026-04", "2026-05", "2026-06"]
ENGLISH = ["Mar 2026", "Apr 2026", "May 2026", "Jun 2026"]
CARRIERS = ["Nordpost", "Velox", "Harrow", "Quill"]
WAREHOUSES = ["Lisbon", "Tallinn", "Graz"]
CUSTOMERS = [
    ("Birch", "Austria"),
    ("Cobalt", "Estonia"),
    ("Dune", "Austria"),
    ("Elm", "Portugal"),
    ("Flint", "Estonia"),
]


@dataclass
class Told:
    """A task put to the offline model, from plan to answer."""

    plan: dict[str, Any]
    observations: list[dict[str, Any]] = field(default_factory=list)
    judgements: list[dict[str, Any]] = field(default_factory=list)
    answer: str = ""

    @property
    def main(self) -> list[list[Any]]:
        """The rows that answer the task."""
        rows: list[list[Any]] = self.observations[1]["data"]["rows"]
        return rows


class Bench:
    """One database, its tools and the offline model."""

    def __init__(self, database: Path, folder: Path) -> None:
        self.registry = ToolRegistry([sql_tool(database), CALCULATOR, REPORT])
        self.described = self.registry.describe()
        self.model = build_model(Settings(provider="offline"))
        self.folder = folder

    def plan(self, task: str) -> dict[str, Any]:
        answer = ask_function(self.model, PROVIDERS["offline"], plan_messages(task, self.described, 8), PROPOSE_PLAN)
        assert isinstance(answer, dict)
        return answer

    def tell(self, task: str) -> Told:
        told = Told(self.plan(task))
        assert told.plan["kind"] == "plan", told.plan["message"]
        earlier: list[dict[str, Any]] = []
        for n, step in enumerate(told.plan["steps"], start=1):
            tool = self.registry[step["tool"]]
            offered = {"type": "function", "function": {"name": tool.name, "parameters": tool.schema}}
            asked = self.model.bind_tools([offered]).invoke(execute_messages(task, told.plan["goal"], step, earlier))
            seen = call_tool(tool, asked.tool_calls[0]["args"], self._context(step["id"])).to_json()
            judged = ask_function(self.model, PROVIDERS["offline"], judge_messages(step, seen), JUDGE_STEP)
            assert isinstance(judged, dict)
            about = {"step_id": step["id"], "tool": step["tool"], "key_result": judged["key_result"]}
            told.judgements.append(judged)
            told.observations.append({"n": n, **about, "text": seen["text"], "data": seen["data"]})
            earlier.append({**about, "description": step["description"], "status": "completed", "observation": seen})
        steps = [{**step, "status": "completed"} for step in told.plan["steps"]]
        told.answer = str(self.model.invoke(answer_messages(task, told.plan["goal"], steps, told.observations)).text)
        return told

    def _context(self, step_id: str) -> ToolContext:
        return ToolContext("r1", step_id, 1, self.folder, lambda: datetime.now(UTC))


@pytest.fixture(scope="session")
def frames() -> dict[str, pd.DataFrame]:
    """The same rows for pandas."""
    chance = random.Random(7)
    shipments = [
        (carrier, warehouse, f"{month}-{day:02d}", chance.randint(1, 90), round(chance.uniform(3, 250), 2))
        for month in MONTHS
        for carrier in CARRIERS
        for warehouse in WAREHOUSES
        for day in (3, 17)
        if (carrier, month) != ("Quill", "2026-06")
    ]
    readings = [
        (site, month, round(chance.uniform(500, 4_000), 1)) for site in ("Mill", "Dock", "Barn") for month in ENGLISH
    ]
    tickets = [
        (team, priority, f"{month}-{chance.randint(1, 28):02d}", round(chance.uniform(0.5, 9), 2))
        for month in MONTHS
        for team in ("Red", "Blue", "Green")
        for priority in ("urgent", "routine")
        for _ in range(chance.randint(1, 6))
    ]
    invoices = [
        (n, f"{month}-{chance.randint(1, 28):02d}", round(chance.uniform(100, 2_000), 2))
        for month in MONTHS
        for n in range(1, 6)
        for _ in range(chance.randint(1, 3))
    ]
    return {
        "shipments": pd.DataFrame(shipments, columns=["carrier", "warehouse", "shipped_on", "parcels", "weight_kg"]),
        "energy_readings": pd.DataFrame(readings, columns=["site", "month", "consumption_kwh"]),
        "tickets": pd.DataFrame(tickets, columns=["team", "priority", "opened_on", "hours"]),
        "customers": pd.DataFrame([(n, *c) for n, c in enumerate(CUSTOMERS, 1)], columns=["id", "name", "country"]),
        "invoices": pd.DataFrame(invoices, columns=["customer_id", "issued_on", "amount_eur"]),
        "credit_limits": pd.DataFrame(
            [(1, 3_000.0), (2, 12_000.0), (3, 5_500.0), (4, 90_000.0)], columns=["customer_id", "limit_eur"]
        ),
    }


@pytest.fixture(scope="session")
def bench(frames: dict[str, pd.DataFrame], tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The model over the database."""
    folder = tmp_path_factory.mktemp("offline")
    with closing(sqlite3.connect(folder / "data.db")) as connection, connection:
        connection.executescript(SCHEMA)
        for name, frame in frames.items():
            frame.to_sql(name, connection, if_exists="append", index=False)
    return Bench(folder / "data.db", folder)


@pytest.fixture(scope="session")
def listening() -> Iterator[ScriptedServer]:
    """A provider on loopback for all tests, since a client takes long to make."""
    with scripted_server() as script:
        yield script


@pytest.fixture
def server(listening: ScriptedServer) -> Iterator[ScriptedServer]:
    """A provider on loopback that answers by a script."""
    yield listening
    listening.forget()


SECRET = "sk-top-secret-1"


@pytest.fixture
def openai_key(monkeypatch: pytest.MonkeyPatch) -> str:
    """A key that must not be told to anybody but the provider."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    return SECRET


@pytest.fixture(scope="session")
def openai_client(listening: ScriptedServer) -> ChatOpenAI:
    """The client of the entry `openai`, asking the scripted server."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OPENAI_API_KEY", SECRET)
        return build_model(Settings(provider="openai", base_url=f"{listening.url}/v1"))


@pytest.fixture
def model(openai_client: ChatOpenAI, server: ScriptedServer, openai_key: str) -> ChatOpenAI:
    """The client, the script and the key of one test."""
    return openai_client
