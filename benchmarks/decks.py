"""Import folders of Abaqus or CalculiX decks, run them, and compare with CalculiX on the same decks.

    python benchmarks/decks.py FOLDER OUTPUT [--only NAME ...] [--limit 60] [--opens] [--again] [--table]

The folder is walked through with all below it, for instance clones of public repositories; decks of the same content
count once. Each deck is imported and computed in a process, and by CalculiX (``ccx``) with the same lines but
for its output. Static steps are compared at their end, motions at all times of both, as the largest difference of
a displacement over the largest displacement; frequencies and buckling factors one by one. OUTPUT/decks.jsonl has a line
for each deck: decks that are there are not computed again, unless ``--again``. At the end tables are printed:
how many open, how many agree, and the reasons of the rest; ``--table`` prints only these. With ``--opens`` decks are
imported, their scenarios built, and CalculiX runs only those of which no step opens; without, these are computed later.
Limits are of processor time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

_RIGID = 1e-4  # of the largest frequency: below there are motions of rigid bodies, in rounding
_LONGEST = 8.0  # s of processor time for a motion
_LARGEST = 4e6  # bytes of a deck with its includes
_BOUNDS = (1e-4, 1e-3, 1e-2, 0.1)
_OUTPUTS = re.compile(
    r"\*(NODE ?PRINT|EL ?PRINT|NODE ?FILE|EL ?FILE|NODE ?OUTPUT|ELEMENT ?OUTPUT|CONTACT ?(FILE|PRINT|OUTPUT)"
    r"|SECTION ?PRINT|FILE ?FORMAT|RESTART ?,\s*WRITE)",
    re.IGNORECASE,
)
_STEPS = (
    r"^\s*\*(STATIC|DYNAMIC|FREQUENCY|MODAL ?DYNAMIC|BUCKLE|STEADY ?STATE ?DYNAMICS|COMPLEX ?FREQUENCY|VISCO|GREEN)"
)
_HEAT = (
    r"^\s*\*(HEAT ?TRANSFER|COUPLED ?TEMPERATURE|UNCOUPLED ?TEMPERATURE|ELECTRO ?MAGNETICS|CFD|FLUID ?SECTION|SUBMODEL"
    r"|USER ?MATERIAL|USER ?ELEMENT|SUBSTRUCTURE|SENSITIVITY|NETWORK ?MPC|CRACK ?PROPAGATION|FEASIBLE|ROBUST)"
)

Displacements = dict[int, np.ndarray]
Fields = dict[tuple[int, float], Displacements]  # by step and time


@dataclass
class Record:
    """What became of a deck; ``kind`` is "deck", or why it is none that could open."""

    deck: str
    digest: str
    kind: str = "deck"
    steps: int = 0
    opened: list[int] = field(default_factory=list)
    reason: str = ""
    rows: list[list[Any]] = field(default_factory=list)  # step, quantity, here, CalculiX, difference
    ccx: str = ""
    crashed: str = ""
    seconds: float = 0.0
    compares: bool = True  # not with ``--opens``

    @property
    def difference(self) -> float | None:
        """The largest difference of its steps, if any was compared."""
        found = [row[-1] for row in self.rows if row[-1] is not None]
        return max(found) if found else None


def written_out(path: Path, depth: int = 0) -> str | None:
    """Return the text of a deck with its includes in place; None if one is not there."""
    out: list[str] = []
    for line in path.read_bytes().decode(errors="replace").splitlines():
        if found := re.match(r"\s*\*INCLUDE\s*,\s*INPUT\s*=\s*\"?([^\",]+)\"?", line, re.IGNORECASE):
            other = path.parent / found[1].strip()
            text = written_out(other, depth + 1) if other.is_file() and depth < 9 else None
            if text is None:
                return None
            out.append(text)
        else:
            out.append(line)
    return "\n".join(out)


def kind_of(text: str | None) -> str:
    """Return "deck" of one with a step of a structure, or what it is otherwise."""
    if text is None:
        return "an included file is missing"
    if len(text) > _LARGEST:
        return "larger than 4 MB"
    flags = re.IGNORECASE | re.MULTILINE
    if not re.search(r"^\s*\*STEP", text, flags) or not re.search(r"^\s*\*(NODE|PART|NGEN)", text, flags):
        return "no step, or no nodes"
    if re.search(_HEAT, text, flags) or not re.search(_STEPS, text, flags):
        return "heat, fluids, electromagnetism, user routines, sensitivities"
    return "deck"


# -- CalculiX ----------------------------------------------------------------------------------------------------------


def run_calculix(text: str, limit: float) -> tuple[str, Fields, dict[int, list[float]], dict[int, list[float]]]:
    """Return how CalculiX ended, displacements, frequencies and buckling factors by step."""
    kept: list[str] = []
    skips = False
    for line in text.splitlines():
        if line.lstrip().startswith("*") and not line.lstrip().startswith("**"):
            skips = bool(_OUTPUTS.match(line.strip()))
            if re.match(r"\*END ?STEP", line.strip(), re.IGNORECASE):
                kept += ["*NODE FILE, OUTPUT=2D", "U"]
        if not skips:
            kept.append(line)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "deck.inp").write_text("\n".join(kept) + "\n")

        def limits() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 1))
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 29, 1 << 29))

        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        try:
            done = subprocess.run(
                ["ccx", "deck"], cwd=folder, capture_output=True, timeout=60 * limit, env=environment, preexec_fn=limits
            )
            how = "" if done.returncode == 0 and b"Job finished" in done.stdout else "refused"
            if done.returncode < 0:
                how = "out of time" if done.returncode in (-24, -9) else "crashed"
            elif how and (errors := re.search(rb"\*ERROR[^\n]*\n?[^\n]*", done.stdout)):
                how = " ".join(errors[0].decode(errors="replace").split())[:120]
        except subprocess.TimeoutExpired:
            how = "out of time"
        frd, dat = Path(folder, "deck.frd"), Path(folder, "deck.dat")
        fields = displacements_of(frd) if frd.exists() else {}
        frequencies, factors = eigenvalues_of(dat) if dat.exists() else ({}, {})
    return how, fields, frequencies, factors


def displacements_of(path: Path) -> Fields:
    """Return the displacements of a .frd file in text."""
    found: Fields = {}
    step, now, table = 0, 0.0, None
    for line in path.read_bytes().decode(errors="replace").splitlines():
        if line.startswith("    1PSTEP"):
            step = int(line.split()[-1])
        elif line.startswith("  100C"):
            now = float(line[12:24])
        elif line.startswith(" -4"):
            table = found.setdefault((step, now), {}) if line.split()[1] == "DISP" else None
        elif line.startswith(" -3"):
            table = None
        elif table is not None and line.startswith(" -1"):
            try:
                table[int(line[3:13])] = np.array([float(line[k : k + 12]) for k in (13, 25, 37)])
            except ValueError:  # *** where a number did not fit
                table = None
    return found


def eigenvalues_of(path: Path) -> tuple[dict[int, list[float]], dict[int, list[float]]]:
    """Return natural frequencies, in cycles per time, and buckling factors of a .dat file, by the number of the table.

    Steps of one kind have a table each, in their order, but those of several nodal diameters one for each of these.
    """
    frequencies: dict[int, list[float]] = {}
    factors: dict[int, list[float]] = {}
    table: list[float] | None = None
    for line in path.read_text(errors="replace").splitlines():
        if "E I G E N V A L U E   O U T P U T" in line:
            table = frequencies.setdefault(len(frequencies) + 1, [])
        elif "B U C K L I N G   F A C T O R" in line:
            table = factors.setdefault(len(factors) + 1, [])
        elif re.match(r"\s*(P A R T I C|E F F E C T)", line):
            table = None
        elif table is not None and len(row := line.split()) in (2, 5, 6) and row[0].isdecimal():
            # Of sectors the nodal diameter comes first, and those of the diameter 0 are listed twice.
            twice = len(row) == 6 and row[0] == "0" and int(row[1]) % 2 == 0
            if not twice:
                table.append(float(row[-1] if len(row) == 2 else row[-2]))
    return frequencies, factors


# -- here --------------------------------------------------------------------------------------------------------------


def displacements_here(problem: Any, q: np.ndarray, imported: Any) -> Displacements:
    """Return displacements in m by numbers of nodes; of shells as solids the mean of the outer nodes."""
    found: Displacements = {}
    framed = {**problem.beams, **problem.shells}
    for name, one in framed.items():
        frames = one.structure.frames
        u = frames.centers(one.own(q)) - frames.centers(one.structure.points)
        found |= dict(zip(imported.bodies[name].tolist(), u, strict=False))
    solid = [numbers for name, numbers in imported.bodies.items() if name not in framed]
    if solid:
        numbers = np.concatenate(solid)
        n = min(len(problem.mesh.points), len(numbers))
        found |= dict(zip(numbers[:n].tolist(), (q - problem.state_at_rest)[:n], strict=True))
    for number, through in imported.layers.items():
        if number not in found and through[0] in found and through[-1] in found:
            found[number] = 0.5 * (found[through[0]] + found[through[-1]])
    return found


def difference_of(ours: Displacements, theirs: Displacements, largest: float) -> list[Any]:
    """Return the largest displacement of both, and the largest difference over one, of the nodes of both."""
    both = ours.keys() & theirs.keys()
    if not both or not largest:
        return [None, largest, None]
    mine, other = (np.array([table[node] for node in both]) for table in (ours, theirs))
    return [float(np.abs(mine).max()), float(np.abs(other).max()), float(np.abs(mine - other).max() / largest)]


def rows_of(
    imported: Any, step: int, units: Any, results: tuple[Fields, Any, Any], before: float
) -> Iterator[list[Any]]:
    """Yield quantity, here, CalculiX, and relative difference of a step."""
    from symplex.runs.buckling import find_buckling
    from symplex.scenario.scenario import Scenario
    from symplex.time.modes.natural import natural_modes
    from symplex.time.trajectory import march

    fields, frequencies, factors = results
    scenario = Scenario.read(imported.scenarios[step])
    if asked := re.search(r"asks for (\d+) factors", scenario.text):
        theirs = factors.get(step, [])
        ours = find_buckling(scenario, int(asked[1])).buckling.factors
        yield from ([f"factor {k}", *pair, abs(pair[0] / pair[1] - 1.0)] for k, pair in _pairs(ours, theirs))
        return
    problem = scenario.build()
    object.__setattr__(problem, "state_at_rest", problem.mesh.points)
    if asked := re.search(r"asks for (\d+) natural frequencies", scenario.text):
        theirs = frequencies.get(step, [])
        count = min(int(asked[1]), int((~problem.system.fixed).sum()))
        ours = natural_modes(problem.system, problem.state, count).frequencies * units.time
        least = _RIGID * max([*theirs, *ours])
        for k, (a, b) in _pairs(ours, theirs):
            if max(abs(a), abs(b)) > least:
                yield [f"f{k}", a, b, abs(a - b) / max(abs(b), 1e-9 * least)]
        return
    compared = {t: table for (k, t), table in fields.items() if k == step}
    largest = max((np.abs(u).max() for table in compared.values() for u in table.values()), default=0.0)
    if scenario.tables.integrator.kind == "energy-momentum":
        ours = {n: u / units.length for n, u in displacements_here(problem, problem.state.q, imported).items()}
        yield ["u", *difference_of(ours, compared[max(compared)] if compared else {}, largest)]
        return
    begun, worst = time.process_time(), [None, float(largest), None]
    last = scenario.times[-1]
    for state in march(problem.system, problem.integrator, problem.state, scenario.times):
        for t, theirs in compared.items():
            if abs(state.t / units.time + before - t) < 1e-6 * last / units.time and state.t > 0:
                ours = {n: u / units.length for n, u in displacements_here(problem, state.q, imported).items()}
                row = difference_of(ours, theirs, largest)
                if row[-1] is not None and (worst[-1] is None or row[-1] > worst[-1]):
                    worst = row
        if time.process_time() - begun > _LONGEST and state.t < last:
            yield [f"u to t = {state.t:.3g}", *worst]
            return
    yield ["u(t)", *worst]


def _pairs(ours: Any, theirs: list[float]) -> Iterator[tuple[int, tuple[float, float]]]:
    yield from enumerate(((float(a), float(b)) for a, b in zip(ours, theirs, strict=False)), start=1)


def _import(path: Path, output: Path, limit: float) -> tuple[Any, Any]:
    """Import a deck, in the first units that its densities allow."""
    from symplex.decks import import_deck
    from symplex.decks.units import UNITS
    from symplex.errors import MeshError

    left = ["si", "mm-t-s", *UNITS]
    while True:
        units = left.pop(0)
        try:
            return import_deck(path, output, units=units, overwrite=True, limit=limit), UNITS[units]
        except MeshError as error:
            if "give --units" not in str(error) or not left:
                raise


def reason_of(text: str) -> str:
    """Return a reason with numbers and names left out, so that those that are alike count together."""
    text = re.sub(r"'[^']*'", "'…'", text)
    text = re.sub(r"(?<![A-Z\d])-?\d[\d.e+-]*", "#", text.split("; ")[0])
    return re.sub(r"\b(line|node|element|step) #", r"\1", text)[:150]


def work(path: Path, record: Record, limit: float) -> Record:
    """Import and run a deck, and compare it with CalculiX."""
    from symplex.decks.importing import read_deck
    from symplex.errors import SymplexError

    text = written_out(path)
    assert text is not None
    with tempfile.TemporaryDirectory() as folder:
        try:
            imported, units = _import(path, Path(folder), limit)
            reading = read_deck(path)
            steps, nodes = reading.deck.steps, {*reading.mesh.numbered.ids.tolist()}
            record.steps, record.opened = len(steps), [*imported.scenarios]
            if imported.reasons and (len(record.opened) < len(steps) or not steps):
                record.reason = f"*{imported.reasons[0].keyword}: {imported.reasons[0].why}"
            if record.opened and not record.compares:
                return record
            results: Any = ({}, {}, {})
            if shutil.which("ccx"):
                record.ccx, fields, *others = run_calculix(text, limit)
                # Those that are not in the deck are in the middle of elements here, and something else there.
                results = {key: {n: table[n] for n in nodes & table.keys()} for key, table in fields.items()}, *others
            fields, *tables = results
            of_kind = [[s.number for s in steps if s.procedure == kind] for kind in ("frequency", "buckle")]
            results = (
                fields,
                *(
                    {step: table[k] for k, step in enumerate(numbers, start=1) if k in table}
                    for table, numbers in zip(tables, of_kind, strict=True)
                ),
            )
            for step in record.opened:
                before = sum(s.period for s in steps[: step - 1] if s.procedure != "frequency" and not s.perturbation)
                scenario = imported.scenarios[step].read_text()
                path_along = 'kind = "static"\ndt' in scenario or "[[stage]]" in scenario
                try:
                    for row in rows_of(imported, step, units, results, 0.0 if path_along else before):
                        record.rows.append([step, *row])
                except SymplexError as error:
                    record.rows.append([step, f"failed: {str(error)[:300]}", None, None, None])
        except SymplexError as error:
            record.reason = str(error).removeprefix(f"{path.name}: ")
            if shutil.which("ccx"):
                record.ccx, *_ = run_calculix(text, limit)
    return record


def _worker(pipe: Any, limit: float) -> None:
    """Do what comes through a pipe; the limit of a trial is of processor time, so that load changes no verdict."""
    from symplex.decks import trial

    trial.perf_counter = time.process_time
    while True:
        path, record = pipe.recv()
        begun = time.process_time()
        try:
            record = work(path, record, limit)
        except Exception:
            record.crashed = traceback.format_exc(limit=-3)
        record.seconds = time.process_time() - begun
        pipe.send(record)


def _spent(process: multiprocessing.process.BaseProcess) -> float:
    """Return the processor time of a process and of those that it has waited for, in s."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def walk(paths: list[tuple[Path, Record]], limit: float) -> Iterator[Record]:
    """Yield what becomes of decks, in processes that are ended when a deck takes too long."""
    context = multiprocessing.get_context("spawn")
    process, pipe = None, None
    for path, record in paths:
        if process is None:
            pipe, other = context.Pipe()
            process = context.Process(target=_worker, args=(other, limit), daemon=True)
            process.start()
            other.close()  # so that the end of the process ends the pipe
        begun, answered = _spent(process), False
        try:
            pipe.send((path, record))
            while not (answered := pipe.poll(1.0)) and process.is_alive() and _spent(process) < begun + 12 * limit:
                pass
            if answered or not process.is_alive():
                record = pipe.recv()
        except (EOFError, OSError):
            record.crashed, process = "the process ended", None
        else:
            if not answered:
                process.kill()
                process, record.reason = None, "out of time"
        yield record
    if process is not None:
        process.kill()


# -- tables ------------------------------------------------------------------------------------------------------------


def tables_of(records: list[Record]) -> str:
    """Return the tables of what opens, agrees, and of reasons."""
    decks = [one for one in records if one.kind == "deck"]
    out = [f"{len(records)} decks that differ by content; not counted:"]
    out += [f"  {n:4d} {kind}" for kind, n in Counter(one.kind for one in records if one.kind != "deck").most_common()]
    broken = [one for one in decks if not one.opened and one.ccx not in ("", "out of time")]
    decks = [one for one in decks if one not in broken]
    out.append(f"  {len(broken):4d} opened neither here nor by CalculiX")
    opened = [one for one in decks if one.opened]
    whole = [one for one in opened if len(one.opened) == one.steps]
    out += [f"{len(decks)} usable decks", f"  {len(opened):4d} open a step", f"  {len(whole):4d} open every step"]
    compared = [one for one in opened if one.difference is not None]
    out.append(f"  {len(compared):4d} compared with CalculiX")
    out += [f"  {sum(one.difference <= bound for one in compared):4d} within {bound:g}" for bound in _BOUNDS]
    failed = [one for one in opened if any(str(row[1]).startswith("failed") for row in one.rows)]
    out.append(f"  {len(failed):4d} opened, and failed on the way: {', '.join(one.deck for one in failed)}")
    out.append(f"crashed: {[one.deck for one in records if one.crashed]}")
    out.append("reasons of those that open no step:")
    reasons: dict[str, list[str]] = {}
    for one in decks:
        if not one.opened:
            reasons.setdefault(reason_of(one.reason), []).append(Path(one.deck).stem)
    for why, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        out.append(f"  {len(names):4d} {why} ({', '.join(names[:4])})")
    out.append("reasons of further steps:")
    more = Counter(reason_of(one.reason) for one in opened if len(one.opened) < one.steps)
    out += [f"  {n:4d} {why}" for why, n in more.most_common()]
    out.append("differences above 1e-3:")
    for one in sorted(compared, key=lambda one: -(one.difference or 0.0)):
        if one.difference > 1e-3:
            worst = max((row for row in one.rows if row[-1] is not None), key=lambda row: row[-1])
            out.append(
                f"  {one.difference:8.2g} {one.deck}, step {worst[0]}, {worst[1]}: {worst[2]:.6g}, {worst[3]:.6g}"
            )
    return "\n".join(out)


def main() -> None:
    """Walk through a folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--only", nargs="+", help="names without .inp")
    parser.add_argument("--limit", type=float, default=60.0, help="s of a deck, here and of CalculiX")
    parser.add_argument("--opens", action="store_true", help="compare nothing")
    parser.add_argument("--again", action="store_true", help="compute decks again that are in OUTPUT")
    parser.add_argument("--table", action="store_true", help="print tables of what is in OUTPUT")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    kept = arguments.output / "decks.jsonl"
    known: dict[str, Record] = {}
    if kept.exists():
        known = {one.digest: one for one in (Record(**json.loads(line)) for line in kept.read_text().splitlines())}
    waiting: list[tuple[Path, Record]] = []
    seen: set[str] = set()
    for path in sorted(p for p in arguments.folder.rglob("*") if p.suffix.lower() == ".inp" and p.is_file()):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        if digest in seen or (arguments.only and path.stem not in arguments.only):
            continue
        seen.add(digest)
        if digest not in known or arguments.again or not (arguments.opens or known[digest].compares):
            record = Record(str(path.relative_to(arguments.folder)), digest, kind_of(written_out(path)))
            record.compares = record.kind != "deck" or not arguments.opens
            waiting.append((path, record))
    if not arguments.table:
        of_decks = sorted((one for one in waiting if one[1].kind == "deck"), key=lambda one: one[0].stat().st_size)
        others = [record for _, record in waiting if record.kind != "deck"]
        with kept.open("a") as file:
            for record in chain(others, walk(of_decks, arguments.limit)):
                known[record.digest] = record
                file.write(json.dumps(asdict(record)) + "\n")
                file.flush()
                if record.kind == "deck":
                    print(record.deck, record.opened, record.difference, record.reason[:100], flush=True)
    print(tables_of([known[digest] for digest in seen if digest in known]))


if __name__ == "__main__":
    main()
