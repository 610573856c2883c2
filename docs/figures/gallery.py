"""Draws docs/images/gallery-*.svg: one picture of each kind, of the demo's students and of Adult."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import cloister as cl
from cloister import datasets
from cloister.datasets import STUDENTS, students
from cloister.report.plotted import Plotted

IMAGES = Path(__file__).parents[1] / "images"
SCHEMA = dataclasses.replace(STUDENTS, table=None)


def main() -> None:
    rows, adult = students(5000), datasets.load("adult")
    facts = dataclasses.replace(adult.schema, table=None)
    mixed = ["age", "education-num", "hours-per-week", "capital-gain", "education", "marital-status", "occupation", "sex"]
    known = ["age", "sex", "race", "education"]
    tried = cl.TopDownSpecialization(k=10, quasi=known, schema=facts).dry_run(adult.table)
    bins = {"age": [15, 20, 25, 30, 45]}
    model = cl.KMeans(4, 1.0, columns=["age", "hours_online", "grade"], schema=SCHEMA).fit(rows)
    drawn: dict[str, Plotted] = {
        "clusters": cl.KMeans(3, 1.0, columns=["age", "hours_online", "grade"], schema=SCHEMA).fit(rows),
        "mixed": cl.KPrototypes(4, 2.0, columns=mixed, schema=facts).fit(adult.table),
        "table": cl.tabulate(rows, by=["level", "age"], bins=bins, means=["grade"], budget=1, schema=SCHEMA),
        "synopsis": cl.synopsis(rows, 1.0, columns=["hours_online", "grade"], schema=SCHEMA),
        "rows": cl.PrivateMicrodata(1.0, schema=SCHEMA).sample(rows),
        "choice": cl.choose(rows, "grade", 0.5, options=[8, 10, 12, 14], schema=SCHEMA),
        "scores": model.score_report(rows, truth="level"),
        "risk": cl.risk(adult.table, quasi=known, sensitive=["occupation"], search=2, schema=facts),
        "lost": tried.outcome,
    }
    for name, result in drawn.items():
        result.plot(IMAGES / f"gallery-{name}.svg")
        (IMAGES / f"gallery-{name}.svg").chmod(0o644)


if __name__ == "__main__":
    main()
