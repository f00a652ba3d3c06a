"""Either engine for tests that ask for it."""

import pytest
from engines import no_graph


@pytest.fixture(params=["langgraph", "loop"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The engine that runs of this test begin with."""
    if request.param == "loop":
        monkeypatch.setattr("agent.run.graph.build_graph", no_graph)
    name: str = request.param
    return name
