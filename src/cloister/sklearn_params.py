"""Parameters as scikit-learn knows them (`get_params`, `set_params`, `clone`), without loading it."""

from __future__ import annotations

import inspect
from typing import Any, Self

from cloister.column_names import nearest_name
from cloister.errors import UsageError
from cloister.parameters import without_passwords

__all__ = ["Parameters"]


class Parameters:
    """A class whose ``__init__`` only stores its parameters."""

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Change some parameters."""
        for name, value in params.items():
            if name not in self._names():
                raise UsageError(f'{type(self).__name__} has no parameter "{name}".{nearest_name(name, self._names())}')
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value is not defaults[name].default]
        return without_passwords(f"{type(self).__name__}({', '.join(changed)})")
