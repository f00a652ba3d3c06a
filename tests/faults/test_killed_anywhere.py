"""A run is killed with SIGKILL at every boundary that it has, restarted, and must come out as if nothing had been."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.faults

SUPPORT = Path(__file__).parents[1] / "support"
MOST_POINTS = 200
KINDS = [
    "before a node",
    "after a node",
    "after a task's write",
    "before a checkpoint",
    "after a checkpoint",
    "before the effect",
    "after the effect",
    "before committed",
    "after committed",
    "after a transaction",
]
EVERY = {"after a transaction": 5}
"""There are many; each of the others is a boundary of its own."""
IN_THE_CALL = ("before-the-effect", "after-the-effect", "before-committed")
FREE_KINDS = ["after a node", "after a task's write", "after the effect", "before committed", "after committed"]
CASES = [("plan_execute", kind) for kind in KINDS] + [("react", kind) for kind in FREE_KINDS]


@dataclass
class Children:
    """Makes children that are killed at a point, and children that go on after them."""

    process: "subprocess.Popen[str]"

    def drive(self, home: Path, **order: Any) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"home": str(home), **order}) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@pytest.fixture(scope="module")
def children(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Children]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PLANDECK_")}
    path = os.pathsep.join([str(SUPPORT), str(SUPPORT.parents[1])])
    process = subprocess.Popen(
        [sys.executable, str(SUPPORT / "killed_at.py"), str(tmp_path_factory.mktemp("template"))],
        env={**kept, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield Children(process)
        assert process.stdin is not None
        process.stdin.close()


def outcome_of(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((home / "outcome.json").read_text())
    return found


def log_of(home: Path) -> list[list[str]]:
    return [line.split() for line in (home / "log").read_text().splitlines()]


def assert_nothing_done_was_done_again(log: list[list[str]]) -> None:
    """What a checkpoint says is completed causes no model or tool call again."""
    durable: set[str] = set()
    for line in log:
        if line[0] == "durable":
            durable.add(line[1])
        assert not (line[0] in ("tool", "model") and line[1] in durable), line


def assert_effects_happened_once(log: list[list[str]]) -> None:
    """Mail is never sent twice; an order may be repeated under the same key, but not once it is committed."""
    committed: set[str] = set()
    keys: dict[str, list[str]] = {"mail": [], "order": []}
    for line in log:
        if line[0] == "committed":
            committed.add(line[2])
        elif line[0] == "tool" and line[2] in keys:
            assert line[3] not in committed, line
            keys[line[2]].append(line[3])
    assert len(keys["mail"]) == 1, keys
    assert len(keys["order"]) in (1, 2), keys
    assert len(set(keys["order"])) == 1, keys
    (killed,) = [line for line in log if line[0] == "killed"]
    if killed[1] in IN_THE_CALL[1:] and killed[2] == "order":
        assert len(keys["order"]) == 2, "an idempotent call that was cut off is made again"
    asked = sum(line == ["asked", "tool_call", "outcome"] for line in log)
    if killed[1] != "after-a-transaction":
        assert asked == (killed[1] in IN_THE_CALL and killed[2] == "mail"), "asked about unknown outcomes only"


@pytest.mark.parametrize(("mode", "kind"), CASES)
@pytest.mark.parametrize("engine", ["langgraph", "loop"])
def test_a_run_killed_at_any_boundary_comes_out_the_same(
    tmp_path: Path, children: Children, engine: str, mode: str, kind: str
) -> None:
    killed = 0
    for nth in range(1, MOST_POINTS, EVERY.get(kind, 1)):
        home = tmp_path / str(killed + 1)
        ended = children.drive(home, engine=engine, mode=mode, kind=kind, nth=nth)
        if ended == 0:
            break
        assert ended == -signal.SIGKILL
        killed += 1
        assert children.drive(home, engine=engine, mode=mode) == 0, log_of(home)
    assert killed >= 3
    expected = outcome_of(tmp_path / str(killed + 1))
    assert (expected["status"], expected["engine"]) == ("succeeded", engine)
    for nth in range(1, killed + 1):
        home = tmp_path / str(nth)
        found, log = outcome_of(home), log_of(home)
        told = f"point {nth}\n" + "\n".join(" ".join(line) for line in log)
        same = ("status", "error", "answer", "engine", "steps", "sources", "unapplied")
        assert {name: found[name] for name in same} == {name: expected[name] for name in same}, told
        completed = Counter(step for step, status in found["attempts"] if status == "completed")
        assert set(completed.values()) <= {1}, told
        assert not {status for _, status in found["attempts"]} & {"failed", "running"}, told
        try:
            assert_nothing_done_was_done_again(log)
            assert_effects_happened_once(log)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{told}") from error
