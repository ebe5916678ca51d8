# Each target works on a fresh clone: it makes .venv and installs what it needs.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-slow check lint types bench fuzz cast-table copies-table clean

demo: .venv/.run
	$(BIN)/penname demo demo-voice

test: .venv/.dev
	$(BIN)/pytest -m "not slow and not gpu"

test-slow: .venv/.dev
	$(BIN)/pytest -m "slow and not gpu" --timeout 3600

check: lint types test

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.dev
	$(BIN)/mypy

bench: .venv/.dev
	$(BIN)/python benchmarks/run.py

fuzz: .venv/.dev
	$(BIN)/python tests/books/fuzz.py --cases 10000

cast-table: .venv/.dev
	$(BIN)/python benchmarks/cast_table.py

copies-table: .venv/.dev
	$(BIN)/python benchmarks/copies_table.py

clean:
	rm -rf .venv demo-voice

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "Penname needs Python 3.11, 3.12 or 3.13; name one with: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv .venv

.venv/.run: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -e .
	touch $@

.venv/.dev: pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -e ".[dev,gen,bench]"
	touch $@ .venv/.run
