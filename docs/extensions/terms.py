"""Terms of other programs in the site's search: rows of the glossary become index entries of the sections they link to.

The search lists index entries first, so "boundary condition" or "mass scaling" lead to the section that the glossary
names.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from outside import on_the_site
from sphinx import addnodes
from sphinx.application import Sphinx

PAGE = Path(__file__).parents[1] / "learn" / "glossary.md"
HEADING = "## Terms of other programs"
_LINK = re.compile(r"\]\((?P<page>[\w./-]*\.md)?(?:#(?P<anchor>[\w-]+))?\)")


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the entries to each page as it is read."""
    app.connect("doctree-read", _add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def terms(text: str) -> dict[str, tuple[Path, str]]:
    """Return the page and the anchor of each term in the glossary's table; without a link, the table itself."""
    found: dict[str, tuple[Path, str]] = {}
    for row in text.partition(HEADING)[2].splitlines():
        cells = row.strip("| ").split(" | ")
        if not row.startswith("| ") or len(cells) != 2 or cells[0] in ("term", "---"):
            continue
        link = _LINK.search(cells[1])
        page = PAGE if link is None or link["page"] is None else on_the_site((PAGE.parent / link["page"]).resolve())
        anchor = "terms-of-other-programs" if link is None else link["anchor"] or ""
        found |= {term.strip(): (page, anchor) for term in cells[0].split(", ")}
    return found


def _add(app: Sphinx, document: nodes.document) -> None:
    env = app.env
    here = Path(env.doc2path(env.docname)).resolve()
    env.note_dependency(str(PAGE))
    ids = {slug: id_ for slug, (_, id_, _) in env.metadata[env.docname].get("myst_slugs", {}).items()}
    entries = [
        ("single", term, ids.get(anchor, ""), "main", None)
        for term, (page, anchor) in terms(PAGE.read_text(encoding="utf-8")).items()
        if page == here
    ]
    if entries:
        document.insert(0, addnodes.index(entries=entries))
