# Needs Python 3.11 or newer, git and make; everything else is installed into .venv from requirements.lock. The tests of
# the dashboard need Chromium or Chrome besides.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
WORKERS ?= auto
ROUNDS ?= 5

.PHONY: help install browser demo test test-long explore lint format bench-writer bench-search bench-injection bench-speed bench-ladder bench-turn bench-doctor bench-sync bench-hooks bench-dashboard conformance soak-writer ladder month help-tables lock clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /	/'

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("omnislash needs Python 3.11 or newer; set PYTHON=") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

install: $(STAMP)  ## make .venv

browser:  ## find a browser for the tests of the dashboard, and install one as root where apt-get is
	@.ci/browser

demo: $(STAMP)  ## run the main job on a copy of brain-example, offline
	@$(BIN)/omnislash demo

test: $(STAMP) browser  ## run the tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not long" -q

test-long: $(STAMP)  ## run the tests that take many seconds each
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m long -q

explore: $(STAMP)  ## the tests of generated examples, ROUNDS times, each time with examples of its own
	for round in $$(seq $(ROUNDS)); do \
		$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "hypothesis and not long" --hypothesis-profile explore -q || exit 1; \
	done

lint: $(STAMP)  ## style, types and the direction of dependence
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)  ## let ruff format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench-writer: $(STAMP)  ## speed of the writer against the floor of this disk
	$(BIN)/python tests/bench/bench_writer.py

bench-search: $(STAMP)  ## how well search finds; DATA=DIR with the public sets adds them to our own
	$(BIN)/python tests/bench/bench_search.py $(if $(DATA),--locomo $(DATA)/locomo10.json \
		--corrections $(DATA)/locomo-corrections.json --xquad-en $(DATA)/xquad.en.json --xquad-ru $(DATA)/xquad.ru.json)

bench-injection: $(STAMP)  ## how quiet recall is, with either gate; DATA=DIR adds the public conversations
	$(BIN)/python tests/bench/bench_injection.py $(if $(DATA),--locomo $(DATA)/locomo10.json \
		--corrections $(DATA)/locomo-corrections.json)

bench-speed: $(STAMP)  ## how fast search is, from 1,000 to 200,000 notes
	$(BIN)/python tests/bench/bench_speed.py

bench-doctor: $(STAMP)  ## what doctor costs on 10,000 files, against a floor
	$(BIN)/python tests/bench/bench_doctor.py

bench-sync: $(STAMP)  ## what a tick of brain-sync costs on 10,000 commits and 10,000 files, against `git status`
	$(BIN)/python tests/bench/bench_sync.py

bench-hooks: $(STAMP)  ## what a hook of Claude Code costs at 10,000 notes, against a bare interpreter
	$(BIN)/python tests/bench/bench_hooks.py

bench-dashboard: $(STAMP)  ## pages and their JSON on 10,000 files, against the engine call that they make
	$(BIN)/python tests/bench/bench_dashboard.py

conformance: $(STAMP)  ## the MCP project's own conformance suite, from npm
	$(BIN)/python tests/conformance/run_conformance.py

soak-writer: $(STAMP)  ## 8 processes, 4,000 writes, 200 kills; then an editor in the same file
	$(BIN)/python tests/soak/soak_writer.py

bench-ladder: $(STAMP)  ## a tick that has nothing to do, on ten years of logs in twenty lines
	$(BIN)/python tests/bench/bench_ladder.py

bench-turn: $(STAMP)  ## what a turn adds before the model is called, at 10,000 notes
	$(BIN)/python tests/bench/bench_turn.py

ladder: $(STAMP)  ## three years of nights against a model of the rules, then ticks that are killed in every state
	$(BIN)/python tests/soak/soak_ladder.py

month: $(STAMP)  ## December 2026 on brain-example by the clock: beats, talk, flushes, envelopes, summaries; twice
	$(BIN)/python tests/soak/month.py

lock: $(STAMP)  ## write requirements.lock anew from pyproject.toml
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --upgrade \
		--no-emit-index-url --no-header --quiet -o requirements.lock

help-tables: $(STAMP)  ## write the tables of the help pages anew from the code
	$(BIN)/python -m tests.docs.tables

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
