from datetime import UTC, datetime, timedelta

from agent.checkpoints.records import CheckpointStatus, CheckpointSummary
from dashboard.look.colours import palette_of
from dashboard.look.status import look_of
from dashboard.threads_page.charts import WINDOW, broken, draw_timeline, window_around
from dashboard.threads_page.model import mark_of
from dashboard.threads_page.timeline import Timeline

NOW = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


def checkpoint(name: str, parent: str | None, source: str = "loop", **more: object) -> CheckpointSummary:
    fields: dict[str, object] = {
        "checkpoint_id": name,
        "parent_checkpoint_id": parent,
        "ns": "",
        "at": NOW + timedelta(seconds=ord(name[-1])),
        "source": source,
        "step": 1,
        "nodes": (name,),
        "status": CheckpointStatus.FINISHED,
        "next": (),
        "waiting": (),
        "bytes": 10,
        "format": "msgpack",
    }
    return CheckpointSummary(**{**fields, **more})  # type: ignore[arg-type]


def timeline(*links: str) -> Timeline:
    """`ab` is a checkpoint b after a; oldest first."""
    return Timeline([checkpoint(link[-1], link[:-1] or None) for link in reversed(links)])


def test_a_line_is_one_lane() -> None:
    line = timeline("a", "ab", "bc")
    assert line.branches == ("main",)
    assert line.line(0) == ("a", "b", "c")
    assert [(p.column, p.lane) for p in line.points.values()] == [(0, 0), (1, 0), (2, 0)]


def test_the_first_child_keeps_the_lane_and_later_ones_open_new_ones() -> None:
    tree = timeline("a", "ab", "bc", "bd", "de", "bf")
    assert tree.branches == ("main", "branch 2", "branch 3")
    assert [tree.line(branch) for branch in range(3)] == [("a", "b", "c"), ("a", "b", "d", "e"), ("a", "b", "f")]
    assert {p.id: (p.column, p.lane) for p in tree.points.values()} == {
        "a": (0, 0),
        "b": (1, 0),
        "c": (2, 0),
        "d": (2, 1),
        "e": (3, 1),
        "f": (2, 2),
    }
    assert tree.columns == 4


def test_the_place_of_a_checkpoint_on_its_own_and_on_a_chosen_branch() -> None:
    tree = timeline("a", "ab", "bc", "bd", "de")
    newest = tree.place(None)
    assert newest is not None
    assert (newest.point.id, newest.branch, newest.index, newest.before, newest.after) == ("e", 1, 3, "d", None)
    shared = tree.place("b", 1)
    assert shared is not None
    assert (shared.branch, shared.after) == (1, "d")
    own = tree.place("b")
    assert own is not None
    assert (own.branch, own.after, own.before) == (0, "c", "a")
    elsewhere = tree.place("c", 1)
    assert elsewhere is not None
    assert elsewhere.branch == 0
    assert tree.place("x") is None
    assert tree.place("a", 99) is not None


def test_a_pruned_parent_makes_a_root_and_no_parents_make_a_line() -> None:
    pruned = timeline("xb", "bc", "yd")
    assert pruned.line(0) == ("b", "c")
    assert pruned.line(1) == ("d",)
    bare = timeline("a", "b", "c")
    assert bare.branches == ("main",)
    assert bare.line(0) == ("a", "b", "c")


def test_ten_thousand_checkpoints_in_a_row_are_laid_out() -> None:
    names = [f"{number:05d}" for number in range(10_000)]
    history = [checkpoint(name, names[index - 1] if index else None) for index, name in enumerate(names)]
    long = Timeline(history[::-1])
    assert len(long.line(0)) == 10_000


def test_a_window_turns_like_a_page_and_always_holds_the_selection() -> None:
    assert (window_around(3, 5).first, window_around(3, 5).last) == (0, 4)
    for columns in (WINDOW, WINDOW + 1, 40, 100):
        for column in range(columns):
            window = window_around(column, columns)
            assert column in window
            assert window.last - window.first + 1 == WINDOW
            assert window.first >= 0
            assert window.last < columns
    assert window_around(0, 100) == window_around(WINDOW - 2, 100)


def test_labels_break_where_words_end_and_are_harmless() -> None:
    assert broken("short") == "short"
    assert broken("generate_report") == "generate_<br>report"
    assert broken("execute s1 and s2") == "execute s1<br>and s2"
    assert broken("averyveryverylongname") == "averyveryve<br>rylongname"
    assert broken("a_veryveryveryverylongname").endswith("…")
    assert "<b>" not in broken("<b>x</b> and <i>more")


def test_what_is_still_to_run_is_drawn_after_the_tip() -> None:
    tip = checkpoint("b", "a", status=CheckpointStatus.WAITING, next=("gate", "gate"), waiting=("i",))
    line = Timeline([tip, checkpoint("a", None, "input", nodes=())])
    assert line.open_ends == {"b": ("gate",)}
    assert line.columns == 3
    place = line.place(None)
    assert place is not None
    marks = {p.id: mark_of(p, line, None, frozenset({"b"}), NOW) for p in line.points.values()}
    assert marks["a"].look is not None
    assert (marks["b"].label, marks["b"].ahead, marks["b"].look) == ("b", "gate", look_of(CheckpointStatus.WAITING))
    made = draw_timeline(line, place, marks, palette_of("light"))
    (trace,) = made.data
    assert list(trace.x) == [0, 1, 2]
    assert [custom[0] for custom in trace.customdata] == ["a", "b", "b"]
    texts = [annotation.text for annotation in made.layout.annotations]
    assert {"gate", "<b>b</b>", "front_hand"} <= set(texts)


def test_a_figure_of_a_long_thread_holds_its_window_only() -> None:
    names = [f"{number:05d}" for number in range(200)]
    history = [checkpoint(name, names[index - 1] if index else None) for index, name in enumerate(names)]
    long = Timeline(history[::-1])
    place = long.place("00100")
    assert place is not None
    window = window_around(100, long.columns)
    shown = [p for p in long.points.values() if p.column in window]
    marks = {p.id: mark_of(p, long, None, frozenset(), NOW) for p in shown}
    made = draw_timeline(long, place, marks, palette_of("dark"))
    assert len(made.data[0].x) == WINDOW
    assert {"← 96 more", "91 more →"} <= {annotation.text for annotation in made.layout.annotations}
