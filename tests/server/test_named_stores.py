from pathlib import Path

import pytest

from agent.errors import ConfigurationError, NotFoundError
from agent.settings import load_settings
from dashboard.named_stores import OWN, open_named, store_locations


def test_the_own_store_comes_first_and_a_graph_is_no_part_of_an_address(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path, stores=" a=/x/a.db , b=postgresql://h/db#mine,")
    assert store_locations(settings) == {
        OWN: str(tmp_path / "checkpoints.db"),
        "a": "/x/a.db",
        "b": "postgresql://h/db",
    }


@pytest.mark.parametrize("stores", ["nothing", "=x.db", "a=", f"{OWN}=x.db", "a=x.db,a=y.db"])
def test_a_wrong_entry_is_named(tmp_path: Path, stores: str) -> None:
    with pytest.raises(ConfigurationError, match="PLANDECK_STORES has"):
        store_locations(load_settings(home=tmp_path, stores=stores))


def test_a_store_is_found_by_name_path_or_url(tmp_path: Path) -> None:
    file = tmp_path / "any.db"
    file.touch()
    settings = load_settings(home=tmp_path, stores=f"theirs={file}")
    assert open_named(settings).name == OWN
    assert open_named(settings, "theirs").name == "theirs"
    assert open_named(settings, str(file)).name == str(file)
    with pytest.raises(NotFoundError, match="plandeck, theirs"):
        open_named(settings, "nobody's")
