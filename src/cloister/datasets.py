"""Tables to try things on: a made-up table of students."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cloister.schema import Category, Column, Neighbours, Number, Role, Schema

__all__ = ["STUDENTS", "students"]

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
    """A made-up table of students in four kinds: nobody's data."""
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
