"""A picture as plain data: panels of bars, steps, centres and heat, with a title and a caption. `report.plot` draws it.

A result says what it looks like (`pictures`), from released values and public noise scales alone; what it looks like on a page
or in a file is left to `report.plot`. Texts here may be as long and as odd as the names of columns are: they are shortened and
escaped where they are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

from cloister.report.document import Chart
from cloister.report.panels import BarPanel, HeatPanel, HistogramPanel

__all__ = [
    "INTERVAL",
    "CenterMap",
    "CenterProfile",
    "HeatAxis",
    "HeatMap",
    "MeasuredBars",
    "MeasuredLine",
    "MeasuredLines",
    "MeasuredSteps",
    "Picture",
    "PicturePanel",
    "WordGrid",
]

INTERVAL = 1.96  # standard errors to either side: 95% of the noise lies between
HOLDER = "for the holder only"
Numbers = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class MeasuredBars:
    """A number of each word, as bars; `low` and `high` are the ends of their error bars, empty where there is no error."""

    title: str
    words: tuple[str, ...]
    values: Numbers
    low: Numbers = ()
    high: Numbers = ()
    label: str = ""  # of the numbers
    is_share: bool = False  # numbers are written as percent
    least_end: float = 0.0  # where the axis ends at least: 1 for shares that are compared with everything
    line: tuple[float, str] | None = None  # a number to compare with, and its name
    note: str = ""  # behind the title, and never cut


@dataclass(frozen=True, slots=True)
class MeasuredSteps:
    """A number between each two edges, as a stair; `low` and `high` are the ends of the band around it, if there is one."""

    title: str
    edges: Numbers
    values: Numbers
    low: Numbers = ()
    high: Numbers = ()
    x_label: str = ""
    label: str = ""
    ticks: tuple[tuple[float, str], ...] = ()  # none: where the renderer likes them
    note: str = ""  # behind the title, and never cut


@dataclass(frozen=True, slots=True)
class MeasuredLine:
    """A number over some places of an axis; `low` and `high` are the ends of the band around it, if there is one."""

    name: str
    x: Numbers
    values: Numbers
    low: Numbers = ()
    high: Numbers = ()


@dataclass(frozen=True, slots=True)
class MeasuredLines:
    """Lines over one axis, each with places of its own; logarithmic where its numbers, all above 0, are told apart so."""

    title: str
    lines: tuple[MeasuredLine, ...]
    x_label: str = ""
    label: str = ""
    is_x_log: bool = False
    is_log: bool = False
    level: tuple[float, str] | None = None  # a number to compare with, and its name


@dataclass(frozen=True, slots=True)
class CenterMap:
    """Centres in two columns, or in one: where they lie, how many rows each stands for, and how far noise may have moved them.

    Attributes
    ----------
    names : what each centre is called
    x, y : their places; y is empty where there is one column alone, and its axis then has the sizes
    x_errors, y_errors : how far the error bars reach to either side; empty where that is not known
    sizes : how many rows each stands for; x_limits, y_limits : what is shown of each axis
    """

    title: str
    names: tuple[str, ...]
    x: Numbers
    y: Numbers
    sizes: Numbers
    x_errors: Numbers = ()
    y_errors: Numbers = ()
    x_label: str = ""
    y_label: str = ""
    x_limits: tuple[float, float] | None = None
    y_limits: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class CenterProfile:
    """Where each centre lies between the ends of each column: 0 the lowest value that the column may have, 1 the highest.

    `places` and `errors` have one line a column, with one number a centre; `ends` are the two values as they are written.
    """

    title: str
    names: tuple[str, ...]  # of the centres
    columns: tuple[str, ...]
    places: tuple[Numbers, ...]
    errors: tuple[Numbers, ...] = ()
    ends: tuple[tuple[str, str], ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class WordGrid:
    """Words in a grid, one line a column and one word a centre; those of a line that are the same look the same."""

    title: str
    names: tuple[str, ...]  # of the centres
    columns: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class HeatAxis:
    """An axis of a heat map: words, one a cell, or the edges of its cells."""

    label: str
    words: tuple[str, ...] = ()
    edges: Numbers = ()


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Numbers in cells as colours, a line each value of y from below."""

    title: str
    x: HeatAxis
    y: HeatAxis
    values: tuple[Numbers, ...]  # (y, x)
    label: str = ""
    is_share: bool = False  # numbers are written as percent
    is_log: bool = False  # colours by the logarithm of the numbers
    has_columns: bool = False  # the words of y are names of columns


PicturePanel = (
    MeasuredBars
    | MeasuredLines
    | MeasuredSteps
    | CenterMap
    | CenterProfile
    | WordGrid
    | HeatMap
    | BarPanel
    | HistogramPanel
    | HeatPanel
    | Chart
)


@dataclass(frozen=True, slots=True)
class Picture:
    """Panels under one title, with a sentence or two that say what is shown and what its error bars are.

    `for_holder`: it shows exact facts of the holder's table, and the heading says so.
    """

    title: str
    panels: tuple[PicturePanel, ...]
    caption: str = ""
    for_holder: bool = False
    across: int = 2  # panels in a line

    @property
    def heading(self) -> str:
        """The title, and for whom it is.

        >>> Picture("Sizes of classes", (), for_holder=True).heading
        'Sizes of classes (for the holder only)'
        """
        return f"{self.title} ({HOLDER})" if self.for_holder else self.title
