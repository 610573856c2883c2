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

$(SPARK35)/dev.stamp: pyproject.toml
	$(PYTHON) -m venv $(SPARK35)
	$(SPARK35)/bin/python -m pip install --quiet --upgrade pip
	$(SPARK35)/bin/python -m pip install --quiet --editable '.[dev]' 'pyspark==3.5.*' 'pandas<3' 'pyarrow<20' setuptools
	touch $@

# PySpark 3.5 comes without a Spark Connect server, so its Connect client is tried on the server of the newer PySpark.
test-spark35: $(SPARK35)/dev.stamp $(VENV)/dev.stamp    ## the Spark tests with PySpark 3.5, in an environment of its own
	CONNECT_PYTHON=$(abspath $(BIN))/python $(SPARK35)/bin/python -m pytest -m spark

clean:
	rm -rf $(SPARK35) $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
