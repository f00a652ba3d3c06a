import signal
import subprocess
import sys
from pathlib import Path

import pytest
from span_makers import TRACE

from traces.store import open_span_store

WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from span_makers import chat, ingest, span_id
from traces.store import open_span_store

with open_span_store(sys.argv[1]) as store:
    for number in range(1, 10_000):
        ingest(store, chat(number))
        print(span_id(number), flush=True)
"""
SUPPORT = Path(__file__).parents[1] / "support"


@pytest.mark.parametrize("acknowledged", [1, 2, 7, 40])
def test_a_span_that_was_acknowledged_survives_the_kill(tmp_path: Path, acknowledged: int) -> None:
    url = f"sqlite:///{tmp_path / 'spans.db'}"
    command = [sys.executable, "-c", WRITER, url, str(SUPPORT)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        told = [writer.stdout.readline().strip() for _ in range(acknowledged)]
        writer.send_signal(signal.SIGKILL)
        told += writer.stdout.read().split()
    assert writer.returncode == -signal.SIGKILL
    with open_span_store(url) as store:
        stored = {span.span_id for span in store.spans("p", TRACE)}
    assert len(told) >= acknowledged
    assert set(told) <= stored
    assert len(stored - set(told)) <= 1, "one was written and not acknowledged yet"
