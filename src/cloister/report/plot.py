"""Charts as pictures: the one module that knows matplotlib."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from cloister.errors import UsageError
from cloister.report.document import Chart

__all__ = ["check_drawable", "draw"]

FORMATS = (".png", ".svg")
LEFT_STYLES = (("o-", "tab:blue"), ("D-", "tab:green"))
RIGHT_STYLES = (("s--", "tab:red"), ("^:", "tab:orange"))


def check_drawable(path: str | PathLike[str]) -> None:
    """Refuse a picture that cannot be drawn, before a row is read."""
    if Path(path).suffix.lower() not in FORMATS:
        raise UsageError(f"a curve is drawn as {' or '.join(FORMATS)}. Name the file so.")
    try:
        import matplotlib  # noqa: F401
    except ModuleNotFoundError:
        raise UsageError("drawing a curve needs matplotlib. Install it: pip install 'cloister[plots]'.") from None


def draw(chart: Chart, path: str | PathLike[str]) -> None:
    """Draw a chart as PNG or SVG, by the name of the file."""
    check_drawable(path)
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, NullLocator

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    left = figure.subplots()
    sides = [(left, chart.left, LEFT_STYLES, False)]
    if chart.right is not None:
        # the later axes are drawn above the earlier ones
        sides.append((left.twinx(), chart.right, RIGHT_STYLES, True))
    for axes, axis, styles, is_right in sides:
        series = [each for each in chart.series if each.is_right is is_right or chart.right is None]
        for i, each in enumerate(series):
            style, color = styles[i % len(styles)]
            axes.plot(chart.points, each.values, style, color=color, label=each.name)
        axes.set(ylabel=axis.label, yscale="log" if axis.is_log else "linear")
        if axis.is_log:
            axes.yaxis.set_major_formatter(FuncFormatter(lambda number, _, write=axis.format: write(number)))
        else:
            axes.set_ylim(bottom=0)
    left.set(xlabel=chart.x.label, title=chart.title, xscale="log" if chart.x.is_log else "linear")
    left.set_xticks(chart.points, [chart.x.format(point) for point in chart.points])
    left.xaxis.set_minor_locator(NullLocator())
    lines = [line for axes, *_ in sides for line in axes.get_lines()]
    figure.legend(lines, [str(line.get_label()) for line in lines], loc="outside lower center", ncols=3, frameon=False)
    left.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
