"""What the settings page shows, from the settings, the tools and the files in the home folder. Never a secret."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from agent.records import Effect, Limits

if TYPE_CHECKING:
    from agent.manifests.catalogue import Agent
    from agent.manifests.manifest import ModelChoice, Models
    from agent.settings import Settings
    from agent.tools.registry import ToolRegistry

PACKAGES = ("plandeck", "langgraph", "langchain-openai", "streamlit", "opentelemetry-sdk", "genai-prices", "sqlalchemy")

NOT_SET = "not set"

LIMIT_WORDS = {
    "max_steps": "Steps in a plan",
    "tries_per_step": "Tries per step",
    "max_replans": "New plans after feedback or failure",
    "max_iterations": "Rounds of planning in all",
    "same_calls": "Calls with the same arguments",
    "max_tool_calls": "Tool calls",
    "max_llm_calls": "Model calls",
    "wall_seconds": "Seconds of work, waiting aside",
    "max_tokens": "Tokens",
    "max_cost_usd": "Cost, dollars",
}

CELL_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Fact:
    """One setting: what it is called here, its value, and the variable that changes it (None: nothing does)."""

    name: str
    value: str
    variable: str | None = None

    @property
    def is_long(self) -> bool:
        """Whether its value may not fit into a cell, which would cut it."""
        return len(self.value) > CELL_CHARACTERS


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool as the list shows it."""

    name: str
    version: int
    effect: Effect
    summary: str
    ready: bool


@dataclass(frozen=True, slots=True)
class AgentRow:
    """One agent as the list shows it."""

    name: str
    version: str
    mode: str
    models: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A file or folder of data, or what is on PostgreSQL."""

    name: str
    file: str | None
    """Within the home folder; None on PostgreSQL."""
    bytes: int | None
    """None for what is not there yet, and on PostgreSQL."""


def headline(provider: str, tools: int) -> str:
    """The page in a sentence."""
    model = "the offline model" if provider == "offline" else provider
    return f"Runs use {model} and {tools} tools" if tools != 1 else f"Runs use {model} and one tool"


def model_facts(settings: Settings, provider: str, model: str, base_url: str | None) -> list[Fact]:
    """Where model calls go."""
    address = (
        "inside Plandeck, nothing leaves it" if provider == "offline" else settings.base_url or base_url or "unknown"
    )
    return [
        Fact("Provider", provider, "PLANDECK_PROVIDER"),
        Fact("Model", model, "PLANDECK_MODEL"),
        Fact("Address", without_secrets(address), "PLANDECK_BASE_URL"),
    ]


def server_facts(settings: Settings) -> list[Fact]:
    """Who can reach the server, and what it takes."""
    return [
        Fact("Listens on", f"{settings.host}:{settings.port}", "PLANDECK_HOST, PLANDECK_PORT"),
        Fact(
            "Token for traces", "set" if settings.otlp_token else "none needed on this machine", "PLANDECK_OTLP_TOKEN"
        ),
        Fact("Project", settings.project, "PLANDECK_PROJECT"),
        Fact("Own prices", str(settings.prices or "prices.toml in the home folder, if present"), "PLANDECK_PRICES"),
        Fact("Other checkpoint stores", store_names(settings.stores), "PLANDECK_STORES"),
    ]


def tool_facts(settings: Settings) -> list[Fact]:
    """What tools may reach beyond this machine. Of an address only the host: a webhook's path is its secret."""
    return [
        Fact("Web search", "key set" if settings.tavily_api_key else NOT_SET, "TAVILY_API_KEY"),
        Fact("HTTP GET", settings.http_allow or NOT_SET, "PLANDECK_HTTP_ALLOW"),
        Fact("Mail server", _host_of(settings.smtp_url), "PLANDECK_SMTP_URL, PLANDECK_SMTP_FROM"),
        Fact("Webhook", _host_of(settings.notify_webhook), "PLANDECK_NOTIFY_WEBHOOK"),
    ]


def _host_of(secret: SecretStr | None) -> str:
    """Host and port of an address whose other parts are nobody's business."""
    return urlsplit(secret.get_secret_value()).netloc.rpartition("@")[2] if secret else NOT_SET


def limit_facts(limits: Limits) -> list[Fact]:
    """The limits of a run whose agent sets none."""
    values = {item.name: getattr(limits, item.name) for item in fields(limits)}
    return [
        Fact(LIMIT_WORDS[name], f"{value:,}" if isinstance(value, int) else value) for name, value in values.items()
    ]


def agent_rows(agents: Iterable[Agent], registry: ToolRegistry) -> list[AgentRow]:
    """Every agent that can be used."""
    return [
        AgentRow(
            name=agent.name,
            version=agent.manifest.agent_version,
            mode=str(agent.manifest.mode),
            models=model_words(agent.manifest.models),
            tools=tuple(tool.name for tool in agent.manifest.tools_of(registry)),
        )
        for agent in agents
        if agent.manifest
    ]


def model_words(models: Models) -> str:
    """Which models an agent asks."""
    planner, executor = (_choice_words(choice) for choice in (models.planner, models.executor))
    return executor if planner == executor else f"planning: {planner}, all else: {executor}"


def _choice_words(choice: ModelChoice) -> str:
    return " ".join(word for word in (choice.provider, choice.model) if word) or "as set above"


def tool_rows(registry: ToolRegistry) -> list[ToolRow]:
    """Every tool, the most harmless first."""
    rows = [ToolRow(tool.name, tool.version, tool.effect, tool.summary, tool.missing is None) for tool in registry]
    return sorted(rows, key=lambda row: row.effect.gravity)


def places(settings: Settings) -> list[Place]:
    """Where the data is; with PostgreSQL only artifacts and outbox are files."""
    home = settings.home.resolve()
    folders = [Place(name.capitalize(), name, size_of(home / name)) for name in ("artifacts", "outbox")]
    if settings.database_url:
        return [Place("Database", None, None), *folders]
    names = {"Runs and approvals": "records.db", "Checkpoints": "checkpoints.db", "Spans": "spans.db"}
    return [*(Place(name, file, database_size(home / file)) for name, file in names.items()), *folders]


def addresses(settings: Settings) -> list[Fact]:
    """The folder of the data, and its database where that is a server."""
    folder = Fact("Folder", str(settings.home.resolve()), "PLANDECK_HOME")
    if not settings.database_url:
        return [folder]
    return [folder, Fact("Database", without_secrets(settings.database_url), "PLANDECK_DATABASE_URL")]


def database_size(path: Path) -> int | None:
    """Bytes of a SQLite file with its log; None if there is none."""
    sizes = [size for size in (size_of(path.with_name(path.name + tail)) for tail in ("", "-wal")) if size is not None]
    return sum(sizes) if sizes else None


def size_of(path: Path) -> int | None:
    """Bytes of a file, or of all files below a folder; None if there is none."""
    try:
        if path.is_dir():
            return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
        return path.stat().st_size
    except FileNotFoundError:
        return None


def versions(packages: Iterable[str] = PACKAGES) -> list[Fact]:
    """The installed versions of Plandeck and what it stands on."""
    return [Fact("Plandeck" if name == "plandeck" else name, version(name)) for name in packages]


def store_names(stores: str) -> str:
    """The names of PLANDECK_STORES without their addresses, which may hold passwords."""
    names = [entry.partition("=")[0].strip() for entry in stores.split(",") if entry.strip()]
    return ", ".join(names) or "none"


def without_secrets(url: str) -> str:
    """A URL without its password and without its query, in which tokens are put."""
    parts = urlsplit(url)
    if not parts.scheme or not parts.hostname:
        return url
    user = f"{parts.username}@" if parts.username else ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{user}{host}{port}{parts.path}"
