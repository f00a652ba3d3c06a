"""A task from planning to the answer, as the graph asks the offline model, over a database that a test makes."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from agent.models.client import ask_function, build_model
from agent.models.providers import PROVIDERS
from agent.planning.parsing import parse_plan
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
from agent.tools.registry import Observation, Tool, ToolContext, ToolError, ToolRegistry
from agent.tools.report import REPORT
from agent.tools.search import search_tool
from agent.tools.sql import sql_tool

NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?![\w])")


@dataclass
class Done:
    """What came of a task."""

    plan: dict[str, Any]
    observations: dict[str, Observation] = field(default_factory=dict)
    judgements: dict[str, dict[str, Any]] = field(default_factory=dict)
    answer: str = ""

    @property
    def refused(self) -> bool:
        return not self.plan.get("steps")

    @property
    def cells(self) -> list[Any]:
        """Every cell of every query's result."""
        found = [
            item.data["rows"]
            for item in self.observations.values()
            if isinstance(item.data, dict) and "rows" in item.data
        ]
        return [cell for rows in found for row in rows for cell in row]

    @property
    def first_sentence(self) -> str:
        return self.answer.split("\n", 1)[0]

    def tables(self) -> list[list[list[Any]]]:
        return [i.data["rows"] for i in self.observations.values() if isinstance(i.data, dict) and "rows" in i.data]


@dataclass
class Agent:
    """The offline model with its tools."""

    registry: ToolRegistry
    folder: Path
    database: Path

    def __post_init__(self) -> None:
        self.model = build_model(Settings(provider="offline"))

    def frame(self, table: str) -> pd.DataFrame:
        with closing(sqlite3.connect(self.database)) as connection:
            return pd.read_sql_query(f"SELECT * FROM {table}", connection)

    def plan(self, task: str, **more: Any) -> dict[str, Any]:
        messages = plan_messages(task, self.registry.describe(), more.pop("max_steps", 8), **more)
        answer = ask_function(self.model, PROVIDERS["offline"], messages, PROPOSE_PLAN)
        assert isinstance(answer, dict), answer
        return answer

    def run(self, task: str, **more: Any) -> Done:
        done = Done(more.pop("plan", None) or self.plan(task, **more))
        if done.refused:
            done.answer = done.plan.get("message", "")
            return done
        parsed = parse_plan(done.plan, self.registry)
        assert parsed.plan is not None, parsed.errors
        assert parsed.repairs == ()
        goal, steps = done.plan["goal"], done.plan["steps"]
        for step in steps:
            done.observations[step["id"]] = self._execute(task, goal, step, self._earlier(steps, step, done))
            seen = done.observations[step["id"]].to_json()
            judged = ask_function(self.model, PROVIDERS["offline"], judge_messages(step, seen), JUDGE_STEP)
            assert isinstance(judged, dict)
            done.judgements[step["id"]] = judged
        done.answer = self._answer(task, goal, steps, done)
        return done

    def _earlier(self, steps: list[dict[str, Any]], step: dict[str, Any], done: Done) -> list[dict[str, Any]]:
        earlier = []
        for other in steps:
            if other["id"] in done.observations:
                judged = done.judgements[other["id"]]
                entry = {"step_id": other["id"], "description": other["description"], "tool": other["tool"],
                         "status": "completed", "key_result": judged["key_result"],
                         "criterion_met": judged["criterion_met"]}  # fmt: skip
                if other["id"] in step["dependencies"]:
                    entry["observation"] = done.observations[other["id"]].to_json()
                earlier.append(entry)
        return earlier

    def _execute(self, task: str, goal: str, step: dict[str, Any], earlier: list[dict[str, Any]]) -> Observation:
        messages: list[Any] = execute_messages(task, goal, step, earlier)
        if step["tool"] is None:
            return Observation(text=str(self.model.invoke(messages).text))
        tool: Tool = self.registry[step["tool"]]
        offered = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
        answer = self.model.bind_tools([{"type": "function", "function": offered}]).invoke(messages)
        assert len(answer.tool_calls) == 1, answer.text
        call = answer.tool_calls[0]
        for name, value in step["args"].items():
            assert call["args"][name] == value
        context = ToolContext(
            run_id="r",
            step_id=step["id"],
            attempt=1,
            artifacts=self.folder,
            now=lambda: datetime(2026, 9, 1, tzinfo=UTC),
        )
        try:
            return tool.run(tool.validate(call["args"]), context)
        except ToolError as error:
            raise AssertionError(f"{error.message} {json.dumps(call['args'])}") from error

    def _answer(self, task: str, goal: str, steps: list[dict[str, Any]], done: Done) -> str:
        reports = [
            {"id": s["id"], "description": s["description"], "status": "completed", "error": None} for s in steps
        ]
        seen = [
            {"n": n, "step_id": s["id"], "tool": s["tool"], "key_result": done.judgements[s["id"]]["key_result"],
             "text": done.observations[s["id"]].text, "data": done.observations[s["id"]].data}
            for n, s in enumerate(steps, start=1)
        ]  # fmt: skip
        return str(self.model.invoke(answer_messages(task, goal, reports, seen)).text)


def numbers_not_seen(done: Done) -> list[str]:
    """Numbers of the answer that stand in none of the observations that it cites."""
    cited = {int(n) for n in re.findall(r"\[(\d+)\]", done.answer)}
    seen = list(done.observations.values())
    texts = " ".join(seen[n - 1].text + json.dumps(seen[n - 1].data) for n in cited)
    there = {float(found.replace(",", "")) for found in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", texts)}
    there |= {abs(value) for value in there}
    words = re.sub(r"\[\d+\]", "", done.answer)
    words = re.sub(r"\d{4}-\d\d(-\d\d)?", lambda found: "" if found[0] in texts else found[0], words)
    return [found for found in NUMBER.findall(words) if float(found.replace(",", "")) not in there]


def make_agent(folder: Path, script: str) -> Agent:
    """An agent over a database that a script makes, and two policies."""
    database, policies = folder / "some.db", folder / "policies"
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executescript(script)
    policies.mkdir()
    (policies / "LIM-01.md").write_text("# LIM-01 Limits\n\n1.1 A carrier over its limit is told in writing.\n")
    (policies / "TRV-02.md").write_text("# TRV-02 Travel\n\n1.1 Train before plane below 600 km.\n")
    registry = ToolRegistry([sql_tool(database), search_tool(policies), CALCULATOR, REPORT])
    return Agent(registry, folder, database)
