"""Flat elements and shells of decks, which become one layer of solid elements."""

from __future__ import annotations

import numpy as np
import pytest

import symplex as sx
from reference.decks_written import step, write
from symplex.decks import import_deck

E, NU = 200e9, 0.3
LENGTH, HEIGHT = 2.0, 1.0
MATERIAL = "*MATERIAL, NAME=STEEL\n*ELASTIC\n200e9, {nu!r}\n*DENSITY\n7800.\n"


def sheet(kind, nu=NU, section="*SOLID SECTION, ELSET=ALL, MATERIAL=STEEL\n0.1", at=0.0, cells=(2, 1), turned=False):
    """Return a rectangle of 2 × 1 m in the plane, from x = at, with sets of its edges; turned, in the plane x, z."""
    (m, n), quadratic = cells, kind.rstrip("R")[-1] in "68"
    x = np.linspace(0.0, LENGTH, 2 * m + 1).tolist()
    y = np.linspace(0.0, HEIGHT, 2 * n + 1).tolist()
    number = {(i, j): 1 + i + (2 * m + 1) * j for i in range(2 * m + 1) for j in range(2 * n + 1)}
    rows = []
    for i, j in ((2 * a, 2 * b) for a in range(m) for b in range(n)):
        ring = [(i, j), (i + 2, j), (i + 2, j + 2), (i, j + 2)]
        halves = [ring] if kind.rstrip("R")[-1] in "48" else [[ring[0], ring[1], ring[2]], [ring[0], ring[2], ring[3]]]
        for half in halves:
            ends = list(zip(half, half[1:] + half[:1], strict=True))
            middles = [((a[0] + b[0]) // 2, (a[1] + b[1]) // 2) for a, b in ends] if quadratic else []
            rows.append([number[k] for k in (*half, *middles)])
    used = {k for row in rows for k in row}
    lines = ["*NODE, NSET=ALL"]
    places = {k: (at + x[i], y[j]) for (i, j), k in number.items() if k in used}
    lines += [f"{k}, {a!r}, " + (f"0., {b!r}" if turned else f"{b!r}, 0.") for k, (a, b) in places.items()]
    lines += [f"*ELEMENT, TYPE={kind}, ELSET=ALL", *(f"{k}, " + ", ".join(map(str, r)) for k, r in enumerate(rows, 1))]
    for name, axis, value in (("LEFT", 0, at), ("RIGHT", 0, at + LENGTH), ("BOTTOM", 1, 0.0), ("TOP", 1, HEIGHT)):
        lines += [f"*NSET, NSET={name}", *(f"{k}," for k, place in places.items() if place[axis] == value)]
    end = [k for k, row in enumerate(rows, 1) if places[row[1]][0] == at + LENGTH]
    lines += ["*ELSET, ELSET=END", *(f"{k}," for k in end)]
    return "\n".join(lines) + "\n" + MATERIAL.format(nu=nu) + section + "\n"


def displaced(tmp_path, text, number=1):
    """Import a deck and return displacements of its nodes by their numbers; of shells the mean of the outer nodes."""
    imported = import_deck(write(tmp_path, text), tmp_path / "out", overwrite=True, shells="solids")
    assert not imported.missed, imported.report()
    problem = sx.Scenario.read(imported.scenarios[number]).build()
    u = problem.state.q - problem.mesh.points
    found = dict(zip(imported.bodies["part"].tolist(), u, strict=False))
    return found | {k: 0.5 * (found[t[0]] + found[t[-1]]) for k, t in imported.layers.items()}, problem


def of(u, text, name):
    """Return the displacements of a set."""
    lines = text.split(f"*NSET, NSET={name}\n")[1].split("*")[0].split()
    return np.array([u[int(line.strip(","))] for line in lines])


@pytest.mark.parametrize("nlgeom", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["CPS4", "CPS8R", "CPE6", "CPE8", "CPE3"])
def test_a_sheet_under_tension(tmp_path, kind, nlgeom):
    """σ/E long of plane stress, (1 − ν²) σ/E of plane strain; and across −ν σ/E, −ν (1 + ν) σ/E."""
    text = sheet(kind) + "*BOUNDARY\nLEFT, 1\nBOTTOM, 2\n"
    last = "END" if "8" in kind or "4" in kind else "3"  # of two triangles the first has the edge
    text += step("*STATIC", "*DLOAD", f"{last}, P2, -2e5", parameters=", NLGEOM" if nlgeom else "")
    u, problem = displaced(tmp_path, text)
    plane = {"S": (1.0, NU), "E": (1.0 - NU**2, NU * (1.0 + NU))}[kind[2]]
    assert of(u, text, "RIGHT")[:, 0] == pytest.approx(plane[0] * 1e-6 * LENGTH, rel=3e-5)
    assert of(u, text, "TOP")[:, 1] == pytest.approx(-plane[1] * 1e-6 * HEIGHT, rel=3e-5)
    points = problem.mesh.points
    assert np.ptp(points[:, 2]) == pytest.approx(0.1)
    above = (problem.state.q - points)[points[:, 2] == points[:, 2].max(), 2]
    assert above == pytest.approx(-NU * 1e-6 * 0.1 if kind[2] == "S" else 0.0, rel=3e-5, abs=1e-16)


def test_a_thick_ring_under_pressure_and_a_force_on_its_circle(tmp_path):
    """Lamé: u = p a²/(E (b² − a²)) ((1 − ν) a + (1 + ν) b²/a) at the inner radius; a force for the whole circle."""
    a, b = 1.0, 1.0 + LENGTH
    text = sheet("CAX8", at=a, cells=(6, 1)) + "*BOUNDARY\nBOTTOM, 2\n"
    text += step("*STATIC", "*DLOAD", "1, P4, 1e6")
    u, _ = displaced(tmp_path, text)
    exact = 1e6 * a**2 / (E * (b**2 - a**2)) * ((1.0 - NU) * a + (1.0 + NU) * b**2 / a)
    assert of(u, text, "LEFT")[:, 0] == pytest.approx(exact, rel=1e-3)
    text = sheet("CAX8", nu=0.0, at=a) + "*BOUNDARY\nBOTTOM, 2\n*EQUATION\n2\n"
    top = [k for k in text.split("*NSET, NSET=TOP\n")[1].split("*")[0].replace(",", " ").split()]
    text += "\n2\n".join(f"{k}, 2, 1., {top[0]}, 2, -1." for k in top[1:]) + "\n"
    text += step("*STATIC", "*CLOAD", f"{top[0]}, 2, 1e6")
    u, _ = displaced(tmp_path, text)
    assert of(u, text, "TOP")[:, 1] == pytest.approx(1e6 * HEIGHT / (E * np.pi * (b**2 - a**2)), rel=1e-3)


def test_masses_on_a_circle_are_shared_and_thrown_outward(tmp_path):
    """A mass m for the whole circle has m ω² r: of a thin ring of radius R and section A, u = m ω² r R/(2π E A)."""
    text = sheet("CAX8", nu=0.0, at=1000.0, cells=(1, 1)) + "*BOUNDARY\nALL, 2\n"
    text += "*ELEMENT, TYPE=MASS, ELSET=HEAVY\n90, 1\n*MASS, ELSET=HEAVY\n1000.\n"
    text += step("*STATIC", "*DLOAD", "HEAVY, CENTRIF, 4., 0., 0., 0., 0., 1., 0.")
    u, _ = displaced(tmp_path, text)
    mean = 1000.0 * 4.0 * 1000.0 / (2.0 * np.pi) * 1001.0 / (E * LENGTH * HEIGHT)
    assert of(u, text, "TOP")[:, 0].mean() == pytest.approx(mean, rel=5e-3)


SHELL = "*SHELL SECTION, ELSET=ALL, MATERIAL=STEEL\n0.05"
FOLDED = sheet("S4", section=SHELL).replace("\n5, 2.0, 0.0, 0.", "\n5, 1., 0., 1.")
FOLDED = FOLDED.replace("\n15, 2.0, 1.0, 0.", "\n15, 1., 1., 1.")
INERTIA = HEIGHT * 0.05**3 / 12.0


@pytest.mark.parametrize(
    ("kind", "cells", "close", "turned"),
    [("S8R", (3, 2), 1e-3, False), ("S8R", (3, 2), 1e-3, True), ("S8", (8, 2), 1e-2, False)],
)
def test_a_cantilever_of_shells_bends_as_a_beam(tmp_path, kind, cells, close, turned):
    """Under a moment M at the end it moves by M L²/(2 E I), under a force F by F L³/(3 E I) and the shear."""
    text = sheet(kind, nu=0.0, section=SHELL, turned=turned, cells=cells) + "*BOUNDARY\nLEFT, 1, 6\n"
    right = text.split("*NSET, NSET=RIGHT\n")[1].split("*")[0].replace(",", " ").split()
    weights = dict(zip(right, np.array([1, 4, 2, 4, 1]) / 12, strict=True))  # as a load that is the same along the edge
    turn, across = (6, 2) if turned else (5, 3)
    sign = 1.0 if turned else -1.0
    text += step("*STATIC", "*CLOAD", *(f"{k}, {turn}, {float(100.0 * w)!r}" for k, w in weights.items()))
    text += step("*STATIC", "*CLOAD, OP=NEW", *(f"{k}, {across}, {float(100.0 * w)!r}" for k, w in weights.items()))
    u, _ = displaced(tmp_path, text)
    exact = sign * 100.0 * LENGTH**2 / (2.0 * E * INERTIA)
    assert of(u, text, "RIGHT")[:, across - 1] == pytest.approx(exact, rel=close)
    u, _ = displaced(tmp_path, text, 2)
    exact = 100.0 * LENGTH**3 / (3.0 * E * INERTIA)
    assert of(u, text, "RIGHT")[:, across - 1] == pytest.approx(exact, rel=close)


def test_a_pressure_on_shells_acts_along_their_normal_and_a_rotation_is_given(tmp_path):
    text = sheet("S8R", nu=0.0, section=SHELL, cells=(3, 2)) + "*BOUNDARY\nLEFT, ENCASTRE\n"
    text += step("*STATIC", "*DLOAD", "ALL, P, 10.") + step(
        "*STATIC", "*DLOAD, OP=NEW", "*BOUNDARY", "RIGHT, 5, 5, 1e-4"
    )
    u, _ = displaced(tmp_path, text)
    assert "note: 6 shells are a layer of solid elements" in (tmp_path / "out" / "import.txt").read_text()
    assert of(u, text, "RIGHT")[:, 2] == pytest.approx(10.0 * LENGTH**4 / (8.0 * E * INERTIA), rel=1e-2)
    u, _ = displaced(tmp_path, text, 2)
    assert of(u, text, "RIGHT")[:, 2] == pytest.approx(-1e-4 * LENGTH / 2.0, rel=1e-3)


def test_thickness_by_nodes(tmp_path):
    """A sheet that is 0.1 thick at one end and 0.3 at the other: u = F/(E H) ∫ dx/t = F L ln 3/(0.2 E H)."""
    section = "*SOLID SECTION, ELSET=ALL, MATERIAL=STEEL, NODAL THICKNESS\n*NODAL THICKNESS\n"
    text = sheet("CPS8", nu=0.0, section=section, cells=(4, 1))
    for line in text.split("*NODE, NSET=ALL\n")[1].split("*")[0].split("\n")[:-1]:
        number, x, *_ = line.split(",")
        text += f"{number}, {0.1 + 0.1 * float(x)!r}\n"
    text += "*BOUNDARY\nLEFT, 1\nBOTTOM, 2\n" + step("*STATIC", "*DLOAD", "END, P2, -1e6")
    u, _ = displaced(tmp_path, text)
    assert of(u, text, "RIGHT")[:, 0].mean() == pytest.approx(0.3e6 * LENGTH * np.log(3.0) / (0.2 * E), rel=5e-3)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (sheet("CAX8"), "element 1 of type CAX reaches the axis"),
        (sheet("CPE8", turned=True), "element 1 of type CPE is not in the plane z = 0"),
        (sheet("CPE4", section="*SOLID SECTION, ELSET=ALL, MATERIAL=STEEL\n-1."), "element 1 is -1 thick"),
        (sheet("CPE4", section=""), "element 1 has no section, which would say how thick it is"),
        (
            sheet("CPS4", section="*SOLID SECTION, ELSET=ALL, MATERIAL=STEEL, NODAL THICKNESS"),
            "node 1 has no *NODAL THICKNESS",
        ),
        (sheet("S8R"), "'ALL' has shells; they need a *SHELL SECTION"),
        (
            FOLDED,
            "shells meet at node 3 at an angle",
        ),
        (
            sheet("S4", section="*SHELL SECTION, ELSET=END, MATERIAL=STEEL\n0.1\n*ELSET, ELSET=A\n1\n")
            + "*SHELL SECTION, ELSET=A, MATERIAL=STEEL\n0.2\n",
            "elements at node 3 are differently thick",
        ),
        (
            sheet("CPE4") + "*ELEMENT, TYPE=S4, ELSET=ALL\n9, 1, 3, 13, 11\n*SURFACE, NAME=A\nALL, S1\n",
            "'ALL' has flat elements and other elements, whose sides are numbered differently",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_a_layer_is_refused(tmp_path, text, reported):
    imported = import_deck(write(tmp_path, text + step("*STATIC")), tmp_path / "out", shells="solids")
    assert reported in str(imported.reasons[0])
    assert not imported.scenarios
    assert sx.read_mesh(imported.mesh, require_volume=False).cells.keys() <= {"triangle", "quad", "quad8"}


@pytest.mark.parametrize(
    ("model", "lines", "reported"),
    [
        ("", ["*CLOAD", "1, 6, 1."], "a moment about the normal of a shell"),
        ("", ["*STATIC"], "the step has another procedure already"),
        ("*INITIAL CONDITIONS, TYPE=TEMPERATURE\nALL, 20.\n", ["*DLOAD", "ALL, P1, 1."], "a load P1 on the shells"),
    ],
)
def test_steps_of_shells_that_are_not_known(tmp_path, model, lines, reported):
    text = sheet("S4", section=SHELL) + model + "*BOUNDARY\nLEFT, 1, 6\n" + step("*STATIC", *lines)
    path = write(tmp_path, text)
    imported = import_deck(path, tmp_path / "out", shells="solids")
    assert not imported.scenarios
    assert reported in imported.report()


def test_frequencies_of_a_strip_of_shells_on_the_body_of_a_deck_keep_no_point_masses(tmp_path):
    """A cantilever: f = 3.516/(2π L²) √(E I/ρ A); its nodes are no point masses, which would have frequencies."""
    text = sheet("S8R", nu=0.0, section=SHELL, cells=(3, 2)) + "*BOUNDARY\nLEFT, 1, 6\n" + step("*FREQUENCY\n1")
    _, problem = displaced(tmp_path, text)
    assert not problem.scenario.tables.point_mass
    exact = 3.5160152 / (2.0 * np.pi * LENGTH**2) * np.sqrt(E * INERTIA / (7800.0 * HEIGHT * 0.05))
    assert sx.modes.natural_modes(problem.system, problem.state, 1).frequencies == pytest.approx([exact], rel=5e-3)
