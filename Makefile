# Every command of the project. `make` alone lists them; continuous integration calls the same ones.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory --no-builtin-rules

# The first Python that is new enough and really runs: a version manager's shim may be on PATH and still fail.
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo "$$python" && break; done)

BIN := .venv/bin
SERVICES := services/core services/upload-api services/worker services/dlq-janitor
SOURCES := $(SERVICES:%=%/pyproject.toml)
IMAGES := upload-api worker dlq-janitor

# Test processes at once. With COVERAGE=1 every suite adds what it executed to one report.
JOBS ?= 2
PYTEST := $(BIN)/python -m pytest $(if $(COVERAGE),--cov --cov-append --cov-report=)

##@ Run it

# CLIP=file sends another recording through than the one that comes along.
EMBEDDED = $(BIN)/python -m reelworks.embedded

.PHONY: demo
demo: .venv/.stamp ## Start everything here, send a clip through, stay up on http://localhost:8080 (PORT=8090, CLIP=file)
	@$(EMBEDDED) demo $(if $(PORT),--port $(PORT)) $(if $(CLIP),--clip "$(CLIP)")

.PHONY: smoke
smoke: .venv/.stamp ## The same without staying: one JSON object on stdout, exit 0 only if the upload completed
	@$(EMBEDDED) smoke $(if $(CLIP),--clip "$(CLIP)")

##@ Test it

.PHONY: test
test: lint types imports test-unit test-contract test-integration cases fuzz test-e2e test-crash ## All checks and all tests

.PHONY: test-unit
test-unit: .venv/.stamp ## Domain, services and architecture: no emulator, nothing but loopback
	$(PYTEST) tests/unit -n $(JOBS)

.PHONY: test-contract
test-contract: .venv/.stamp ## The ports: one suite, run on the in-memory implementations and on the adapters
	$(PYTEST) tests/contract -n $(JOBS) --dist loadfile

.PHONY: test-integration
test-integration: .venv/.stamp ## The services on emulators of AWS
	$(PYTEST) tests/integration -n $(JOBS) --dist loadfile

.PHONY: cases
cases: .venv/.stamp ## Files that are known to break media pipelines, through all of this one; prints a table (CASE=turned)
	CASE='$(CASE)' $(PYTEST) tests/cases -n $(JOBS)

.PHONY: fuzz
fuzz: .venv/.stamp ## Damaged files through everything; prints what became of them (N=500 SEED=7 ONLY=17-mp4-hole)
	N='$(N)' SEED='$(SEED)' $(PYTEST) tests/fuzz -n $(JOBS) -k '$(ONLY)'

.PHONY: test-e2e
test-e2e: .venv/.stamp ## The whole system as its users see it
	$(PYTEST) tests/e2e -n $(JOBS) --dist loadfile

.PHONY: test-crash
test-crash: .venv/.stamp ## Fail every AWS call of a run in turn, and show that each run ends the same
	$(PYTEST) tests/crash -n $(JOBS)

.PHONY: coverage
coverage: .venv/.stamp ## All tests once more, with a report of the lines that they reach
	@rm -f .coverage .coverage.*
	@$(MAKE) COVERAGE=1 test-unit test-contract test-integration test-e2e
	@$(MAKE) coverage-report

.PHONY: coverage-report
coverage-report: .venv/.stamp ## Print what the last run with COVERAGE=1 reached (FORMAT=text|markdown|total)
	@$(BIN)/python -m coverage report --format=$(or $(FORMAT),text)

.PHONY: bench-media
bench-media: .venv/.stamp ## What the media engine costs, as ratios in one JSON object; 20 minutes (ARGS="--rounds 1 --long 20")
	@$(BIN)/python -m tests.bench.media $(ARGS)

##@ Check it

.PHONY: lint
lint: .venv/.stamp ## Style and common mistakes (ruff)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

.PHONY: format
format: .venv/.stamp ## Put the code into the house format, and fix what can be fixed safely
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: types
types: .venv/.stamp ## Types (mypy, strict)
	$(BIN)/mypy

.PHONY: imports
imports: .venv/.stamp ## Which package may import which (import-linter)
	$(BIN)/lint-imports --no-cache --no-logo

##@ Dependencies

.PHONY: venv
venv: .venv/.stamp ## Make or update the virtual environment

# Everything here writes to stderr, so that `make smoke` prints nothing but its own JSON.
.venv/.stamp: requirements/bootstrap.lock requirements/dev.lock pyproject.toml $(SOURCES)
	@python='$(PYTHON)'; \
	if ! "$${python:-false}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
		echo "Reelworks needs Python 3.11 or newer; found: $${python:-$$(python3 --version 2>&1 || echo none)}." \
			"Install one, or name it: make PYTHON=/path/to/python3.13" >&2; exit 1; \
	fi; \
	if ! "$$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then \
		echo "$$python cannot make virtual environments: install its venv package (Debian: python3-venv)." >&2; exit 1; \
	fi; \
	exec >&2; \
	$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || "$$python" -m venv --clear .venv; \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bootstrap.lock; \
	index=$${UV_DEFAULT_INDEX:-$${PIP_INDEX_URL:-$$($(BIN)/python -m pip config get global.index-url 2>/dev/null || true)}}; \
	if [ -n "$$index" ]; then export UV_DEFAULT_INDEX="$$index"; fi; \
	export UV_SYSTEM_CERTS=true; : "the machine's own trust store, as pip has it, for proxies with a certificate of their own"; \
	export VIRTUAL_ENV="$$PWD/.venv"; \
	$(BIN)/uv pip sync --quiet --require-hashes requirements/dev.lock; \
	$(BIN)/uv pip install --quiet --no-deps --no-build-isolation $(SERVICES:%=--editable %); \
	touch $@; \
	echo "The virtual environment .venv is ready ($$($(BIN)/python --version))."

# $(call compile,output,arguments): pins stay as they are in the output unless UPGRADE says otherwise.
UPGRADE ?=
compile = env -u PIP_FIND_LINKS -u UV_FIND_LINKS $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-emit-package reelworks-core \
	--custom-compile-command 'make lock' $(2) --output-file $(1) >/dev/null
# The images take their versions from dev.lock: there is one set of versions.
define compile-all
	$(call compile,$(1)/dev.lock,--group dev --all-extras $(SOURCES) $(UPGRADE))
	$(call compile,$(1)/bootstrap.lock,--group bootstrap --constraints $(1)/dev.lock --no-annotate)
	$(foreach image,$(IMAGES),
	$(call compile,$(1)/$(image).lock,services/$(image)/pyproject.toml --all-extras --constraints $(1)/dev.lock --no-annotate))
endef

.PHONY: lock
lock: .venv/.stamp ## Write requirements/*.lock after a change of a pyproject.toml (UPGRADE=--upgrade takes newer versions)
	@$(call compile-all,requirements)

.PHONY: lock-check
lock-check: .venv/.stamp ## Fail if requirements/*.lock are not what `make lock` would write
	@rm -rf .venv/lock-check && cp -R requirements .venv/lock-check
	@$(call compile-all,.venv/lock-check)
	@diff -ru requirements .venv/lock-check || { echo "The locks are out of date: run 'make lock'." >&2; exit 1; }

.PHONY: player
player: ## Fetch hls.js as locked in services/upload-api/player and put it into the page (needs Node; not part of any build)
	cd services/upload-api/player && npm ci --silent && node build.mjs

##@ Images

.PHONY: images
images: $(IMAGES:%=image-%) ## Build the three container images

.PHONY: $(IMAGES:%=image-%)
$(IMAGES:%=image-%): image-%:
	docker build --file services/$*/Dockerfile --tag reelworks/$*:$(or $(TAG),dev) $(DOCKER_BUILD_ARGS) .

##@ Housekeeping

.PHONY: clean
clean: ## Remove the virtual environment, caches and reports
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.* coverage.xml
	find services tests -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z][a-z0-9-]*:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
