"""Build the site: ``python docs/build.py [--output DIR] [--scene] [--browser]``; needs the extra ``docs``.

Warnings are errors, broken links within the site among them.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).resolve().parent
SCENE = "oblique_impact"  # the example whose page of symplex view stands in the gallery


def main(arguments: list[str] | None = None) -> int:
    """Build the site and return the exit status."""
    parser = argparse.ArgumentParser(description="Build the site of symplex, with warnings as errors.")
    parser.add_argument("--output", type=Path, default=DOCS / "_site" / "html", help="folder of the pages")
    parser.add_argument("--scene", action="store_true", help="run an example and show its page of symplex view")
    parser.add_argument("--browser", action="store_true", help="open pages in a Chromium without a screen")
    options = parser.parse_args(arguments)
    if importlib.util.find_spec("sphinx") is None:
        print("The site needs Sphinx: pip install 'symplex[docs]'.", file=sys.stderr)
        return 2
    if options.scene:
        write_scene(DOCS / "static" / "scenes" / f"{SCENE}.html")
    status = build(options.output)
    if status == 0 and options.browser:
        from browse import complaints  # beside this file

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


def write_scene(page: Path) -> None:
    """Run an example and write its page of ``symplex view``, unless it is there and newer than the example."""
    scenario = DOCS.parent / "examples" / f"{SCENE}.toml"
    if page.exists() and page.stat().st_mtime > scenario.stat().st_mtime:
        return
    from symplex.runs import simulate, write_page

    page.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        simulate(scenario, Path(folder) / SCENE, progress=False, pictures=False)
        write_page(Path(folder) / SCENE, page)


if __name__ == "__main__":
    sys.exit(main())
