# The commands of the project. Needs Python 3.11 or newer, Node 20 or newer and make; everything else is brought.

PYTHON ?= python3
VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
CLIENT := client-vscode
CLIENT_SOURCES := $(wildcard $(CLIENT)/src/*.ts) $(addprefix $(CLIENT)/,package.json README.md LICENSE .vscodeignore)
VSIX := $(CLIENT)/dist/mcp-lectern.vsix
# Made by one recipe after the other in a clean folder, so that what fails half-way is made again.
INSTALLED := $(VENV)/.installed
DEVELOPMENT := $(VENV)/.development
MODULES := $(CLIENT)/node_modules/.installed
# The tests start Python a thousand times: where the environment forbids bytecode, each compiles everything again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test vscode bench setup parts check lint-python types-python floors client test-python test-editors clean help
.DELETE_ON_ERROR:

help:  ## Say what each command does.
	@sed -n 's/^\([a-z-]*\):.*  ## \(.*\)/make \1: \2/p' Makefile

demo: $(INSTALLED)  ## See the main job done, without an editor.
	$(BIN)/mcp-lectern demo

test:  ## Run everything that CI runs.
	+@$(MAKE) --no-print-directory -j 3 setup
	+@$(MAKE) --no-print-directory -j 2 -O check
	+@$(MAKE) --no-print-directory test-python
	+@$(MAKE) --no-print-directory test-editors

vscode: $(INSTALLED) $(VSIX)  ## Try Lectern in a real VS Code, on a sample workspace.
	$(BIN)/python -m scripts.vscode $(VSIX)

bench: $(DEVELOPMENT)  ## Measure speed and footprint against their yardsticks.
	$(BIN)/python -m bench

setup: $(DEVELOPMENT) $(MODULES) parts

parts:  ## Bring the browser, the editors and the MCP servers that tests run against.
	@$(PYTHON) -m tests.parts

check: lint-python types-python floors client

lint-python: $(DEVELOPMENT)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types-python: $(DEVELOPMENT)
	$(BIN)/mypy

floors: $(DEVELOPMENT)
	$(BIN)/lint-imports

client: $(VSIX)
	cd $(CLIENT) && npm run --silent lint
	cd $(CLIENT) && npm run --silent types
	cd $(CLIENT) && npm test --silent

test-python: $(DEVELOPMENT) $(MODULES)
	$(BIN)/pytest --ignore=tests/e2e

test-editors: $(DEVELOPMENT) $(VSIX)
	$(BIN)/pytest tests/e2e

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Lectern needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	# Dependency groups need pip 25.1.
	$(BIN)/python -m pip install --quiet "pip>=25.1"

$(INSTALLED): pyproject.toml | $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(DEVELOPMENT): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --group dev --group peer
	@touch $@

$(MODULES): $(CLIENT)/package.json $(CLIENT)/package-lock.json
	@node -e 'if (+process.versions.node.split(".")[0] < 20) { console.error("Lectern needs Node 20 or newer."); process.exit(1) }'
	cd $(CLIENT) && npm ci --no-fund --no-audit
	@touch $@

$(VSIX): $(MODULES) $(CLIENT_SOURCES)
	cd $(CLIENT) && npm run --silent package

clean:  ## Remove all that was built or brought.
	rm -rf $(VENV) .parts build dist $(CLIENT)/node_modules $(CLIENT)/dist
