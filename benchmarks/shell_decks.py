"""Decks of beams and shells, computed here and by CalculiX, next to theory: ``python benchmarks/shell_decks.py``.

CalculiX expands shells and beams to solid elements. A line for each problem and type of element: the displacement here,
of CalculiX (if ``ccx`` is found), and of theory or of the literature, as ratios to that.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from symplex.decks import import_deck
from symplex.scenario.scenario import Scenario

Matrix = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Place = Callable[[float, float], tuple[float, float, float]]


def shell(kind: str, cells: tuple[int, int], place: Place) -> tuple[list[str], dict[tuple[int, int], int]]:
    """Return nodes and elements of a surface over the unit square as lines, and nodes by twice the cells' numbers."""
    (nx, ny), quadratic = cells, kind[1] in "68"
    halves = [[(0, 0), (2, 0), (2, 2), (0, 2)]]
    if kind[1] in "36":
        halves = [[(0, 0), (2, 0), (0, 2)], [(2, 0), (2, 2), (0, 2)]]
    number: dict[tuple[int, int], int] = {}
    rows: list[list[int]] = []
    for i, j in np.ndindex(nx, ny):
        for corners in halves:
            here = [(2 * i + a, 2 * j + b) for a, b in corners]
            ends = zip(here, here[1:] + here[:1], strict=True)
            middles = [((a + c) // 2, (b + d) // 2) for (a, b), (c, d) in ends] if quadratic else []
            rows.append([number.setdefault(at, len(number) + 1) for at in (*here, *middles)])
    lines = ["*NODE, NSET=NALL"]
    for (i, j), k in number.items():
        lines.append(f"{k}, " + ", ".join(f"{x:.12g}" for x in place(i / (2 * nx), j / (2 * ny))))
    lines.append(f"*ELEMENT, TYPE={kind}, ELSET=EALL")
    lines += [f"{k}, " + ", ".join(map(str, row)) for k, row in enumerate(rows, 1)]
    return lines, number


def on_edge(nodes: list[int], quadratic: bool, component: int, size: float) -> list[str]:
    """Return lines of *CLOAD of a load that is the same along an edge."""
    weights = np.full(len(nodes), 2.0)
    weights[1::2] = 4.0 if quadratic else 2.0
    weights[[0, -1]] = 1.0
    return [f"{k}, {component}, {size * w / weights.sum():.12g}" for k, w in zip(nodes, weights, strict=True)]


def deck(mesh: list[str], model: list[str], loads: list[str]) -> str:
    """Return a deck with one linear static step."""
    return "\n".join([*mesh, *model, "*STEP", "*STATIC", *loads, "*NODE PRINT, NSET=NALL", "U", "*END STEP", ""])


STEEL = ["*MATERIAL, NAME=STEEL", "*ELASTIC", "2e11, 0.3", "*SHELL SECTION, ELSET=EALL, MATERIAL=STEEL", "0.02"]


def corner(h: float, E: float, p: float) -> float:
    """Return the deflection in the middle of the second plate, of two at a right angle, as Timoshenko's beams."""
    EA, EI, GA = E * h, E * h**3 / 12.0, 5.0 / 6.0 * E / 2.0 * h

    def beam(L: float, turn: Matrix) -> Matrix:
        phi = 12.0 * EI / (GA * L * L)
        bent = np.array([[12.0, 6.0 * L], [6.0 * L, (4.0 + phi) * L * L]])
        mixed = np.array([[-12.0, 6.0 * L], [-6.0 * L, (2.0 - phi) * L * L]])
        K, a, b = np.zeros((6, 6)), [1, 2], [4, 5]
        K[np.ix_(a, a)], K[np.ix_(a, b)], K[np.ix_(b, a)] = bent, mixed, mixed.T
        K[np.ix_(b, b)] = bent * [[1.0, -1.0], [-1.0, 1.0]]
        K *= EI / (L**3 * (1.0 + phi))
        K[np.ix_([0, 3], [0, 3])] += EA / L * np.array([[1.0, -1.0], [-1.0, 1.0]])
        T = np.kron(np.eye(2), turn)
        return T.T @ K @ T

    along, down = np.eye(3), np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    K, f = np.zeros((12, 12)), np.zeros(12)
    for first, L, turn in ((0, 1.0, along), (3, 0.5, down), (6, 0.5, down)):
        K[first : first + 6, first : first + 6] += beam(L, turn)
    for first in (3, 6):  # of the wall, in local directions w and θ; w is along x
        f[first : first + 6] -= p * np.array([0.25, 0.0, 0.25 / 12.0, 0.25, 0.0, -0.25 / 12.0])
    free = [2, *range(3, 9)]
    return float(np.linalg.solve(K[np.ix_(free, free)], f[free])[4])


def problems() -> Iterator[tuple[str, str, str, int, int, float]]:
    """Yield name, type of elements, deck, node, component, and what theory says."""
    D = 2e11 * 0.02**3 / 12.0 / (1.0 - 0.09)
    for kind, cells in (("S8R", (8, 8)), ("S8", (8, 8)), ("S6", (8, 8)), ("S4", (16, 16)), ("S3", (16, 16))):
        n = 2 * cells[0]
        mesh, number = shell(kind, cells, lambda x, y: (x, y, 0.0))
        edge = [k for (i, j), k in number.items() if 0 in (i, j) or n in (i, j)]
        held = ["*BOUNDARY", *(f"{k}, 1, 3" for k in edge)]
        middle = number[n // 2, n // 2] if (n // 2, n // 2) in number else number[n // 2 - 1, n // 2]
        yield (
            "supported plate under a pressure",
            kind,
            deck(mesh, [*STEEL, *held], ["*DLOAD", "EALL, P, 100."]),
            middle,
            2,
            4.062e-3 * 100.0 / D,
        )
    # The roof of Scordelis and Lo, all of it, with a thousandth of its weight, so that displacements are small.
    angle = np.radians(40.0)
    for kind, cells in (("S8R", (10, 10)), ("S8", (10, 10)), ("S4", (20, 20)), ("S3", (20, 20))):
        nx, ny = 2 * cells[0], 2 * cells[1]
        mesh, number = shell(
            kind, cells, lambda x, y: (50.0 * x, 25.0 * np.sin(angle * (2 * y - 1)), 25.0 * np.cos(angle * (2 * y - 1)))
        )
        model = ["*MATERIAL, NAME=M", "*ELASTIC", "4.32e8, 0.", "*DENSITY", "360."]
        model += ["*SHELL SECTION, ELSET=EALL, MATERIAL=M", "0.25", "*BOUNDARY", f"{number[nx // 2, ny // 2]}, 1"]
        model += [f"{k}, 2, 3" for (i, _), k in number.items() if i in (0, nx)]
        weight = ["*DLOAD", "EALL, GRAV, 1e-3, 0., 0., -1."]
        yield "Scordelis and Lo's roof", kind, deck(mesh, model, weight), number[nx // 2, ny], 2, -0.3024e-3
    # A quarter of it, whose nodes on the planes of symmetry cannot rotate about axes in these.
    for kind, cells in (("S8R", (5, 5)), ("S8", (5, 5)), ("S4", (10, 10))):
        n = 2 * cells[0]
        mesh, number = shell(kind, cells, lambda x, y: (25.0 * x, 25.0 * np.sin(angle * y), 25.0 * np.cos(angle * y)))
        model = ["*MATERIAL, NAME=M", "*ELASTIC", "4.32e8, 0.", "*DENSITY", "360."]
        model += ["*SHELL SECTION, ELSET=EALL, MATERIAL=M", "0.25", "*BOUNDARY"]
        model += [f"{k}, 2, 3" for (i, _), k in number.items() if i == 0]
        model += [f"{k}, {c}" for (i, _), k in number.items() if i == n for c in (1, 5, 6)]
        model += [f"{k}, {c}" for (_, j), k in number.items() if j == 0 for c in (2, 4, 6)]
        yield "a quarter of it", kind, deck(mesh, model, weight), number[n, n], 2, -0.3024e-3
    # Two plates at a right angle, hinged on one side and clamped on the other, with a pressure on the second.
    for kind, n in (("S8R", 1), ("S8R", 4), ("S8R", 8), ("S8", 1), ("S8", 4), ("S8", 8)):
        mesh, number = shell(kind, (2 * n, n), lambda x, y: (min(2.0 * x, 1.0), min(1.0 - 2.0 * x, 0.0), y))
        mesh += ["*ELSET, ELSET=WALL, GENERATE", f"{n * n + 1}, {2 * n * n}"]
        model = ["*MATERIAL, NAME=M", "*ELASTIC", "210000., 0.", "*SHELL SECTION, ELSET=EALL, MATERIAL=M", "0.05"]
        model += ["*BOUNDARY", *(f"{k}, 1, 3" for (i, _), k in number.items() if i == 0)]
        model += [f"{k}, 1, 6" for (i, _), k in number.items() if i == 4 * n]
        pressed = deck(mesh, model, ["*DLOAD", "WALL, P, 0.01"])
        yield f"two plates of {n} × {n}", kind, pressed, number[3 * n, 0], 0, corner(0.05, 210000.0, 0.01)
    # A cantilever of two layers, of steel below and of a softer material above.
    layers = ["*MATERIAL, NAME=A", "*ELASTIC", "2e11, 0.", "*MATERIAL, NAME=B", "*ELASTIC", "5e10, 0."]
    layers += ["*SHELL SECTION, ELSET=EALL, COMPOSITE", "0.01, , A", "0.02, , B"]
    z = np.array([-0.015, -0.005, 0.015])
    A, B, C = (float(0.2 * np.diff(z**k) @ [2e11, 5e10] / k) for k in (1, 2, 3))
    for kind, cells in (("S8R", (8, 2)), ("S6", (8, 2)), ("S4", (16, 2))):
        mesh, number = shell(kind, cells, lambda x, y: (x, 0.2 * y, 0.0))
        held = ["*BOUNDARY", *(f"{k}, 1, 6" for (i, _), k in number.items() if i == 0)]
        end = [k for (i, _), k in sorted(number.items()) if i == 2 * cells[0]]
        load = ["*CLOAD", *on_edge(end, kind != "S4", 3, 1.0)]
        yield (
            "cantilever of two layers",
            kind,
            deck(mesh, [*layers, *held], load),
            end[0],
            2,
            1.0 / (3.0 * (C - B * B / A)),
        )
    # A cantilever of beams.
    for kind in ("B31", "B32", "B32R"):
        step, n = (2, 8) if kind[2] == "2" else (1, 16)
        mesh = ["*NODE, NSET=NALL", *(f"{k + 1}, {k / 16.0!r}, 0., 0." for k in range(17))]
        mesh += [f"*ELEMENT, TYPE={kind}, ELSET=EALL"]
        mesh += [f"{k + 1}, " + ", ".join(str(step * k + j + 1) for j in range(step + 1)) for k in range(n)]
        model = [
            "*MATERIAL, NAME=STEEL",
            "*ELASTIC",
            "2e11, 0.3",
            "*BEAM SECTION, ELSET=EALL, MATERIAL=STEEL, SECTION=RECT",
        ]
        model += ["0.05, 0.02", "0., 0., 1.", "*BOUNDARY", "1, 1, 6"]
        exact = 1.0 / (3.0 * 2e11 * 0.02 * 0.05**3 / 12.0) + 1.0 / (5.0 / 6.0 * 2e11 / 2.6 * 1e-3)
        yield "cantilever of beams", kind, deck(mesh, model, ["*CLOAD", "17, 3, 1."]), 17, 2, exact


def ours(text: str, folder: Path) -> dict[int, np.ndarray]:
    """Return displacements of nodes by their numbers."""
    path = folder / "deck.inp"
    path.write_text(text)
    imported = import_deck(path, folder / "out", overwrite=True, limit=0.0)
    problem = Scenario.read(imported.scenarios[1]).build()
    found: dict[int, np.ndarray] = {}
    for name, framed in {**problem.beams, **problem.shells}.items():
        frames, points = framed.structure.frames, framed.structure.points
        u = frames.centers(framed.own(problem.state.q)) - frames.centers(points)
        found |= dict(zip(imported.bodies[name].tolist(), u, strict=True))
    return found


def of_calculix(text: str, folder: Path) -> dict[int, np.ndarray] | None:
    """Return those of CalculiX; None if it is not there or fails."""
    if shutil.which("ccx") is None:
        return None
    (folder / "ccx.inp").write_text(text)
    subprocess.run(["ccx", "ccx"], cwd=folder, capture_output=True, check=False)
    table = folder / "ccx.dat"
    rows = [line.split() for line in table.read_text().splitlines()] if table.exists() else []
    return {int(row[0]): np.array(row[1:], float) for row in rows if len(row) == 4 and row[0].isdecimal()} or None


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for name, kind, text, node, component, exact in problems():
        with tempfile.TemporaryDirectory() as folder:
            here, there = ours(text, Path(folder)), of_calculix(text, Path(folder))
        ratio = "" if there is None else f"{there[node][component] / exact:.4f}"
        print(f"{name:34} {kind:5} here {here[node][component] / exact:.4f}  CalculiX {ratio}  {exact:.5g}", flush=True)


if __name__ == "__main__":
    main()
