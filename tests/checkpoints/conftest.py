import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from checkpoint_graphs import write_threads
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver

from agent.checkpoints.stores import CheckpointStore, open_store

CASES = Path(__file__).parents[1] / "cases"


@pytest.fixture
def case(tmp_path: Path) -> Callable[[str], CheckpointStore]:
    """Opens a copy of the store of a case, so that a fault of the reader cannot harm the case."""

    def opened(name: str) -> CheckpointStore:
        (found,) = CASES.glob(f"{name}_*/db.sqlite")
        shutil.copy(found, tmp_path / f"{name}.db")
        return open_store(str(tmp_path / f"{name}.db"), name)

    return opened


@pytest.fixture(params=["sqlite", "postgresql"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> CheckpointStore:
    """A store with one thread of each kind, written by the real saver of either database."""
    if request.param == "sqlite":
        location = str(tmp_path / "made.db")
        with SqliteSaver.from_conn_string(location) as saver:
            write_threads(saver)
    else:
        location = request.getfixturevalue("postgresql_url")
        with PostgresSaver.from_conn_string(location) as saver:
            saver.setup()
            write_threads(saver)
    return open_store(location, "made")


@pytest.fixture
def saver(tmp_path: Path) -> Iterator[SqliteSaver]:
    with SqliteSaver.from_conn_string(str(tmp_path / "own.db")) as saver:
        yield saver


@pytest.fixture
def store(tmp_path: Path, saver: SqliteSaver) -> CheckpointStore:
    saver.setup()
    return open_store(str(tmp_path / "own.db"), "own")


@pytest.fixture
def loaded_dump(postgresql_url: str) -> str:
    """The database of an old `PostgresSaver`, restored."""
    (dump,) = CASES.glob("B30_*/dump.sql")
    statements = [line for line in dump.read_text().splitlines() if not line.startswith("\\")]
    with psycopg.connect(postgresql_url) as connection:
        connection.execute("\n".join(statements).encode())
    return postgresql_url
