from pathlib import Path

import pytest
from langgraph.checkpoint.sqlite import SqliteSaver

from agent.errors import ConfigurationError, NotFoundError
from agent.settings import load_settings
from dashboard.named_stores import OWN, named_stores, open_named, store_locations, store_problems


def test_the_own_store_comes_first_and_a_graph_is_no_part_of_an_address(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path, stores=" a=/x/a.db , b=postgresql://h/db#mine,")
    assert store_locations(settings) == {
        OWN: str(tmp_path / "checkpoints.db"),
        "a": "/x/a.db",
        "b": "postgresql://h/db",
    }


@pytest.mark.parametrize("stores", ["nothing", "=x.db", "a=mysql://h/db", "a=", f"{OWN}=x.db", "a=x.db,a=y.db"])
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


def test_wrong_entries_and_stores_that_do_not_answer_are_told_without_passwords_and_the_rest_stays(
    tmp_path: Path,
) -> None:
    right = tmp_path / "right.db"
    with SqliteSaver.from_conn_string(str(right)) as saver:
        saver.setup()
    entries = [
        f"right={right}",
        "postgresql://u:s3cret@h/db",
        "odd=mysql://u:s3cret@h/db",
        f"lost={tmp_path / 'lost.db'}",
        "far=postgresql://u:s3cret@127.0.0.1:1/db",
    ]
    settings = load_settings(home=tmp_path, stores=",".join(entries))
    assert list(named_stores(settings).locations) == [OWN, "right", "lost", "far"]
    problems = store_problems(settings)
    assert len(problems) == 4
    for problem, words in zip(problems, ("an address", "odd: mysql://", "lost.db", "Store far"), strict=True):
        assert words in problem
        assert "s3cret" not in problem


def test_nothing_named_has_no_problems(tmp_path: Path) -> None:
    assert store_problems(load_settings(home=tmp_path)) == []
