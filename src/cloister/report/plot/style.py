"""How pictures look: colours, sizes, and how texts and numbers are written in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from warnings import catch_warnings, filterwarnings

from cloister.report.one_line import one_line

__all__ = [
    "ACCENT",
    "COLORS",
    "GRID",
    "INK",
    "MARKERS",
    "SOFT",
    "axis_text",
    "characters_across",
    "clean_axes",
    "look",
    "number_text",
    "short_number",
    "share_text",
    "short",
    "sparse",
    "with_note",
]

# Okabe and Ito, 2008: told apart by nearly everybody; without its yellow and black, which vanish on white or on dark pages
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a8f98")
MARKERS = "osD^vP*"
ACCENT = COLORS[0]
INK, SOFT, GRID = "#1f2328", "#59636e", "#d5dae0"
FALLBACK_FONTS = ("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans Arabic", "Noto Sans Devanagari", "Noto Sans Thai")
STYLE = {
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.labelsize": 8.0,
    "axes.labelcolor": SOFT,
    "axes.edgecolor": SOFT,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "text.color": INK,
    "text.parse_math": False,  # a dollar sign in a name begins no formula
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "figure.titlesize": 11.0,
    "lines.linewidth": 1.2,
    "svg.fonttype": "none",
    "svg.hashsalt": "cloister",  # the same picture is the same bytes
    "pdf.fonttype": 42,
}


@contextmanager
def look() -> Iterator[None]:
    """Within it pictures look as they do here, whatever else the user set for matplotlib."""
    import matplotlib
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    fonts = ["DejaVu Sans", *(name for name in FALLBACK_FONTS if name in installed)]
    with matplotlib.rc_context(), catch_warnings():
        filterwarnings("ignore", message="Glyph .* missing")  # a box stands for it, which is all that can be done
        filterwarnings("ignore", message="constrained_layout not applied")  # texts overlap a little, and that is all
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**STYLE, "font.family": fonts})
        yield


def clean_axes(axes: Any, along: str = "both") -> None:
    """A thin grid along one axis or both, and nothing else."""
    axes.grid(visible=True, axis=along)
    axes.tick_params(length=0)


def characters_across(axes: Any) -> int:
    """About how many small characters have room below a panel."""
    return max(10, int(axes.figure.bbox.width / axes.figure.dpi / axes.get_gridspec().ncols * 13))


def short(text: object, longest: int) -> str:
    r"""A text on one line that fits, shortened in the middle: names often differ at their ends.

    >>> short("a\nb", 10), short("average income of the household", 12)
    ('a\\u000ab', 'average…hold')
    """
    line = one_line(str(text))
    if len(line) <= longest:
        return line
    tail = longest // 3
    return f"{line[: longest - tail - 1]}\N{HORIZONTAL ELLIPSIS}{line[len(line) - tail :]}"


def with_note(title: str, note: str, longest: int) -> str:
    """A title that is shortened so that its note stands whole behind it.

    >>> with_note("average income of the household", "(25 of 41 values)", 32)
    'average i…hold (25 of 41 values)'
    """
    return f"{short(title, max(8, longest - len(note) - 1))} {one_line(note)}" if note else short(title, longest)


def short_number(number: float) -> float:
    """A number as it is written beside its mark: whole ones, such as counts, as they are, others with three digits.

    >>> short_number(11456.0), short_number(0.123456)
    (11456.0, 0.123)
    """
    return number if float(number).is_integer() else float(f"{number:.3g}")


def number_text(number: float, _: object = None) -> str:
    """A number on an axis: short, without a power of ten beside the axis.

    >>> [number_text(each) for each in (0, 0.25, 1200, 45_000, 2.5e6, 3e9, -1e-7)]
    ['0', '0.25', '1,200', '45,000', '2.5M', '3G', '-1e-07']
    """
    size = abs(number)
    for limit, letter in ((1e9, "G"), (1e6, "M")):
        if limit <= size < 1e13:
            return f"{number / limit:.4g}{letter}"
    return f"{number:,.0f}" if 1000 <= size < 1e6 else f"{number:.4g}"


def axis_text(number: float, _: object = None) -> str:
    """The same with thousands as k: numbers of an axis stand close.

    >>> axis_text(45_000), axis_text(2500), axis_text(2e6)
    ('45k', '2,500', '2M')
    """
    is_thousands = 1e4 <= abs(number) < 1e6 and number % 500 == 0
    return f"{number / 1000:g}k" if is_thousands else number_text(number)


def share_text(share: float, _: object = None) -> str:
    """A share on an axis.

    >>> share_text(0.125)
    '12.5%'
    """
    return f"{100 * share:.3g}%"


def sparse(words: Sequence[str], most: int, longest: int) -> tuple[list[int], list[str]]:
    """Where words stand on an axis and how they are written; of too many every n-th.

    >>> sparse(["a", "b", "c", "d"], 2, 9)
    ([0, 2], ['a', 'c'])
    """
    step = max(1, -(-len(words) // most))
    places = list(range(0, len(words), step))
    return places, [short(words[place], longest) for place in places]
