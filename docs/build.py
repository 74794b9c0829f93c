"""Build the site: ``python docs/build.py [--output DIR] [--scenes [NAME ...]] [--browser]``; needs the extra ``docs``.

Warnings are errors, broken links within the site among them. ``--pictures NAME ...`` runs scenarios of examples/ and
stores their snapshots in docs/pictures, where the gallery finds them.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
EXAMPLES = DOCS.parent / "examples"
# The examples whose pages of symplex view stand in the gallery: all together some two minutes of processor time.
SCENES = (
    *("oblique_impact", "drop", "hung_and_dropped", "preload_and_impact"),
    *("rubber_blocks", "spinning_plate", "tennis_racket"),
)


def main(arguments: list[str] | None = None) -> int:
    """Build the site and return the exit status."""
    parser = argparse.ArgumentParser(description="Build the site of symplex, with warnings as errors.")
    parser.add_argument("--output", type=Path, default=DOCS / "_site" / "html", help="folder of the pages")
    parser.add_argument(
        "--scenes",
        nargs="*",
        metavar="NAME",
        choices=SCENES,
        help=f"run examples and show their pages of symplex view; without names all of {', '.join(SCENES)}",
    )
    parser.add_argument("--pictures", nargs="+", metavar="NAME", help="run scenarios and store their snapshots first")
    parser.add_argument("--browser", action="store_true", help="open pages in a Chromium without a screen")
    options = parser.parse_args(arguments)
    if importlib.util.find_spec("sphinx") is None:
        print("The site needs Sphinx: pip install 'symplex[docs]'.", file=sys.stderr)
        return 2
    for name in options.pictures or ():
        write_picture(name)
    if options.scenes is not None:
        for name in options.scenes or SCENES:
            write_scene(name)
    status = build(options.output)
    if status == 0 and options.browser:
        from browse import complaints  # next to this file

        found = complaints(options.output)
        print("\n".join(found) or "The pages open in Chromium without complaints.")
        status = int(bool(found))
    return status


def build(output: Path) -> int:
    """Build the pages in a folder and return Sphinx's exit status."""
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "-d",
        str(output.parent / "doctrees"),
    ]
    return subprocess.run([*command, str(DOCS), str(output)], check=False).returncode


def write_scene(name: str) -> None:
    """Run an example and write its page of ``symplex view``, unless it is there and newer than the example."""
    scenario, page = EXAMPLES / f"{name}.toml", DOCS / "static" / "scenes" / f"{name}.html"
    if page.exists() and page.stat().st_mtime > scenario.stat().st_mtime:
        return
    from symplex.runs import simulate, write_page

    page.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        simulate(scenario, Path(folder) / name, progress=False, pictures=False)
        write_page(Path(folder) / name, page)


def write_picture(name: str) -> None:
    """Run an example and store its snapshots, with 256 colours and at most 1000 pixels wide."""
    from PIL import Image

    from symplex.runs import simulate

    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / name
        simulate(EXAMPLES / f"{name}.toml", run, progress=False)
        with Image.open(run / "snapshots.png") as picture:
            small = picture.convert("RGB")
    small.thumbnail((1000, 1000))
    small.quantize(256).save(DOCS / "pictures" / f"{name}.png", optimize=True)


if __name__ == "__main__":
    sys.exit(main())
