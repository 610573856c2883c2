"""What would be done to a table, said without a row."""

from __future__ import annotations

import pytest

import cloister as cl
from cloister.errors import SchemaError, UsageError
from cloister.schema.hierarchies import flat


def test_a_plan_names_every_column_once() -> None:
    """Each column of the table has one role, and the guards are those of the certificate."""
    model = cl.TopDownSpecialization(
        k=5, quasi=["sex", "age"], hierarchies={"sex": flat(["f", "m"])}, sensitive="illness", l_diversity=2,
        identifiers=["name"], suppression=0.02,
    )  # fmt: skip
    plan = model.plan(["name", "sex", "age", "illness", "town"])
    assert plan.quasi.keys() == {"sex", "age"}
    assert "2 values" in plan.quasi["sex"]
    assert plan.guards == ("k-anonymity, k = 5", "distinct l-diversity, l = 2 (illness)")
    assert (plan.dropped, plan.untouched, plan.sensitive) == (("name",), ("illness", "town"), ("illness",))
    assert "At most 2% of the rows are suppressed." in str(plan)
    assert plan.as_dict()["unit"] == "row"


def test_a_plan_refuses_what_publish_would() -> None:
    """A column that is not there is refused before anything is read."""
    with pytest.raises(SchemaError, match='no column "sexx"'):
        cl.TopDownSpecialization(quasi=["sexx"]).plan(["sex"])


def test_one_name_is_not_taken_for_its_letters() -> None:
    """A path or a single name in place of the columns is refused."""
    with pytest.raises(UsageError, match="as a list"):
        cl.TopDownSpecialization(quasi=["sex"]).plan("people.csv")


def test_a_plan_shows_itself_in_a_notebook() -> None:
    """The same document as on a terminal, as HTML."""
    plan = cl.TopDownSpecialization(k=5, quasi=["sex"]).plan(["sex", "town"])
    assert "k-anonymity, k = 5" in plan._repr_html_()
    assert "Published as they are: town" in str(plan)
