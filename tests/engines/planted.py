"""An engine of somebody else's, for tests: one backend, reached through one line in the registry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from cloister.encode import Encoding
from cloister.engines.local.engine import LocalEngine
from cloister.schema.unit import Unit
from cloister.sources.opening import open_source
from cloister.sources.source import Source

__all__ = ["Boxed", "Planted"]


@dataclass(frozen=True)
class Boxed:
    """Data that only the planted engine reads."""

    data: Any


@dataclass(frozen=True)
class Planted:
    """The backend: reads what is in boxes."""

    options: None = None

    title: ClassVar[str] = "planted"
    keeps_order: ClassVar[bool] = False
    labels_in_memory: ClassVar[bool] = True
    opens_at_once: ClassVar[bool] = True

    @staticmethod
    def claims(data: Any) -> str | None:
        return "a box" if isinstance(data, Boxed) else None

    def open_data(self, data: Any) -> Source:
        return open_source(data.data if isinstance(data, Boxed) else data)

    def make_engine(self, data: Source, encoding: Encoding, unit: Unit | None, once: bool) -> LocalEngine:
        return LocalEngine(data, encoding, unit, once)
