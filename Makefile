# Everything here needs python3 (3.11 or newer) and make only: the environment in .venv is built once, from the hashed
# lock file, and again whenever the lock file or pyproject.toml changes. `make PYTHON=python3.12 test` chooses another.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Two test processes at most, and one thread in each, so that solvers under test do not fight for the cores.
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1); [ $$n -gt 2 ] && echo 2 || echo $$n)
PYTEST = $(BIN)/python -m pytest -q -n $(WORKERS)

# The extra `rivals` (of benchmarks) is not locked: no test and no demonstration needs it.
LOCKED_EXTRAS := plots frames scale scip cpsat sat topohub docs dev

# A path that type checkers and editors follow, instead of a hook on imports, which none of them runs.
EDITABLE := --config-settings editable_mode=compat

PAGES := docs/_build/html
DEMO := demo
DEMO_PLACEMENT := demo-placement
DEMO_INSTANCES := $(addprefix instances/placement/,gautam-2x3.json gautam-6x6.json gautam-11x22.json)
DEMO_STRATEGIES := highs dejavu genetic annealing
DEMO_SECONDS ?= 60
DEMO_PICTURE := gautam-11x22

.DEFAULT_GOAL := help
.PHONY: help venv demo demo-placement test test-all fuzz mutants bench lint smoke house fields errata docs report browse lock size \
	clean

help: ## what can be made
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-14s %s\n", $$1, $$2}'

venv: $(READY) ## the environment in .venv, from requirements.lock

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("optmodels needs Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + "; name a newer one: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation $(EDITABLE) --editable .
	@touch $@
	@echo "Compiling once what every kind needs, a few minutes; without it the first runs would."
	-@$(BIN)/optmodels warm-up

demo: $(READY) ## all five kinds, exact against heuristics: a table, pictures and a page in demo/
	$(BIN)/optmodels demo --out $(DEMO)

demo-placement: $(READY) ## four strategies on three placements, six minutes: a table, and a picture in demo-placement/
	@rm -rf $(DEMO_PLACEMENT)
	@echo "Four strategies on three instances, at most $(DEMO_SECONDS) s each: about six minutes in all."
	$(BIN)/optmodels compare $(DEMO_INSTANCES) --strategies $(DEMO_STRATEGIES) --seconds $(DEMO_SECONDS) --out $(DEMO_PLACEMENT)
	$(BIN)/optmodels plot instances/placement/$(DEMO_PICTURE).json --result $(DEMO_PLACEMENT)/best/$(DEMO_PICTURE).json --out $(DEMO_PLACEMENT)/$(DEMO_PICTURE).png

CLUSTER = tests/optmodels/test_cluster.py

test test-all: export OMP_NUM_THREADS = 1
test test-all: export OPENBLAS_NUM_THREADS = 1
test test-all: export NUMBA_NUM_THREADS = 1

# A cluster has a process of its own: once, after thousands of other tests, Dask's loop did not start in theirs.
test: $(READY) ## all tests but the slow ones
	$(PYTEST) -n 0 $(CLUSTER)
	$(PYTEST) --ignore $(CLUSTER)

test-all: $(READY) ## all tests, the slow ones too
	$(PYTEST) -n 0 -m "not speed" $(CLUSTER)
	$(PYTEST) -m "not speed" --ignore $(CLUSTER)

bench: $(READY) ## every claim of speed, measured: each benchmark prints its ratio
	@for file in $(sort $(wildcard benchmarks/bench_*.py)); do echo "== $$file"; $(BIN)/python $$file || exit 1; done

fuzz: $(READY) ## 20 000 broken files, 600 short runs, 150 small instances: only answers and sentences (about an hour)
	$(BIN)/python tools/fuzz.py

mutants: $(READY) ## plant known mistakes, one at a time: which ones do the tests not notice?
	$(BIN)/python tools/mutants.py

lint: $(READY) ## ruff, mypy --strict, import directions
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --strict
	$(BIN)/lint-imports

# Without PYTHON, the newest that is installed here.
smoke: ## the wheel on another Python: list, solves, a few tests (make smoke PYTHON=python3.13)
	tools/smoke.sh $(if $(filter command environment,$(firstword $(origin PYTHON))),$(PYTHON))

house: $(READY) ## figures about the code base, each beside its aim, written into CONTRIBUTING.md (half a minute)
	$(BIN)/python tools/house.py --write CONTRIBUTING.md

fields: $(READY) ## tables of fields in docs/<kind>.md, from the models that read files
	$(BIN)/python tools/fields.py

errata: $(READY) ## the page of all errata, docs/errata.md, from the tables in docs/<kind>.md
	$(BIN)/python tools/errata.py

docs: $(READY) ## the pages, in docs/_build/html: warnings are errors, the code of the tutorials is run
	$(BIN)/sphinx-build -W --keep-going -q -b html docs $(PAGES)
	@echo "$(PAGES)/index.html"

# What a report is tried with: small, but with several seeds, kinds, proofs and a strategy that does not fit.
REPORT := docs/_build/report
REPORT_OF := gautam-2x3 gautam-4x4 avrachenkov-k5 loss-3 --strategies exhaustive dejavu annealing local-search genetic \
	--seeds 3 --evaluations 2000

report: $(READY) ## a small comparison as one HTML page, docs/_build/report/report.html
	@mkdir -p $(REPORT)
	$(BIN)/optmodels compare $(REPORT_OF) --report $(REPORT)/report.html

# The page of `make demo` is opened too, if it was made.
browse: $(READY) report ## open the built pages in Chromium: errors, requests to elsewhere, broken links (pictures: docs/_build/screenshots)
	$(BIN)/python tools/browse.py $(PAGES) $(REPORT) $(patsubst %/index.html,%,$(wildcard $(DEMO)/index.html)) --pictures docs/_build/screenshots

lock: ## resolve the newest versions anew into requirements.lock (needs the environment, and the network)
	$(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links \
		$(addprefix --extra ,$(LOCKED_EXTRAS)) --output-file requirements.lock pyproject.toml

size: $(READY) ## megabytes a core install adds to numpy and scipy (limit: 350)
	$(BIN)/python benchmarks/install_size.py

clean: ## remove what was built, cached and drawn; the environment stays
	rm -rf build dist docs/_build docs/api/doors $(DEMO) $(DEMO_PLACEMENT) *.egg-info .pytest_cache .mypy_cache .ruff_cache \
		.hypothesis .import_linter_cache
	find optmodels heuristics queueing tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
