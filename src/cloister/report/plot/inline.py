"""Pictures as SVG inside a page: no prolog, no fixed width, colours of the page, nothing loaded from elsewhere."""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from xml.etree import ElementTree

from cloister.report.one_line import one_line
from cloister.report.picture import Picture
from cloister.report.plot.drawable import check_matplotlib
from cloister.report.plot.figures import NO_METADATA, WIDTH, fill, height_of_picture, settle
from cloister.report.plot.fitted_names import fit_names
from cloister.report.plot.style import COLORS, GRID, INK, SOFT, look
from cloister.report.plot.svg_parts import SVG, name_ids, read_svg, svg_text

__all__ = ["DARK_COLORS", "inline_svg"]

DARK_COLORS = (
    "--ink: #e6e9ee; --ink-soft: #a9b2bd; --grid: #38414c; --chart-1: #4aa8e0; --chart-2: #f08a4b; --chart-3: #3cc49a; "
    "--chart-4: #e3a0c4; --chart-5: #f0b93a; --chart-6: #8fd0f5; --chart-7: #9aa1ab; --chart-image: brightness(1.6)"
)
"""What a page sets where it is dark; on white paper pictures need nothing."""
FONT = "system-ui, sans-serif"
VARIABLES = {
    **{color: f"var(--chart-{i + 1}, {color})" for i, color in enumerate(COLORS)},
    INK: f"var(--ink, {INK})",
    SOFT: f"var(--ink-soft, {SOFT})",
    GRID: f"var(--grid, {GRID})",
}
COLOR = re.compile("|".join(VARIABLES))
FONTS = re.compile(r"(font:[^;]*?px) [^;]*")


def inline_svg(picture: Picture, prefix: str = "") -> str:
    """The panels of a picture as an ``<svg>`` element for an HTML page.

    The heading and the caption are in its title and description, for readers who hear the page; they are not drawn: the page has
    its own words beside it. Colours are the page's variables ``--chart-1`` to ``--chart-7``, ``--ink``, ``--ink-soft`` and
    ``--grid``, with colours for white paper where it sets none; `DARK_COLORS` are those of a dark page. It is as wide as its
    place, and readable from about 450 pixels on.

    Parameters
    ----------
    picture
    prefix : str
        Begins every id. Where a page shows the same picture twice, they need two.
    """
    check_matplotlib()
    from matplotlib.figure import Figure

    picture = replace(fit_names(picture), title=picture.title)  # who hears it hears all of it
    with look():
        height = max(0.5, height_of_picture(picture, with_words=False))
        drawn = Figure(figsize=(WIDTH, height), layout="constrained")
        settle(drawn, fill(drawn, picture))
        file = BytesIO()
        drawn.savefig(file, format="svg", transparent=True, metadata=NO_METADATA["svg"])
    root = read_svg(file.getvalue())
    for element in root.iter():
        if element.tag == f"{{{SVG}}}image":
            element.set("style", "filter: var(--chart-image, none)")
        if style := element.get("style"):
            element.set("style", FONTS.sub(rf"\1 {FONT}", COLOR.sub(lambda found: VARIABLES[found[0]], style)))
    _describe(root, picture)
    name_ids(root, prefix or f"p{sha256(svg_text(root).encode()).hexdigest()[:10]}-")
    return svg_text(root)


def _describe(root: ElementTree.Element, picture: Picture) -> None:
    """What the picture is, for those who hear it; no fixed size."""
    for size in ("width", "height", "version"):
        root.attrib.pop(size, None)
    for parent in root.iter(f"{{{SVG}}}defs"):
        for style in parent.findall(f"{{{SVG}}}style"):  # its rule would hold for the whole page
            parent.remove(style)
    root.set("style", "stroke-linejoin: round; stroke-linecap: butt")
    root.set("role", "img")
    root.set("aria-label", one_line(picture.heading))
    title, text = ElementTree.Element(f"{{{SVG}}}title"), ElementTree.Element(f"{{{SVG}}}desc")
    title.text, text.text = one_line(picture.heading), one_line(picture.caption)
    root[:0] = [title, text] if picture.caption else [title]  # an empty element of HTML would not end where it does in SVG
