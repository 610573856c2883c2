"""What users pass is repeated in a message only where it is short and prints as itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import cloister as cl
from cloister.errors import UsageError

ROWS = [[float(i), float(i % 7)] for i in range(50)]
CHOICES: dict[str, Callable[[Any], object]] = {
    "scope": lambda value: cl.TopDownSpecialization(k=2, quasi=["x0"], scope=value).request(),
    "gain": lambda value: cl.TopDownSpecialization(k=2, quasi=["x0"], gain=value).request(),
    "seeding": lambda value: cl.synopsis(ROWS, 50, (0, 100)).cluster(2, seeding=value),
    "method": lambda value: cl.KMeans(2, 1, (0, 100), method=value).fit(ROWS),
    "shape": lambda value: cl.synopsis(ROWS, 1, (0, 100), value),
    "engine": lambda value: cl.KMeans(2, 1, (0, 100), engine=value).fit(ROWS),
}


class Secret:
    """An object whose words are nobody's business."""

    def __repr__(self) -> str:
        return "secret" * 1000

    __str__ = __repr__


@pytest.mark.parametrize(
    "value", ["x" * 10_000, Secret(), ["secret"] * 1000, "a\nb", 5, b"secret"], ids=lambda v: type(v).__name__
)
@pytest.mark.parametrize("name", CHOICES)
def test_an_unknown_option_is_refused_in_a_short_line(name: str, value: object) -> None:
    """Whatever was passed, the choices are named and nothing long, and no object, is repeated."""
    with pytest.raises(UsageError) as refused:
        CHOICES[name](value)
    told = str(refused.value)
    assert len(told) < 250
    assert "secret" not in told
    assert "\n" not in told


@pytest.mark.parametrize("model", [cl.KMeans, cl.KPrototypes, cl.KModes, cl.TopDownSpecialization])
def test_a_password_is_not_shown(model: type) -> None:
    """The place of a ledger may hold one: neither a terminal nor a notebook shows it, and the parameter keeps it."""
    place = "postgresql://ann:top%2Dsecret@host/db"
    made = model(3, ledger=place)
    shown = [repr(made), str(made)]
    if hasattr(made, "_repr_html_"):
        shown += [made._repr_html_(), str(made._repr_mimebundle_())]
    assert not any("secret" in text for text in shown)
    assert "ann:***@host" in repr(made)
    assert made.get_params()["ledger"] == place
