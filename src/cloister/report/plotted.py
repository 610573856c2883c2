"""`plot()` of results: every result that has pictures draws them alike."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from os import PathLike
from typing import Any

from cloister.report.picture import Picture

__all__ = ["Plotted", "PlottedByColumn"]


class Plotted:
    """A result with pictures: plain data, of released values and public noise scales alone unless they say otherwise."""

    __slots__ = ()

    @abstractmethod
    def pictures(self) -> tuple[Picture, ...]:
        """What it looks like, as plain data."""

    def plot(self, path: str | PathLike[str] | None = None) -> Any:
        """Draw its pictures: a matplotlib Figure, which a notebook shows, or with a path a file (.png, .svg or .pdf).

        A file that is there is replaced. Needs matplotlib: ``pip install 'cloister[plots]'``.
        """
        _check(path)
        return _draw(self.pictures(), path)


class PlottedByColumn(Plotted):
    """The same of a result whose pictures show some of its columns."""

    __slots__ = ()

    @abstractmethod
    def pictures(self, columns: Sequence[str] | None = None) -> tuple[Picture, ...]:
        """What it looks like, as plain data; `columns` are those to show."""

    def plot(self, path: str | PathLike[str] | None = None, columns: Sequence[str] | None = None) -> Any:
        """Draw its pictures: a matplotlib Figure, which a notebook shows, or with a path a file (.png, .svg or .pdf).

        A file that is there is replaced. Needs matplotlib: ``pip install 'cloister[plots]'``.

        Parameters
        ----------
        path : path, optional
            The file.
        columns : list of str, optional
            The columns to show; default: those that say the most, or the first.
        """
        _check(path)
        return _draw(self.pictures(columns), path)


def _check(path: str | PathLike[str] | None) -> None:
    """Refuse what is no file that can be drawn, before anything is made for it."""
    from cloister.report import plot  # it is loaded where something is drawn

    if path is not None:
        plot.check_drawable(path)


def _draw(pictures: Sequence[Picture], path: str | PathLike[str] | None) -> Any:
    from cloister.report import plot

    return plot.figure(pictures) if path is None else plot.save(pictures, path)
