"""The client and the pages' own files, from memory: they are not counted against an address's rate, so that each costs little."""

from __future__ import annotations

import hashlib
import mimetypes
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response

__all__ = ["ClientFiles"]

LONGEST_TAGS = 1_000  # characters that browsers send of what they have


class ClientFiles:
    """The files of a folder, as they are now. Browsers keep them, and ask each time whether they are still the same."""

    def __init__(self, folder: Path) -> None:
        self.files = {path.name: prepared(path) for path in folder.iterdir() if path.is_file()}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request; other folders and files are not there, whatever a path says."""
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        folder, _, name = scope["path"].rpartition("/")
        if folder != scope["root_path"] or name not in self.files:
            raise HTTPException(404)
        whole, unchanged = self.files[name]
        is_known = is_among(whole.headers["etag"], Headers(scope=scope).get("if-none-match", ""))
        await (unchanged if is_known else whole)(scope, receive, send)


def prepared(path: Path) -> tuple[Response, Response]:
    """The answer with a file, and the one to whoever has it."""
    content = path.read_bytes()
    headers = {"cache-control": "no-cache", "etag": f'"{hashlib.sha256(content).hexdigest()[:32]}"'}
    kind = mimetypes.guess_type(path.name)[0] or "text/plain"
    return Response(content, 200, headers, kind), Response(None, 304, headers)


def is_among(tag: str, known: str) -> bool:
    """Whether a file is one of those that a browser has; a proxy that compresses marks its tags as weak.

    >>> is_among('"a"', '"b", W/"a"'), is_among('"a"', "")
    (True, False)
    """
    if len(known) > LONGEST_TAGS:
        return False
    return known.strip() == "*" or tag in [each.strip().removeprefix("W/") for each in known.split(",")]
