"""Who is counted in one trace: decided from the leaves up, so that no token is in a total twice. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CountableSpan:
    """What the decision needs of a span."""

    span_id: str
    parent_span_id: str | None
    model_call: bool
    weight: int | None
    """Input and output tokens; 0 for a span that claims a cost and no tokens; None if it says neither."""


@dataclass(frozen=True, slots=True)
class Count:
    """The decision for one span."""

    is_call: bool
    """A model call with no other model call below it."""
    counted: bool
    """Its tokens and cost are in the totals."""
    covered: bool
    """A counted span above it has its tokens."""
    not_itemised: int | None
    """Of a counted span: how many of its tokens none of its children explains, though some explain a part."""


def count_trace(spans: Sequence[CountableSpan]) -> dict[str, Count]:
    """The decision for each span of one trace, by span id.

    A span counts itself unless its descendants together have at least as much; never both.
    """
    tree = _Tree(spans)
    calls_below: dict[str, bool] = {}
    below: dict[str, _Sum] = {}
    for span in tree.leaves_first():
        children = tree.children(span.span_id)
        calls_below[span.span_id] = any(calls_below[child.span_id] or child.model_call for child in children)
        below[span.span_id] = _decide(span, [below[child.span_id] for child in children])
    counts: dict[str, Count] = {}
    for span in reversed(tree.leaves_first()):
        parent = tree.parent(span)
        over = counts.get(parent.span_id) if parent else None
        covered = over is not None and (over.counted or over.covered)
        counted = below[span.span_id].itself and not covered
        counts[span.span_id] = Count(
            is_call=span.model_call and not calls_below[span.span_id],
            counted=counted,
            covered=covered,
            not_itemised=below[span.span_id].not_itemised if counted else None,
        )
    return counts


@dataclass(frozen=True, slots=True)
class _Sum:
    weight: int | None
    """What a span and everything below it counts; None if nothing counts."""
    itself: bool
    not_itemised: int | None


def _decide(span: CountableSpan, children: Iterable[_Sum]) -> _Sum:
    known = [child.weight for child in children if child.weight is not None]
    below = sum(known)
    if span.weight is None:
        return _Sum(below if known else None, itself=False, not_itemised=None)
    if known and span.weight <= below:
        return _Sum(below, itself=False, not_itemised=None)
    return _Sum(span.weight, itself=True, not_itemised=span.weight - below if below else None)


class _Tree:
    """The spans of a trace as a forest: a span whose parent is missing is a root, and a ring is cut open."""

    def __init__(self, spans: Sequence[CountableSpan]) -> None:
        self._spans = {span.span_id: span for span in spans}
        self._parents: dict[str, CountableSpan] = {}
        self._children: dict[str, list[CountableSpan]] = {}
        for span in spans:
            parent = self._spans.get(span.parent_span_id or "")
            if parent is not None and parent is not span:
                self._children.setdefault(parent.span_id, []).append(span)
        self._order = list(self._roots_first(spans))

    def _roots_first(self, spans: Sequence[CountableSpan]) -> Iterator[CountableSpan]:
        seen: set[str] = set()
        roots = [span for span in spans if self._is_root(span)]
        for start in (*roots, *spans):
            waiting = [start] if start.span_id not in seen else []
            seen.update(span.span_id for span in waiting)
            while waiting:
                span = waiting.pop()
                yield span
                fresh = [child for child in self._children.get(span.span_id, []) if child.span_id not in seen]
                self._children[span.span_id] = fresh
                self._parents.update({child.span_id: span for child in fresh})
                seen.update(child.span_id for child in fresh)
                waiting.extend(fresh)

    def _is_root(self, span: CountableSpan) -> bool:
        return span.parent_span_id not in self._spans or span.parent_span_id == span.span_id

    def children(self, span_id: str) -> list[CountableSpan]:
        return self._children.get(span_id, [])

    def parent(self, span: CountableSpan) -> CountableSpan | None:
        return self._parents.get(span.span_id)

    def leaves_first(self) -> list[CountableSpan]:
        return self._order[::-1]
