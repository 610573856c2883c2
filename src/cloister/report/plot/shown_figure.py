"""A figure that a notebook shows by itself, whichever backend is set there."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

from cloister.report.plot.style import look

__all__ = ["ShownFigure"]


class ShownFigure(Figure):
    """A matplotlib Figure; where it is the last line of a cell it is shown as an image."""

    def _repr_png_(self) -> bytes:
        file = BytesIO()
        with look():
            self.savefig(file, format="png")
        return file.getvalue()
