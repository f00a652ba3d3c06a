import pytest

from agent.errors import ConfigurationError
from agent.models.client import build_model
from agent.models.providers import PROVIDERS, Provider, StructuredOutput, provider_of
from agent.settings import Settings

NAMES = [
    "offline", "openai", "zhipu", "minimax", "deepseek", "qwen", "moonshot", "openrouter", "azure", "ollama", "vllm",
    "llamacpp",
]  # fmt: skip


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        for variable in (provider.key_variable, provider.base_url_variable):
            if variable:
                monkeypatch.delenv(variable, raising=False)


def settings(provider: str, **others: str) -> Settings:
    return Settings(provider=provider, **others)


def give_what_it_needs(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    if provider.key_variable:
        monkeypatch.setenv(provider.key_variable, "k-1")
    if provider.base_url is None:
        monkeypatch.setenv(provider.base_url_variable, "https://ours.example/")


def test_these_providers_are_in_the_table() -> None:
    assert list(PROVIDERS) == NAMES
    assert all(name == provider.name for name, provider in PROVIDERS.items())


@pytest.mark.parametrize("name", NAMES)
def test_every_provider_gives_a_client_with_its_model_address_and_key(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = PROVIDERS[name]
    give_what_it_needs(provider, monkeypatch)
    model = build_model(settings(name))
    assert model.model_name == provider.model
    assert str(model.openai_api_base).startswith(("https://", "http://127.0.0.1", "http://offline.invalid"))
    key = model.openai_api_key.get_secret_value()  # type: ignore[union-attr]  # always a secret here
    assert key == ("k-1" if provider.key_variable else "not-needed")


@pytest.mark.parametrize("name", [name for name in NAMES if PROVIDERS[name].key_variable and PROVIDERS[name].needs_key])
def test_a_missing_key_stops_with_the_name_of_its_variable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = PROVIDERS[name]
    give_what_it_needs(provider, monkeypatch)
    monkeypatch.setenv(str(provider.key_variable), "  ")
    with pytest.raises(ConfigurationError, match=str(provider.key_variable)) as refused:
        build_model(settings(name))
    assert "PLANDECK_PROVIDER" in str(refused.value)


def test_a_wrong_name_stops_with_the_choices() -> None:
    with pytest.raises(ConfigurationError) as refused:
        provider_of(settings("gpt"))
    assert all(word in str(refused.value) for word in ("PLANDECK_PROVIDER", "'gpt'", *NAMES))


def test_azure_needs_its_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "k-1")
    with pytest.raises(ConfigurationError, match="AZURE_OPENAI_ENDPOINT"):
        provider_of(settings("azure"))
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://ours.openai.azure.com/")
    assert build_model(settings("azure")).openai_api_base == "https://ours.openai.azure.com/openai/v1"


def test_the_address_and_the_model_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-1")
    model = build_model(settings("openai", base_url="http://127.0.0.1:9/v1", model="small"))
    assert (model.openai_api_base, model.model_name) == ("http://127.0.0.1:9/v1", "small")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "k-1")
    assert provider_of(settings("azure", base_url="http://127.0.0.1:9/v1")).name == "azure"


def test_structured_answers_are_asked_for_by_function_unless_the_table_says_otherwise() -> None:
    others = {name: provider.method for name, provider in PROVIDERS.items() if provider.method != "function_calling"}
    assert others == {"ollama": StructuredOutput.JSON_SCHEMA, "llamacpp": StructuredOutput.JSON_SCHEMA}


@pytest.mark.parametrize("name", ["ollama", "vllm", "llamacpp"])
def test_a_server_of_ones_own_needs_no_key_and_gets_one_that_is_set(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert PROVIDERS[name].key() == "not-needed"
    monkeypatch.setenv(str(PROVIDERS[name].key_variable), "k-2")
    assert PROVIDERS[name].key() == "k-2"


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("offline", "azure")])
def test_every_provider_has_a_variable_for_another_address_and_ours_wins(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_what_it_needs(PROVIDERS[name], monkeypatch)
    monkeypatch.setenv(PROVIDERS[name].base_url_variable, "https://region.example/v1/")
    assert build_model(settings(name)).openai_api_base == "https://region.example/v1"
    assert build_model(settings(name, base_url="https://mine.example/v1")).openai_api_base == "https://mine.example/v1"


def test_an_endpoint_of_azure_may_have_the_path_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://ours.openai.azure.com/openai/v1/")
    assert PROVIDERS["azure"].url() == "https://ours.openai.azure.com/openai/v1"


@pytest.mark.parametrize(
    ("address", "word"),
    [
        ("127.0.0.1:8000/v1", "looks like"),
        ("ftp://example.com/v1", "looks like"),
        ("https://", "looks like"),
        ("", "looks like"),
        ("https://example.com:99999/v1", "65535"),
        ("https://me:secret@example.com/v1", "key variable"),
        ("https://example.com/v1?key=secret", "key variable"),
        ("https://example.com/v1/chat/completions", "must end before"),
    ],
)
def test_a_wrong_address_stops_with_its_variable_and_without_its_secrets(address: str, word: str) -> None:
    with pytest.raises(ConfigurationError, match="PLANDECK_BASE_URL") as refused:
        build_model(settings("vllm", base_url=address))
    assert word in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_wrong_address_in_a_providers_own_variable_stops_with_that_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", "gpu-1:8000")
    with pytest.raises(ConfigurationError, match="VLLM_BASE_URL"):
        provider_of(settings("vllm"))


@pytest.mark.parametrize("key", ["sk-1\u201d", "sk-1 sk-2", "sk-1\nsk-2"])
def test_a_key_with_signs_of_no_key_stops_without_being_told(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY") as refused:
        provider_of(settings("openai"))
    assert "sk-1" not in str(refused.value)
