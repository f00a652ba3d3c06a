"""Reading a chat request: what is offered, what the sections say, what tools and tables there are."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
TOOL = re.compile(r"^### (\S+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as a planning prompt lists it."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request."""

    system: str
    sections: dict[str, str]
    """The headed parts of the first user message."""
    functions: dict[str, dict[str, Any]]
    """Name to JSON Schema of the functions that may be called."""
    last_observation: str | None
    """The content of the last message if it is a tool's."""
    json_wanted: bool
    """Whether the answer is to be JSON text."""
    last_arguments: dict[str, Any] | None = None
    """The arguments of the last function call in the conversation."""
    described: dict[str, str] = field(default_factory=dict)
    """Name to description of the functions that may be called."""
    observations: tuple[str, ...] = ()
    """What the calls of the conversation showed, in order."""
    listed: dict[str, OfferedTool] | None = None
    """The tools to plan with, where the system message lists none."""

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> ChatRequest:
        """Read an OpenAI request body; KeyError, TypeError or ValueError if it is none."""
        messages = body["messages"]
        if not isinstance(messages, list) or not messages:
            raise ValueError("messages must be a list that is not empty")
        last = messages[-1]
        return cls(
            system=_first(messages, "system"),
            sections=_sections(_first(messages, "user")),
            functions={
                tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in body.get("tools") or []
            },
            last_observation=_text(last["content"]) if last["role"] == "tool" else None,
            json_wanted=(body.get("response_format") or {}).get("type") in ("json_object", "json_schema"),
            last_arguments=_last_arguments(messages),
            observations=tuple(_text(message["content"]) for message in messages if message["role"] == "tool"),
            described={
                tool["function"]["name"]: tool["function"].get("description", "") for tool in body.get("tools") or []
            },
        )

    def json_section(self, name: str, default: Any = None) -> Any:
        """A section that holds JSON; the default if it is missing or no JSON."""
        try:
            return json.loads(self.sections[name])
        except (KeyError, ValueError):
            return default

    def offered(self, name: str) -> OfferedTool:
        """A function that is offered, as a tool."""
        return OfferedTool(name, self.described.get(name, ""), self.functions[name])

    @property
    def tools(self) -> dict[str, OfferedTool]:
        """The tools that the system message lists."""
        if self.listed is not None:
            return self.listed
        parts = TOOL.split(self.system)[1:]
        listed = zip(parts[::2], parts[1::2], strict=True)
        return {name: _tool(name, text) for name, text in listed}

    @property
    def max_steps(self) -> int:
        """The step cap that the system message names."""
        found = re.search(r"at most (\d+)", self.system)
        return int(found[1]) if found else 8


def _tool(name: str, text: str) -> OfferedTool:
    found = re.search(r"^Arguments \(JSON Schema\): (.*)$", text, re.MULTILINE)
    description = text[: found.start()] if found else text
    try:
        schema = json.loads(found[1]) if found else {}
    except ValueError:
        schema = {}
    return OfferedTool(name, description, schema)


def _last_arguments(messages: list[dict[str, Any]]) -> dict[str, Any] | None:
    calls = [call for message in messages for call in message.get("tool_calls") or []]
    try:
        arguments = json.loads(calls[-1]["function"]["arguments"]) if calls else None
    except ValueError:
        return None
    return arguments if isinstance(arguments, dict) else None


def _first(messages: list[dict[str, Any]], role: str) -> str:
    return next((_text(message["content"]) for message in messages if message["role"] == role), "")


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


def _sections(text: str) -> dict[str, str]:
    """The headed parts. A later heading of the same name is part of somebody's text, so the first one counts."""
    parts = SECTION.split(text)
    found: dict[str, str] = {} if len(parts) > 1 else {"Task": text.strip()}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        found.setdefault(name.strip(), body.strip())
    return found
