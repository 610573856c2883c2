# Each target works as the first command in a fresh clone: the environment is made when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

SPARK35 := .venv-spark35

.PHONY: demo test check bench clean test-spark35

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
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not spark"
	$(BIN)/python -m pytest -m spark

check: $(VENV)/dev.stamp    ## style, types and the layers of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/dev.stamp    ## the benchmarks, as ratios against peers and floors measured in the same run
	$(BIN)/python -m bench

$(SPARK35)/run.stamp: pyproject.toml
	$(PYTHON) -m venv $(SPARK35)
	$(SPARK35)/bin/python -m pip install --quiet --upgrade pip
	$(SPARK35)/bin/python -m pip install --quiet --editable . 'pyspark[connect]==3.5.*' 'pandas>=2.1,<3' 'pyarrow>=16,<20' \
		polars pytest pytest-xdist hypothesis setuptools
	touch $@

test-spark35: $(SPARK35)/run.stamp    ## the Spark tests with PySpark 3.5, in an environment of its own
	$(SPARK35)/bin/python -m pytest -m spark tests/laws tests/engines

clean:
	rm -rf $(SPARK35) $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
