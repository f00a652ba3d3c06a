"""The table of model providers. Adding one is one entry."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from agent.errors import ConfigurationError
from agent.settings import Settings


class StructuredOutput(StrEnum):
    """How a provider is asked for a structured answer."""

    FUNCTION_CALLING = "function_calling"
    JSON_SCHEMA = "json_schema"
    JSON_MODE = "json_mode"


@dataclass(frozen=True, slots=True)
class Provider:
    """One OpenAI-compatible provider."""

    name: str
    model: str
    """The model that is used when PLANDECK_MODEL is not set."""
    base_url: str | None = None
    """None: the variable named by `base_url_variable` has it."""
    key_variable: str | None = None
    """The environment variable that holds the key; None for servers that need none."""
    base_url_variable: str | None = None
    base_url_suffix: str = ""
    method: StructuredOutput = StructuredOutput.FUNCTION_CALLING

    def key(self, environment: Mapping[str, str] = os.environ) -> str:
        """The key; ConfigurationError naming its variable if it is missing."""
        if self.key_variable is None:
            return "not-needed"
        key = environment.get(self.key_variable, "").strip()
        if not key:
            raise ConfigurationError(
                f"PLANDECK_PROVIDER is {self.name}, which needs its key in {self.key_variable}, and that is not set; "
                "set it, or set PLANDECK_PROVIDER to offline."
            )
        return key

    def url(self, environment: Mapping[str, str] = os.environ) -> str:
        """The address of the API; ConfigurationError naming its variable if it is missing."""
        if self.base_url is not None:
            return self.base_url
        variable = self.base_url_variable or "PLANDECK_BASE_URL"
        address = environment.get(variable, "").strip()
        if not address:
            raise ConfigurationError(
                f"PLANDECK_PROVIDER is {self.name}, which needs its address in {variable}, and that is not set."
            )
        return address.rstrip("/") + self.base_url_suffix


PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider("offline", "offline", "http://offline.invalid/v1"),
        Provider("openai", "gpt-5-mini", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        Provider("zhipu", "glm-4.6", "https://open.bigmodel.cn/api/paas/v4", "ZHIPUAI_API_KEY"),
        Provider("minimax", "MiniMax-M2", "https://api.minimax.io/v1", "MINIMAX_API_KEY"),
        Provider("deepseek", "deepseek-chat", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
        Provider("qwen", "qwen-plus", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
        Provider("moonshot", "kimi-k2-0905-preview", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
        Provider("openrouter", "openai/gpt-5-mini", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        Provider(
            "azure",
            "gpt-5-mini",
            key_variable="AZURE_OPENAI_API_KEY",
            base_url_variable="AZURE_OPENAI_ENDPOINT",
            base_url_suffix="/openai/v1",
        ),
        Provider("ollama", "qwen3", "http://127.0.0.1:11434/v1"),
        Provider("vllm", "default", "http://127.0.0.1:8000/v1"),
        Provider("llamacpp", "default", "http://127.0.0.1:8080/v1", method=StructuredOutput.JSON_SCHEMA),
    )
}


def provider_of(settings: Settings) -> Provider:
    """The provider that the settings name, with its key present; ConfigurationError with the choices otherwise."""
    provider = PROVIDERS.get(settings.provider)
    if provider is None:
        raise ConfigurationError(
            f"PLANDECK_PROVIDER is {settings.provider!r}, which is no provider; choose from {', '.join(PROVIDERS)}."
        )
    provider.key()
    if settings.base_url is None:
        provider.url()
    return provider
