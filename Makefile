# Each target works as the first command in a fresh clone: the environment is made when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check bench clean

$(VENV)/run.stamp: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

demo: $(VENV)/run.stamp     ## the tour on a made-up table
	$(BIN)/cloister demo

test: $(VENV)/dev.stamp     ## every test
	$(BIN)/python -m pytest -n 2 --dist loadgroup

check: $(VENV)/dev.stamp    ## style, types and the layers of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/dev.stamp    ## the benchmarks, as ratios against peers and floors measured in the same run
	$(BIN)/python -m bench

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
