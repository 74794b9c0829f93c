"""Compute verification problems, and write their records and pages.

python benchmarks/verification_manual [--only NAME ...] [--list] [--output DIR]
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parents[1]))

from verification_manual import problems as problems
from verification_manual.pages import rows_of, written
from verification_manual.problem import PROBLEMS

FOLDER = Path(__file__).parents[2] / "docs" / "verification"


def computed(name: str) -> dict:
    """Return the record of a problem, computed now."""
    begun = process_time()
    rows = [
        {key: float(value) if key in ("target", "found") else value for key, value in asdict(row).items()}
        for row in PROBLEMS[name].rows()
    ]
    kept = [{key: value for key, value in row.items() if value is not None} for row in rows]
    for row in kept:
        if row.get("within") == float("inf"):
            row["within"] = "inf"  # which JSON has no number for
    return {"seconds": round(process_time() - begun, 1), "rows": kept}


def off(name: str, record: dict) -> list[str]:
    """Return what is farther from its target than is accepted."""
    one = PROBLEMS[name]
    return [
        f"{name}: {row.by}, {row.what}: {row.found:.8g} where {row.target:.8g} is known ({row.deviation:+.2e})"
        for row in rows_of(record)
        if not abs(row.deviation) <= one.limit(row)
    ]


def main(only: list[str], output: Path) -> int:
    """Compute, write, and return how many numbers are not what they should be."""
    unknown = [name for name in only if name not in PROBLEMS]
    if unknown:
        print(f"there is no problem called {', '.join(unknown)}; --list names them.", file=sys.stderr)
        return 2
    output.mkdir(parents=True, exist_ok=True)
    file = output / "records.json"
    old = json.loads(file.read_text("utf-8")) if file.exists() else {}
    records, wrong = {name: old[name] for name in PROBLEMS if name in old}, []
    for name in only or PROBLEMS:
        try:
            records[name] = computed(name)
        except Exception as error:  # the others are computed all the same
            wrong.append(f"{name}: {error!r}")
            continue
        wrong += off(name, records[name])
        print(f"{name}: {len(records[name]['rows'])} numbers, {records[name]['seconds']} s", flush=True)
        file.write_text(json.dumps(records, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for page, text in written(records).items():
        (output / page).write_text(text, encoding="utf-8")
    print("\n".join(wrong) or "all within what is accepted")
    return min(len(wrong), 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compute verification problems, and write their records and pages.")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these problems alone")
    parser.add_argument("--list", action="store_true", help="print the names of all")
    parser.add_argument("--output", type=Path, default=FOLDER)
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{name}: {one.title}" for name, one in PROBLEMS.items()))
        sys.exit(0)
    sys.exit(main(options.only, options.output))
