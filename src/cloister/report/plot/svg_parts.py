"""What matplotlib writes as SVG, made the same in every run: its ids come of addresses in memory."""

from __future__ import annotations

import re
from xml.etree import ElementTree

__all__ = ["SVG", "name_ids", "read_svg", "svg_text"]

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
REFERENCE = re.compile(r"(?<=url\(#)[^)]+|(?<=^#)\S+$")  # url(#NAME), or the whole of a href


def read_svg(drawn: bytes) -> ElementTree.Element:
    """An SVG file as matplotlib writes it, with ids that are counted; those that nothing refers to are left out."""
    root = ElementTree.fromstring(drawn)
    for element in root.iter():
        if (target := element.attrib.pop(f"{{{XLINK}}}href", None)) is not None:
            element.set("href", target)
    name_ids(root, "i")
    return root


def name_ids(root: ElementTree.Element, prefix: str) -> None:
    """Number the ids in the order in which they are referred to, after a prefix."""
    names: dict[str, str] = {}
    for element in root.iter():
        for key, value in element.attrib.items():
            if found := REFERENCE.search(value):
                name = names.setdefault(found[0], f"{prefix}{len(names)}")
                element.set(key, f"{value[: found.start()]}{name}{value[found.end() :]}")
    for element in root.iter():
        old = element.attrib.pop("id", None)
        if old in names:
            element.set("id", names[old])


def svg_text(root: ElementTree.Element) -> str:
    """The element as text."""
    ElementTree.register_namespace("", SVG)
    return ElementTree.tostring(root, encoding="unicode").strip()
