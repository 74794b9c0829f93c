"""Pages of the site from Markdown outside docs/, and links from docs/ to what is outside it.

README.md, CHANGELOG.md and the like stand in the root of the repository, where people and GitHub look for them. They
are copied to docs/project/ with their links turned. In all pages links to examples go to their pages in the gallery,
and links to other files of the repository are downloads.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
# Names of the pages in docs/project/ of files of the root.
PAGES = {
    "README.md": "overview",
    "CHANGELOG.md": "changes",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
}
_GLOB = re.compile(r"^([\w-]+/[\w-]*\*)\n", re.MULTILINE)  # a line of a toctree; Sphinx complains of one without pages
_LINK = re.compile(r"(\]\()(?!https?:|mailto:|#)([^)\s]+)(\))")


def setup(app: Sphinx) -> dict[str, bool]:
    """Copy the pages before anything is read; turn the links of each page as it is read."""
    app.connect("builder-inited", _copy)
    app.connect("source-read", _turn)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_changed(path: Path, text: str) -> None:
    """Write a generated page if it is not there as it is, so that Sphinx reads again only what has changed."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _copy(app: Sphinx) -> None:
    for name, page in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        write_changed(Path(app.srcdir, "project", f"{page}.md"), turned(text, ROOT, Path(app.srcdir, "project")))


def _turn(app: Sphinx, name: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(name))
    if page.suffix == ".md" and page.parent.name != "project":
        known = _GLOB.sub(lambda line: line.group() if any(page.parent.glob(line[1] + ".md")) else "", source[0])
        source[0] = turned(known, page.parent, page.parent)


def turned(text: str, home: Path, new_home: Path) -> str:
    """Return Markdown of the folder ``home`` with its relative links as they must be in ``new_home``."""

    def turn(link: re.Match[str]) -> str:
        before, target, after = link.groups()
        path, hash_, anchor = target.partition("#")
        found = (home / path).resolve()
        if not found.exists() or not found.is_relative_to(ROOT):
            return link.group()  # Sphinx complains of it
        return before + _relative(on_the_site(found), new_home) + hash_ + anchor + after

    return _LINK.sub(turn, text)


def on_the_site(path: Path) -> Path:
    """Return the page of the site that shows a file of the repository, or the file."""
    docs, examples = ROOT / "docs", ROOT / "examples"
    if path.parent == ROOT and path.name in PAGES:
        return docs / "project" / f"{PAGES[path.name]}.md"
    if path == examples:
        return docs / "gallery" / "index.md"
    if path.parent == examples and path.suffix in (".py", ".toml"):
        return docs / "gallery" / f"{gallery_name(path)}.md"
    return path


def gallery_name(example: Path) -> str:
    """Return the name of an example's page: ``drop.py`` and ``drop.toml`` have one each."""
    return example.name.replace(".", "_")


def _relative(path: Path, home: Path) -> str:
    return Path(
        *[".."] * len(home.relative_to(_shared(path, home)).parts), path.relative_to(_shared(path, home))
    ).as_posix()


def _shared(path: Path, home: Path) -> Path:
    return next(folder for folder in (home, *home.parents) if path.is_relative_to(folder))
