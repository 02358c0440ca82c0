# Everything a fresh clone needs: `make demo` and `make test`, with only Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What runs without the packages that only some tests compare with.
OLDEST := $(addprefix tests/,base conditions counting curves inference multiclass planning decisions estimators displays cli data/scan data/tallies data/test_predictions.py report/test_report.py)
STAMP := $(VENV)/.installed
DEMO_STAMP := $(VENV)/.installed-demo
# $(call pip,arguments) shows what pip prints only if it fails.
pip = $(BIN)/python -m pip install --disable-pip-version-check $(1) >$(VENV)/pip.log 2>&1 || { cat $(VENV)/pip.log; exit 1; }

.PHONY: help demo test test-oldest fuzz hostile mutants study-honesty study-thresholds study-real study-ranges study-limits study-k-classes lint format wheels bench bench-check bench-record replicate docs clean

help:
	@echo "make demo    run the main task on the shipped example (demo-output/; installs 30 packages)"
	@echo "make test    run all tests and doctests (installs what development needs)"
	@echo "make test-oldest  run the tests that need no other packages with the oldest versions that are allowed"
	@echo "make fuzz    test every law on new random worlds for 10 minutes (FUZZ='--minutes 60' for longer)"
	@echo "make hostile make 100,000 hostile calls of everything public (HOSTILE='--calls 1000000 --minutes 120' for more)"
	@echo "make mutants break the core at random places for 30 minutes, and count how often a test notices"
	@echo "make study-honesty  measure how often the recommendations hold in 60 simulated worlds (hours; can be resumed)"
	@echo "make study-thresholds  how often sets of thresholds have the best one (20 minutes)"
	@echo "make study-real  how often promises hold on German credit, Pima and Adult (minutes; needs ../shared/data)"
	@echo "make study-limits  how often the limits of curves and comparisons hold (half an hour)"
	@echo "make study-ranges  how often the loss of one rule for a range stays below its limit (20 minutes)"
	@echo "make study-k-classes  how often the intervals of k-class costs hold, by method (half an hour)"
	@echo "make lint    ruff (lint and format) and mypy"
	@echo "make format  let ruff rewrite the code"
	@echo "make wheels  make the source archive and the wheels of all platforms (dist/), and try the one of this machine"
	@echo "make bench   compare the speed of the package with others (about 10 minutes; BENCH='--only roc' for one topic)"
	@echo "make bench-check   fail if a ratio fell below 70 % of the recorded one"
	@echo "make bench-record  measure everything, record the results and write docs/benchmarks.md"
	@echo "make replicate  compute the papers' tables and figures again (long; can be stopped and resumed)"
	@echo "make docs    build the documentation (docs/_build/html)"
	@echo "make clean   remove the environment and everything that was made"

# `make demo` installs what the demo needs; everything else adds the rest to the same environment.
$(DEMO_STAMP): EXTRAS := cli,report
$(STAMP): EXTRAS := dev
$(DEMO_STAMP) $(STAMP): pyproject.toml constraints.txt hatch_build.py src/costcurves/counting/loops.c
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "costcurves needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	@echo "Installing costcurves[$(EXTRAS)] into $(VENV) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(call pip,-c constraints.txt -e ".[$(EXTRAS)]")
	@touch $(DEMO_STAMP) $@

demo: $(DEMO_STAMP)
	@$(BIN)/costcurves demo --output demo-output --force

test: $(STAMP)
	$(BIN)/python -m pytest -n 2

# Warnings of old packages about each other are no errors here.
test-oldest:
	@test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	@.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-oldest.txt -e ".[plot,sklearn,files,cli,report]" pandas polars pytest pytest-xdist hypothesis jsonschema
	.venv-oldest/bin/python -m pytest -n 2 -o filterwarnings=default --ignore=tests/data/scan/test_missing.py $(OLDEST)

fuzz: $(STAMP)
	$(BIN)/python tests/fuzz.py $(FUZZ)

hostile: $(STAMP)
	$(BIN)/python tests/hostile_calls.py --calls 100000 $(HOSTILE)

mutants: $(STAMP)
	$(BIN)/python tools/mutants.py $(MUTANTS)

study-honesty: $(STAMP)
	$(BIN)/python studies/honesty.py --record $(STUDY)

study-thresholds: $(STAMP)
	$(BIN)/python studies/threshold_sets.py --record $(STUDY)

study-real: $(STAMP)
	$(BIN)/python studies/real_data.py --record $(STUDY)

study-limits: $(STAMP)
	$(BIN)/python -m studies.limits --record $(STUDY)

study-ranges: $(STAMP)
	$(BIN)/python studies/range_losses.py --record $(STUDY)

study-k-classes: $(STAMP)
	$(BIN)/python studies/k_classes.py --record $(STUDY)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

wheels: $(STAMP)
	@$(call pip,-r tools/requirements.txt)
	$(BIN)/python tools/wheels.py

bench bench-check bench-record: $(STAMP)
	@$(call pip,-c constraints.txt -r benchmarks/requirements.txt)
	$(BIN)/python benchmarks/run.py $(patsubst bench-%,--%,$(filter bench-%,$@)) $(BENCH)

# Finished parts are kept in replication-output/ and not computed again; the pages show what is recorded with --record.
# With DATA=folder the data sets are read from there, else they are fetched from OpenML.
replicate: $(STAMP)
	$(BIN)/python -m replications run all --output replication-output $(if $(DATA),--data $(DATA))

# With COSTCURVES_DOCS_VERSION=0.1.0 the pages have the menu of versions of the published site.
docs: export COSTCURVES_DOCS_VERSION := $(COSTCURVES_DOCS_VERSION)
docs: $(STAMP)
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	@echo "docs/_build/html/index.html"

clean:
	rm -rf dist docs/_build docs/_pictures docs/gallery docs/reference/api docs/reference/cli.md docs/reference/json.md $(VENV) .venv-oldest demo-output bench-output replication-output .pytest_cache .mypy_cache .ruff_cache .hypothesis
