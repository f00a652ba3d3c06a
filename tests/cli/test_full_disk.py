import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from served import environment, free_port

MOUNT = 'mount -t tmpfs -o size=256k small "$0" && (head -c 1m /dev/zero >"$0/filler" 2>/dev/null || true) && exec "$@"'
LIMIT = (
    "import os, resource, sys\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\nos.execv(sys.argv[1], sys.argv[1:])"
)


def small_disk(folder: Path) -> list[str]:
    """Runs a command for which this folder is a disk of its own without a free byte."""
    own = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    prefix = ["unshare", *own, "--mount", "sh", "-c", MOUNT, str(folder)]
    try:
        subprocess.run([*prefix, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this machine lets nobody mount")
    return prefix


def no_bytes(_: Path) -> list[str]:
    """Runs a command for which no file can grow, wherever it is."""
    return [sys.executable, "-c", LIMIT]


@pytest.fixture(params=[small_disk, no_bytes])
def full(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    prefix: list[str] = request.param(tmp_path)
    return prefix


def called(full: list[str], home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*full, sys.executable, "-m", "dashboard.cli", *words]
    settings = environment(home, PLANDECK_PORT=str(free_port()))
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(
    "words",
    [["runs"], ["usage"], ["run", "Which region sold most in 2026?"], ["serve"]],
    ids=lambda words: words[0],
)
def test_a_full_disk_is_one_line_with_the_folder_and_the_space_that_is_needed(
    full: list[str], tmp_path: Path, words: list[str]
) -> None:
    done = called(full, tmp_path, *words)
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert f"needs 200 MB free in {tmp_path}" in done.stderr
    assert "PLANDECK_HOME" in done.stderr


def test_the_doctor_names_the_folder_and_the_space_that_is_needed(tmp_path: Path) -> None:
    done = called(small_disk(tmp_path), tmp_path, "doctor", "--json")
    found = {check["name"]: check for check in json.loads(done.stdout)}
    assert done.returncode == 1
    assert found["home"]["detail"].startswith(f"The disk is nearly full. Plandeck needs 200 MB free in {tmp_path}")
