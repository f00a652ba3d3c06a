import json
from pathlib import Path
from typing import Any

import pytest
from page_seeds import TASK
from pages import ingest, open_pages, page, title, words

from agent.records import Artifact
from agent.tools.chart import CHART, ChartArguments, figure
from dashboard.look.colours import palette_of
from dashboard.runs.charts import drawn

COLOURS = palette_of("light")
ROWS = [
    {"month": f"2026-0{n}", "project": project, "eur": n * 1_000}
    for n in range(1, 6)
    for project in ("Atlas <1>", "Birch")
]


def chart(kind: str, **arguments: Any) -> str:
    rows = {"rows": ROWS, "x": "month", "y": "eur", "series": "project"}
    given = {"filename": "c.plotly.json", "kind": kind, "title": "Costs & more", **rows, **arguments}
    arguments_ = CHART.validate(given)
    assert isinstance(arguments_, ChartArguments)
    return json.dumps(figure(arguments_))


def test_a_chart_is_drawn_in_our_colours_with_its_own_words() -> None:
    made = drawn(chart("bar"), COLOURS)
    assert made is not None
    assert made.alt == "Bar chart: Costs & more"
    layout = made.figure.layout
    assert (layout.title.text, layout.xaxis.title.text, layout.yaxis.title.text) == ("Costs &amp; more", "month", "eur")
    assert (layout.barmode, layout.xaxis.type, layout.showlegend) == ("group", "category", True)
    assert [trace.name for trace in made.figure.data] == ["Atlas &lt;1&gt;", "Birch"]
    assert layout.colorway == COLOURS.series


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"data": [], "layout": {"title": {"text": "a"}}}', '{"data": [{"type": "no"}], "layout": {}}',
     '{"data": [{"type": "bar", "x": 5}], "layout": {"title": {"text": "a"}}}',
     '{"data": {"a": 1}, "layout": {"title": null}}'],
)  # fmt: skip
def test_what_is_no_chart_is_not_drawn(text: str) -> None:
    assert drawn(text, COLOURS) is None


@pytest.mark.parametrize(("text", "said"), [(chart("line"), False), ("{}", True)])
def test_an_ended_run_shows_its_charts(text: str, said: bool, tmp_path: Path) -> None:
    with open_pages(tmp_path / "home") as (app, seeds):
        run = seeds.succeeded()
        (app.artifacts_of(run.run_id) / "c.plotly.json").write_text(text)
        app.records.put_artifact(
            run.project, Artifact(run.run_id, "c.plotly.json", "s4", "application/json", 1, "0" * 64, app.now())
        )
        ingest(app, seeds)
        test = page("runs/view.py", run=run.run_id)
        assert title(test) == TASK
        assert "c.plotly.json" in [expander.label.replace("\\", "") for expander in test.expander]
        assert ("This chart cannot be drawn" in words(test)) is said
