"""Bodies of a deck that are in contact."""

from __future__ import annotations

import re
import tomllib

import numpy as np
import pytest

import symplex as sx
from reference.decks_written import step, write
from symplex.decks import import_deck
from symplex.decks.tied import feet_on_faces

YOUNG, DENSITY = 200e9, 8000.0
PAIR = "*CONTACT PAIR, INTERACTION=I, TYPE=SURFACE TO SURFACE\nONE, OTHER\n*SURFACE INTERACTION, NAME=I\n"
LINEAR = "*SURFACE BEHAVIOR, PRESSURE-OVERCLOSURE=LINEAR\n1e15,\n"
PUSHED = step("*STATIC", "*DLOAD", "A, GRAV, 10., 1., 0., 0.")


def rods(model=PAIR + LINEAR, gap=0.0, kinds=("C3D8", "C3D8"), cells=((2, 1, 1), (2, 2, 2))):
    """Two rods A and B of 1 m along x, one behind the other, held at their outer ends and across."""
    lines, first = ["*NODE"], 1
    for name, kind, n, shift in zip("AB", kinds, cells, (0.0, 1.0 + gap), strict=True):
        mesh = sx.box((1.0, 1.0, 1.0), n, split="hexahedra")
        numbers = first + np.arange(len(mesh.points))
        elements = first + np.arange(len(mesh.cells["hexahedron"]))
        lines += [f"*NODE, NSET=N{name}"]
        lines += [
            f"{k}, {x + shift!r}, {y!r}, {z!r}" for k, (x, y, z) in zip(numbers, mesh.points.tolist(), strict=True)
        ]
        lines += [f"*ELEMENT, TYPE={kind}, ELSET={name}"]
        rows = mesh.cells["hexahedron"] + first
        lines += [f"{k}, " + ", ".join(map(str, row)) for k, row in zip(elements.tolist(), rows.tolist(), strict=True)]
        lines += [f"*SOLID SECTION, ELSET={name}, MATERIAL=STEEL"]
        outer, inner = (0.0, 1.0) if name == "A" else (1.0, 0.0)
        at = mesh.points[:, 0]
        lines += [f"*NSET, NSET=HELD{name}", *(f"{k}," for k in numbers[at == outer])]
        ends = elements[(at[mesh.cells["hexahedron"]] == inner).any(axis=1)]
        x = mesh.points[mesh.cells["hexahedron"][0]][:, 0]
        side = "S4" if inner else "S6"
        assert (x[[1, 2]] > x[[0, 3]]).all()  # S4 is the side of the nodes 2, 3, 7, 6
        lines += [f"*SURFACE, NAME={'ONE' if inner else 'OTHER'}", *(f"{k}, {side}" for k in ends)]
        first += 1000
    lines += ["*MATERIAL, NAME=STEEL", "*ELASTIC", f"{YOUNG!r}, 0.0", "*DENSITY", f"{DENSITY!r}"]
    lines += ["*BOUNDARY", "HELDA, 1", "HELDB, 1", "NA, 2, 3", "NB, 2, 3"]
    return "\n".join(lines) + "\n" + model


def tables_of(imported, number=1):
    return tomllib.loads(imported.scenarios[number].read_text())


def test_rods_press_each_other_but_do_not_pull(tmp_path):
    """The weight of one along both: F = ρ g L/4 where they meet; away from the other it moves alone, by ρ g L²/2E."""
    text = rods() + PUSHED + step("*STATIC", "*DLOAD", "A, GRAV, 10., -1., 0., 0.")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert not imported.missed, imported.report()
    ends = []
    for number in (1, 2):
        problem = sx.Scenario.read(imported.scenarios[number]).build()
        u = problem.state.q - problem.mesh.points
        x = problem.mesh.points[:, 0]
        one, other = (problem.mesh.nodes_of(name) for name in imported.bodies)
        ends.append([u[nodes[x[nodes] == 1.0], 0].mean() for nodes in (one, other)])
    exact = DENSITY * 10.0 / YOUNG
    # The surfaces that press lie inside, by a hundredth of an element.
    assert ends[0] == pytest.approx([exact / 4.0, exact / 4.0], rel=0.03)
    assert ends[1][0] == pytest.approx(-exact / 2.0, rel=1e-6)
    assert abs(ends[1][1]) < 1e-6 * exact


def test_each_body_has_its_elements_and_nodes(tmp_path):
    text = rods(kinds=("C3D8I", "C3D8")) + PUSHED
    imported = import_deck(write(tmp_path, text), tmp_path / "out", units="mm-kg-ms", strict=False)
    tables = tables_of(imported)
    assert [(body["name"], body["formulation"]) for body in tables["body"]] == [
        ("part_1", "stabilized"),
        ("part_2", "full"),
    ]
    (contact,) = tables["contact"]
    assert contact.pop("stiffness") == pytest.approx(0.4e15 * 1e12)  # GPa/mm are 1e12 N/m³
    assert contact == {"name": "contact_1", "bodies": ["part_1", "part_2"], "begins": "touch"}
    assert [*map(len, imported.bodies.values())] == [12, 27]
    assert imported.bodies["part_2"].min() == 1001
    assert [support["body"] for support in tables["support"] if support["components"] == "yz"] == ["part_1", "part_2"]
    assert "wherever they meet" in imported.report()


def test_tied_surfaces_pull_as_well(tmp_path):
    tied = PAIR.replace("ONE, OTHER", "OTHER, ONE") + "*SURFACE BEHAVIOR, PRESSURE-OVERCLOSURE=TIED\n1e15,\n"
    imported = import_deck(
        write(tmp_path, rods(tied) + step("*STATIC", "*DLOAD", "A, GRAV, 10., -1., 0., 0.")), tmp_path / "out"
    )
    tables = tables_of(imported)
    assert "contact" not in tables
    assert len(tables["body"]) == 1
    problem = sx.Scenario.read(imported.scenarios[1]).build()
    u = (problem.state.q - problem.mesh.points)[problem.mesh.points[:, 0] == 1.0, 0]
    assert u == pytest.approx(-DENSITY * 10.0 / YOUNG / 4.0, rel=1e-4)


def test_friction_is_known_in_motions(tmp_path):
    model = "*CONTACT PAIR, INTERACTION=I\nONE, OTHER\n*SURFACE INTERACTION, NAME=I\n*FRICTION\n0.3\n"
    text = rods(model) + step("*DYNAMIC\n1e-6, 1e-5", "*DLOAD", "A, GRAV, 10., 1., 0., 0.")
    imported = import_deck(write(tmp_path, text), tmp_path / "out")
    assert not imported.missed, imported.report()
    (contact,) = tables_of(imported)["contact"]
    assert contact["friction"] == 0.3
    assert "stiffness" not in contact


@pytest.mark.parametrize(
    "model",
    [
        PAIR.replace("TYPE=", "ADJUST=0.02, TYPE="),
        PAIR.replace("TYPE=", "ADJUST=NA, TYPE="),
        "*TIE, NAME=T, POSITION TOLERANCE=0.02\nONE, OTHER\n",
    ],
)
@pytest.mark.parametrize("gap", [0.01, -0.01])
def test_nodes_are_moved_to_the_other_surface(tmp_path, model, gap):
    imported = import_deck(write(tmp_path, rods(model, gap) + PUSHED), tmp_path / "out")
    assert not imported.missed, imported.report()
    assert "4 nodes of 'ONE' are moved to 'OTHER', by up to 0.01" in imported.report()
    mesh = sx.read_mesh(imported.mesh)
    assert np.sort(mesh.points[imported.numbers < 1000, 0])[-4:] == pytest.approx(1.0 + gap, rel=1e-12)


@pytest.mark.parametrize(
    ("model", "gap", "steps", "what"),
    [
        (PAIR, -0.01, PUSHED, "is 0.01 below 'OTHER' at the start, which presses"),
        (PAIR.replace("TYPE=", "ADJUST=NONE, TYPE="), 0.01, PUSHED, "there is no set 'NONE'"),
        (PAIR, 0.0, step("*FREQUENCY\n3"), "vibrations of bodies in contact"),
        (PAIR.replace("SURFACE TO SURFACE", "MASSLESS"), 0.0, PUSHED, "TYPE='MASSLESS' is not supported"),
        (PAIR.replace("NAME=I", "NAME=J"), 0.0, PUSHED, "there is no surface interaction 'I'"),
        (PAIR.replace("ONE, OTHER", "ONE"), 0.0, PUSHED, "one surface with itself"),
        (PAIR.replace("ONE, OTHER", "ONE, ONE"), 0.0, PUSHED, "contact of a body with itself"),
        (PAIR + "*SURFACE BEHAVIOR, PRESSURE-OVERCLOSURE=EXPONENTIAL\n1., 2.\n", 0.0, PUSHED, "acts over 1, more than"),
        (PAIR + "*SURFACE BEHAVIOR, PRESSURE-OVERCLOSURE=EXPONENTIAL\n0., 2.\n", 0.0, PUSHED, "no positive clearance"),
        (PAIR + "*SURFACE BEHAVIOR, PRESSURE-OVERCLOSURE=TABULAR\n1., 2.\n", 0.0, PUSHED, "'TABULAR' is not"),
        (PAIR + LINEAR.replace("1e15", "1e11"), 0.0, PUSHED, "a stiffness of 1e+11 is less than E/h, 3.33e+11"),
        (PAIR + LINEAR.replace("1e15", "0"), 0.0, PUSHED, "no positive stiffness"),
        (PAIR + "*FRICTION\n0.3\n0.2, , 100.\n", 0.0, PUSHED, "only one coefficient"),
        ("*FRICTION\n0.3\n", 0.0, PUSHED, "outside of a *SURFACE INTERACTION"),
        ("*SURFACE, NAME=P, TYPE=NODE\nHELDB\n" + PAIR.replace("OTHER", "P"), 0.0, PUSHED, "'P', has no faces"),
    ],
)
def test_contact_that_is_not_understood_is_told(tmp_path, model, gap, steps, what):
    path = write(tmp_path, rods(model, gap) + steps)
    try:
        reported = str(import_deck(path, tmp_path / "out").missed[0])
    except sx.errors.MeshError as error:
        reported = str(error)
    assert re.search(re.escape(what), reported), reported


@pytest.mark.parametrize(
    "model",
    [
        "*SURFACE, NAME=P, TYPE=NODE\nFREEA\n" + PAIR.replace("ONE, OTHER", "P, OTHER") + LINEAR,
        PAIR + "*SURFACE BEHAVIOR, PRESSURE-OVERCLOSURE=EXPONENTIAL\n1e-3, 1e6\n",
    ],
)
def test_surfaces_of_nodes_and_exponential_pressures_are_hard_contact(tmp_path, model):
    free = "*NSET, NSET=FREEA\n" + "".join(f"{k},\n" for k in (3, 6, 9, 12)) + model
    path = write(tmp_path, rods(free) + PUSHED)
    imported = import_deck(path, tmp_path / "out")
    assert not imported.missed, imported.report()
    (table,) = tables_of(imported)["contact"]
    assert sorted(table["bodies"]) == ["part_1", "part_2"]
    problem = sx.Scenario.read(imported.scenarios[1]).build()
    x = problem.mesh.points[:, 0]
    one, other = (problem.mesh.nodes_of(name) for name in imported.bodies)
    u = problem.state.q - problem.mesh.points
    ends = [u[nodes[x[nodes] == 1.0], 0].mean() for nodes in (one, other)]
    assert ends == pytest.approx([DENSITY * 10.0 / YOUNG / 4.0] * 2, rel=0.05)


def test_a_node_is_tied_to_a_large_face_among_small_ones():
    """Its foot is in the large face, whose centre is farther than those of many small ones."""
    fine = sx.box((1.0, 0.2, 0.2), (20, 4, 1), split="hexahedra").points
    fine = fine[fine[:, 2] == 0.0]
    n = len(fine)
    quads = [(5 * i + j, 5 * (i + 1) + j, 5 * (i + 1) + j + 1, 5 * i + j + 1) for i in range(20) for j in range(4)]
    fine = fine[np.lexsort((fine[:, 1], fine[:, 0]))]
    large = np.array([[0.0, 0.2, 0.0], [1.0, 0.2, 0.0], [1.0, 2.0, 0.0], [0.0, 2.0, 0.0]])
    points = np.concatenate([fine, large, [[0.5, 0.22, 0.01], [0.51, 0.07, -0.02], [3.0, 0.0, 0.0]]])
    faces = [*quads, (n, n + 1, n + 2, n + 3)]
    on_large, on_small, off = feet_on_faces(points[-3:], faces, points)
    assert on_large.face == list(faces[-1])
    assert on_large.away == pytest.approx(0.01, rel=1e-12)
    assert on_small.away == pytest.approx(0.02, rel=1e-12)
    assert on_small.weights @ points[on_small.face] == pytest.approx([0.51, 0.07, 0.0], abs=1e-14)
    assert np.isinf(off.away)
