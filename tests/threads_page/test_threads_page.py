import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkpoint_graphs import chain, thread, write_threads
from engines import no_graph
from langgraph.checkpoint.sqlite import SqliteSaver
from runs import approve, plan, run_to_pause, small_plandeck, step
from streamlit.testing.v1 import AppTest

from agent.checkpoints.stores import open_store
from agent.settings import load_settings
from dashboard.services import close_services, use_settings

VIEW = Path(__file__).parents[2] / "dashboard" / "threads_page" / "view.py"


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    path = tmp_path / "strange.db"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        write_threads(saver)
    return path


@pytest.fixture
def served_stores(tmp_path: Path, strange: Path) -> Iterator[None]:
    use_settings(load_settings(home=tmp_path / "home", stores=f"strange={strange}, lost={tmp_path / 'lost.db'}"))
    yield
    close_services()


def page(**selected: str) -> AppTest:
    test = AppTest.from_file(str(VIEW), default_timeout=30)
    for name, value in selected.items():
        test.query_params[name] = value
    return test.run()


def title(test: AppTest) -> str:
    return str(test.title[0].value).replace("\u00a0", " ").replace("\\", "")


def text_of(test: AppTest) -> str:
    words = [*(m.value for m in test.markdown), *(c.value for c in test.caption)]
    return re.sub(r"\\(?=\W)", "", "\n".join(map(str, words))).replace("\u00a0", " ")


def facts(test: AppTest) -> str:
    return test.table[0].value.to_string().replace("\u00a0", " ")


pytestmark = pytest.mark.usefixtures("served_stores")


def test_an_empty_own_store_says_what_would_fill_it() -> None:
    test = page()
    assert title(test) == "No thread here yet"
    assert "PLANDECK_STORES" in text_of(test)
    assert not test.exception


def test_the_threads_of_a_strangers_store() -> None:
    test = page(store="strange")
    assert title(test) == "9 threads, 2 wait for a person"
    names = list(test.dataframe[0].value["Thread"])
    assert names[0] == "nested"
    assert len(names) == 9


def test_search_is_in_the_address() -> None:
    test = page(store="strange")
    test.text_input[0].set_value("AN").run()
    assert title(test) == "2 threads with “AN” in their ids"
    assert test.query_params["q"] == "AN"


def test_a_thread_opens_at_its_newest_checkpoint() -> None:
    test = page(store="strange", thread="line")
    assert title(test) == "line"
    assert "5 checkpoints" in text_of(test)
    assert "Checkpoint 5 of 5" in text_of(test)
    assert "nothing, it ended here" in facts(test)
    assert not test.exception


def test_every_checkpoint_in_order_by_the_buttons() -> None:
    test = page(store="strange", thread="line")
    test.button(key="threads-first_page").click().run()
    seen = []
    for number in range(1, 6):
        assert f"Checkpoint {number} of 5" in text_of(test)
        seen.append(re.search(r"Ran\s+(.*)", facts(test)).group(1).strip())  # type: ignore[union-attr]
        if number < 5:
            test.button(key="threads-chevron_right").click().run()
    assert seen == ["**input** taken in", "**start**", "**a**", "**b**", "**c**"]
    assert test.button(key="threads-chevron_right").disabled


def test_the_slider_and_the_address_select_the_same() -> None:
    test = page(store="strange", thread="line")
    test.slider[0].set_value(3).run()
    assert "Checkpoint 3 of 5" in text_of(test)
    again = page(store="strange", thread="line", checkpoint=test.query_params["checkpoint"])
    assert "Checkpoint 3 of 5" in text_of(again)


def test_changes_since_the_checkpoint_before() -> None:
    test = page(store="strange", thread="line")
    changes = test.table[1].value
    assert changes.iloc[0].tolist() == ["**+**\u00a0added", "done\\[2\\]", "–", "“c”"]
    assert "= 1 kept: topic" in text_of(test)


def test_the_open_tab_stays_while_scrubbing(strange: Path) -> None:
    test = page(store="strange", thread="line", view="state")
    assert '"c"' in test.json[0].value
    test.button(key="threads-chevron_left").click().run()
    assert '"c"' not in test.json[0].value
    assert '"b"' in test.json[0].value


def test_branches_are_chosen_by_name(strange: Path) -> None:
    test = page(store="strange", thread="forked")
    assert "2 branches" in text_of(test)
    assert test.button_group[0].value == 1
    test.button_group[0].set_value(0).run()
    chosen = page(store="strange", thread="forked", checkpoint=test.query_params["checkpoint"], view="state")
    assert '"v1"' in chosen.json[0].value


def test_a_subgraph_has_its_own_timeline(strange: Path) -> None:
    (ns,) = open_store(str(strange), "strange").thread("nested").namespaces[1:]
    test = page(store="strange", thread="nested", ns=ns)
    assert "**clean**" in facts(test)


def test_what_waits_and_what_failed_is_told() -> None:
    assert "ask “go on" in re.sub(r"\\", "", facts(page(store="strange", thread="fan-out")))
    assert "price list is empty" in facts(page(store="strange", thread="failed"))


def test_play_goes_on_and_stops_at_the_end() -> None:
    test = page(store="strange", thread="line")
    test.button(key="threads-play").click().run()
    assert "Checkpoint 1 of 5" in text_of(test)
    assert test.button(key="threads-play").label == "Stop"
    for number in (2, 3, 4, 5):
        # A run of the page stands in for a tick of the fragment's clock.
        test.run()
        assert f"Checkpoint {number} of 5" in text_of(test)
    test.run()
    assert test.button(key="threads-play").label == "Play"
    assert "Checkpoint 5 of 5" in text_of(test)


def test_a_tick_with_an_address_of_before_goes_on_all_the_same() -> None:
    test = page(store="strange", thread="line")
    test.button(key="threads-play").click().run()
    first = test.query_params["checkpoint"]
    for number in (2, 3):
        test.query_params["checkpoint"] = first
        test.run()
        assert f"Checkpoint {number} of 5" in text_of(test)


def test_whoever_scrubs_stops_the_play() -> None:
    test = page(store="strange", thread="line")
    test.button(key="threads-play").click().run()
    test.button(key="threads-last_page").click().run()
    assert "Checkpoint 5 of 5" in text_of(test)
    assert test.button(key="threads-play").label == "Play"


def test_looking_changes_nothing_in_a_strangers_file(strange: Path) -> None:
    before = hashlib.sha256(strange.read_bytes()).hexdigest()
    test = page(store="strange", thread="forked")
    test.button(key="threads-first_page").click().run()
    assert hashlib.sha256(strange.read_bytes()).hexdigest() == before
    assert [file.name for file in strange.parent.glob("strange.db*")] == ["strange.db"]


@pytest.mark.parametrize(
    ("selected", "sentence"),
    [
        ({"store": "nowhere"}, "There is no store nowhere here; there are plandeck, strange, lost."),
        ({"store": "lost"}, "Store lost: there is no file"),
        ({"store": "strange", "thread": "nobody"}, "Store strange has no thread nobody."),
        ({"store": "strange", "thread": "line", "checkpoint": "x"}, "This thread has no checkpoint x"),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence(selected: dict[str, str], sentence: str) -> None:
    assert sentence in said_instead(**selected)


def said_instead(**selected: str) -> str:
    """What a page says that cannot be drawn."""
    test = AppTest.from_string(
        f"""
import runpy
from dashboard.look.parts import shown_errors
with shown_errors():
    runpy.run_path({str(VIEW)!r})
""",
        default_timeout=30,
    )
    for name, value in selected.items():
        test.query_params[name] = value
    test.run()
    assert not test.exception
    assert not test.get("skeleton")
    return re.sub(r"\\(?=\W)", "", test.error[0].value)


def test_a_run_without_langgraph_has_no_checkpoints_to_replay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent.run.graph.build_graph", no_graph)
    with small_plandeck(tmp_path / "home", {"propose_plan": [plan(step("s1", sku="B-7"))]}) as (app, _, _calls):
        done = approve(app, run_to_pause(app))
    assert "This run works without LangGraph" in said_instead(thread=done.thread_id)


def test_a_strangers_text_is_shown_as_text(tmp_path: Path) -> None:
    with SqliteSaver.from_conn_string(str(tmp_path / "strange.db")) as saver:
        chain(saver, "a").invoke(
            {"topic": "**x** ![p](http://evil/p.png) $1 and $2"}, thread("![p](http://evil/p.png)")
        )
    test = page(store="strange", thread="![p](http://evil/p.png)")
    assert "![p](" not in str(test.title[0].value)
    shown = "\n".join([*(str(m.value) for m in test.markdown), *(str(c.value) for c in test.caption)])
    assert "![p](" not in shown
    test.button(key="threads-first_page").click().run()
    test.button(key="threads-chevron_right").click().run()
    assert "![p](" not in test.table[1].value.to_string()


def test_a_thread_of_our_own_run_tells_its_task_and_its_steps(tmp_path: Path) -> None:
    answers = {"propose_plan": [plan(step("s1", sku="B-7"), step("s2", "note", ("s1",), text="12"))]}
    with small_plandeck(tmp_path / "home", answers) as (app, _, _calls):
        done = approve(app, run_to_pause(app, "How much of B-7 is there?"))
    test = page(thread=done.thread_id, view="messages")
    assert title(test) == "How much of B-7 is there?"
    assert "li" in text_of(test)
    assert "Approves version 1." in text_of(test)
    listed = page()
    shown = listed.dataframe[0].value
    assert list(shown["Thread"]) == ["How much of B-7 is there?"]
    assert [status[0] for status in shown["Status"]] == ["succeeded"]


def test_a_wrong_entry_is_warned_of_and_the_other_stores_are_there(tmp_path: Path, strange: Path) -> None:
    use_settings(load_settings(home=tmp_path / "home", stores=f"nothing,strange={strange}"))
    test = page(store="strange")
    assert title(test) == "9 threads, 2 wait for a person"
    assert [str(warning.value).count("nothing") for warning in test.warning] == [1]
    assert not page(store="strange", thread="line").exception
