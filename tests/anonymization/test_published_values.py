"""l and t are those of the published file: what a schema takes for one value is compared as it is published."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cloister as cl
from cloister.errors import CloisterError
from cloister.risks.risk_report import RiskReport

SEX = '[columns.sex]\nkind = "category"\ndomain = ["F", "M"]\nrole = "quasi"\n'


def published(data: pd.DataFrame, schema: str, out: Path, **guards: Any) -> RiskReport:
    """What the file itself shows, without the schema."""
    cl.TopDownSpecialization(k=5, schema=cl.Schema.from_text(schema), **guards).publish(data, out)
    return cl.risk(out, ["sex"], sensitive=["ill"])


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (("prostate cancer", "ovarian cancer"), 'kind = "category"\ndomain = ["1", "2"]\nother = true\n'),
        (("refused", "not asked"), 'kind = "category"\ndomain = ["1", "2"]\nmissing = ["refused", "not asked"]\n'),
        (("<5", ">100"), 'kind = "number"\nbounds = [0, 100]\n'),
        (("soon", "never"), 'kind = "date"\n'),
        (("9007199254740992", "9007199254740993"), 'kind = "number"\nbounds = [0, 1e17]\n'),
    ],
)
def test_t_is_that_of_the_published_file(tmp_path: Path, words: tuple[str, str], facts: str) -> None:
    """Two cells that the schema takes for one, or for blanks, stand in the file as two: women and men are told apart by them."""
    random = np.random.default_rng(0)
    sex = np.repeat(["F", "M"], 500)
    ill = np.where(random.random(1000) < 0.3, np.where(sex == "M", *words), random.choice(["1", "2"], 1000))
    data = pd.DataFrame({"sex": sex, "ill": ill})
    told = published(data, f'{SEX}[columns.ill]\nrole = "sensitive"\n{facts}', tmp_path / "out.csv", t_closeness=0.05)
    assert told.sensitive[0].t <= 0.05 + 1e-9


@pytest.mark.parametrize(
    "facts", ['kind = "number"\nbounds = [0, 100]\n', 'kind = "category"\ndomain = ["1", "2"]\nmissing = [">100"]\n']
)
def test_entropy_is_that_of_the_published_file(tmp_path: Path, facts: str) -> None:
    """Cells that the schema cannot read are no blanks in the file: a class of nearly nothing else is not diverse."""
    data = pd.DataFrame({"sex": ["F"] * 92 + ["M"] * 92, "ill": ([">100"] * 90 + ["1", "2"]) * 2})
    schema = f'{SEX}[columns.ill]\nrole = "sensitive"\n{facts}'
    with pytest.raises(CloisterError):
        published(data, schema, tmp_path / "out.csv", entropy_l_diversity=2)


def test_risk_measures_a_file_by_its_schema_as_the_guards_do(tmp_path: Path) -> None:
    """With the schema, l is counted as it says, and t of what is published."""
    schema = f'{SEX}[columns.ill]\nrole = "sensitive"\nkind = "number"\nbounds = [0, 100]\nmissing = ["?"]\n'
    data = pd.DataFrame({"sex": ["F"] * 10 + ["M"] * 10, "ill": ["<5"] * 9 + ["1"] + ["?"] * 9 + ["2"]})
    data.to_csv(tmp_path / "data.csv", index=False)
    told = cl.risk(tmp_path / "data.csv", ["sex"], sensitive=["ill"], schema=cl.Schema.from_text(schema)).sensitive[0]
    assert (told.values, told.l) == (2, 1)
    assert told.t == pytest.approx(0.5)
    assert told.entropy_l == pytest.approx(1.0)
