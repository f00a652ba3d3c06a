"""A run's model calls: counted before they are made, marked with their role, asked as the provider understands it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import get_usage_metadata_callback
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from agent.models.client import ask_function, ask_text, ask_turn
from agent.models.providers import Provider
from agent.records import JsonObject
from agent.run.meter import Price, RunMeter
from agent.run.tracing import RunTracing
from agent.tools.registry import Tool
from traces.values import MOST_TOKENS, clean, storable


@dataclass(frozen=True, slots=True)
class Model:
    """A chat client, how its provider is asked for structure, and what its tokens cost."""

    client: BaseChatModel
    provider: Provider
    price: Price


SHOWN_EVERY_SECONDS = 0.1


@dataclass(slots=True)
class Growing:
    """A text that arrives in pieces and is shown at most ten times a second."""

    show: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    text: str = ""
    shown_at: float = -SHOWN_EVERY_SECONDS

    def add(self, piece: str) -> None:
        """Take a piece."""
        self.text += piece
        now = self.clock()
        if now - self.shown_at >= SHOWN_EVERY_SECONDS:
            self.show(self.text)
            self.shown_at = now


@dataclass(frozen=True, slots=True)
class RunModels:
    """The models of a run: one that plans, one that does everything else; often the same."""

    planner: Model
    executor: Model
    meter: RunMeter
    tracing: RunTracing
    show: Callable[[str], None]
    """Lets the answer be seen as far as it is written."""

    def ask(self, role: str, messages: Sequence[BaseMessage], function: JsonObject) -> str | JsonObject:
        """The function's arguments as the model gave them, or its prose if it called nothing."""
        model = self.planner if role == "planning" else self.executor
        with self._counted(model, role, messages):
            answer: str | JsonObject = storable(ask_function(model.client, model.provider, messages, function))
            return answer

    def turn(self, role: str, messages: Sequence[BaseMessage], tools: Sequence[Tool] = ()) -> AIMessage:
        """One turn with these tools on offer."""
        with self._counted(self.executor, role, messages):
            offers = [_offer(tool) for tool in tools]
            return _storable_turn(ask_turn(self.executor.client, self.executor.provider, messages, offers))

    def write(self, messages: Sequence[BaseMessage]) -> str:
        """The final answer; everybody who watches the run sees it grow."""
        model = self.executor
        # A provider that reports no usage while it streams would leave the cost unknown.
        show = Growing(self.show).add if model.provider.stream_options else None
        with self._counted(model, "synthesis", messages):
            return clean(str(ask_text(model.client, model.provider, messages, show).text)).strip()

    @contextmanager
    def _counted(self, model: Model, role: str, messages: Sequence[BaseMessage]) -> Iterator[None]:
        characters = sum(len(str(message.content)) for message in messages)
        expected = self.meter.before_model_call(characters, model.price, for_answer=role == "synthesis")
        used: tuple[int, int] | None = None
        try:
            with self.tracing.role(role, model.provider.name), get_usage_metadata_callback() as reported:
                yield
            used = _tokens(reported.usage_metadata.values())
        finally:
            self.meter.after_model_call(expected, used, model.price)


def _tokens(reported: Iterable[Mapping[str, Any]]) -> tuple[int, int] | None:
    """(input, output) over what the calls inside reported; None if none did, or something that is no count."""
    usages = list(reported)
    counts = [usage[name] for usage in usages for name in ("input_tokens", "output_tokens")]
    if not usages or not all(isinstance(count, int) and 0 <= count <= MOST_TOKENS for count in counts):
        return None
    return sum(usage["input_tokens"] for usage in usages), sum(usage["output_tokens"] for usage in usages)


def _storable_turn(answer: AIMessage) -> AIMessage:
    """The turn with texts and values that every store of the run takes, so that what it says can be kept."""
    names = ("content", "tool_calls", "invalid_tool_calls")
    return answer.model_copy(update={name: storable(getattr(answer, name)) for name in names})


def _offer(tool: Tool) -> JsonObject:
    return {"name": tool.name, "description": tool.description, "parameters": tool.schema}
