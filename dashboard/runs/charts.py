"""Charts that a run's tool wrote as plotly's JSON, drawn in our own look."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass

import plotly.graph_objects as go

from agent.records import JsonObject
from dashboard.look.colours import Palette
from dashboard.look.figures import figure

HEIGHT = 320
CORNER = 3
SHAPES = {"bar": "Bar chart", "pie": "Pie chart", "scatter": "Chart"}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart, and what it shows in words."""

    figure: go.Figure
    alt: str


def drawn(text: str, colours: Palette) -> Drawn | None:
    """The chart of a `.plotly.json` file; None if it is none that can be drawn."""
    try:
        loaded = json.loads(text)
        layout = loaded["layout"]
        made = _framed(layout, colours)
        for trace in loaded["data"]:
            made.add_trace(trace)
        title = html.unescape(layout["title"]["text"])
        return Drawn(made, f"{SHAPES.get(made.data[0].type, 'Chart')}: {title}")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):  # whatever somebody made of the file
        return None


def _framed(layout: JsonObject, colours: Palette) -> go.Figure:
    """Only the words and kinds of the file's layout are taken; font, colours and places are ours."""
    made = figure(
        colours,
        height=HEIGHT,
        margin={"l": 56, "r": 8, "t": 64, "b": 48},
        barmode=layout.get("barmode"),
        bargap=0.28,
        barcornerradius=CORNER,
        showlegend=layout.get("showlegend", False),
        title={"text": layout["title"]["text"], "x": 0, "xref": "container", "y": 1, "yref": "container",
               "yanchor": "top", "pad": {"t": 8}, "font": {"size": 14}},
        legend={"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom",
                "itemclick": False, "itemdoubleclick": False},
    )  # fmt: skip
    for name, update in (("xaxis", made.update_xaxes), ("yaxis", made.update_yaxes)):
        axis = layout.get(name, {})
        words = {"text": axis.get("title", {}).get("text"), "standoff": 8, "font": {"size": 11, "color": colours.muted}}
        update(type=axis.get("type"), title=words, automargin=True)
    return made
