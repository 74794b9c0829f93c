"""Small decks for tests: a bar of bricks along x, held at its left end so that it may become thinner."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import symplex as sx

MATERIAL = "*MATERIAL, NAME=STEEL\n*ELASTIC\n{young!r}, 0.3\n*DENSITY\n{density!r}\n"
HELD = "*BOUNDARY\nLEFT, 1\nORIGIN, 1, 3\nEDGE, 3\n"


def bar(cells=(4, 2, 2), length=4.0, unit=1.0, kind="C3D8", young=200.0e9, density=7800.0, model="") -> str:
    """Return the model part of a deck: a bar of length × 1 × 1 m in units of so many m, its sets, its material."""
    mesh = sx.box((length, 1.0, 1.0), cells, split="hexahedra" if kind.startswith("C3D8") else "6")
    (cells_,) = (mesh.cells[k] for k in mesh.volume_types)
    points = mesh.points / unit
    lines = ["*HEADING", "A bar", "** a comment", "*NODE, NSET=ALL"]
    lines += [f"{k + 10}, {x!r}, {y!r}, {z!r}" for k, (x, y, z) in enumerate(points.tolist())]
    lines.append(f"*ELEMENT, TYPE={kind}, ELSET=BAR")
    lines += [f"{k}, " + ", ".join(map(str, row)) for k, row in enumerate((cells_ + 10).tolist(), start=1)]
    x, y, z = points.T
    for name, chosen in {
        "LEFT": x == 0,
        "RIGHT": x == x.max(),
        "ORIGIN": (x == 0) & (y == 0) & (z == 0),
        "EDGE": (x == 0) & (z == 0),
    }.items():
        lines += [f"*NSET, NSET={name}", *(f"{k + 10}," for k in np.flatnonzero(chosen))]
    ends = np.flatnonzero((points[cells_][:, :, 0] == x.max()).any(axis=1)) + 1
    lines += ["*ELSET, ELSET=END", *(f"{k}," for k in ends)]
    text = "\n".join(lines) + "\n" + MATERIAL.format(young=young, density=density)
    return f"{text}*SOLID SECTION, ELSET=BAR, MATERIAL=STEEL\n,\n{HELD}{model}"


def write(folder: Path, text: str, name: str = "bar.inp") -> Path:
    """Write a deck and return its path."""
    path = folder / name
    path.write_text(text)
    return path


def step(procedure: str, *lines: str, parameters: str = "") -> str:
    """Return a step."""
    return "\n".join([f"*STEP{parameters}", procedure, *lines, "*NODE PRINT, NSET=ALL", "U", "*END STEP", ""])
