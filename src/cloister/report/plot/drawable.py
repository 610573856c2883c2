"""Whether a picture can be drawn at all: asked before a row is read."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from cloister.errors import UsageError
from cloister.parameters import check_path

__all__ = ["FORMATS", "check_drawable", "check_matplotlib"]

FORMATS = (".png", ".svg", ".pdf")


def check_drawable(path: str | PathLike[str]) -> None:
    """Refuse a picture that cannot be drawn, before a row is read."""
    if Path(check_path(path, "the picture", "a new file, .png, .svg or .pdf")).suffix.lower() not in FORMATS:
        raise UsageError("a picture is drawn as .png, .svg or .pdf. Name the file so.")
    check_matplotlib()


def check_matplotlib() -> None:
    """Refuse to draw where the library that draws is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise UsageError("drawing a picture needs matplotlib. Install it: pip install 'cloister[plots]'.") from None
