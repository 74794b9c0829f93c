"""Addresses of pages that have moved lead to the new ones: a stub in the place of each."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from sphinx.application import Sphinx

# Old pages, and the page (with an anchor, where only a section is meant) that has taken their place.
MOVED = {
    "speed-assembly": "benchmarks/explicit",
    "speed-implicit": "benchmarks/implicit",
    "speed-small": "benchmarks/small-systems",
}
_STUB = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Moved</title>
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0; url={target}">
<link rel="canonical" href="{target}">
</head>
<body><p>This page has moved to <a href="{target}">{target}</a>.</p></body>
</html>
"""


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the stubs after the pages."""
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def stub(old: str, new: str) -> str:
    """Return the page at an old address: a link and a redirection, relative to it."""
    page, hash_, anchor = new.partition("#")
    up = "../" * (len(PurePosixPath(old).parts) - 1)
    return _STUB.format(target=f"{up}{page}.html{hash_}{anchor}")


def _write(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.name != "html":
        return
    for old, new in MOVED.items():
        path = Path(app.outdir, f"{old}.html")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(stub(old, new), encoding="utf-8")
