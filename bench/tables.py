"""Means and quantiles of private tables beside the true ones, on Adult: how far off they are, and whether their errors hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv

import cloister as cl
from bench.measure import keep, show
from bench.panel import DATA
from cloister.schema import Category, Column, Number, Schema

RELEASES = 20
EPSILONS = (0.1, 1.0)
NAMES = {"age": (0, 100), "hours": (0, 100), "weight": (0, 1_500_000)}
QUANTILES = (0.25, 0.5, 0.75)
PLACES = {"age": "f0", "weight": "f2", "education": "f3", "sex": "f9", "hours": "f12"}


def adult() -> pa.Table:
    """The training part of Adult: 32,561 rows."""
    options = csv.ReadOptions(autogenerate_column_names=True)
    rows = csv.read_csv(DATA / "adult.data", read_options=options)
    return pa.table({name: rows[place] for name, place in PLACES.items()})


def schema(rows: pa.Table) -> Schema:
    """Public facts: whole years and hours, weights without a step; the domains are those that the data set's page lists."""
    domains = {name: sorted({text.strip() for text in rows[name].to_pylist()}) for name in ("education", "sex")}
    numbers = [Column(name, Number(ends, step=None if name == "weight" else 1)) for name, ends in NAMES.items()]
    return Schema((*(Column(name, Category(tuple(domain))) for name, domain in domains.items()), *numbers))


def measure(rows: pa.Table, facts: Schema, number: str, epsilon: float) -> list[dict[str, Any]]:
    """Some releases of one number by education and sex: errors of cells, and how often what is told of them holds."""
    values = rows[number].to_numpy().astype(float)
    labels = {name: np.array([text.strip() for text in rows[name].to_pylist()]) for name in ("education", "sex")}
    cells = {
        (education, sex): values[(labels["education"] == education) & (labels["sex"] == sex)]
        for education in set(labels["education"])
        for sex in set(labels["sex"])
    }
    means, quantiles = [], []
    for _ in range(RELEASES):
        made = cl.tabulate(rows, ["education", "sex"], epsilon, means=[number], schema=facts)
        more = cl.tabulate(rows, ["education", "sex"], epsilon, quantiles={number: QUANTILES}, schema=facts)
        for row in made.rows():
            if (cell := cells.get((row["education"], row["sex"]))) is not None:
                mean, error = row[f"mean of {number}"], row[f"standard_error of mean of {number}"]
                means.append(
                    (np.nan, np.nan) if mean is None else (abs(mean - cell.mean()), abs(mean - cell.mean()) <= 2.12 * error)
                )
        for row in more.rows():
            if (cell := cells.get((row["education"], row["sex"]))) is not None:
                for quantile in QUANTILES:
                    name = f"median of {number}" if quantile == 0.5 else f"quantile {quantile} of {number}"
                    true = np.quantile(cell, quantile, method="inverted_cdf")
                    holds = row[name] is not None and row[f"low of {name}"] <= true <= row[f"high of {name}"]
                    quantiles.append((np.nan, np.nan) if row[name] is None else (abs(row[name] - true), holds))
    return [figures(number, epsilon, what, found) for what, found in (("mean", means), ("quartiles", quantiles))]


def figures(number: str, epsilon: float, what: str, found: list[tuple[float, float]]) -> dict[str, Any]:
    """Errors as parts of the width of the bounds."""
    errors, holds = np.array(found, dtype=float).T
    told, width = ~np.isnan(errors), NAMES[number][1] - NAMES[number][0]
    parts = np.quantile(errors[told] / width, [0.5, 0.9]) if told.any() else [np.nan, np.nan]
    return {
        "number": number, "epsilon": epsilon, "what": what, "cells with one": f"{told.mean():.0%}",
        "median error": f"{parts[0]:.2%}", "90% below": f"{parts[1]:.2%}", "interval holds": f"{holds[told].mean():.1%}",
    }  # fmt: skip


def main() -> None:
    rows = adult()
    facts = schema(rows)
    found = [line for number in NAMES for epsilon in EPSILONS for line in measure(rows, facts, number, epsilon)]
    show(
        f"tables: Adult by education and sex, 32 cells of 16 to 7,111 rows, {RELEASES} releases; errors in widths of the bounds",
        found,
    )
    keep("tables", found)


if __name__ == "__main__":
    main()
