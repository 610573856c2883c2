"""The way into the local engine, which reads rows in this process. Nothing here loads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cloister.encode import Encoding
from cloister.engines.base import Backend
from cloister.schema.unit import Unit
from cloister.sources.opening import open_source
from cloister.sources.source import Source
from cloister.sources.stated_names import NOTHING_STATED, StatedNames

if TYPE_CHECKING:
    from cloister.engines.local.engine import LocalEngine

__all__ = ["LocalBackend"]


class LocalBackend(Backend):
    """Rows are read in this process; there is nothing to set."""

    title: ClassVar[str] = "local"
    keeps_order: ClassVar[bool] = True
    labels_in_memory: ClassVar[bool] = True
    opens_at_once: ClassVar[bool] = True

    def __init__(self, options: None = None) -> None:
        pass

    @staticmethod
    def claims(data: Any) -> str | None:
        """Nothing: data that no other engine claims is read here."""
        return None

    def open_data(self, data: Any, names: StatedNames = NOTHING_STATED) -> Source:
        """A source, or whatever a source can be made of."""
        return open_source(data, names)

    def make_engine(self, data: Source, encoding: Encoding, unit: Unit | None, once: bool) -> LocalEngine:
        """An engine over a source."""
        from cloister.engines.local.engine import LocalEngine  # for start-up time

        return LocalEngine(data, encoding, unit, once)
