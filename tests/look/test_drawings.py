from datetime import UTC, datetime, timedelta

import pytest

from agent.records import Effect, PlanStep
from dashboard.look.colours import palette_of
from dashboard.look.graph import Node, graph_alt, plan_graph
from dashboard.look.status import Slot, look_of
from dashboard.look.timeline import Bar, Timeline, timeline_alt, timeline_figure

COLOURS = palette_of("light")
START = datetime(2026, 12, 1, 9, 20, 41, tzinfo=UTC)


def chain(length: int, description: str = "Look up the stock of one article") -> list[Node]:
    steps = [
        PlanStep(f"s{n}", description, "lookup", dependencies=(f"s{n - 1}",) if n > 1 else (), effect=Effect.READ)
        for n in range(1, length + 1)
    ]
    return [Node(step, look_of(step.effect), "lookup · read", f"{step.id} {description}", False) for step in steps]


@pytest.mark.parametrize(("columns", "shown"), [(4, "Look up"), (6, "lookup"), (8, "s8")])
def test_the_more_columns_the_less_is_written_into_a_box(columns: int, shown: str) -> None:
    texts = [note.text or "" for note in plan_graph(chain(columns), COLOURS).layout.annotations]
    assert any(shown in text for text in texts)
    assert any("Look up" in text for text in texts) == (columns <= 4)


def test_every_step_can_be_pointed_at() -> None:
    drawn = plan_graph(chain(3), COLOURS).data[0]
    assert len(drawn.x) == 3
    assert all("Look up the stock" in hover for hover in drawn.hovertemplate)


def test_text_of_strangers_is_no_markup_in_a_drawing() -> None:
    nodes = chain(1, "<a href='http://evil.example'>x</a> %{y}")
    drawn = plan_graph(nodes, COLOURS)
    assert "&lt;a" in drawn.data[0].hovertemplate[0]
    assert "%{y}" not in drawn.data[0].hovertemplate[0]
    assert not any("<a" in (note.text or "") for note in drawn.layout.annotations)


def test_a_grave_step_stands_out() -> None:
    step = PlanStep("s1", "Tell", "send", effect=Effect.SEND_EXTERNAL)
    drawn = plan_graph([Node(step, look_of(step.effect), "send", "s1", True)], COLOURS)
    assert drawn.data[0].marker.color[0] == COLOURS[Slot.ORANGE].tint


def test_the_graph_says_itself_in_words() -> None:
    assert graph_alt(chain(2)).startswith("Plan graph with 2 steps: s1 Look up")
    assert "after s1" in graph_alt(chain(2))


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def timeline(live: bool) -> Timeline:
    bars = (
        Bar("planning", START, START + timedelta(seconds=4), Slot.GREEN, "plan v1", "plan v1"),
        Bar(
            "s1 lookup", START + timedelta(seconds=64), START + timedelta(seconds=70), Slot.RED, "failed", "s1 <b>x</b>"
        ),
    )
    waits = (
        Bar("person", START + timedelta(seconds=4), START + timedelta(seconds=64), Slot.YELLOW, "li · 1 m 00 s", "li"),
    )
    return Timeline(("planning", "person", "s1 lookup"), bars, waits, START, START + timedelta(seconds=70), live)


def test_the_timeline_draws_every_bar_and_says_now_while_it_goes_on() -> None:
    drawn = timeline_figure(timeline(True), COLOURS)
    assert len(drawn.data[0].x) == 3
    assert "now" in [note.text for note in drawn.layout.annotations]
    assert "now" not in [note.text for note in timeline_figure(timeline(False), COLOURS).layout.annotations]
    assert "<b>" not in drawn.data[0].hovertemplate[1]


def test_the_timeline_says_itself_in_words() -> None:
    words = timeline_alt(timeline(False)).replace("\u00a0", " ")
    assert (
        words
        == "What ran when, in order: planning plan v1 4.0 s; person li · 1 m 00 s 1 m 00 s; s1 lookup failed 6.0 s."
    )
