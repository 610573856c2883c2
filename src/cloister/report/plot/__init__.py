"""The one room that knows matplotlib: charts, pages and pictures as files, as figures, and as SVG inside a page.

Nothing here is loaded before something is drawn; whoever draws after a charge asks `check_drawable` before it.
"""

from cloister.report.plot.charts import draw, draw_page
from cloister.report.plot.drawable import check_drawable
from cloister.report.plot.figures import figure, save
from cloister.report.plot.fitted_names import fit_names
from cloister.report.plot.inline import DARK_COLORS, inline_svg

__all__ = ["DARK_COLORS", "check_drawable", "draw", "draw_page", "figure", "fit_names", "inline_svg", "save"]
