"""A chart: one plotly figure as JSON in the run's folder, which the run page draws."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeGuard

from pydantic import AfterValidator, Field

from agent.records import Effect, JsonObject, JsonValue
from agent.tools.files import plain_name, write_whole
from agent.tools.registry import Observation, Tool, ToolArguments, ToolContext, ToolError
from agent.tools.text import fitted, one_line

ENDING = ".plotly.json"
ROWS = 500
SERIES = 6
"""More cannot be told apart by their colours."""
SLICES = 20
LABEL_CHARACTERS = 100
LARGEST = 1e300
DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?")


class ChartArguments(ToolArguments):
    """What `chart_file` takes."""

    filename: Annotated[str, AfterValidator(lambda value: plain_name(value, ENDING))] = Field(
        description=f"Plain name that ends in {ENDING}."
    )
    kind: Literal["bar", "line", "scatter", "pie"]
    title: str = Field(max_length=200, description="One line that says what is shown.")
    rows: list[dict[str, Any]] = Field(
        min_length=1, max_length=ROWS, description="The data, an object a row, every figure from an earlier step."
    )
    x: str = Field(max_length=LABEL_CHARACTERS, description="Key of the labels, dates or numbers along the chart.")
    y: str = Field(max_length=LABEL_CHARACTERS, description="Key of the figures; null where one is not known.")
    series: str | None = Field(
        default=None, max_length=LABEL_CHARACTERS, description="Key of the names of several series, if there are any."
    )


def figure(arguments: ChartArguments) -> JsonObject:
    """The figure as plotly's JSON; ToolError naming the row that does not fit."""
    series = _series(arguments)
    if arguments.kind == "pie":
        return _pie(arguments, series)
    axis = _axis_type(arguments.kind, [x for points in series.values() for x, _ in points])
    if arguments.kind == "line" and axis != "category":
        series = {name: sorted(points, key=lambda point: point[0]) for name, points in series.items()}
    return {
        "data": [_trace(arguments.kind, name, points) for name, points in series.items()],
        "layout": {
            "title": {"text": _label(arguments.title)},
            "barmode": "group",
            "showlegend": len(series) > 1,
            "xaxis": {"title": {"text": _label(arguments.x)}, "type": axis},
            "yaxis": {"title": {"text": _label(arguments.y)}},
        },
    }


Points = list[tuple[Any, float | int | None]]


def _series(arguments: ChartArguments) -> dict[str, Points]:
    """The points by the name of their series, in the order of the rows; the name is empty if there is only one."""
    series: dict[str, Points] = {}
    for n, row in enumerate(arguments.rows, start=1):
        name = "" if arguments.series is None else _label(str(_cell(row, arguments.series, n)))
        series.setdefault(name, []).append((_place(row, arguments.x, n), _figure(row, arguments.y, n)))
    if len(series) > SERIES:
        raise ToolError(f"{arguments.series} gives {len(series)} series; a chart has at most {SERIES}.")
    if all(y is None for points in series.values() for _, y in points):
        raise ToolError(f"No row has a figure in {arguments.y}, so there is nothing to draw.")
    if arguments.kind != "scatter":
        for points in series.values():
            _refuse_doubles([x for x, _ in points], arguments)
    return series


def _refuse_doubles(places: Sequence[JsonValue], arguments: ChartArguments) -> None:
    seen: set[JsonValue] = set()
    for place in places:
        if place in seen:
            raise ToolError(
                f"Two rows of one series have {one_line(str(place), 80)!r} in {arguments.x}; add them up, "
                "or name what tells them apart as series."
            )
        seen.add(place)


def _cell(row: dict[str, Any], key: str, n: int) -> Any:
    if key not in row:
        raise ToolError(f"Row {n} has no {key!r}; it has {', '.join(map(repr, row)) or 'nothing'}.")
    return row[key]


def _place(row: dict[str, Any], key: str, n: int) -> str | int | float:
    value = _cell(row, key, n)
    if isinstance(value, str) and value.strip():
        return _label(value)
    if not _is_number(value):
        raise ToolError(f"Row {n} has {one_line(repr(value), 80)} in {key!r}, which is neither a text nor a number.")
    return value


def _figure(row: dict[str, Any], key: str, n: int) -> float | int | None:
    value = _cell(row, key, n)
    if value is None:
        return None
    if not _is_number(value):
        raise ToolError(f"Row {n} has {one_line(repr(value), 80)} in {key!r}, which is no finite number.")
    return value


def _is_number(value: Any) -> TypeGuard[int | float]:
    """Whether a value is a number that a chart can hold: no NaN, no infinity, no integer beyond all floats."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST


def _axis_type(kind: str, places: Sequence[JsonValue]) -> str:
    """Said to plotly, which otherwise guesses it from the first few labels."""
    if all(not isinstance(place, str) for place in places):
        return "category" if kind == "bar" else "linear"
    dates = all(isinstance(place, str) and DATE.fullmatch(place) for place in places)
    if not dates and any(not isinstance(place, str) for place in places):
        raise ToolError("The places along the chart are partly texts and partly numbers; make them one of both.")
    return "date" if dates and kind != "bar" else "category"


def _trace(kind: str, name: str, points: Points) -> JsonObject:
    shape = {"type": "bar"} if kind == "bar" else {"type": "scatter", "mode": "markers"}
    if kind == "line":
        shape["mode"] = "lines+markers"
    return {**shape, "name": name, "x": [x for x, _ in points], "y": [y for _, y in points]}


def _pie(arguments: ChartArguments, series: dict[str, Points]) -> JsonObject:
    if arguments.series is not None:
        raise ToolError("A pie shows one series; leave series away, or choose bar.")
    points = series[""]
    if len(points) > SLICES:
        raise ToolError(f"A pie has at most {SLICES} slices, not {len(points)}; choose bar.")
    if any(y is None or y < 0 for _, y in points) or not sum(y or 0 for _, y in points):
        raise ToolError("A pie needs figures that are not negative, none unknown and not all zero; choose bar.")
    slices = {"labels": [str(x) for x, _ in points], "values": [y for _, y in points]}
    return {
        "data": [{"type": "pie", "sort": False, **slices}],
        "layout": {"title": {"text": _label(arguments.title)}, "showlegend": True},
    }


def _label(text: str) -> str:
    """A text on one line that plotly, which reads some HTML, shows as it is."""
    line = one_line(text.strip(), LABEL_CHARACTERS)
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _run(arguments: ChartArguments, context: ToolContext) -> Observation:
    made = json.dumps(figure(arguments), ensure_ascii=False, allow_nan=False, indent=1)
    size = write_whole(context.artifacts / arguments.filename, made + "\n")
    keys = [key for key in (arguments.x, arguments.series, arguments.y) if key is not None]
    table = "\n".join(" | ".join(one_line(str(row[key]), 80) for key in keys) for row in arguments.rows)
    head = f"{arguments.filename} written: a {arguments.kind} chart of {len(arguments.rows)} rows, {size:,} bytes."
    return Observation(
        text=fitted(f"{head}\n{one_line(' | '.join(keys), 300)}\n{table}"),
        data={"filename": arguments.filename, "kind": arguments.kind, "rows": len(arguments.rows), "bytes": size},
        artifacts=(arguments.filename,),
    )


CHART = Tool(
    name="chart_file",
    version=1,
    summary="Draws a bar, line, scatter or pie chart of given rows into the run's folder of files.",
    arguments=ChartArguments,
    effect=Effect.DRAFT,
    run=_run,
)
