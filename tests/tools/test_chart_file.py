import json
from typing import Any

import plotly.io
import pytest

from agent.records import Effect
from agent.tools.calling import call_tool
from agent.tools.chart import CHART, ROWS
from agent.tools.registry import OBSERVATION_CHARACTERS, ErrorKind, Observation, ToolContext, ToolError

COSTS = [
    {"project": "Atlas", "month": "2026-02", "eur": 12.5},
    {"project": "Atlas", "month": "2026-01", "eur": 10},
    {"project": "Birch", "month": "2026-01", "eur": None},
    {"project": "Birch", "month": "2026-02", "eur": -3},
]


def draw(context: ToolContext, **arguments: Any) -> Observation:
    given = {"filename": "costs.plotly.json", "kind": "line", "title": "Costs", "x": "month", "y": "eur"}
    rows = {"rows": COSTS, "series": "project"}
    return call_tool(CHART, {**given, **rows, **arguments}, context)


def drawn(context: ToolContext) -> dict[str, Any]:
    """The figure, which plotly itself has checked against its schema."""
    text = (context.artifacts / "costs.plotly.json").read_text()
    plotly.io.from_json(text)
    figure: dict[str, Any] = json.loads(text)
    return figure


def refusal(context: ToolContext, **arguments: Any) -> str:
    with pytest.raises(ToolError) as refused:
        draw(context, **arguments)
    assert refused.value.kind is ErrorKind.BAD_ARGUMENT
    assert list(context.artifacts.iterdir()) == []
    return refused.value.message


def test_lines_run_along_the_dates_a_series_each_and_gaps_stay_gaps(tool_context: ToolContext) -> None:
    seen = draw(tool_context)
    figure = drawn(tool_context)
    assert [(trace["name"], trace["x"], trace["y"]) for trace in figure["data"]] == [
        ("Atlas", ["2026-01", "2026-02"], [10, 12.5]),
        ("Birch", ["2026-01", "2026-02"], [None, -3]),
    ]
    assert figure["layout"]["xaxis"] == {"title": {"text": "month"}, "type": "date"}
    assert figure["layout"]["title"] == {"text": "Costs"}
    assert figure["layout"]["showlegend"]
    assert seen.artifacts == ("costs.plotly.json",)
    assert seen.data == {
        "filename": "costs.plotly.json",
        "kind": "line",
        "rows": 4,
        "bytes": (tool_context.artifacts / "costs.plotly.json").stat().st_size,
    }
    assert "2026-01 | Atlas | 10\n2026-01 | Birch | None" in seen.text
    assert (CHART.effect, CHART.idempotent) == (Effect.DRAFT, True)


@pytest.mark.parametrize("kind", ["bar", "line", "scatter", "pie"])
def test_every_kind_is_a_figure_that_plotly_takes(kind: str, tool_context: ToolContext) -> None:
    rows = [{"name": "A", "n": 2}, {"name": "B", "n": 0.5}]
    draw(tool_context, kind=kind, rows=rows, x="name", y="n", series=None)
    (trace,) = drawn(tool_context)["data"]
    assert (trace["labels"], trace["values"]) == (["A", "B"], [2, 0.5]) if kind == "pie" else trace["y"] == [2, 0.5]


@pytest.mark.parametrize(
    ("kind", "places", "axis"),
    [
        ("bar", ["2026-01", "2026-02"], "category"),
        ("bar", [2025, 2026], "category"),
        ("line", [2025, 2026.5], "linear"),
        ("line", ["2026-01-31", "2026-02-28"], "date"),
        ("line", ["1-2", "3-4"], "category"),
        ("scatter", [1, 1], "linear"),
    ],
)
def test_plotly_does_not_guess_the_axis(kind: str, places: list[Any], axis: str, tool_context: ToolContext) -> None:
    draw(tool_context, kind=kind, rows=[{"month": place, "eur": 1} for place in places], series=None)
    assert drawn(tool_context)["layout"]["xaxis"]["type"] == axis


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"kind": "radar"}, "kind"),
        ({"rows": []}, "rows"),
        ({"rows": [{"month": str(n), "project": "A", "eur": n} for n in range(ROWS + 1)]}, "rows"),
        ({"rows": "month"}, "rows"),
        ({"x": "day"}, "Row 1 has no 'day'; it has 'project', 'month', 'eur'"),
        ({"series": "team"}, "Row 1 has no 'team'"),
        ({"rows": [{"month": "a", "eur": "5"}], "series": None}, "no finite number"),
        ({"rows": [{"month": "a", "eur": True}], "series": None}, "no finite number"),
        ({"rows": [{"month": "a", "eur": float("nan")}], "series": None}, "no finite number"),
        ({"rows": [{"month": "a", "eur": float("inf")}], "series": None}, "no finite number"),
        ({"rows": [{"month": "a", "eur": 10**400}], "series": None}, "no finite number"),
        ({"rows": [{"month": "a", "eur": None}], "series": None}, "nothing to draw"),
        ({"rows": [{"month": None, "eur": 1}], "series": None}, "neither a text nor a number"),
        ({"rows": [{"month": ["a"], "eur": 1}], "series": None}, "neither a text nor a number"),
        ({"rows": [{"month": " ", "eur": 1}], "series": None}, "neither a text nor a number"),
        ({"rows": [{"month": "a", "eur": 1}, {"month": 2, "eur": 1}], "series": None}, "partly"),
        ({"rows": [{"month": "a", "eur": 1}] * 2, "series": None}, "Two rows"),
        ({"rows": [{"month": "a", "eur": 1, "project": n} for n in range(7)]}, "7 series"),
        ({"kind": "pie"}, "one series"),
        ({"kind": "pie", "rows": [{"month": "a", "eur": -1}], "series": None}, "not negative"),
        ({"kind": "pie", "rows": [{"month": "a", "eur": 0}], "series": None}, "not all zero"),
        ({"kind": "pie", "rows": [{"month": str(n), "eur": 1} for n in range(21)], "series": None}, "20 slices"),
        ({"filename": "costs.html"}, "filename"),
        ({"filename": "../costs.plotly.json"}, "filename"),
        ({"filename": ".plotly.json"}, "filename"),
        ({"title": "half \ud83d"}, "half a character"),
    ],
)
def test_what_cannot_be_drawn_is_named_and_writes_nothing(
    arguments: dict[str, Any], named: str, tool_context: ToolContext
) -> None:
    assert named in refusal(tool_context, **arguments)


def test_labels_are_shown_as_they_are_and_hold_no_links(tool_context: ToolContext) -> None:
    rows = [{"month": "<a href='http://x'>a</a>", "eur": 1, "project": "B & C\nD"}]
    draw(tool_context, kind="bar", rows=rows, title="<b>T</b>", x="month")
    figure = drawn(tool_context)
    assert "<" not in json.dumps(figure)
    assert figure["data"][0]["name"] == "B &amp; C\\nD"


def test_the_largest_chart_fits_an_observation(tool_context: ToolContext) -> None:
    rows = [{"month": f"{n} {'m' * 150}", "eur": n} for n in range(ROWS)]
    seen = draw(tool_context, rows=rows, series=None)
    assert len(seen.text) <= OBSERVATION_CHARACTERS
