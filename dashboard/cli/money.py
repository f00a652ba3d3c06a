"""`usage`, `traces`, `trace`, `ingest`: what spans say about tokens, cost and time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dashboard.cli.opening import open_stores
from dashboard.cli.options import Json, Limit, Project
from dashboard.cli.output import note, plain, print_facts, print_json, print_table
from dashboard.cli.texts import dollars, money

if TYPE_CHECKING:
    from dashboard.cli.output import JsonObject
    from traces.ingest import IngestResult
    from traces.records import UsageRow

GROUPS = ("day", "hour", "model", "provider", "agent", "thread", "operation", "run", "step", "user", "role")
NANO = 1_000_000_000


def usage(
    by: Annotated[str, typer.Option("--by", help=f"Groups, by comma: {', '.join(GROUPS)}.")] = "",
    since: Annotated[str | None, typer.Option("--since", help="From this time on, RFC 3339; a date is UTC.")] = None,
    until: Annotated[str | None, typer.Option("--until", help="Before this time.")] = None,
    project: Project = None,
    json: Json = False,
) -> None:
    """Sum calls, tokens and cost, by groups and in total."""
    from agent.shapes import usage_json
    from traces.store import UsageQuery

    groups = _groups(by)
    with open_stores(project) as stores:
        query = UsageQuery(stores.project, by=groups, since=_time(since, "--since"), until=_time(until, "--until"))
        rows = stores.spans.usage(query)
        total = stores.spans.usage_total(query)
    if json:
        print_json(usage_json(rows, total))
        return
    lines = [*((*(row.group[name] or "unknown" for name in groups), *_figures(row)) for row in rows)]
    if groups:
        lines.append(("total", *[""] * (len(groups) - 1), *_figures(total)))
    else:
        lines = [_figures(total)]
    print_table((*groups, "calls", "errors", "tokens in", "tokens out", "cost", "unpriced"), lines, empty="No calls.")


def traces(
    status: Annotated[str | None, typer.Option("--status", help="Only traces that are ok, error or running.")] = None,
    limit: Limit = 50,
    before: Annotated[str | None, typer.Option("--before", help="Cursor of the next page.")] = None,
    project: Project = None,
    json: Json = False,
) -> None:
    """List traces, newest first."""
    from agent.shapes import page_json, trace_summary_json

    with open_stores(project) as stores:
        found = stores.spans.traces(stores.project, limit=limit + 1, before=before, status=_status(status))
    shown = found[:limit]
    if json:
        cursor = shown[-1].cursor if len(found) > limit else None
        print_json(page_json("traces", [trace_summary_json(item) for item in shown], cursor))
        return
    print_table(
        ("trace", "name", "began", "ms", "status", "spans", "cost"),
        [_trace_line(trace_summary_json(item)) for item in shown],
        empty="No traces yet. Send OTLP to /v1/traces of the server, or import files with: plandeck ingest",
    )


def trace(
    trace_id: Annotated[str, typer.Argument(metavar="TRACE_ID")], project: Project = None, json: Json = False
) -> None:
    """Show one trace with its spans."""
    from agent.errors import NotFoundError
    from agent.shapes import trace_json

    with open_stores(project) as stores:
        summary = stores.spans.trace(stores.project, trace_id)
        if summary is None:
            raise NotFoundError(f"There is no trace {trace_id} in project {stores.project}.")
        document = trace_json(summary, stores.spans.spans(stores.project, summary.trace_id))
    if json:
        print_json(document)
        return
    print_facts(
        {
            "trace": document["trace_id"],
            "began": document["started_at"],
            "status": document["status"] + (", incomplete" if document["incomplete"] else ""),
            "cost": money(document["cost_usd"], document["usage"]["illustrative_cost_usd"]),
        }
    )
    print_table(
        ("span", "name", "kind", "model", "ms", "status", "cost", "counted"),
        [
            (
                span["span_id"],
                span["name"],
                span["kind"],
                span["model"] or span["tool"] or "",
                None if span["duration_ms"] is None else round(span["duration_ms"], 1),
                span["status"],
                dollars(span["cost_usd"]) if span["counted"] else "",
                "yes" if span["counted"] else "",
            )
            for span in document["spans"]
        ],
        empty="This trace has no spans.",
    )


def ingest(
    files: Annotated[list[Path], typer.Argument(help="OTLP as JSON, JSON lines or protobuf.", metavar="FILE...")],
    project: Project = None,
    json: Json = False,
) -> None:
    """Import spans from files; the same spans again change nothing.

    A file that cannot be read at all fails the command, after the other files were taken.
    """
    from agent.errors import RefusedError

    taken: list[tuple[Path, IngestResult]] = []
    failed: list[str] = []
    for file, result in _ingested(files, project):
        if isinstance(result, str):
            failed.append(f"{file}: {result}")
        else:
            taken.append((file, result))
    accepted = sum(result.accepted for _, result in taken)
    if failed:
        others = f" The other files were taken ({accepted:,} spans)." if taken else ""
        raise RefusedError(" ".join(failed) + others, code="unreadable_file")
    refused = sum(result.refused for _, result in taken)
    errors = [f"{file}: {problem}" for file, result in taken for problem in result.problems]
    if json:
        print_json({"accepted": accepted, "refused": refused, "errors": errors})
        return
    print_facts({"accepted": accepted, "refused": refused})
    for error in errors:
        note(plain(error))


def _ingested(files: Sequence[Path], project: str | None) -> Iterator[tuple[Path, IngestResult | str]]:
    """What became of each file; the reason for one that cannot be read."""
    from agent.run.usecases import price_book
    from traces.errors import UndecodableError
    from traces.ingest import Ingest
    from traces.otlp import decode_file

    with open_stores(project) as stores:
        prices = price_book(stores.settings)
        prices.check()
        pipeline = Ingest(stores.spans, prices)
        for file in files:
            try:
                yield file, pipeline.ingest_decoded(stores.project, decode_file(file.read_bytes()))
            except UndecodableError as error:
                yield file, error.message
            except OSError as error:
                yield file, f"{error.strerror}."


def _trace_line(item: JsonObject) -> tuple[object, ...]:
    return (
        item["trace_id"],
        item["name"],
        item["started_at"][:19] + "Z",
        None if item["duration_ms"] is None else round(item["duration_ms"], 1),
        item["status"],
        item["span_count"],
        money(item["cost_usd"], item["usage"]["illustrative_cost_usd"]),
    )


def _figures(row: UsageRow) -> tuple[object, ...]:
    from agent.shapes import dollars_json

    cost = money(dollars_json(row.cost), dollars_json(row.illustrative_cost))
    return (row.calls, row.errors, row.input_tokens, row.output_tokens, cost, row.unpriced_calls)


def _groups(words: str) -> tuple[str, ...]:
    groups = tuple(word.strip() for word in words.split(",") if word.strip())
    wrong = [word for word in groups if word not in GROUPS]
    if wrong:
        raise typer.BadParameter(f"{wrong[0]!r} is no group; choose from {', '.join(GROUPS)}.", param_hint="--by")
    return tuple(dict.fromkeys(groups))


def _status(word: str | None) -> str | None:
    choices = ("ok", "error", "running")
    if word is not None and word not in choices:
        raise typer.BadParameter(f"{word!r} is no status; choose from {', '.join(choices)}.", param_hint="--status")
    return word


def _time(word: str | None, option: str) -> int | None:
    """Nanoseconds since 1970 of a date or time."""
    if word is None:
        return None
    try:
        at = datetime.fromisoformat(word)
    except ValueError as error:
        message = f"{word!r} is no time; write 2026-12-01 or 2026-12-01T09:42:00Z."
        raise typer.BadParameter(message, param_hint=option) from error
    if not 1700 <= at.year <= 2200:
        raise typer.BadParameter(f"{word!r} is not between the years 1700 and 2200.", param_hint=option)
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    delta = at - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * NANO + delta.microseconds * 1_000
