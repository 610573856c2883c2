"""The public function, what its report is, and Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.errors import SchemaError
from cloister.risks.assess import RiskReport, assess
from cloister.schema import Category, Column, Number, Schema
from cloister.schema.hierarchies.build import intervals
from tests.risks.tables import PEOPLE, PUBLISHED, TOWN
from tests.spark_hosts import Host


def test_the_public_name_is_the_function() -> None:
    """cl.risk measures, also after parts of the package were imported by name."""
    import cloister.risks.measures as part

    assert part.FORMULAS
    assert cl.risk(PEOPLE, ["age"]) == assess(PEOPLE, ["age"])
    assert cl.risks.assess.assess is assess
    assert cl.risk is assess


def test_names_may_be_one_text() -> None:
    """As on the command line."""
    assert assess(PEOPLE, "age, town").quasi == ("age", "town")


def test_a_report_is_plain_data() -> None:
    """It can be kept as JSON, with its stamp."""
    found = assess(PUBLISHED, ["age", "town"], against=PEOPLE, hierarchies={"town": TOWN}, sensitive="illness")
    document = json.loads(json.dumps(found.as_dict()))
    assert "not a private release" in document["stamp"]
    assert document["loss"]["columns"][0]["column"] == "age"


def test_a_page_shows_no_value_of_a_row() -> None:
    """Counts and names of columns only."""
    shown = str(assess(PEOPLE, ["age", "town"], sensitive="illness", search=2))
    assert "Havana" not in shown
    assert "flu" not in shown


def test_every_source_gives_the_same(tmp_path: Path) -> None:
    """CSV, Parquet, pandas and Arrow: one table, one risk."""
    import pandas as pd

    PEOPLE.to_pandas().to_csv(tmp_path / "people.csv", index=False)
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    options = {"sensitive": ["illness"], "search": 2, "against": PEOPLE}
    expected = assess(PEOPLE, ["age", "town"], **options)
    for data in (tmp_path / "people.csv", tmp_path / "people.parquet", pd.DataFrame(PEOPLE.to_pydict())):
        assert assess(data, ["age", "town"], **options) == expected


def test_one_fold_counted_apart_and_together() -> None:
    """The cheap way, which tells tuples apart as wholes, gives the same risk."""
    apart = assess(PEOPLE, ["age", "town"], sensitive="illness", search=1)
    together = assess(PEOPLE, ["age", "town"], sensitive="illness")
    assert (apart.risk, apart.sensitive) == (together.risk, together.sensitive)


def on_spark(path: Path, against: Path) -> RiskReport:
    """In the host: the same question, asked of a DataFrame."""
    from tests.spark_hosts import session

    frames = [session().read.parquet(str(each)).repartition(2) for each in (path, against)]
    return assess(
        frames[0], ["age", "town"], against=frames[1], sensitive="illness", target="illness", population=frames[1], search=2,
        hierarchies={"town": TOWN},
    )  # fmt: skip


@pytest.mark.spark
def test_spark_gives_the_same(tmp_path: Path, classic: Host) -> None:
    """Every number but record linkage, which needs an order of the rows."""
    published = pa.concat_tables([PUBLISHED] * 3)
    original = pa.concat_tables([PEOPLE] * 3)
    for name, table in {"published": published, "original": original}.items():
        pq.write_table(table, tmp_path / f"{name}.parquet")
    found = classic(on_spark, tmp_path / "published.parquet", tmp_path / "original.parquet")
    here = assess(
        published, ["age", "town"], against=original, sensitive="illness", target="illness", population=original, search=2,
        hierarchies={"town": TOWN},
    )  # fmt: skip
    assert found.linkage is None
    assert (found.risk, found.sensitive, found.combinations) == (here.risk, here.sensitive, here.combinations)
    assert (found.loss, found.learning) == (here.loss, here.learning)


@pytest.mark.parametrize("hierarchy", [False, True])
def test_a_label_may_mean_nobody_of_the_population(hierarchy: bool) -> None:
    """An interval in which the population has nobody: its rows are outside the population, and nothing is refused."""
    table = pa.table({"age": ["[20, 30)"] * 5 + ["[30, 40)"] * 5})
    population = pa.table({"age": [21, 25, 29] * 4})
    trees = {"age": intervals(0, 100, width=10)} if hierarchy else None
    told = assess(table, ["age"], population=population, hierarchies=trees)
    assert told.risk.outside == 5
    assert any("not the population of this table" in note for note in told.notes)


def test_a_label_that_cannot_be_compared_with_the_population_is_told_so() -> None:
    """An interval beside a population of words: the message is about the population, as there is no original."""
    table = pa.table({"age": ["[20, 30)"] * 5 + ["young"] * 5})
    with pytest.raises(SchemaError, match="the population") as refused:
        assess(table, ["age"], population=pa.table({"age": ["young", "old"] * 4}))
    assert "original" not in str(refused.value)


@pytest.mark.parametrize("words", [("Private", "State", "?"), ("1", "2", "?")])
def test_the_label_of_what_is_missing_is_known_without_a_domain(words: tuple[str, ...], tmp_path: Path) -> None:
    """A table that was anonymized with a drafted schema is compared with its original by the same schema."""
    schema = Schema(
        [Column("work", Category(other=True, missing=("?",)), role="quasi"), Column("age", Number(), role="quasi")]
    )
    original = pa.table({"work": [words[i % 3] for i in range(60)], "age": [str(20 + i % 7) for i in range(60)]})
    cl.TopDownSpecialization(2, schema=schema).publish(original, tmp_path / "safe.parquet")
    published = pq.read_table(tmp_path / "safe.parquet")
    assert "(other)" in published["work"].to_pylist()
    report = cl.risk(published, against=original, schema=schema, population=original)
    assert report.loss is not None
    assert (report.loss.columns[0].labels, report.loss.columns[0].lm) == (3, 0.0)
    assert report.risk.population is not None
    assert (report.risk.outside, report.linkage is not None) == (0, True)
    with pytest.raises(SchemaError, match=r"1 of 3 different labels .*\(schema=, hierarchies=\). Rows .* as_rows=True"):
        cl.risk(published, ["work", "age"], against=original)
