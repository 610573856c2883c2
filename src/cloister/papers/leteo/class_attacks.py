"""What k = 10 does not protect from: looked-up hashes, what somebody knows beside, two releases, a shared income, minimality.

The report says that who knows a pupil's quasi-identifiers re-identifies the record with a probability of less than 1/k. That
holds of one table, of somebody who knows these columns and nothing else, and of records, not of what they say.
"""

from __future__ import annotations

import hashlib
import math
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from cloister.datasets import load
from cloister.papers.form_columns import form_cells, number_text
from cloister.papers.leteo.guarded_split import posterior_of_small_group
from cloister.papers.leteo.printed_specialization import Information, specialize_as_printed
from cloister.papers.leteo.pupil_tables import QUASI, K, cached_pupils, publish_to, pupil_trees
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import Form, ReproducedRow
from cloister.schema.hierarchies import Hierarchy, flat, intervals

__all__ = ["CLASS_ATTACKS", "looked_up", "smallest_joint"]

REIDENTIFIED = "highest probability of re-identification"
SINGLED = "share of the pupils who are singled out"
CERTAIN = "share of the people whose income is told for certain"
CHANGED = "share of the other rows that are published otherwise"
HASHED = "identifiers hashed"
KNOWN = "the days of use are known too"
TWICE = "two releases of one table"
INCOME = "Adult: income of those who look alike"
ONE_ROW = "one row is taken out of the table"
MINIMALITY = "what was not split, with a guard of 2 values"
DAYS = ("platform_days", "maths_days")
ADULT = ("sex", "race", "marital-status", "education", "age")
Labels = NDArray[np.int64]


def _row(setting: str, form: Form, measure: str, value: float | None, source: str, note: str = "") -> ReproducedRow:
    proved = math.inf if form in ("as printed", "sound") else None
    return ReproducedRow(setting, form, measure, value, source, epsilon=proved, note=note)


def _claim(setting: str) -> ReproducedRow:
    return _row(setting, "printed", REIDENTIFIED, 1 / K, "section 2.1", "less than 1/k")


def _alike(columns: Sequence[Any]) -> Labels:
    """How many rows share all values with each row, (n,)."""
    mixed = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, codes = np.unique(np.asarray(column), return_inverse=True)
        mixed = np.unique(mixed * len(values) + codes, return_inverse=True)[1]
    return np.bincount(mixed)[mixed]


def smallest_joint(*columns: Any) -> int:
    """Rows of the smallest class by all columns together.

    >>> smallest_joint([0, 0, 1, 1], ["a", "a", "a", "b"])
    1
    """
    return int(_alike(columns).min())


def looked_up(pseudonyms: Sequence[str], guesses: Sequence[int]) -> float:
    """The share of pseudonyms that are the plain SHA-256 of a guess."""
    known = {hashlib.sha256(str(guess).encode()).hexdigest() for guess in guesses}
    return sum(each in known for each in pseudonyms) / len(pseudonyms)


def _texts(table: pa.Table, names: Sequence[str]) -> list[Any]:
    return [table[name].to_numpy(zero_copy_only=False).astype(str) for name in names]


def _hashed(rows: int) -> list[ReproducedRow]:
    """Section 3.1: identifiers are removed or hashed. Numbers of pupils are few enough to hash them all."""
    table = cached_pupils(rows)
    ids = table["pupil_id"].to_pylist()
    guesses = range(1, rows + 1)
    plain = [hashlib.sha256(str(each).encode()).hexdigest() for each in ids]
    printed = specialize_as_printed(table, pupil_trees(), K).value
    with tempfile.TemporaryDirectory() as folder:
        key, out = Path(folder) / "key", Path(folder) / "out.parquet"
        key.write_bytes(bytes(range(32)))
        key.chmod(0o600)
        model = publish_to(table, out, gain="entropy", scope="global", pseudonyms=["pupil_id"], key_file=key)
        keyed = pq.read_table(out)["pupil_id"].to_pylist()
    found: dict[Form, tuple[float, int]] = {
        "as printed": (looked_up(plain, guesses), printed.smallest),
        "sound": (looked_up(keyed, guesses), model.summary_.smallest),
    }
    return [
        _claim(HASHED),
        *(
            _row(
                HASHED, form, REIDENTIFIED, 1.0 if share else 1 / smallest, "section 3.1", f"{share:.0%} of the hashes found"
            )
            for form, (share, smallest) in found.items()
        ),
    ]


def _known(rows: int) -> list[ReproducedRow]:
    """The days of use are published as they are; a teacher or the platform's own log knows them."""
    table = cached_pupils(rows)
    days = [table[name].to_numpy() for name in DAYS]
    printed = specialize_as_printed(table, pupil_trees(), K).value
    alike: dict[Form, Labels] = {"as printed": _alike([*printed.labels.T, *(each[printed.kept] for each in days)])}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.parquet"
        publish_to(table, out, quasi=[*QUASI, *DAYS])  # the days are quasi-identifiers here
        alike["sound"] = _alike(_texts(pq.read_table(out), [*QUASI, *DAYS]))
    found = [_claim(KNOWN)]
    for form, counts in alike.items():
        found.append(_row(KNOWN, form, REIDENTIFIED, 1 / float(counts.min()), "section 3.1"))
        found.append(_row(KNOWN, form, SINGLED, float(np.mean(counts == 1)), "section 3.1"))
    return found


def _twice(rows: int) -> list[ReproducedRow]:
    """Two tables of the same pupils by two gains, each 10-anonymous, with rows in the same order, as nothing shuffles them."""
    table = cached_pupils(rows)
    one = specialize_as_printed(table, pupil_trees(), K, "entropy", "as meant").value.labels
    two = specialize_as_printed(table, pupil_trees(), K, "entropy", "printed sign").value.labels
    found = [_claim(TWICE), _row(TWICE, "as printed", REIDENTIFIED, 1 / smallest_joint(*one.T, *two.T), "section 2.1")]
    with tempfile.TemporaryDirectory() as folder:
        columns = []
        for name, gain in (("one", "entropy"), ("two", "loss")):
            out = Path(folder) / f"{name}.parquet"
            publish_to(table, out, gain=gain, scope="global")
            columns += _texts(pq.read_table(out), QUASI)
    note = "no better: the certificate says that several releases are not covered"
    return [*found, _row(TWICE, "sound", REIDENTIFIED, 1 / smallest_joint(*columns), "section 2.1", note)]


def _adult_trees(folder: Path | None) -> tuple[pa.Table, dict[str, Hierarchy]]:
    """Adult without missing cells, with its income; ages in ever wider intervals, all else under ``*``."""
    adult = load("adult-complete", folder=folder)
    assert adult.target is not None
    table = adult.data.select(list(ADULT)).append_column("income", adult.target)
    trees = {name: flat(sorted(set(table[name].to_pylist()))) for name in ADULT if name != "age"}
    return table, {**trees, "age": intervals(17, 91, step=1)}


def _income(information: Information, folder: Path | None) -> list[ReproducedRow]:
    table, trees = _adult_trees(folder)
    income = np.unique(table["income"].to_numpy(zero_copy_only=False).astype(str), return_inverse=True)[1]
    printed = specialize_as_printed(table, trees, K, information).value
    shares: dict[Form, float] = {"as printed": _told(list(printed.labels.T), income[printed.kept])}
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "out.parquet"
        settings = {"schema": None, "quasi": list(ADULT), "hierarchies": trees, "identifiers": [], "sensitive": "income"}
        publish_to(table, out, gain=information, scope="global", l_diversity=2, **settings)
        made = pq.read_table(out)
        shares["sound"] = _told(_texts(made, ADULT), np.unique(_texts(made, ["income"])[0], return_inverse=True)[1])
    setting = f"{INCOME}, gain {information}"
    return [
        _row(setting, form, CERTAIN, share, "section 2.1", "with l-diversity 2" if form == "sound" else "")
        for form, share in shares.items()
    ]


def _told(columns: Sequence[Any], sensitive: Labels) -> float:
    """The share of the rows all of whose class has one sensitive value."""
    return float(np.mean(_alike(columns) == _alike([*columns, sensitive])))


def _one_row(rows: int) -> list[ReproducedRow]:
    """A table with one pupil whom nobody looks like, with that pupil and without."""
    table = cached_pupils(rows, unique=1)
    trees = pupil_trees()
    is_unlike = (_texts(table, ["system"])[0] == "technical") & np.char.startswith(_texts(table, ["level"])[0], "P")
    at = int(np.flatnonzero(is_unlike)[0])
    rest = table.take(np.delete(np.arange(rows), at))
    found: list[ReproducedRow] = []
    one = specialize_as_printed(table, trees, K).value.labels
    two = specialize_as_printed(rest, trees, K).value.labels
    changed = float(np.mean((np.delete(one, at, axis=0) != two).any(axis=1)))
    found.append(_row(ONE_ROW, "as printed", CHANGED, changed, "section 2.1"))
    with tempfile.TemporaryDirectory() as folder:
        texts = []
        for i, each in enumerate((table, rest)):
            out = Path(folder) / f"{i}.parquet"
            publish_to(each, out, gain="entropy", scope="global")
            texts.append(np.column_stack(_texts(pq.read_table(out), QUASI)))
    moved = float(np.mean((np.delete(texts[0], at, axis=0) != texts[1]).any(axis=1)))
    return [
        *found,
        _row(ONE_ROW, "sound", CHANGED, moved, "section 2.1", "k-anonymity of any kind is no differential privacy"),
    ]


def _minimality() -> list[ReproducedRow]:
    believed, known = posterior_of_small_group(10, 20, 10)
    measure = "belief that somebody of the smaller group is ill"
    note = "the certificate says so; the report has no guards but k"
    return [
        _row(MINIMALITY, "plain", measure, believed, "section 2.1", "from the published table alone"),
        _row(MINIMALITY, "sound", measure, known, "section 2.1", f"to who knows the procedure; {note}"),
    ]


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    rows = effort.pick(60_000, 12_000)
    works: dict[str, Callable[[], list[ReproducedRow]]] = {
        "hashed": partial(_hashed, rows),
        "known": partial(_known, rows),
        "twice": partial(_twice, 60_000),
        "income, entropy": partial(_income, "entropy", effort.data),
        **effort.pick({"income, distance": partial(_income, "distance", effort.data)}, {}),
        "one row": partial(_one_row, 60_000),
        "minimality": _minimality,
    }
    return [ItemTask(name, work) for name, work in works.items()]


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    finds = []
    for (setting, measure), forms in form_cells(rows).items():
        values = {form: cell.value for form, cell in forms.items()}
        printed, sound = values.get("as printed"), values.get("sound")
        if measure == REIDENTIFIED and printed is not None and sound is not None:
            refuted = "more than the report's 1/10" if printed > 1 / K + 1e-9 else "within the report's 1/10"
            mended = "within it" if sound <= 1 / K + 1e-9 else "no better, which its certificate says"
            finds.append(
                f"{setting}: re-identified with a probability of up to {number_text(printed)} as printed, {refuted}; "
                f"{number_text(sound)} in the sound form, {mended}."
            )
        elif printed is not None and sound is not None:
            finds.append(f"{setting}: {measure}: {printed:.1%} as printed, {sound:.1%} in the sound form.")
        elif values.get("plain") is not None and sound is not None:
            believed = number_text(values["plain"] or 0.0)
            finds.append(
                f"{setting}: {measure}: {believed} by the table, {number_text(sound)} to who knows how it was made."
            )
    return finds


CLASS_ATTACKS = Item(
    "class-attacks",
    "What k = 10 does not protect from",
    "The report bounds the probability of re-identification by 1/k for whoever knows the quasi-identifiers. Tried: identifiers "
    "that are hashed, as it proposes; other columns that somebody knows; two releases of one table; incomes that a whole class "
    "shares; what one row changes for all others; and what a table tells by what was not made finer.",
    _tasks,
    _finds,
)
