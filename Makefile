# `make demo` and `make test` set up what they need: a machine with Python 3.11 and make is enough.
PYTHON ?= python3.11
VENV := .venv
RUN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help setup demo test test-slow check bench clean

help: ## what each target does
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 16

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(RUN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $@

setup: $(READY) ## create .venv and install the package with its tools

demo: $(READY) ## recover the latents of a sphere from pairs, and print how well
	$(RUN)/noumena demo

test: $(READY) ## the fast tests
	$(RUN)/python -m pytest -n 2 --dist worksteal -m "not slow"

test-slow: $(READY) ## the tests that take minutes
	$(RUN)/python -m pytest -m slow

check: $(READY) ## lint, format, types, import rule, public names
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/pyright
	$(RUN)/python -m pytest -q tests/test_imports.py tests/test_public_names.py

bench: $(READY) ## ratios to a plain implementation, measured in one run
	$(RUN)/noumena bench

clean: ## remove the environment and caches
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis dist build
