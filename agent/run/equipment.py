"""What a run works with, by the manifest that it began with: its tools and its models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.errors import ConfigurationError
from agent.manifests.catalogue import shipped_default
from agent.manifests.manifest import Manifest, ModelChoice, Models
from agent.models.client import build_model
from agent.models.providers import PROVIDERS, provider_of
from agent.records import Run
from agent.run.asking import Model
from agent.tools.registry import ToolRegistry
from traces.records import Usage

if TYPE_CHECKING:
    from agent.run.usecases import Plandeck


def manifest_of(app: Plandeck, run: Run) -> Manifest:
    """What the run began with, whatever its file says now."""
    return shipped_default(app.registry) if run.manifest is None else Manifest.from_json(run.manifest)


def tools_of(app: Plandeck, run: Run) -> ToolRegistry:
    """The tools that the run began with; ConfigurationError if one of them is not registered in that version now."""
    return app.registry.pinned(run.tools)


def in_force(app: Plandeck, manifest: Manifest) -> Manifest:
    """The manifest with what it leaves to the settings filled in; ConfigurationError if a model cannot be had."""
    filled = {role: _filled(app, getattr(manifest.models, role)) for role in Models.model_fields}
    for role, choice in filled.items():
        try:
            model_for(app, choice)
        except ConfigurationError as error:
            raise ConfigurationError(
                f"The {role} of the agent {manifest.name} is a model of {choice.provider}, which is not set up; set "
                f"{_variables(str(choice.provider))}, or choose another provider in its manifest."
            ) from error
    return manifest.model_copy(update={"models": Models(**filled)})


def _filled(app: Plandeck, choice: ModelChoice) -> ModelChoice:
    provider = choice.provider or app.provider.name
    configured = app.settings.model if provider == app.provider.name else None
    return ModelChoice(provider=provider, model=choice.model or configured or PROVIDERS[provider].model)


def _variables(provider: str) -> str:
    entry = PROVIDERS[provider]
    named = [entry.key_variable, entry.base_url_variable if entry.base_url is None else None]
    return " and ".join(name for name in named if name)


def models_of(app: Plandeck, run: Run) -> tuple[Model, Model]:
    """The planner and the executor that the run began with, whatever is configured now."""
    executor = model_for(app, ModelChoice(provider=run.provider, model=run.model))
    if run.manifest is None:
        return executor, executor
    planner = manifest_of(app, run).models.planner
    same = (planner.provider, planner.model) == (run.provider, run.model)
    return (executor if same else model_for(app, planner)), executor


def model_for(app: Plandeck, choice: ModelChoice) -> Model:
    """The model of a whole choice; ConfigurationError if it cannot be had."""
    provider, model = str(choice.provider), str(choice.model)

    def price(input_tokens: int, output_tokens: int) -> int | None:
        at = int(app.now().timestamp()) * 1_000_000_000
        return app.prices.price(model, provider, Usage(input_tokens, output_tokens), at).cost

    if (provider, model) == (app.provider.name, app.settings.model or app.provider.model):
        return Model(app.model, app.provider, price)
    base_url = app.settings.base_url if provider == app.provider.name else None
    chosen = app.settings.model_copy(update={"provider": provider, "model": model, "base_url": base_url})
    return Model(build_model(chosen), provider_of(chosen), price)
