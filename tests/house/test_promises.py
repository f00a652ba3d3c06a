import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COUNTS = {"P": 15, "X": 15, "M": 6, "A": 10, "R": 8, "T": 9, "O": 10, "B": 12}
ROW = re.compile(r"^\| ([PXMARTOB]\d+) \| (.+?) \| (.+?) \|$", re.MULTILINE)


def rows() -> dict[str, tuple[str, str]]:
    return {name: (state, shown) for name, state, shown in ROW.findall((ROOT / "docs/promises.md").read_text())}


def test_every_promise_is_listed_once() -> None:
    names = [match[0] for match in ROW.findall((ROOT / "docs/promises.md").read_text())]
    assert sorted(names) == sorted(f"{letter}{n}" for letter, last in COUNTS.items() for n in range(1, last + 1))


@pytest.mark.parametrize("name", [name for name, (state, _) in rows().items() if state != "later"])
def test_the_tests_that_show_a_promise_exist(name: str) -> None:
    shown = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", rows()[name][1])
    assert shown, f"{name} names no test"
    for path, function in shown:
        tree = ast.parse((ROOT / path).read_text())
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert function in functions, f"{name}: {path} has no {function}"
