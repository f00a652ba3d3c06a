import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent.tools.registry import ToolContext
from agent.tools.sample import SamplePaths, ensure_sample


@pytest.fixture(scope="session")
def fresh_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("fresh")
    ensure_sample(home)
    return home


@pytest.fixture
def sample(tmp_path: Path, fresh_home: Path) -> SamplePaths:
    """A sample of the test's own; copied, since making one waits for the disk."""
    shutil.copytree(fresh_home, tmp_path / "home")
    return ensure_sample(tmp_path / "home")


@pytest.fixture
def tool_context(tmp_path: Path) -> ToolContext:
    artifacts = tmp_path / "artifacts"
    artifacts.mkdir()
    return ToolContext(
        run_id="r-1",
        step_id="s1",
        attempt=1,
        artifacts=artifacts,
        now=lambda: datetime(2026, 12, 1, tzinfo=UTC),
    )
