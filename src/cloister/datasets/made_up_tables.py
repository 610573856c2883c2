"""Tables to try things on: made-up students of a university, and made-up pupils of a country's schools."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa

from cloister.schema import Category, Column, Neighbours, Number, Role, Schema

__all__ = ["PUPILS", "PUPIL_TREES", "STUDENTS", "pupils", "students", "write_pupils"]

STUDENTS = Schema(
    columns=(
        Column("student_id", Number(bounds=(1, 1_000_000), step=1), Role.IDENTIFIER),
        Column("age", Number(bounds=(15, 45), step=1), Role.QUASI),
        Column("level", Category(domain=("bachelor", "master", "doctor")), Role.QUASI),
        Column("hours_online", Number(bounds=(0, 60), step=0.5)),
        Column("forum_posts", Number(bounds=(0, 120), step=1)),
        Column("grade", Number(bounds=(0, 20), step=0.5), Role.SENSITIVE),
    ),
    table="students",
    neighbours=Neighbours.ADD_REMOVE,
)
"""What is publicly known about the table of students: the bounds follow from what the columns mean."""

SHARES = {"steady": 0.45, "quiet": 0.30, "working": 0.15, "keen": 0.10}
HABITS = {  # made up, for each kind in turn: mean and spread
    "age": ((20, 2), (22, 3), (33, 4), (19, 1.5)),
    "hours_online": ((18, 4), (6, 2), (10, 3), (42, 6)),
    "forum_posts": ((25, 8), (4, 3), (12, 5), (85, 12)),
    "grade": ((13, 1.5), (9, 2), (14, 2), (17, 1.2)),
}


def students(rows: int = 20_000, seed: int = 7) -> pa.Table:
    """A made-up table of students in four kinds, no real person among them."""
    random = np.random.default_rng(seed)  # demo: the table is made up, nothing in it is noise
    kind = random.choice(len(SHARES), rows, p=list(SHARES.values()))
    columns = {}
    for name, habits in HABITS.items():
        mean, spread = np.array(habits, dtype=np.float64)[kind].T  # (n,) each
        what = STUDENTS[name].kind
        assert isinstance(what, Number)
        assert what.bounds is not None
        assert what.step is not None
        columns[name] = np.clip(np.rint(random.normal(mean, spread) / what.step) * what.step, *what.bounds)
    levels = np.where(columns["age"] < 22, "bachelor", np.where(random.random(rows) < 0.7, "master", "doctor"))
    return pa.table(
        {
            "student_id": random.permutation(rows) + 1,
            "age": columns["age"].astype(np.int64),
            "level": levels,
            "hours_online": columns["hours_online"],
            "forum_posts": columns["forum_posts"].astype(np.int64),
            "grade": columns["grade"],
        }
    )


STATES = {  # of a made-up country: a state, its region, its share of the pupils
    "Harbour": ("capital", 0.36), "Dunes": ("coast", 0.14), "Lagoon": ("coast", 0.06), "Cliffs": ("coast", 0.04),
    "Meadows": ("plains", 0.10), "Mills": ("plains", 0.07), "Orchards": ("plains", 0.05), "Granary": ("plains", 0.03),
    "Stonefield": ("hills", 0.06), "Oldgate": ("hills", 0.04), "Quarry": ("hills", 0.03), "Pinewood": ("hills", 0.02),
}  # fmt: skip
SYSTEMS = {"public": 0.78, "private": 0.14, "technical": 0.08}
LEVELS = {  # each stage of school with its course levels
    "primary": ("P1", "P2", "P3", "P4", "P5", "P6"),
    "lower secondary": ("S1", "S2", "S3"),
    "upper secondary": ("S4", "S5", "S6"),
}
QUINTILES = ("q1", "q2", "q3", "q4", "q5")
_COURSES = tuple(level for levels in LEVELS.values() for level in levels)

PUPILS = Schema(
    columns=(
        Column("pupil_id", Number(bounds=(1, 10_000_000), step=1), Role.IDENTIFIER),
        Column("sex", Category(domain=("F", "M")), Role.QUASI),
        Column("system", Category(domain=tuple(SYSTEMS)), Role.QUASI),
        Column("level", Category(domain=_COURSES), Role.QUASI),
        Column("state", Category(domain=tuple(STATES)), Role.QUASI),
        Column("region", Category(domain=("capital", "coast", "plains", "hills")), Role.QUASI),
        Column("quintile", Category(domain=QUINTILES), Role.SENSITIVE),
        Column("platform_days", Number(bounds=(0, 200), step=1)),
        Column("maths_days", Number(bounds=(0, 200), step=1)),
    )
)
"""What is publicly known about the table of pupils."""

PUPIL_TREES = {
    "state.csv": "".join(f"{state};{region};*\n" for state, (region, _) in STATES.items()),
    "level.csv": "".join(
        f"{level};{stage};{'primary' if stage == 'primary' else 'secondary'};*\n"
        for stage, levels in LEVELS.items()
        for level in levels
    ),
}
"""How states and course levels generalise, as files."""


def pupils(rows: int = 60_000, seed: int = 11, unique: int = 12) -> pa.Table:
    """A made-up table of pupils and how often they used two learning platforms, no real person among them.

    Like the table of LETEO's evaluation it holds a few unique rows: pupils of a technical school in
    the primary levels of small states.
    """
    random = np.random.default_rng(seed)  # demo: the table is made up, nothing in it is noise
    names, regions = np.array(list(STATES)), np.array([region for region, _ in STATES.values()])
    state = random.choice(len(names), rows, p=[share for _, share in STATES.values()])
    course = random.choice(len(_COURSES), rows, p=np.array([12, 12, 12, 11, 11, 10, 9, 8, 6, 4, 3, 2]) / 100)
    system = random.choice(list(SYSTEMS), rows, p=list(SYSTEMS.values()))
    system[(system == "technical") & (course < 6)] = "public"  # there are no technical primary schools ...
    unlike = random.choice(np.flatnonzero(course < 6), unique, replace=False)
    system[unlike] = "technical"  # ... but for these
    state[unlike] = np.arange(len(unlike)) % len(names)
    quintile = np.clip(random.integers(0, 5, rows) + (system == "private"), 0, 4)
    days = np.clip(random.gamma(2.0, 18.0, rows) * (1 + course / 12), 0, 200).astype(np.int64)
    return pa.table(
        {
            "pupil_id": random.permutation(rows) + 1,
            "sex": random.choice(["F", "M"], rows),
            "system": system,
            "level": np.array(_COURSES)[course],
            "state": names[state],
            "region": regions[state],
            "quintile": np.array(QUINTILES)[quintile],
            "platform_days": days,
            "maths_days": random.binomial(days, 0.4),
        }
    )


def write_pupils(folder: str | os.PathLike[str], rows: int = 60_000) -> None:
    """Write the table of pupils with its schema and hierarchies into a new folder: pupils.csv, pupils.toml, trees/."""
    import pyarrow.csv

    place = Path(folder)
    (place / "trees").mkdir(parents=True)
    pyarrow.csv.write_csv(pupils(rows), place / "pupils.csv")
    (place / "pupils.toml").write_text(PUPILS.to_toml(), encoding="utf-8")
    for name, text in PUPIL_TREES.items():
        (place / "trees" / name).write_text(text, encoding="utf-8")
