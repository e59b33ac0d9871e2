# What one can do here. `make` lists the recipes; each installs what it needs into .venv first.

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help install chat test bench lint format docs lock wheel clean

help: ## list these recipes
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED) ## create .venv (Python 3.11 or newer) with the locked packages; again: nothing to do

chat: install ## ask questions in the browser, on the sample data of this machine (PORT=8000 chooses the port)
	@$(BIN)/askhouse chat $(if $(PORT),--port $(PORT))

test: install ## run all tests that this machine can run; a skipped one names what is missing (ARGS=tests/cli runs a part)
	@$(BIN)/python -m pytest $(ARGS)

bench: install ## measure speed and size against their budgets, about 3 minutes (ARGS=parser runs a part; ARGS=--slow adds ADK's slowest)
	@$(BIN)/python tests/benchmarks/run.py $(ARGS)

lint: install ## check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install ## repair style and format where that can be done by rule
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: install ## write docs/reference.md anew from the code
	$(BIN)/python -m askhouse.cli.docs docs/reference.md

lock: ## resolve the newest versions into requirements.lock (needs uv)
	uv pip compile --quiet --upgrade --universal --python-version 3.11 --extra dev --generate-hashes \
	  --no-emit-index-url --no-emit-find-links --no-header --no-annotate -o requirements.lock pyproject.toml

wheel: install ## build the package into dist/
	$(BIN)/python -m hatchling build -t wheel -d dist

clean: ## remove what was built (.venv, dist, caches), not your data
	rm -rf $(VENV) dist artifacts .mypy_cache .ruff_cache .pytest_cache .hypothesis

# pip, or uv where it is installed. The lock holds versions and hashes; where packages come from is up to their settings.
$(INSTALLED): requirements.lock pyproject.toml
	@set -e; \
	for python in python3 python3.13 python3.12 python3.11 none; do \
	  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
	done; \
	if [ $$python = none ]; then echo "Error: no Python 3.11 or newer is on the PATH. Install one, then repeat." >&2; exit 1; fi; \
	echo "Installing into $(VENV) (the first time takes a minute or two)"; \
	if command -v uv >/dev/null; then \
	  [ -x $(BIN)/python ] || uv venv --quiet --python "$$(command -v $$python)" $(VENV); \
	  uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock; \
	  uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .; \
	else \
	  [ -x $(BIN)/pip ] || $$python -m venv $(VENV); \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock; \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	fi
	@touch $@
