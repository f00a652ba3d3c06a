"""Every setting of Plandeck, read once from the environment and `plandeck.toml`."""

from __future__ import annotations

from pathlib import Path
from tomllib import TOMLDecodeError

from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from agent.errors import ConfigurationError


class Settings(BaseSettings):
    """The settings of INTERFACES; the environment wins over `plandeck.toml` of the working folder."""

    model_config = SettingsConfigDict(env_prefix="PLANDECK_", toml_file="plandeck.toml", extra="ignore", frozen=True)

    home: Path = Path(".plandeck")
    """Folder of the embedded databases, artifacts and outbox."""
    database_url: str | None = Field(default=None, repr=False)
    """`postgresql://…` moves every table there; None means SQLite files in `home`."""
    host: str = "127.0.0.1"
    port: int = Field(default=8501, ge=1, le=65535)
    provider: str = "offline"
    model: str | None = None
    """Model name at the provider; None means the provider's default."""
    base_url: str | None = None
    """Address of an OpenAI-compatible server; None means the provider's own."""
    otlp_token: str | None = Field(default=None, repr=False)
    otlp_max_bytes: int = Field(default=16 * 1024 * 1024, ge=1_024)
    """Largest request of traces that is taken, unpacked."""
    graphs: Path | None = None
    prices: Path | None = None
    stores: str = Field(default="", repr=False)
    """Further checkpoint stores: `name=path-or-url`, comma-separated."""
    project: str = "default"
    offline_delay_ms: int = Field(default=0, ge=0)
    tavily_api_key: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("TAVILY_API_KEY", "tavily_api_key")
    )
    """Makes web search ready; like every provider's key it is called as its provider calls it."""
    tavily_base_url: str = Field(
        default="https://api.tavily.com", validation_alias=AliasChoices("TAVILY_BASE_URL", "tavily_base_url")
    )
    http_allow: str = ""
    """Hosts that HTTP GET may reach: `host` or `host:port`, comma-separated."""
    smtp_url: SecretStr | None = None
    """Mail server of notifications: `smtp://user:password@host:port`, or `smtps://…`."""
    smtp_from: str | None = None
    """Sender of notifications by e-mail; None means the user of `smtp_url`."""
    notify_webhook: SecretStr | None = None
    """Address that notifications are posted to; it is a secret, since whoever knows it can post."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then environment, then `plandeck.toml`."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @property
    def records_url(self) -> str:
        """SQLAlchemy URL of runs, plans, approvals."""
        return self._url("records.db")

    @property
    def spans_url(self) -> str:
        """SQLAlchemy URL of the spans."""
        return self._url("spans.db")

    @property
    def checkpoints_location(self) -> str:
        """Path of the SQLite file, or the PostgreSQL URL, that the agent's checkpoints are in."""
        return self.database_url or str(self.home / "checkpoints.db")

    def _url(self, file: str) -> str:
        if self.database_url:
            return self.database_url.replace("postgresql://", "postgresql+psycopg://", 1)
        return f"sqlite:///{self.home.resolve() / file}"


def load_settings(**overrides: object) -> Settings:
    """Read the settings; a wrong one raises ConfigurationError that names the variable."""
    try:
        settings = Settings(**overrides)  # type: ignore[arg-type]
    except TOMLDecodeError as error:
        raise ConfigurationError(f"plandeck.toml is not valid TOML: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        name = "PLANDECK_" + "_".join(str(part) for part in first["loc"]).upper()
        raise ConfigurationError(f"{name} is wrong: {first['msg']} (got {first['input']!r}).") from error
    if settings.database_url and not settings.database_url.startswith("postgresql://"):
        raise ConfigurationError("PLANDECK_DATABASE_URL must begin with postgresql://, or be unset for SQLite.")
    return settings
