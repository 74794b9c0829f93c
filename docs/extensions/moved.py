"""Addresses that have moved lead to the new ones: a stub in the place of a page, a script for sections of a page."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

from sphinx.application import Sphinx

# Old pages, and the page that has taken their place.
PAGES = {
    "benchmarks/large-meshes": "benchmarks/explicit",
    "benchmarks/multibody": "benchmarks/small-systems",
    "learn/how-it-works": "theory",
    "rigid-body": "manifolds",
    "spherical-pendulum": "manifolds",
    "speed-assembly": "benchmarks/explicit",
    "speed-implicit": "benchmarks/implicit",
    "speed-small": "benchmarks/small-systems",
}
# Old sections of pages that are still there, by their anchors.
SECTIONS = {
    "scenario": {
        "body-a-deformable-body": "scenario/body",
        "constraint-linear-equations-between-displacements": "scenario/constraint",
        "contact-bodies-that-touch-each-other": "scenario/contact",
        "damping-rayleigh-s-damping": "scenario/damping",
        "dashpot-a-damper-between-two-places": "scenario/dashpot",
        "drag-the-drag-of-a-fluid": "scenario/drag",
        "gravity": "scenario/gravity",
        "integrator": "scenario/integrator",
        "load-forces": "scenario/load",
        "obstacle-a-rigid-obstacle": "scenario/obstacle",
        "output": "scenario/output",
        "point-mass-masses": "scenario/point_mass",
        "probe-numbers-in-a-file-of-their-own": "scenario/probe",
        "response-harmonic-excitation": "scenario/response",
        "rigid-surfaces-and-rigid-bodies": "scenario/rigid_body",
        "rod-rigid-rods": "scenario/rod",
        "rotating-frame-a-frame-that-turns-steadily": "scenario/rotating_frame",
        "run": "scenario/run",
        "spring-springs": "scenario/spring",
        "stage-one-integrator-after-the-other": "scenario/stage",
        "start-what-a-run-begins-with": "scenario/start",
        "support-what-does-not-move-or-moves-as-given": "scenario/support",
        "tie-bodies-that-hang-together": "scenario/tie",
        "thermostat-constant-temperature": "scenario/thermostat",
        "truss-bars": "scenario/truss",
        "velocity-velocities-at-the-start": "scenario/velocity",
    },
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
    """Write stubs and scripts after the pages."""
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def stub(old: str, new: str) -> str:
    """Return the page at an old address: a link and a redirection, relative to it."""
    return _STUB.format(target="../" * (len(PurePosixPath(old).parts) - 1) + f"{new}.html")


def script(sections: dict[str, str]) -> str:
    """Return what leads from the old sections of a page to the pages that have taken their place."""
    pages = json.dumps({anchor: f"{new}.html" for anchor, new in sections.items()})
    return f"<script>const moved = {pages}[location.hash.slice(1)]; if (moved) location.replace(moved);</script>"


def _write(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.name != "html":
        return
    out = Path(app.outdir)
    for old, new in PAGES.items():
        (out / f"{old}.html").parent.mkdir(parents=True, exist_ok=True)
        (out / f"{old}.html").write_text(stub(old, new), encoding="utf-8")
    for page, sections in SECTIONS.items():
        there = {anchor: new for anchor, new in sections.items() if (out / f"{new}.html").exists()}
        path, added = out / f"{page}.html", script(there)
        text = path.read_text(encoding="utf-8")
        if there and added not in text:
            path.write_text(text.replace("<head>", f"<head>{added}", 1), encoding="utf-8")
