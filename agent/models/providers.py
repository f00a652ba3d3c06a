"""The table of model providers. Adding one is one entry."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from agent.errors import ConfigurationError
from agent.settings import Settings

NO_KEY = "not-needed"
"""What is sent as the key to a server that asks for none."""
COMPLETIONS = "/chat/completions"


class StructuredOutput(StrEnum):
    """How a provider is asked for a structured answer."""

    FUNCTION_CALLING = "function_calling"
    JSON_SCHEMA = "json_schema"
    JSON = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One OpenAI-compatible provider."""

    name: str
    title: str
    """The name that people know it by."""
    model: str
    """The model that is used when PLANDECK_MODEL is not set."""
    base_url: str | None
    """None: only the variable named by `base_url_variable` has it."""
    base_url_variable: str
    """The environment variable with another address, as of a region or a gateway; PLANDECK_BASE_URL wins over it."""
    base_url_suffix: str = ""
    """What the variable's address goes on with, if it does not end so already."""
    key_variable: str | None = None
    """The environment variable that holds the key; None where no key is ever sent."""
    needs_key: bool = True
    """False for servers that ask for a key only if they were started with one."""
    method: StructuredOutput = StructuredOutput.FUNCTION_CALLING
    forces_function: bool = True
    """Whether a request may name the function that has to be called; others are told in words."""
    stream_options: bool = True
    """Whether usage of a stream has to be asked for; others send it unasked and do not know the option."""
    timeout_seconds: float = 120.0
    """How long the server may be silent before a call counts as failed."""

    def key(self, environment: Mapping[str, str] = os.environ) -> str:
        """The key; ConfigurationError naming its variable if it is missing or cannot be one."""
        if self.key_variable is None:
            return NO_KEY
        key = environment.get(self.key_variable, "").strip()
        if not key:
            if not self.needs_key:
                return NO_KEY
            raise ConfigurationError(
                f"PLANDECK_PROVIDER is {self.name}, which needs its key in {self.key_variable}, and that is not set; "
                "set it, or set PLANDECK_PROVIDER to offline."
            )
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise ConfigurationError(
                f"{self.key_variable} holds signs that no key has (spaces, quotes of a word processor, line ends); "
                f"copy the key of {self.title} into it anew."
            )
        return key

    def url(self, environment: Mapping[str, str] = os.environ) -> str:
        """The address of the API; ConfigurationError naming its variable if it is missing or none."""
        address = environment.get(self.base_url_variable, "").strip()
        if address:
            whole = checked_address(self.base_url_variable, address)
            return whole if whole.endswith(self.base_url_suffix) else whole + self.base_url_suffix
        if self.base_url is None:
            raise ConfigurationError(
                f"PLANDECK_PROVIDER is {self.name}, which needs its address in {self.base_url_variable}, "
                "and that is not set."
            )
        return self.base_url


def checked_address(variable: str, address: str) -> str:
    """The address without a slash at its end; ConfigurationError naming the variable unless it is a server's."""
    whole = address.strip().rstrip("/")
    try:
        parts = urlsplit(whole)
        port = parts.port
    except ValueError:
        raise ConfigurationError(f"{variable} is no address: a port is a number up to 65535.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or not whole.isprintable():
        raise ConfigurationError(f"{variable} is no address of a server; it looks like https://api.example.com/v1.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigurationError(
            f"{variable} may hold nothing but the address; a key belongs into the provider's key variable."
        )
    if whole.endswith(COMPLETIONS):
        raise ConfigurationError(f"{variable} must end before {COMPLETIONS}, which is added to it.")
    return whole


PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider(
            name="offline",
            title="The offline model",
            model="offline",
            base_url="http://offline.invalid/v1",
            base_url_variable="PLANDECK_BASE_URL",
        ),
        Provider(
            name="openai",
            title="OpenAI",
            model="gpt-5-mini",
            base_url="https://api.openai.com/v1",
            base_url_variable="OPENAI_BASE_URL",
            key_variable="OPENAI_API_KEY",
        ),
        Provider(
            name="zhipu",
            title="Zhipu GLM",
            model="glm-4.6",
            base_url="https://open.bigmodel.cn/api/paas/v4",
            base_url_variable="ZHIPUAI_BASE_URL",
            key_variable="ZHIPUAI_API_KEY",
            forces_function=False,
            stream_options=False,
        ),
        Provider(
            name="minimax",
            title="MiniMax",
            model="MiniMax-M2.7",
            base_url="https://api.minimax.io/v1",
            base_url_variable="MINIMAX_BASE_URL",
            key_variable="MINIMAX_API_KEY",
            forces_function=False,
        ),
        Provider(
            name="deepseek",
            title="DeepSeek",
            model="deepseek-v4-flash",
            base_url="https://api.deepseek.com/v1",
            base_url_variable="DEEPSEEK_BASE_URL",
            key_variable="DEEPSEEK_API_KEY",
            forces_function=False,
        ),
        Provider(
            name="qwen",
            title="Qwen",
            model="qwen-plus",
            base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
            base_url_variable="DASHSCOPE_BASE_URL",
            key_variable="DASHSCOPE_API_KEY",
            forces_function=False,
        ),
        Provider(
            name="moonshot",
            title="Moonshot",
            model="kimi-k2.6",
            base_url="https://api.moonshot.ai/v1",
            base_url_variable="MOONSHOT_BASE_URL",
            key_variable="MOONSHOT_API_KEY",
            forces_function=False,
        ),
        Provider(
            name="openrouter",
            title="OpenRouter",
            model="openai/gpt-5-mini",
            base_url="https://openrouter.ai/api/v1",
            base_url_variable="OPENROUTER_BASE_URL",
            key_variable="OPENROUTER_API_KEY",
        ),
        Provider(
            name="azure",
            title="Azure OpenAI",
            model="gpt-5-mini",
            base_url=None,
            base_url_variable="AZURE_OPENAI_ENDPOINT",
            base_url_suffix="/openai/v1",
            key_variable="AZURE_OPENAI_API_KEY",
        ),
        Provider(
            name="ollama",
            title="Ollama",
            model="qwen3",
            base_url="http://127.0.0.1:11434/v1",
            base_url_variable="OLLAMA_BASE_URL",
            key_variable="OLLAMA_API_KEY",
            needs_key=False,
            # Ignores tool_choice; a schema constrains its answers.
            method=StructuredOutput.JSON_SCHEMA,
            timeout_seconds=600.0,
        ),
        Provider(
            name="vllm",
            title="vLLM",
            model="default",
            base_url="http://127.0.0.1:8000/v1",
            base_url_variable="VLLM_BASE_URL",
            key_variable="VLLM_API_KEY",
            needs_key=False,
            timeout_seconds=600.0,
        ),
        Provider(
            name="llamacpp",
            title="llama.cpp",
            model="default",
            base_url="http://127.0.0.1:8080/v1",
            base_url_variable="LLAMACPP_BASE_URL",
            key_variable="LLAMACPP_API_KEY",
            needs_key=False,
            method=StructuredOutput.JSON_SCHEMA,
            timeout_seconds=600.0,
        ),
    )
}


def provider_of(settings: Settings) -> Provider:
    """The provider that the settings name, with its key and address; ConfigurationError with the choices otherwise."""
    provider = PROVIDERS.get(settings.provider)
    if provider is None:
        raise ConfigurationError(
            f"PLANDECK_PROVIDER is {settings.provider!r}, which is no provider; choose from {', '.join(PROVIDERS)}."
        )
    provider.key()
    address_of(settings, provider)
    return provider


def address_of(settings: Settings, provider: Provider) -> str:
    """Where the provider is asked: PLANDECK_BASE_URL, else the provider's own variable, else its public address."""
    if settings.base_url is not None:
        return checked_address("PLANDECK_BASE_URL", settings.base_url)
    return provider.url()
