"""What `mkdocs.yml` cannot say: pages that stand at the root of the repository, and that no page loads from a network."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changelog.md",
}


# what a browser fetches by itself when it shows a page; a link that is clicked may lead anywhere
_FETCHED = (
    re.compile(r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc=["']?(?:https?:)?//[^"'\s>]*"""),
    re.compile(r"""<link\b[^>]*\bhref=["']?(?:https?:)?//[^"'\s>]*"""),
    re.compile(r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^"')\s]*"""),
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the root: they are read from there, so that no text exists twice."""
    for source, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links as they are seen from the root become links between pages."""
    if page.file.src_uri not in PAGES.values():
        return re.sub(rf"\]\(\.\./({'|'.join(map(re.escape, PAGES))})", lambda link: f"]({PAGES[link[1]]}", markdown)
    markdown = markdown.replace("](docs/", "](")
    for source, target in PAGES.items():
        markdown = markdown.replace(f"]({source}", f"]({target}")
    return markdown


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse a site that needs a network to be looked at."""
    for path in sorted(Path(config.site_dir).rglob("*")):
        if path.suffix in (".html", ".css") and (fetched := loads_from_a_network(path.read_text(encoding="utf-8"))):
            raise PluginError(f"{path.relative_to(config.site_dir)} loads from a network: {fetched[0]}")


def loads_from_a_network(text: str) -> list[str]:
    """The parts of a page or a style sheet that a browser would fetch from elsewhere.

    >>> loads_from_a_network('<script src="https://cdn.example/x.js"></script> <a href="https://example.org">')
    ['<script src="https://cdn.example/x.js']
    """
    return [match.group() for pattern in _FETCHED for match in pattern.finditer(text)]
