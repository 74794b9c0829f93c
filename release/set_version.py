"""Write a version wherever it stands: ``python release/set_version.py 1.2.3``.

`base/version.py` is what the package, its wheel and its archives take; the citation and the recipe of conda-forge are
read by programs that know nothing of it. A test compares all of them, and the first heading of CHANGELOG.md.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACES = {
    "base/version.py": r'(?<=^VERSION = ")[^"]+',
    "CITATION.cff": r"(?<=^version: ).+",
    "release/conda-forge/recipe.yaml": r'(?<=^  version: ")[^"]+',
}


def main(version: str) -> None:
    """Write the version to all places."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit(f"A version is MAJOR.MINOR.PATCH, not {version!r}.")
    for name, pattern in PLACES.items():
        path = ROOT / name
        text, found = re.subn(pattern, version, path.read_text("utf-8"), count=1, flags=re.MULTILINE)
        if not found:
            raise SystemExit(f"{name} names no version.")
        path.write_text(text, encoding="utf-8")
        print(f"{name}: {version}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(sys.argv[1])
