"""How each instrumentation names things: one row a quantity, the name that wins first.

A quantity's sources are asked in their order and the first usable value is taken, never a sum over names. A new
convention is a new entry in these tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Encoding: TypeAlias = Literal["json", "python"]


@dataclass(frozen=True, slots=True)
class Source:
    """Where a value may stand: an attribute, or a place inside the text of one."""

    attribute: str
    path: tuple[str, ...] = ()
    """Keys inside the decoded text; empty for the attribute's own value."""
    encoding: Encoding | None = None
    """How the text is encoded; `python` is the text of a Python dict."""


def _plain(*attributes: str) -> tuple[Source, ...]:
    return tuple(Source(attribute) for attribute in attributes)


def _vercel(*paths: str) -> tuple[Source, ...]:
    return tuple(Source("ai.response.providerMetadata", tuple(path.split("/")), "json") for path in paths)


def _mlflow(key: str) -> tuple[Source, ...]:
    return (Source("mlflow.chat.tokenUsage", (key,), "json"),)


def _langsmith_details(side: str, key: str) -> tuple[Source, ...]:
    return (Source(f"gen_ai.usage.{side}_token_details", (key,), "python"),)


_DETAILS = "gen_ai.usage.details"
_OPENLIT_IN, _OPENLIT_OUT = "gen_ai.usage.prompt_tokens_details", "gen_ai.usage.completion_tokens_details"
_OI_IN, _OI_OUT = "llm.token_count.prompt_details", "llm.token_count.completion_details"

QUANTITIES: Mapping[str, tuple[Source, ...]] = {
    "input": (
        *_plain("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
        *_plain("llm.usage.prompt_tokens", "ai.usage.inputTokens", "ai.usage.promptTokens", "ai.usage.tokens"),
        *_mlflow("input_tokens"),
    ),
    "output": (
        *_plain("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
        *_plain("llm.usage.completion_tokens", "ai.usage.outputTokens", "ai.usage.completionTokens"),
        *_mlflow("output_tokens"),
    ),
    "total": (
        *_plain("gen_ai.usage.total_tokens", "llm.token_count.total", "llm.usage.total_tokens", "ai.usage.totalTokens"),
        *_mlflow("total_tokens"),
    ),
    "cache_read": (
        *_plain("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", f"{_OI_IN}.cache_read"),
        *_plain("ai.usage.inputTokenDetails.cacheReadTokens", "ai.usage.cachedInputTokens"),
        *_mlflow("cache_read_input_tokens"),
        *_plain(f"{_DETAILS}.cache_read_tokens", f"{_OPENLIT_IN}.cached_tokens"),
        *_langsmith_details("input", "cache_read"),
        *_vercel("anthropic/usage/cache_read_input_tokens", "openai/cachedPromptTokens"),
        *_vercel("bedrock/usage/cacheReadInputTokens"),
    ),
    "cache_write": (
        *_plain("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens"),
        *_plain(f"{_OI_IN}.cache_write", "ai.usage.inputTokenDetails.cacheWriteTokens"),
        *_mlflow("cache_creation_input_tokens"),
        *_plain(f"{_DETAILS}.cache_write_tokens", f"{_OPENLIT_IN}.cache_creation_tokens"),
        *_langsmith_details("input", "cache_creation"),
        *_vercel("anthropic/usage/cache_creation_input_tokens", "anthropic/cacheCreationInputTokens"),
        *_vercel("bedrock/usage/cacheWriteInputTokens"),
    ),
    "cache_write_1h": (
        *_mlflow("cache_creation_input_tokens_above_1hr"),
        *_langsmith_details("input", "ephemeral_1h_input_tokens"),
        *_vercel("anthropic/usage/cache_creation/ephemeral_1h_input_tokens"),
    ),
    "reasoning": (
        *_plain("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", f"{_OI_OUT}.reasoning"),
        *_plain("llm.usage.reasoning_tokens", "ai.usage.outputTokenDetails.reasoningTokens"),
        *_plain("ai.usage.reasoningTokens", f"{_DETAILS}.reasoning_tokens", f"{_OPENLIT_OUT}.reasoning_tokens"),
        *_langsmith_details("output", "reasoning"),
    ),
    "input_audio": (
        *_plain(f"{_OI_IN}.audio", f"{_DETAILS}.input_audio_tokens"),
        *_langsmith_details("input", "audio"),
    ),
    "output_audio": (
        *_plain(f"{_OI_OUT}.audio", f"{_DETAILS}.output_audio_tokens", f"{_OPENLIT_OUT}.audio_tokens"),
        *_langsmith_details("output", "audio"),
    ),
}
"""Token quantities; details only fill in what the first-class names leave out."""

COST: tuple[Source, ...] = (
    *_plain("llm.cost.total", "gen_ai.usage.cost", "operation.cost"),
    Source("mlflow.llm.cost", ("total_cost",), "json"),
)

_META = "traceloop.association.properties"

WORDS: Mapping[str, tuple[Source, ...]] = {
    "provider": (
        *_plain("plandeck.provider", "gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"),
        *_plain("ai.model.provider"),
        Source("mlflow.llm.provider", encoding="json"),
    ),
    "response_model": (
        *_plain("gen_ai.response.model", "llm.response.model_name", "ai.response.model", "llm.model_name"),
        *_plain("embedding.model_name"),
    ),
    "request_model": (
        *_plain("gen_ai.request.model", "llm.request.model_name", "ai.model.id", "model_name"),
        Source("mlflow.llm.model", encoding="json"),
    ),
    "service_tier": (
        *_plain("openai.response.service_tier", "gen_ai.openai.response.service_tier", "gen_ai.response.service_tier"),
        *_vercel("anthropic/usage/service_tier", "openai/serviceTier"),
        *_plain("openai.request.service_tier", "gen_ai.openai.request.service_tier"),
    ),
    "tool": _plain("gen_ai.tool.name", "tool.name", "ai.toolCall.name"),
    "agent": _plain(
        "plandeck.agent",
        "gen_ai.agent.name",
        "agent.name",
        "agent_name",
        "ai.telemetry.functionId",
        "gen_ai.workflow.name",
        "traceloop.workflow.name",
        "langsmith.trace.name",
    ),
    "thread_id": (
        *_plain("gen_ai.conversation.id", "session.id", f"{_META}.thread_id", "langsmith.metadata.thread_id"),
        Source("metadata", ("thread_id",), "json"),
        *_plain("mlflow.trace.session"),
    ),
    "run_id": _plain("plandeck.run_id"),
    "step_id": _plain("plandeck.step_id"),
    "role": _plain("plandeck.role"),
    "user": _plain("enduser.id", "user.id", f"{_META}.user_id", "langsmith.metadata.user_id"),
}


def _by_attribute() -> Mapping[str, tuple[tuple[str, int, Source], ...]]:
    tables = {**QUANTITIES, **WORDS, "cost": COST}
    places: dict[str, list[tuple[str, int, Source]]] = {}
    for name, sources in tables.items():
        for rank, source in enumerate(sources):
            places.setdefault(source.attribute, []).append((name, rank, source))
    return {attribute: tuple(found) for attribute, found in places.items()}


BY_ATTRIBUTE = _by_attribute()
"""What each attribute may say: the quantity or word, the rank of the source among its sources, and the source.

A span has some twenty attributes and the tables above some hundred sources, so the span is asked, not the tables.
"""

OPERATION_SOURCES: tuple[tuple[Source, Mapping[str, str]], ...] = (
    (Source("gen_ai.operation.name"), {"llm_request": "chat", "vector_db_retrieve": "retrieval"}),
    (
        Source("openinference.span.kind"),
        {
            "llm": "chat",
            "embedding": "embeddings",
            "tool": "execute_tool",
            "agent": "invoke_agent",
            "retriever": "retrieval",
            "reranker": "rerank",
        },
    ),
    (
        Source("llm.request.type"),
        {"chat": "chat", "completion": "text_completion", "embedding": "embeddings", "rerank": "rerank"},
    ),
    (Source("traceloop.span.kind"), {"tool": "execute_tool", "agent": "invoke_agent"}),
    (
        Source("ai.operationId"),
        {
            "ai.generatetext": "invoke_agent",
            "ai.streamtext": "invoke_agent",
            "ai.generateobject": "invoke_agent",
            "ai.streamobject": "invoke_agent",
            "ai.generatetext.dogenerate": "chat",
            "ai.streamtext.dostream": "chat",
            "ai.generateobject.dogenerate": "chat",
            "ai.streamobject.dostream": "chat",
            "ai.embed": "chain",
            "ai.embedmany": "chain",
            "ai.embed.doembed": "embeddings",
            "ai.embedmany.doembed": "embeddings",
            "ai.toolcall": "execute_tool",
        },
    ),
    (Source("langsmith.span.kind"), {"llm": "chat", "tool": "execute_tool", "retriever": "retrieval"}),
    (
        Source("mlflow.spanType", encoding="json"),
        {
            "chat_model": "chat",
            "llm": "chat",
            "embedding": "embeddings",
            "tool": "execute_tool",
            "agent": "invoke_agent",
            "retriever": "retrieval",
            "reranker": "rerank",
        },
    ),
)
"""What says which operation a span is; a word that a table does not have is kept as it is, in lower case."""

OPERATION_ALIASES: Mapping[str, str] = {"operation.name": "ai.operationId"}
"""Attributes that repeat another: `operation.name` is Vercel's id, sometimes followed by the function's name."""

SPAN_NAMES: Mapping[str, str] = {"agent run": "invoke_agent", "running tool": "execute_tool"}
"""Operations of spans that say it in their name only."""

MODEL_OPERATIONS = frozenset({"chat", "generate_content", "text_completion", "embeddings"})

KINDS: Mapping[str, str] = {
    **dict.fromkeys(MODEL_OPERATIONS, "model"),
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "create_agent": "agent",
    "agent_step": "agent",
    "chain": "chain",
    "workflow": "chain",
    "invoke_workflow": "chain",
    "task": "chain",
    "execute_task": "chain",
    "retrieval": "retrieval",
    "rerank": "retrieval",
}

PROVIDER_WORDS: Mapping[str, str] = {
    "az.ai.openai": "azure.ai.openai",
    "azure_openai": "azure.ai.openai",
    "unknown": "",
}
"""Providers by other names, in lower case; an empty word means that nothing is known."""

PROVIDER_SUFFIXES = (".chat", ".messages", ".responses", ".completion", ".embedding", ".generative-ai")
"""What Vercel's SDK hangs on a provider's name."""

BODY_ATTRIBUTES = frozenset(
    {
        "gen_ai.system_instructions",
        "gen_ai.tool.definitions",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        "input.value",
        "output.value",
        "tool.parameters",
        "tool_arguments",
        "tool_response",
        "final_result",
        "all_messages_events",
        "events",
        "ai.response.text",
        "ai.response.toolCalls",
        "ai.response.object",
        "ai.toolCall.args",
        "ai.toolCall.result",
        "traceloop.entity.input",
        "traceloop.entity.output",
        "mlflow.spanInputs",
        "mlflow.spanOutputs",
        "pydantic_ai.all_messages",
    }
)
BODY_PREFIXES = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.prompt",
    "gen_ai.completion",
    "llm.input_messages",
    "llm.output_messages",
    "llm.prompts",
    "llm.tools",
    "ai.prompt",
)
"""Attributes that carry message contents, which are stored apart from the span."""

NO_ERRORS = frozenset({"GraphInterrupt", "NodeInterrupt", "ParentCommand", "GraphBubbleUp"})
"""Exceptions by which a graph pauses or passes control; a pause is never an error."""
