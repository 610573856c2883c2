# Each target works as the first command in a fresh clone: the environment is made when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

SPARK35 := .venv-spark35

# the lowest versions that pyproject.toml allows have wheels for Python 3.11
LOWEST := .venv-lowest
LOWEST_PYTHON ?= python3.11

.PHONY: demo test check docs bench dist clean test-spark35 test-lowest

$(VENV)/run.stamp: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

# What the tests of the service's pages take from npm; where there is no npm they are skipped.
PAGES := tests/collect/service/browser
$(PAGES)/node_modules/.stamp: $(PAGES)/package.json $(PAGES)/package-lock.json
	if command -v npm >/dev/null; then npm ci --prefix $(PAGES) --no-audit --no-fund --ignore-scripts && touch $@; fi

demo: $(VENV)/run.stamp     ## the tour on a made-up table
	$(BIN)/cloister demo

test: $(VENV)/dev.stamp $(PAGES)/node_modules/.stamp    ## every test
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not spark"
	$(BIN)/python -m pytest -m spark

check: $(VENV)/dev.stamp docs    ## style, types, the layers of the house, and that the docs build
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Warnings are errors, and a page that would load anything from a network is one (docs/site_hooks.py).
docs: $(VENV)/dev.stamp    ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/dev.stamp    ## the benchmarks, as ratios against peers and floors measured in the same run
	$(BIN)/python -m bench

# The wheel is built from the source distribution, installed in a fresh environment, and tried outside the source tree.
dist: $(VENV)/dev.stamp    ## what is released: sdist and wheel in dist/, tried by the demo
	rm -rf dist build/wheel
	$(BIN)/python -m build --outdir dist
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip install --quiet dist/*.whl
	cloister=$$PWD/build/wheel/bin/cloister && cd "$$(mktemp -d)" && env -u PYTHONPATH $$cloister --version && env -u PYTHONPATH $$cloister demo

$(SPARK35)/dev.stamp: pyproject.toml
	$(PYTHON) -m venv $(SPARK35)
	$(SPARK35)/bin/python -m pip install --quiet --upgrade pip
	$(SPARK35)/bin/python -m pip install --quiet --editable '.[dev]' 'pyspark==3.5.*' 'pandas<3' 'pyarrow<20' setuptools
	touch $@

# PySpark 3.5 comes without a Spark Connect server, so its Connect client is tried on the server of the newer PySpark.
test-spark35: $(SPARK35)/dev.stamp $(VENV)/dev.stamp    ## the Spark tests with PySpark 3.5, in an environment of its own
	CONNECT_PYTHON=$(abspath $(BIN))/python $(SPARK35)/bin/python -m pytest -m spark

$(LOWEST)/dev.stamp: pyproject.toml
	$(LOWEST_PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --upgrade pip uv
	$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct --editable '.[dev]'
	touch $@

test-lowest: $(LOWEST)/dev.stamp    ## the tests but for Spark's with the lowest versions that pyproject.toml allows
	$(LOWEST)/bin/python -m pytest -n 2 --dist worksteal -m "not spark"

clean:
	rm -rf $(PAGES)/node_modules $(LOWEST) $(SPARK35) $(VENV) build dist site .pytest_cache .mypy_cache .ruff_cache
