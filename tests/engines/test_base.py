"""Which engine reads the rows: by name, by options, or because the data asks for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cloister.encode import Encoding, Grid
from cloister.engines.base import (
    Backend,
    EngineTraits,
    backend_class,
    choose_engine,
    choose_points_engine,
    clusters_points,
    engine_traits,
)
from cloister.engines.local.backend import LocalBackend
from cloister.engines.registry import ENGINES
from cloister.engines.spark.backend import SparkBackend
from cloister.errors import UsageError
from cloister.kernels.keyed import RowKeys
from cloister.vault import Spark, Vault
from tests.engines.planted import Boxed, Planted

DATA = np.arange(6.0).reshape(3, 2)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third engine, registered by its one line."""
    monkeypatch.setitem(ENGINES, "planted", "tests.engines.planted:Planted")


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_every_registered_engine_has_a_backend(name: str) -> None:
    """What the registry names is a backend, and light: it opens nothing by itself."""
    assert Backend in backend_class(name).__mro__


@pytest.mark.parametrize(
    ("engine", "kind"),
    [(None, LocalBackend), ("local", LocalBackend), ("spark", SparkBackend), (Spark(master="local"), SparkBackend)],
)
def test_engines_are_chosen_by_name_or_options(engine: Any, kind: type) -> None:
    """Without a name, data that nobody claims is read locally."""
    assert isinstance(choose_engine(engine, DATA), kind)


@pytest.mark.parametrize("engine", ["no such engine", 3, Spark])
def test_an_unknown_engine_is_refused(engine: Any) -> None:
    """The names that there are stand in the message; a class is no options."""
    names = " or ".join(f'"{name}"' for name in ENGINES)
    with pytest.raises(UsageError, match=f"engine must be {names}"):
        choose_engine(engine, DATA)


def test_a_new_engine_is_one_registration(registered: None) -> None:
    """Data that asks for it is counted by it, and it says itself whether rows keep their order."""
    holder = Vault.holding(Boxed(DATA), purpose="test")
    counted = holder.count(Encoding((Grid("x0", 0.0, 1.0, 10),)), RowKeys(1)).value
    assert counted.keys[:, 0].tolist() == [0, 2, 4]
    assert not holder.keeps_order
    assert isinstance(choose_engine("planted", DATA), Planted)


def test_data_that_asks_for_another_engine_is_refused(registered: None) -> None:
    """The message says who reads it."""
    with pytest.raises(UsageError, match=r'a box is read by the planted engine. Drop engine="local"'):
        choose_engine("local", Boxed(DATA))


def test_only_some_engines_cluster_released_points(registered: None) -> None:
    """Which one does stands in the message."""
    assert isinstance(choose_points_engine("spark"), SparkBackend)
    for engine in (None, "local", "planted"):
        with pytest.raises(UsageError, match=r'this is for Spark: give engine="spark"'):
            choose_points_engine(engine)


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_every_engine_states_its_traits(name: str) -> None:
    """Whoever treats engines differently asks for a trait, so each has all of them."""
    traits = engine_traits(name)
    assert {trait for trait in EngineTraits.__annotations__ if not hasattr(traits, trait)} == set()
    assert traits.title


def test_who_clusters_released_points(registered: None) -> None:
    """Asked before it is tried."""
    assert clusters_points("spark")
    assert not clusters_points("planted")
