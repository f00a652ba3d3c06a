"""A run's model calls: counted before they are made, marked with their role, asked as the provider understands it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from langchain_core.callbacks import get_usage_metadata_callback
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from agent.models.client import ask_function
from agent.models.providers import Provider
from agent.records import JsonObject
from agent.run.meter import Price, RunMeter
from agent.run.tracing import RunTracing
from agent.tools.registry import Tool


@dataclass(frozen=True, slots=True)
class Model:
    """A chat client, how its provider is asked for structure, and what its tokens cost."""

    client: BaseChatModel
    provider: Provider
    price: Price


@dataclass(frozen=True, slots=True)
class RunModels:
    """The models of a run: one that plans, one that does everything else; often the same."""

    planner: Model
    executor: Model
    meter: RunMeter
    tracing: RunTracing

    def ask(self, role: str, messages: Sequence[BaseMessage], function: JsonObject) -> str | JsonObject:
        """The function's arguments as the model gave them, or its prose if it called nothing."""
        model = self.planner if role == "planning" else self.executor
        with self._counted(model, role, messages):
            return ask_function(model.client, model.provider, messages, function)

    def turn(self, role: str, messages: Sequence[BaseMessage], tools: Sequence[Tool] = ()) -> AIMessage:
        """One turn with these tools on offer."""
        client = self.executor.client
        with self._counted(self.executor, role, messages):
            answer = (
                client.bind_tools([_offer(tool) for tool in tools]).invoke(list(messages))
                if tools
                else (client.invoke(list(messages)))
            )
        if not isinstance(answer, AIMessage):
            raise TypeError(f"The model answered with a {type(answer).__name__}.")
        return answer

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
    """(input, output) over what the calls inside reported; None if none did."""
    usages = list(reported)
    if not usages:
        return None
    return sum(usage["input_tokens"] for usage in usages), sum(usage["output_tokens"] for usage in usages)


def _offer(tool: Tool) -> JsonObject:
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
    }
