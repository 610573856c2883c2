"""Re-identification risk and information loss, for the holder of a table.

The package is a function too: ``cl.risk(data, ["age", "sex"])`` is `cloister.risk.assess.assess`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cloister.risk.report import RiskReport

__all__ = ["risk"]


class _Risk(ModuleType):
    """A package that can be called: importing a part of it would otherwise hide the function of the same name."""

    def __call__(self, data: Any, quasi: Any = None, **options: Any) -> RiskReport:
        """Measure the risk of a table: see `cloister.risk.assess.assess`."""
        from cloister.risk.assess import assess

        return assess(data, quasi, **options)


risk = sys.modules[__name__]
risk.__class__ = _Risk
