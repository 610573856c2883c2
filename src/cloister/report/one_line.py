"""Text that others wrote, on a terminal: one line, without characters that move the cursor, hide text or turn its order.

A certificate, a table's labels or a file's name could otherwise print a line of their own, such as one that says "verified".
"""

from __future__ import annotations

import re

from cloister.parameters import CONTROLS

__all__ = ["escape_controls", "is_one_line", "one_line"]

CONTROLS_IN_LINES = re.compile(f"(?!\n){CONTROLS.pattern}")


def is_one_line(text: object) -> bool:
    """Whether this is a text that prints as one line and as nothing else; an empty one is none."""
    return isinstance(text, str) and bool(text.strip()) and not CONTROLS.search(text)


def one_line(text: str) -> str:
    r"""The text with what is not printed as itself written out.

    >>> one_line("a row.\nVerified\x1b[8m")
    'a row.\\u000aVerified\\u001b[8m'
    """
    return CONTROLS.sub(_written_out, text)


def escape_controls(lines: str) -> str:
    """The same of several lines; where they are JSON they stay the same JSON, as nothing but texts holds such characters."""
    return CONTROLS_IN_LINES.sub(_written_out, lines)


def _written_out(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
