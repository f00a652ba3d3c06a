"""Looking at a store must not take its locks from a writer of the same process."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

from agent.checkpoints.stores import open_store

ANOTHER_PROCESS = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("INSERT INTO notes VALUES (?)", (sys.argv[2],))
connection.commit()
connection.close()
"""


def note_from_another_process(file: Path, text: str) -> None:
    subprocess.run([sys.executable, "-c", ANOTHER_PROCESS, str(file), text], check=True)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc to see which files are open")
def test_a_look_leaves_the_locks_of_a_writer_in_this_process(tmp_path: Path) -> None:
    file = tmp_path / "checkpoints.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        SqliteSaver(writer).setup()
        writer.execute("CREATE TABLE notes (text TEXT)")
        for number in range(3):
            assert open_store(str(file), "own").threads().items == ()
            note_from_another_process(file, f"other {number}")
            writer.execute("INSERT INTO notes VALUES (?)", (f"own {number}",))
        gone = [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
        assert [name for name in gone if str(file) in name and "deleted" in name] == []
    with closing(sqlite3.connect(file)) as reader:
        assert reader.execute("SELECT count(*) FROM notes").fetchone() == (6,)
        assert reader.execute("PRAGMA integrity_check").fetchone() == ("ok",)
