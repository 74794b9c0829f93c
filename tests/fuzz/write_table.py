"""Run fuzzers and write what came out, counted, into docs/reliability.md: ``python tests/fuzz/write_table.py``.

Rows of the fuzzers that are not run stay as they are.
"""

from __future__ import annotations

import argparse
import importlib
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "reliability.md"
BEGIN, END = "<!-- counts: begin -->", "<!-- counts: end -->"
RAN, REFUSED = "ran", "refused in one sentence"
_COMMAND = re.compile(r"(`python tests/fuzz/write_table.py (\w+) [^`]*`)")
_ROW = re.compile(r"\| (\w+) \| \d")


def fuzzers(names: list[str]) -> Iterator[tuple[str, object]]:
    """Yield the fuzzers by name: modules with a function ``trials(seed, count)`` that yields (what, outcome)."""
    for path in sorted(HERE.glob("test_fuzz_*.py")):
        name = path.stem.removeprefix("test_fuzz_")
        if names and name not in names:
            continue
        yield name, importlib.import_module(path.stem)


def rows(counts: Counter[tuple[str, str]]) -> list[str]:
    """Return the rows of the table: the fuzzer, the number of its trials, and their outcomes."""
    lines: list[str] = []
    for what in sorted({what for what, _ in counts}):
        by_outcome = Counter({outcome: n for (of, outcome), n in counts.items() if of == what})
        total, ran, refused = by_outcome.total(), by_outcome[RAN], by_outcome[REFUSED]
        lines.append(f"| {what} | {total} | {ran} | {refused} | {total - ran - refused} |")
    return lines


def updated(text: str, runs: dict[str, tuple[str, Counter[tuple[str, str]]]]) -> str:
    """Return the text of the page with the commands and rows of these runs in place of those of the same fuzzers."""
    before, _, rest = text.partition(BEGIN)
    table, _, after = rest.partition(END)
    commands = {name: command for command, name in _COMMAND.findall(table) if name not in runs}
    kept = [line for line in table.splitlines() if (row := _ROW.match(line)) and row[1] not in runs]
    commands |= {name: command for name, (command, _) in runs.items()}
    kept += [line for _, counts in runs.values() for line in rows(counts)]
    made = ";\n".join(commands[name] for name in sorted(commands))
    lines = ["| fuzzer | trials | ran | refused in one sentence | defects |", "| --- | ---: | ---: | ---: | ---: |"]
    return f"{before}{BEGIN}\nMade by\n{made}.\n\n" + "\n".join([*lines, *sorted(kept)]) + f"\n{END}{after}"


def main() -> None:
    """Run the fuzzers that are asked for and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fuzzers", nargs="*", help="such as scenarios meshes; default: all")
    parser.add_argument("--count", type=int, default=1000, help="trials of each; default: 1000")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for name, module in fuzzers(arguments.fuzzers):
        start, counts = perf_counter(), Counter[tuple[str, str]]()
        for what, outcome in module.trials(arguments.seed, arguments.count):  # type: ignore[attr-defined]
            counts[name, outcome] += 1
            if outcome not in (RAN, REFUSED):
                print(f"{what}: {outcome}", flush=True)
        print(f"{name}: {perf_counter() - start:.0f} s", flush=True)
        command = f"`python tests/fuzz/write_table.py {name} --count {arguments.count} --seed {arguments.seed}`"
        PAGE.write_text(updated(PAGE.read_text(encoding="utf-8"), {name: (command, counts)}), encoding="utf-8")


if __name__ == "__main__":
    main()
