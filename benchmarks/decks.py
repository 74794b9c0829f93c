"""Import a folder of Abaqus or CalculiX decks, run them, and compare with reference results next to them.

    python benchmarks/decks.py FOLDER OUTPUT [--only NAME ...]

Reference results are CalculiX' ``NAME.dat.ref`` and ``NAME.frd.ref``. A table is printed, a line for each step that was
imported: deck, step, quantity, ours, theirs, relative difference; at the end how many decks opened, ran, and agree.
Static steps are compared at their end, motions at all times that both have, as largest displacement and largest
difference of a displacement over that; frequencies one by one.
"""

from __future__ import annotations

import argparse
import re
import time
import traceback
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.spatial import KDTree

from symplex.decks import import_deck
from symplex.decks.importing import read_deck
from symplex.errors import SymplexError
from symplex.scenario.scenario import Problem, Scenario
from symplex.time.modes.natural import natural_modes
from symplex.time.trajectory import march

_UNITS = {"si": (1.0, 1.0), "mm-t-s": (1e-3, 1.0)}
_RIGID = 1e-4  # of the largest frequency: below there are motions of rigid bodies, in rounding
_SAME_PLACE = 1e-5  # of the size of a mesh
_LONGEST = 8.0  # s of processor time for a motion

Fields = dict[tuple[int, float], dict[int, np.ndarray]]  # displacements by step and time, by node


def displacements_of_dat(path: Path) -> tuple[Fields, dict[int, list[float]]]:
    """Return displacements and, by step, natural frequencies in cycles per time of a .dat file."""
    found: Fields = {}
    frequencies: dict[int, list[float]] = {}
    step, table, modal = 0, None, False
    for line in path.read_text(errors="replace").splitlines():
        if head := re.match(r"\s*S T E P\s+(\d+)", line):
            step, table, modal = int(head[1]), None, False
        elif head := re.match(r"\s*displacements \(vx,vy,vz\) for set (\S+)\s+and time\s+(\S+)", line):
            table = None if modal else found.setdefault((step, float(head[2])), {})
            modal = False
        elif "E I G E N V A L U E   O U T P U T" in line:
            table, modal = None, True
            step = max(step, 1)
            frequencies.setdefault(step, [])
        elif re.match(r"\s*(P A R T I C|E F F E C T)", line):
            modal = False
        elif line.strip() and not re.match(r"[\s\d.E+-]+$", line):
            table = None
        elif table is not None and len(row := line.split()) == 4:
            table[int(row[0])] = np.array(row[1:], float)
        elif modal and len(row := line.split()) in (5, 6) and row[0].isdecimal():
            # Of sectors the nodal diameter comes first, and those of the diameter 0 are listed twice.
            twice = len(row) == 6 and row[0] == "0"
            frequencies[step] += [float(row[-2])][: 0 if twice and int(row[1]) % 2 == 0 else 1]
    return found, frequencies


def displacements_of_frd(path: Path) -> Fields:
    """Return the displacements of a .frd file in text."""
    found: Fields = {}
    step, now, table = 0, 0.0, None
    for line in _lines_of(path):
        if line.startswith("    1PSTEP"):
            step = int(line.split()[-1])
        elif line.startswith("  100C"):
            now = float(line[12:24])
        elif line.startswith(" -4"):
            table = found.setdefault((step, now), {}) if line.split()[1] == "DISP" else None
        elif line.startswith(" -3"):
            table = None
        elif table is not None and line.startswith(" -1"):
            table[int(line[3:13])] = np.array([float(line[k : k + 12]) for k in (13, 25, 37)])
    return found


def _lines_of(path: Path) -> list[str]:
    return path.read_bytes().decode(errors="replace").splitlines()


def _renumbered(fields: Fields, path: Path, points: np.ndarray, numbers: np.ndarray) -> Fields:
    """Return fields of a .frd file whose nodes are those of solid elements of a layer: nodes of the deck by place."""
    tree, size, known = KDTree(points), np.ptp(points, axis=0).max(), {}
    for line in _lines_of(path):
        if line.startswith((" -3", "  100C")):
            break
        if line.startswith(" -1"):
            x = [float(line[k : k + 12]) for k in (13, 25, 37)]
            away, place = tree.query(x)
            if away < _SAME_PLACE * size:
                known[int(line[3:13])] = int(numbers[place])
    return {key: {known[n]: u for n, u in table.items() if n in known} for key, table in fields.items()}


def _with_shells(u: np.ndarray, numbers: np.ndarray, layers: dict) -> tuple[np.ndarray, np.ndarray]:
    """Return displacements and numbers of nodes, with those of shells: the mean of the outer nodes of the layer."""
    if not layers:
        return u, numbers
    places = {number: k for k, number in enumerate(numbers.tolist())}
    shells = {n: 0.5 * (u[places[t[0]]] + u[places[t[-1]]]) for n, t in layers.items() if t[0] in places}
    shells = {n: mean for n, mean in shells.items() if n not in places}
    return np.vstack([u, *shells.values()]), np.concatenate([numbers, [*shells]])


def _difference(ours: np.ndarray, numbers: np.ndarray, theirs: dict[int, np.ndarray]) -> tuple[float, float, float]:
    """Return the largest displacement of both, and the largest difference over theirs."""
    places = {number: k for k, number in enumerate(numbers.tolist())}
    both = [(ours[places[node]], u) for node, u in theirs.items() if node in places]
    mine, other = (np.array([pair[k] for pair in both]).reshape(-1, 3) for k in (0, 1))
    size = np.abs(other).max(initial=0.0)
    return np.abs(mine).max(initial=0.0), size, np.abs(mine - other).max(initial=0.0) / size if size else np.nan


def _rows(problem: Problem, text: str, numbers, layers, step: int, folder: Path, name: str, units: str):
    """Yield quantity, ours, theirs and relative difference of a step."""
    length, _ = _UNITS[units]
    dat, frd = folder / f"{name}.dat.ref", folder / f"{name}.frd.ref"
    fields, frequencies = displacements_of_dat(dat) if dat.exists() else ({}, {})
    if not any(k == step for k, _ in fields) and frd.exists():
        fields |= displacements_of_frd(frd)
        if re.search(r"OUTPUT\s*=\s*3D", (folder / f"{name}.inp").read_text(errors="replace"), re.IGNORECASE):
            fields = _renumbered(fields, frd, problem.mesh.points[: len(numbers)] / length, numbers)
    mesh, system = problem.mesh, problem.system
    n = min(len(mesh.points), len(numbers))
    if asked := re.search(r"asks for (\d+) natural frequencies", text):
        requested = frequencies.get(step, [])
        count = min(int(asked[1]), int((~system.fixed).sum()))
        got = natural_modes(system, problem.state, count).frequencies
        for k, (ours, theirs) in enumerate(zip(got, requested, strict=False), start=1):
            if max(abs(ours), abs(theirs)) < _RIGID * max(requested):
                continue
            yield f"f{k}", ours, theirs, abs(ours - theirs) / max(abs(theirs), 1e-9 * max(requested))
        return
    compared = {t: u for (k, t), u in fields.items() if k == step}
    if not compared:
        yield "no reference", np.nan, np.nan, np.nan
    scenario = problem.scenario
    if scenario.tables.integrator.kind == "energy-momentum":
        if compared:
            last = max(compared)
            u = (problem.state.q[:n] - mesh.points[:n]) / length
            yield "u", *_difference(*_with_shells(u, numbers, layers), compared[last])
        return
    steps = read_deck(folder / f"{name}.inp").deck.steps[: step - 1]  # reference results have the time since the first
    before = sum(s.period for s in steps if s.procedure != "frequency" and not s.perturbation)
    begun, worst = time.process_time(), (0.0, 0.0, 0.0)
    largest = max((np.abs(u).max() for table in compared.values() for u in table.values()), default=0.0)
    for state in march(problem.system, problem.integrator, problem.state, scenario.times):
        u = (state.q[:n] - mesh.points[:n]) / length
        for t, theirs in compared.items():
            if abs(state.t + before - t) < 1e-6 * scenario.times[-1] and state.t > 0:
                mine, size, difference = _difference(*_with_shells(u, numbers, layers), theirs)
                row = (mine, size, difference * size / largest if largest else np.nan)
                worst = max(worst, row, key=lambda r: r[2] if r[2] == r[2] else -1.0)
        if time.process_time() - begun > _LONGEST:
            yield f"u to t = {state.t:.3g}", *worst
            return
    yield "u(t)", *worst


def _import(path: Path, output: Path):
    """Import a deck, in mm, t and s where its densities say so."""
    for units in _UNITS:
        try:
            return import_deck(path, output / path.stem, units=units, overwrite=True), units
        except SymplexError as error:
            if "--units" not in str(error):
                raise
    raise AssertionError


def main() -> None:
    """Walk through a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--only", nargs="+")
    arguments = parser.parse_args()
    counts, reasons = Counter(), Counter()
    print("| deck | step | quantity | ours | CalculiX | relative difference |\n| --- | --- | --- | --- | --- | --- |")
    for path in sorted(arguments.folder.glob("*.inp")):
        if arguments.only and path.stem not in arguments.only:
            continue
        counts["decks"] += 1
        try:
            imported, units = _import(path, arguments.output)
        except SymplexError as error:
            counts["no solid mesh, or broken"] += 1
            reasons[re.sub(r"\d+", "#", str(error).split(": ")[-1])[:60]] += 1
            continue
        if not imported.scenarios:
            counts["refused"] += 1
            reasons[f"*{imported.missed[0].keyword}: {imported.missed[0].why[:60]}"] += 1
            continue
        counts["imported"] += 1
        counts["imported whole"] += not imported.missed
        ran, worst = True, 0.0
        compared = False
        for step, file in imported.scenarios.items():
            try:
                scenario = Scenario.read(file)
                numbers = np.concatenate([*imported.bodies.values()])
                for quantity, ours, theirs, difference in _rows(
                    scenario.build(), scenario.text, numbers, imported.layers, step, arguments.folder, path.stem, units
                ):
                    print(
                        f"| {path.stem} | {step} | {quantity} | {ours:.6g} | {theirs:.6g} | {difference:.2g} |",
                        flush=True,
                    )
                    if difference == difference:
                        worst, compared = max(worst, difference), True
            except SymplexError as error:
                ran = False
                print(f"| {path.stem} | {step} | failed: {str(error)[:100]} | | | |", flush=True)
            except Exception:
                ran = False
                print(f"| {path.stem} | {step} | CRASHED | | | |", flush=True)
                traceback.print_exc(limit=-2)
        counts["ran"] += ran
        counts["compared"] += ran and compared
        for bound in (1e-4, 1e-2, 0.1):
            counts[f"within {bound:g}"] += ran and compared and worst <= bound
    print(dict(counts))
    for reason, number in reasons.most_common(40):
        print(f"{number:4d} {reason}")


if __name__ == "__main__":
    main()
