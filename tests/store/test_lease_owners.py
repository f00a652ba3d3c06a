import os
import subprocess
import sys
from pathlib import Path

import pytest
from store_records import a_run

from agent.records import RunStatus
from agent.store.gateway import RecordStore
from agent.store.owners import is_dead, this_process

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")
SAY_WHO = "from agent.store.owners import this_process; print(this_process(), flush=True); input()"


def another_process() -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-c", SAY_WHO],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_this_process_lives() -> None:
    assert this_process() == this_process()
    assert str(os.getpid()) in this_process().split(":")
    assert not is_dead(this_process())


@needs_proc
def test_a_process_lives_until_it_is_killed_even_before_its_parent_noticed() -> None:
    process, owner = another_process()
    assert not is_dead(owner)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_dead(owner), "a zombie does no work"
    process.communicate()
    assert is_dead(owner)


@needs_proc
def test_a_later_process_with_the_same_number_is_another_one() -> None:
    host, pid, started = this_process().split(":")
    assert is_dead(f"{host}:{pid}:{int(started) - 1}")
    assert not is_dead(f"{host}:{pid}:?"), "where the system does not tell when it began, the number decides"


@pytest.mark.parametrize("owner", ["elsewhere:1:1", "elsewhere:99999999:1", "", "x", ":::", "a:b:c"])
def test_nothing_is_said_of_another_hosts_process(owner: str) -> None:
    assert not is_dead(owner)


def test_the_lease_of_a_killed_process_is_free_at_once(record_store: RecordStore) -> None:
    record_store.add_run(a_run(status=RunStatus.EXECUTING))
    process, owner = another_process()
    assert record_store.take_lease("default", "r-1", owner, 3600) == 1
    assert record_store.runnable() == []
    process.kill()
    process.communicate()
    assert record_store.runnable() == [("default", "r-1")]
    assert record_store.take_lease("default", "r-1", this_process(), 30) == 2
